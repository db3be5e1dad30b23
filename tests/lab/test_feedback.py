"""Feedback: no more than the profile's level, never an answer, always the same bytes."""

from __future__ import annotations

from pathlib import Path

import pytest

from rsibench.errors import LabError
from rsibench.spec.profile import FeedbackLevel
from rsibench.testing.lab import FAMILIES, LabBench, bench_files


@pytest.mark.parametrize("level", list(FeedbackLevel))
def test_no_level_shows_an_expected_answer(tmp_path: Path, level: FeedbackLevel) -> None:
    with LabBench(tmp_path, feedback=level) as bench:
        bench.session.submit(bench_files("a"), "k")
        bench.finish_next(5)
        for attempt in (0, 1):
            assert b"secret" not in bench.session.feedback_bytes(attempt)


def test_aggregate_tells_the_score_only(tmp_path: Path) -> None:
    with LabBench(tmp_path, feedback=FeedbackLevel.AGGREGATE) as bench:
        bench.session.submit(bench_files("a"), "k")
        bench.finish_next(5)
        feedback = bench.session.feedback(1).feedback
        assert feedback.score.passed == 5
        assert (feedback.families, feedback.items) == ((), ())
        assert not any(name.encode() in bench.session.feedback_bytes(1) for name in FAMILIES)


def test_per_task_tells_outcomes_but_no_text(tmp_path: Path) -> None:
    with LabBench(tmp_path, feedback=FeedbackLevel.PER_TASK) as bench:
        bench.session.submit(bench_files("a"), "k")
        bench.finish_next(5)
        feedback = bench.session.feedback(1).feedback
        assert [item.outcome.value for item in feedback.items].count("pass") == 5
        assert sum(family.passed for family in feedback.families) == 5
        document = bench.session.feedback_bytes(1)
        assert b"A question" not in document
        assert b"an output" not in document


def test_trajectories_tell_what_was_asked_and_answered(bench: LabBench) -> None:
    bench.session.submit(bench_files("a"), "k")
    bench.finish_next(5)
    item = bench.session.feedback(1).feedback.items[0]
    assert item.prompt == bench.items[0].prompt
    assert item.output == "an output for sums-0"
    assert item.extracted == "7"


def test_the_base_students_feedback_is_attempt_zero(bench: LabBench) -> None:
    feedback = bench.session.feedback(0).feedback
    assert (feedback.attempt, feedback.score.passed, len(feedback.items)) == (0, 2, len(bench.items))


def test_feedback_is_the_same_bytes_after_a_restart(bench: LabBench) -> None:
    bench.session.submit(bench_files("a"), "k")
    bench.finish_next(5)
    before = [bench.session.feedback_bytes(attempt) for attempt in (0, 1)]
    session = bench.restart()
    assert [session.feedback_bytes(attempt) for attempt in (0, 1)] == before


def test_there_is_none_before_the_score_nor_after_a_failure(bench: LabBench) -> None:
    bench.session.submit(bench_files("a"), "k")
    with pytest.raises(LabError) as refused:
        bench.session.feedback(1)
    assert refused.value.code == "no-feedback-yet"
    bench.session.failed(1, failure="out_of_memory", detail="killed")
    with pytest.raises(LabError) as refused:
        bench.session.feedback(1)
    assert refused.value.code == "no-feedback"
    assert "out_of_memory" in str(refused.value)
