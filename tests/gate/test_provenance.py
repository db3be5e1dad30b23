"""Sources, rollouts and repeated rows."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rsibench.errors import SubmissionRefused
from rsibench.gate.files import SubmissionFiles
from rsibench.gate.provenance import from_rollouts
from rsibench.gate.row import Conversation
from rsibench.gate.submission import GatePolicy, check_submission
from rsibench.ids import sha256_bytes
from rsibench.rendering import ChatMessage
from rsibench.spec.contamination import ContaminationPolicy
from rsibench.testing.lab import HYPOTHESIS, bench_files


def with_rules(policy: GatePolicy, rules: ContaminationPolicy) -> GatePolicy:
    return replace(policy, data=policy.data.model_copy(update={"contamination": rules}))


def rows(*sources: str | None) -> SubmissionFiles:
    head = '{"messages": [{"role": "user", "content": "q%d"}, {"role": "assistant", "content": "a"}]'
    lines = [head % place + (f', "source": "{one}"' if one else "") + "}" for place, one in enumerate(sources)]
    return SubmissionFiles("\n".join(lines).encode(), None, HYPOTHESIS)


def test_a_source_must_be_listed_where_the_profile_lists_some(policy: GatePolicy) -> None:
    listed = with_rules(policy, ContaminationPolicy(allowed_sources=("own/",)))
    assert len(check_submission(rows("own/a", "OWN/b"), listed).rows) == 2
    with pytest.raises(SubmissionRefused) as refused:
        check_submission(rows("own/a", "other", None), listed)
    assert [(one.code, one.row) for one in refused.value.problems] == [("source", 2), ("source", 3)]


def test_a_forbidden_source_is_an_incident(policy: GatePolicy) -> None:
    strict = with_rules(policy, ContaminationPolicy(denied_sources=("bench/held-out",)))
    with pytest.raises(SubmissionRefused) as refused:
        check_submission(rows("hub:Bench/Held-Out@main"), strict)
    assert refused.value.problems[0].incident == "forbidden-source"


def test_repeated_rows_are_counted_and_refused_over_the_limit(policy: GatePolicy) -> None:
    files = bench_files("one", "one", "two", "three")
    assert check_submission(files, policy).duplicates == (4, 1, 0)
    with pytest.raises(SubmissionRefused) as refused:
        check_submission(files, with_rules(policy, ContaminationPolicy(max_duplicate_share=0.2)))
    assert refused.value.counts == {"duplicates": 1}


def test_a_rollout_is_traced_until_it_is_edited() -> None:
    def row(text: str) -> Conversation:
        turns = (ChatMessage(role="user", content="q"), ChatMessage(role="assistant", content=text))
        return Conversation(1, turns, False, None, None, True)

    known = {sha256_bytes(b"a rollout")}
    assert from_rollouts(row("a rollout"), known)
    assert not from_rollouts(row("a rollout!"), known)
