"""Transcripts: bounded, timed, and read without trust."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rsibench.researchers.install import AGENTS
from rsibench.researchers.transcript import Transcript
from rsibench.spec.researcher import AgentEnd

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["type", "message", "content", "item"]), inner),
    max_leaves=10,
)
KINDS = st.sampled_from(
    ["system", "assistant", "user", "result", "thread.started", "turn.failed", "item.started", "item.completed"]
)


@pytest.mark.parametrize("name", sorted(AGENTS))
@given(kind=KINDS, rest=st.dictionaries(st.sampled_from(["message", "item", "error", "subtype"]), JSON), raw=st.text())
def test_nothing_an_agent_prints_breaks_its_adapter(name: str, kind: str, rest: dict[str, object], raw: str) -> None:
    adapter = AGENTS[name].adapter
    events = [*adapter.parse(raw), *adapter.parse(json.dumps({"type": kind, **rest}))]
    assert adapter.outcome(events, 1) in AgentEnd


def test_a_full_file_drops_lines_and_counts_them(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path / "t.jsonl", AGENTS["codex"].adapter.parse, max_bytes=400)
    for _ in range(20):
        transcript.add("x" * 50)
    transcript.close()
    kept = (tmp_path / "t.jsonl").read_bytes()
    assert len(kept) <= 400
    assert len(kept.splitlines()) + transcript.dropped_lines == 20


def test_a_success_that_says_it_is_an_error_is_one() -> None:
    """Claude Code's failures have the subtype `success`."""
    adapter = AGENTS["claude-code"].adapter
    said = {"type": "result", "subtype": "success", "is_error": True, "api_error_status": 402, "result": "API Error"}
    assert adapter.outcome(adapter.parse(json.dumps(said)), 1) is AgentEnd.BUDGET
    assert adapter.outcome(adapter.parse(json.dumps(said | {"api_error_status": 529})), 1) is AgentEnd.API_ERROR
    assert adapter.outcome((), -9) is AgentEnd.CRASHED
