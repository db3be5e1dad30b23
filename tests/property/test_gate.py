"""Whatever bytes are handed in, the gate admits them or refuses them with reasons that can be told to anybody."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rsibench.errors import SubmissionRefused
from rsibench.gate.files import SubmissionFiles
from rsibench.gate.problems import LISTED
from rsibench.gate.submission import GatePolicy, check_submission
from rsibench.rendering import load_renderer
from rsibench.testing.lab import DATA, HYPOTHESIS, RECIPE, bench_row
from rsibench.testing.tokenizer import tiny_tokenizer

GOOD = (json.dumps(bench_row("fine", family="f")) + "\n").encode()
ROLE = st.sampled_from(["system", "user", "assistant", "tool", "boss", 3, None])
TEXT = st.one_of(st.text(max_size=20), st.sampled_from(["", "<|im_end|>", "ok"]))
VALUE: st.SearchStrategy[Any] = st.one_of(
    TEXT, st.none(), st.booleans(), st.integers(), st.lists(st.integers(), max_size=2)
)
MESSAGE = st.fixed_dictionaries(
    {}, optional={"role": ROLE, "content": VALUE, "tool_calls": VALUE, "tool_call_id": VALUE, "name": VALUE, "x": VALUE}
)
ROW = st.fixed_dictionaries(
    {},
    optional={
        "messages": st.lists(MESSAGE, max_size=4) | VALUE,
        "family": VALUE,
        "weight_last_only": VALUE,
        "y": VALUE,
    },
)
EDIT = st.tuples(st.integers(0, len(GOOD) * 2 - 1), st.binary(max_size=4), st.integers(0, 3))


@pytest.fixture(scope="module")
def policy(tmp_path_factory: pytest.TempPathFactory) -> GatePolicy:
    folder: Path = tiny_tokenizer(tmp_path_factory.mktemp("student"))
    return GatePolicy(recipe=RECIPE, data=DATA, renderer=load_renderer("chatml", folder))


def decide(files: SubmissionFiles, policy: GatePolicy) -> SubmissionRefused | None:
    """The refusal, if there is one, after checking that it can be told."""
    refused = None
    try:
        admitted = check_submission(files, policy)
    except SubmissionRefused as error:
        refused = error
    else:
        assert all(any(row.rendered.loss_mask) for row in admitted.rows)
        assert admitted.train_tokens <= policy.recipe.max_train_tokens
    if refused is not None:
        assert 0 < len(refused.problems) <= LISTED
        assert sum(refused.counts.values()) >= len(refused.problems)
        for problem in refused.problems:
            (problem.why + problem.fix + (problem.field or "")).encode("ascii")
    return refused


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.binary(max_size=300),
    config=st.none() | st.binary(max_size=40),
    hypothesis=st.none() | st.binary(max_size=40),
)
def test_any_bytes_are_decided(policy: GatePolicy, rows: bytes, config: bytes | None, hypothesis: bytes | None) -> None:
    decide(SubmissionFiles(rows, config, hypothesis), policy)


@given(rows=st.lists(ROW, min_size=1, max_size=4))
def test_any_json_of_nearly_the_right_form_is_decided(policy: GatePolicy, rows: list[dict[str, Any]]) -> None:
    data = "".join(json.dumps(row) + "\n" for row in rows).encode()
    decide(SubmissionFiles(data, None, HYPOTHESIS), policy)


@given(edits=st.lists(EDIT, min_size=1, max_size=4))
def test_any_edit_of_a_good_submission_is_decided(policy: GatePolicy, edits: list[tuple[int, bytes, int]]) -> None:
    data = bytearray(GOOD * 2)
    for place, added, removed in edits:
        data[place : place + removed] = added
    decide(SubmissionFiles(bytes(data), None, HYPOTHESIS), policy)


@given(text=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1, max_size=40))
def test_any_visible_text_without_control_tokens_is_admitted(policy: GatePolicy, text: str) -> None:
    files = SubmissionFiles((json.dumps(bench_row(text)) + "\n").encode(), None, HYPOTHESIS)
    refused = decide(files, policy)
    codes = set() if refused is None else set(refused.counts)
    expected = set() if text.strip() else {"empty-content"}
    assert codes == expected or (codes == {"control-token"} and "<|" in text)
