"""The answer engine: one prompt, one completion, one verdict from a pure function on the host.

Invariant: every item and decode gives exactly one trial, and what a trial holds is enough to grade it again offline. A
failure of the sampler ends the evaluation; a failure of a grader is a fault of the harness and never the student's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import batched
from pathlib import Path
from typing import NamedTuple, Protocol

from pydantic import JsonValue

from rsibench.errors import InfrastructureFailure, IntegrityError, SpecError
from rsibench.evaluation.graders import grade
from rsibench.ids import derived_seed, sha256_bytes
from rsibench.outcomes import FinishReason, TrialOutcome
from rsibench.ports.sampler import Completion, SampleParams, Sampler
from rsibench.rendering import ChatMessage, Renderer
from rsibench.spec.frozen import canonical_json
from rsibench.spec.item import Item, Trial, Verdict
from rsibench.spec.profile import Decoding

type _Key = tuple[str, int]


class Grade(Protocol):
    """What `graders.grade` is."""

    def __call__(
        self, grader: str, output: str, expected: JsonValue, context: JsonValue, *, cut_off: bool = False
    ) -> Verdict: ...


class _Question(NamedTuple):
    """One decode of one item."""

    item: Item
    decode: int
    prompt: tuple[int, ...]

    @property
    def key(self) -> _Key:
        """What tells this decode from every other."""
        return self.item.item_id, self.decode


class _Group(NamedTuple):
    """Questions that are sampled in one call."""

    questions: tuple[_Question, ...]
    seed: int


class AnswerEvaluator:
    """Implements the Evaluator protocol on any sampler, with the renderer that training rows are made with."""

    def __init__(
        self,
        sampler: Sampler,
        renderer: Renderer,
        student: Path,
        decoding: Decoding,
        system_prompt: str | None,
        grader: Grade = grade,
    ) -> None:
        self._sampler = sampler
        self._renderer = renderer
        self._student = student
        self._decoding = decoding
        self._system_prompt = system_prompt
        self._grade = grader

    def evaluate(self, items: Sequence[Item], adapter: Path | None, finished: Iterable[Trial] = ()) -> Iterator[Trial]:
        """One trial for each item and decode that is not among `finished`, as completions arrive.

        Raises SpecError for an item that cannot be graded and IntegrityError for a finished trial of another item, both
        before anything is sampled; InfrastructureFailure when the sampler fails.
        """
        _check_items(items)
        done = self._already_done(items, finished)
        groups = list(self._groups(self._questions(items), done))
        if not groups:
            return
        try:
            self._sampler.open(self._student, adapter)
            for group in groups:
                trials = self._sampled(group)
                yield from (trial for trial in trials if (trial.item_id, trial.decode) not in done)
        finally:
            self._sampler.close()

    def _groups(self, questions: Sequence[_Question], done: set[_Key]) -> Iterator[_Group]:
        """What is sampled in one call each: without a temperature, all that is left.

        With one, fixed groups of `batch_rows` questions with a seed of their own. A group of which something is left is
        sampled again whole, so that a resumed evaluation gives the same trials as one that never stopped.
        """
        if self._decoding.temperature == 0:
            left = tuple(question for question in questions if question.key not in done)
            if left:
                yield _Group(left, seed=0)
            return
        for group in batched(questions, self._decoding.batch_rows):
            if any(question.key not in done for question in group):
                yield _Group(group, _group_seed(group))

    def _questions(self, items: Sequence[Item]) -> list[_Question]:
        """Every decode of every item: all first decodes, then all second ones."""
        prompts = [self._prompt(item) for item in items]
        return [
            _Question(item, decode, prompt)
            for decode in range(self._decoding.decodes)
            for item, prompt in zip(items, prompts, strict=True)
        ]

    def _prompt(self, item: Item) -> tuple[int, ...]:
        user = ChatMessage(role="user", content=item.prompt)
        if self._system_prompt is None:
            return self._renderer.render_prompt([user])
        return self._renderer.render_prompt([ChatMessage(role="system", content=self._system_prompt), user])

    def _sampled(self, group: _Group) -> Iterator[Trial]:
        """Trials of a group's questions in the order in which their completions arrive."""
        params = SampleParams(
            max_new_tokens=self._decoding.max_new_tokens,
            temperature=self._decoding.temperature,
            stop_token_ids=self._renderer.stop_token_ids,
            seed=group.seed,
        )
        open_questions = dict(enumerate(group.questions))
        for index, completion in self._sampler.sample([question.prompt for question in group.questions], params):
            question = open_questions.pop(index, None)
            if question is None:
                raise _broken_stream(f"a completion for prompt {index}, which is not one of those waiting")
            yield self._trial(question, completion)
        if open_questions:
            raise _broken_stream(f"no completion for {len(open_questions)} of {len(group.questions)} prompts")

    def _trial(self, question: _Question, completion: Completion) -> Trial:
        item = question.item
        output = self._renderer.decode(completion.tokens)
        return Trial(
            item_id=item.item_id,
            item_digest=item.item_digest,
            family=item.family,
            template=item.template,
            decode=question.decode,
            prompt_digest=prompt_digest(question.prompt),
            output=output,
            finish_reason=completion.finish_reason,
            prompt_tokens=len(question.prompt),
            output_tokens=len(completion.tokens),
            verdict=_graded(item, output, completion.finish_reason, self._grade),
        )

    def _already_done(self, items: Sequence[Item], finished: Iterable[Trial]) -> set[_Key]:
        digests = {item.item_id: item.item_digest for item in items}
        done: set[_Key] = set()
        for trial in finished:
            if digests.get(trial.item_id) != trial.item_digest or trial.decode >= self._decoding.decodes:
                raise IntegrityError(
                    f"a finished trial belongs to decode {trial.decode} of another item {trial.item_id}",
                    where="evaluation",
                    fix="resume with the trials of the same split and the same protocol digest",
                )
            done.add((trial.item_id, trial.decode))
        return done


def regrade(item: Item, trial: Trial) -> Verdict:
    """The verdict that grading the recorded output gives now; the recorded one where the student gave no output.

    Raises IntegrityError when the trial is of another item, SpecError when the item cannot be graded.
    """
    if trial.item_digest != item.item_digest:
        raise IntegrityError(
            f"the trial is not of item {item.item_id} as it is now",
            where="regrade",
            fix="grade it with the item that the lock lists",
        )
    if trial.finish_reason is None:
        return trial.verdict
    return _graded(item, trial.output, trial.finish_reason, grade)


def prompt_digest(prompt: Sequence[int]) -> str:
    """SHA-256 in hex of the canonical JSON list of a prompt's token ids."""
    return sha256_bytes(canonical_json(list(prompt)))


def _graded(item: Item, output: str, finish_reason: FinishReason, grader: Grade) -> Verdict:
    """The grader's verdict; a crash of the grader is recorded as a fault of the harness, with its reason."""
    try:
        cut_off = finish_reason is FinishReason.LENGTH
        return grader(item.grader, output, item.expected, item.context, cut_off=cut_off)
    except SpecError:
        raise
    except Exception as error:  # any crash of a grader is the outcome of one trial, not the end of the run
        reason = f"the grader {item.grader} crashed: {type(error).__name__}: {error}"
        return Verdict(outcome=TrialOutcome.INFRA_ERROR, reason=reason)


def _check_items(items: Sequence[Item]) -> None:
    """Refuses items that cannot be told apart or graded, before any token is spent on them."""
    seen: set[str] = set()
    for item in items:
        if item.item_id in seen:
            raise SpecError("two items have the same id", where=f"item {item.item_id}", fix="give each its own id")
        seen.add(item.item_id)
        try:
            grade(item.grader, "", item.expected, item.context)
        except SpecError as error:
            raise SpecError(error.what, where=f"item {item.item_id}", fix=error.fix) from error


def _group_seed(group: Sequence[_Question]) -> int:
    return derived_seed("answer", *(f"{question.item.item_digest}:{question.decode}" for question in group))


def _broken_stream(what: str) -> InfrastructureFailure:
    return InfrastructureFailure(f"the sampler gave {what}", failure="sampler_stream", where="evaluation")
