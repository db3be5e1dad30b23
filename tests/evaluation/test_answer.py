"""The answer engine on a sampler without a model."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from pydantic import JsonValue

from rsibench.errors import InfrastructureFailure, IntegrityError, SpecError
from rsibench.evaluation.answer import AnswerEvaluator, prompt_digest, regrade
from rsibench.evaluation.graders import grade
from rsibench.outcomes import FinishReason, TrialOutcome
from rsibench.ports.evaluator import Evaluator
from rsibench.ports.sampler import Completion, SampleParams, Sampler
from rsibench.rendering import ChatMessage, Renderer, load_renderer
from rsibench.spec.item import Item, Trial, Verdict
from rsibench.spec.profile import Decoding
from rsibench.testing.sampler import FakeSampler, Question
from rsibench.testing.tokenizer import tiny_tokenizer
from rsibench.testing.trials import sum_item, trial_of

GREEDY = Decoding(max_new_tokens=64, temperature=0, decodes=1, batch_rows=4)
DRAWN = Decoding(max_new_tokens=64, temperature=1, decodes=3, batch_rows=4)
ITEMS = [sum_item(index) for index in range(10)]


@pytest.fixture(scope="module")
def renderer(tmp_path_factory: pytest.TempPathFactory) -> Renderer:
    return load_renderer("chatml", tiny_tokenizer(tmp_path_factory.mktemp("student")))


def evaluator(renderer: Renderer, sampler: Sampler, decoding: Decoding, system: str | None = None) -> AnswerEvaluator:
    return AnswerEvaluator(sampler, renderer, Path("student"), decoding, system)


def adder(question: Question) -> str:
    """Right on every sum, whatever the prompt's other words are."""
    words = question.prompt.partition("What is ")[2].partition("?")[0]
    left, _, right = words.partition(" + ")
    return f"Answer: {int(left) + int(right)}"


def guesser(question: Question) -> str:
    return f"Answer: {random.Random(question.seed).randrange(20)}"


def key(trial: Trial) -> tuple[str, int]:
    return trial.item_id, trial.decode


def test_each_item_gives_one_graded_trial(renderer: Renderer) -> None:
    sampler = FakeSampler(renderer, adder)
    engine: Evaluator = evaluator(renderer, sampler, GREEDY)
    trials = sorted(engine.evaluate(ITEMS, None), key=key)
    assert [trial.item_digest for trial in trials] == [item.item_digest for item in ITEMS]
    assert {trial.verdict.outcome for trial in trials} == {TrialOutcome.PASS}
    assert trials[3].output == "Answer: 7"
    assert trials[3].verdict.extracted == "7"
    assert trials[3].finish_reason is FinishReason.STOP
    assert not sampler.is_open


def test_a_trial_tells_which_prompt_it_answered(renderer: Renderer) -> None:
    plain = next(evaluator(renderer, FakeSampler(renderer, adder), GREEDY).evaluate(ITEMS[:1], None))
    prompt = renderer.render_prompt([ChatMessage(role="user", content=ITEMS[0].prompt)])
    assert (plain.prompt_digest, plain.prompt_tokens) == (prompt_digest(prompt), len(prompt))


def test_the_system_prompt_is_part_of_the_prompt(renderer: Renderer) -> None:
    seen: list[str] = []

    def note(question: Question) -> str:
        seen.append(question.prompt)
        return adder(question)

    with_system = list(evaluator(renderer, FakeSampler(renderer, note), GREEDY, "Be brief.").evaluate(ITEMS[:1], None))
    without = list(evaluator(renderer, FakeSampler(renderer, note), GREEDY).evaluate(ITEMS[:1], None))
    assert "Be brief." in seen[0]
    assert "Be brief." not in seen[1]
    assert with_system[0].prompt_digest != without[0].prompt_digest


def test_the_adapter_is_what_answers(renderer: Renderer) -> None:
    def named(question: Question) -> str:
        return "Answer: 1" if question.adapter == Path("adapter") else "I cannot"

    engine = evaluator(renderer, FakeSampler(renderer, named), GREEDY)
    assert next(engine.evaluate(ITEMS[:1], Path("adapter"))).verdict.outcome is TrialOutcome.PASS
    assert next(engine.evaluate(ITEMS[:1], None)).verdict.outcome is TrialOutcome.NO_ANSWER


def test_a_completion_that_is_cut_off_says_so(renderer: Renderer) -> None:
    short = GREEDY.model_copy(update={"max_new_tokens": 5})
    trial = next(evaluator(renderer, FakeSampler(renderer, adder), short).evaluate(ITEMS[:1], None))
    assert (trial.finish_reason, trial.output_tokens) == (FinishReason.LENGTH, 5)
    assert trial.verdict.outcome is TrialOutcome.NO_ANSWER


def test_greedy_items_go_through_one_stream(renderer: Renderer) -> None:
    sampler = FakeSampler(renderer, adder)
    assert len(list(evaluator(renderer, sampler, GREEDY).evaluate(ITEMS, None))) == len(ITEMS)
    assert [count for count, _ in sampler.calls] == [len(ITEMS)]
    assert sampler.calls[0][1].stop_token_ids == renderer.stop_token_ids


def test_finished_trials_are_not_sampled_again(renderer: Renderer) -> None:
    first = list(evaluator(renderer, FakeSampler(renderer, adder), GREEDY).evaluate(ITEMS, None))
    sampler = FakeSampler(renderer, adder)
    rest = list(evaluator(renderer, sampler, GREEDY).evaluate(ITEMS, None, finished=first[:6]))
    assert sampler.calls[0][0] == 4
    assert sorted(rest, key=key) == sorted(first[6:], key=key)
    untouched = FakeSampler(renderer, adder)
    assert list(evaluator(renderer, untouched, GREEDY).evaluate(ITEMS, None, finished=first)) == []
    assert untouched.calls == []


@pytest.mark.parametrize("stop_after", [0, 1, 4, 7, 29])
def test_an_interrupted_evaluation_resumes_to_the_same_trials(renderer: Renderer, stop_after: int) -> None:
    whole = list(evaluator(renderer, FakeSampler(renderer, guesser), DRAWN).evaluate(ITEMS, None))
    assert len({key(trial) for trial in whole}) == 30
    kept: list[Trial] = []
    failing = FakeSampler(renderer, guesser, fail_after=stop_after)
    with pytest.raises(InfrastructureFailure):
        kept.extend(collected(evaluator(renderer, failing, DRAWN).evaluate(ITEMS, None), kept))
    assert len(kept) == stop_after
    assert not failing.is_open
    resumed = FakeSampler(renderer, guesser)
    rest = list(evaluator(renderer, resumed, DRAWN).evaluate(ITEMS, None, finished=kept))
    assert sorted([*kept, *rest], key=key) == sorted(whole, key=key)


def collected(trials: Iterator[Trial], into: list[Trial]) -> list[Trial]:
    """Puts trials into a list one by one, so that those before a failure are kept."""
    for trial in trials:
        into.append(trial)
    return []


def test_decodes_of_an_item_are_drawn_with_different_seeds(renderer: Renderer) -> None:
    trials = list(evaluator(renderer, FakeSampler(renderer, guesser), DRAWN).evaluate(ITEMS, None))
    by_item = {item.item_id: {trial.output for trial in trials if trial.item_id == item.item_id} for item in ITEMS}
    assert any(len(outputs) > 1 for outputs in by_item.values())


def test_a_trial_of_another_item_cannot_be_resumed_from(renderer: Renderer) -> None:
    engine = evaluator(renderer, FakeSampler(renderer, adder), GREEDY)
    stranger = trial_of(sum_item(99), TrialOutcome.PASS)
    with pytest.raises(IntegrityError, match="sums-0099"):
        next(engine.evaluate(ITEMS, None, finished=[stranger]))


@pytest.mark.parametrize(
    ("change", "message"),
    [({"grader": "integr"}, "did you mean 'integer'"), ({"expected": "many"}, "expects an integer"), ({}, "same id")],
)
def test_bad_items_are_refused_before_anything_is_sampled(
    renderer: Renderer, change: dict[str, str], message: str
) -> None:
    sampler = FakeSampler(renderer, adder)
    bad = Item.model_validate(ITEMS[0].model_dump() | change)
    items = [*ITEMS, bad] if not change else [bad]
    with pytest.raises(SpecError, match=message) as refused:
        list(evaluator(renderer, sampler, GREEDY).evaluate(items, None))
    assert "sums-0000" in str(refused.value)
    assert sampler.calls == []


class BrokenStream:
    """A sampler that gives completions of these prompts, whatever it was asked."""

    def __init__(self, indices: Sequence[int]) -> None:
        self._indices = indices
        self.closed = False

    def open(self, student: Path, adapter: Path | None) -> None:
        assert (student, adapter) == (Path("student"), None)

    def sample(self, prompts: Sequence[tuple[int, ...]], params: SampleParams) -> Iterator[tuple[int, Completion]]:
        assert len(prompts) == len(ITEMS)
        assert params.max_new_tokens == GREEDY.max_new_tokens
        for index in self._indices:
            yield index, Completion((), (), FinishReason.STOP)

    def close(self) -> None:
        self.closed = True


@pytest.mark.parametrize("indices", [range(9), [0, 0], [10], [-1], []])
def test_a_broken_stream_is_an_infrastructure_failure(renderer: Renderer, indices: Sequence[int]) -> None:
    sampler = BrokenStream(indices)
    with pytest.raises(InfrastructureFailure) as failed:
        list(evaluator(renderer, sampler, GREEDY).evaluate(ITEMS, None))
    assert failed.value.failure == "sampler_stream"
    assert sampler.closed


def test_a_consumer_that_stops_early_closes_the_sampler(renderer: Renderer) -> None:
    sampler = FakeSampler(renderer, adder)
    stream = evaluator(renderer, sampler, GREEDY).evaluate(ITEMS, None)
    next(stream)
    assert sampler.is_open
    stream.close()  # type: ignore[attr-defined]  # the engine's iterator is a generator
    assert not sampler.is_open


def test_regrading_gives_the_recorded_verdict(renderer: Renderer) -> None:
    engine = evaluator(renderer, FakeSampler(renderer, guesser), DRAWN)
    items = {item.item_id: item for item in ITEMS}
    for trial in engine.evaluate(ITEMS, None):
        assert regrade(items[trial.item_id], trial) == trial.verdict
        forged = trial.model_copy(update={"verdict": Verdict(outcome=TrialOutcome.PASS, extracted="1000")})
        assert regrade(items[trial.item_id], forged) != forged.verdict


def test_a_crash_of_a_grader_is_not_the_students_fault(renderer: Renderer) -> None:
    def crashing(
        grader: str, output: str, expected: JsonValue, context: JsonValue, *, cut_off: bool = False
    ) -> Verdict:
        if output == "Answer: 3":
            raise ZeroDivisionError("a fault of the grader")
        return grade(grader, output, expected, context, cut_off=cut_off)

    sampler = FakeSampler(renderer, adder)
    engine = AnswerEvaluator(sampler, renderer, Path("student"), GREEDY, None, grader=crashing)
    verdicts = {trial.item_id: trial.verdict for trial in engine.evaluate(ITEMS, None)}
    assert verdicts["sums-0001"].outcome is TrialOutcome.INFRA_ERROR
    assert "ZeroDivisionError: a fault of the grader" in verdicts["sums-0001"].reason
    assert [verdict.outcome for verdict in verdicts.values()].count(TrialOutcome.PASS) == len(ITEMS) - 1


def test_a_trial_without_output_keeps_its_verdict() -> None:
    lost = trial_of(ITEMS[0], TrialOutcome.INFRA_ERROR)
    assert regrade(ITEMS[0], lost) == lost.verdict


def test_a_trial_is_not_regraded_with_another_item() -> None:
    with pytest.raises(IntegrityError, match="sums-0001"):
        regrade(ITEMS[1], trial_of(ITEMS[0], TrialOutcome.PASS))
