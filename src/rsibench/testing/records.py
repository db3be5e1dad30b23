"""Made-up runs that hang together: scores are counted from their trials, families and templates are the items' own.

For tests and demonstrations of what shows runs. Nothing in them was trained or measured; the numbers come from a seeded
generator.
"""

from __future__ import annotations

import json
import math
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from rsibench.ids import derived_seed, sha256_bytes
from rsibench.outcomes import TRIAL_RULES, FinishReason, TrialOutcome
from rsibench.run.record import RecordedEvent, RecordedSubmission, RunRecord
from rsibench.run.result import AttemptSummary, Difference, RunResult
from rsibench.spec.catalogue import load_profile, resolve_pricing
from rsibench.spec.item import Item, Split, Trial, Verdict
from rsibench.spec.lock import Code, Lock, Machine, Protocol, RendererFacts, RunPlan, SplitDigests
from rsibench.spec.score import FamilyScore, Score
from rsibench.spec.student import StudentDigest
from rsibench.units import Account

FAMILIES = ("arithmetic", "dates", "json-edit", "letters", "sequences", "sql", "unit-prices", "word-order")
NEAR_NOOP, FAILED = 2, 5
"""The attempt whose adapter hardly moved, and the one that has no score because infrastructure failed."""
_TEMPLATES = ("plain", "story", "terse")
_BEGAN = datetime(2026, 11, 30, 20, 15, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class MadeUp:
    """What a made-up run is like. `texts` replaces texts by name: prompt, output, hypothesis, row, problem …"""

    seed: int = 1
    families: tuple[str, ...] = FAMILIES
    attempts: int = 4
    selected: int | None = 4
    gain: float = 0.45
    broken_share: float = 0.0
    hidden_templates: bool = True
    selection_per_family: int = 24
    official_per_family: int = 64
    refused: int = 2
    texts: Mapping[str, str] | None = None

    def text(self, name: str, otherwise: str) -> str:
        """The replacement called `name`, or `otherwise`."""
        return (self.texts or {}).get(name, otherwise)


def made_up_record(wish: MadeUp | None = None) -> RunRecord:
    """A sealed run as `wish` describes it; the same wish gives the same record."""
    wish = wish or MadeUp()
    dice = random.Random(derived_seed("made-up-record", wish.seed))
    selection, official = (made_up_items(wish, split) for split in Split)
    skill = {family: dice.uniform(0.05, 0.5) for family in wish.families}
    gains = {family: dice.uniform(wish.gain - 0.25, wish.gain + 0.25) for family in wish.families}
    growth = [0.0] + [0.0 if number == NEAR_NOOP else dice.uniform(0.2, 1.0) for number in range(1, wish.attempts + 1)]

    def trials(items: Sequence[Item], attempt: int) -> tuple[Trial, ...]:
        rates = {name: min(0.97, max(0.0, skill[name] + gains[name] * growth[attempt])) for name in skill}
        return tuple(_trial(item, rates[item.family], wish, dice) for item in items)

    base_selection, base_official = trials(selection, 0), trials(official, 0)
    by_attempt = {number: trials(selection, number) for number in range(1, wish.attempts + 1)}
    after = base_official if wish.selected is None else trials(official, wish.selected)
    gate = 0.95
    attempts = tuple(_attempt(number, made_up_score(by_attempt[number], gate), wish, dice) for number in by_attempt)
    lock = _lock(wish, selection, official)
    result = RunResult(
        run_id="pocket-feedback-20261130-201500-3f9a",
        profile="pocket",
        profile_version="1",
        variant="full",
        protocol_digest=lock.protocol_digest,
        researcher=wish.text("researcher", "feedback"),
        seed=wish.seed,
        labels=("unisolated", *([wish.texts["label"]] if wish.texts and "label" in wish.texts else [])),
        selected_attempt=wish.selected,
        selection_rule="best-selection-score-earliest" if wish.selected == _best(attempts) else "explicit",
        closed_because=wish.text("closed", "budget"),
        base_selection=made_up_score(base_selection, gate),
        base_official=made_up_score(base_official, gate),
        selected_official=made_up_score(after, gate),
        official_difference=_difference(base_official, after, gate),
        attempts=attempts,
        refused_submissions=wish.refused,
        replicated_submissions=1,
        incidents=tuple([wish.texts["incident"]] if wish.texts and "incident" in wish.texts else []),
        limits=lock.protocol.budget.limits(),
        spent={
            Account.TRAINING: sum(attempt.training_micro_usd for attempt in attempts),
            Account.SAMPLING: sum(attempt.sampling_micro_usd for attempt in attempts),
            Account.RESEARCHER: 0,
            Account.ROLLOUT: 0,
            Account.ATTEMPTS: wish.attempts,
        },
        price_table=lock.protocol.pricing.table,
        price_model=lock.protocol.pricing.model,
        price_date=lock.protocol.pricing.dated.isoformat(),
        shadow_prices=True,
    )
    return RunRecord(
        lock=lock,
        result=result,
        journal_head=sha256_bytes(f"head {wish.seed}".encode()),
        selection_items=selection,
        official_items=official,
        base_selection_trials=base_selection,
        base_official_trials=base_official,
        selected_official_trials=after,
        attempt_trials=by_attempt,
        submissions=_submissions(wish),
        events=_events(wish),
        research_seconds=461.5,
        total_seconds=603.2,
    )


def made_up_items(wish: MadeUp, split: Split) -> tuple[Item, ...]:
    """Items of a split; a third of the official ones use a template that the selection split lacks, if so wished."""
    per_family = wish.selection_per_family if split is Split.SELECTION else wish.official_per_family
    hide = wish.hidden_templates and split is Split.SELECTION
    templates = _TEMPLATES[:2] if hide else _TEMPLATES
    return tuple(
        Item(
            item_id=f"{split.value}-{family}-{number:04d}",
            family=family,
            template=wish.text("template", "") + templates[number % len(templates)],
            prompt=wish.text("prompt", f"A question about {family}: what is {number} plus {number + 7}?"),
            grader="integer",
            expected=2 * number + 7,
        )
        for family in wish.families
        for number in range(per_family)
    )


def made_up_score(trials: Sequence[Trial], coverage_gate: float) -> Score:
    """A score that is counted from the trials; its interval is the plain normal one, cut to 0 and 1."""
    outcomes = Counter(trial.verdict.outcome for trial in trials)
    total = len(trials)
    counted = sum(number for outcome, number in outcomes.items() if TRIAL_RULES[outcome].counts)
    passed = outcomes[TrialOutcome.PASS]
    coverage = counted / total if total else 0.0
    rate = passed / counted if counted and coverage >= coverage_gate else None
    half = 1.96 * (rate * (1 - rate) / counted) ** 0.5 if rate is not None else 0.0
    names = list(dict.fromkeys(trial.family for trial in trials))
    return Score(
        rate=rate,
        passed=passed,
        counted=counted,
        total=total,
        interval_low=None if rate is None else max(0.0, rate - half),
        interval_high=None if rate is None else min(1.0, rate + half),
        bound_low=passed / total if total else 0.0,
        bound_high=(passed + total - counted) / total if total else 1.0,
        coverage=coverage,
        outcomes={outcome.value: number for outcome, number in outcomes.items()},
        families=tuple(_family([trial for trial in trials if trial.family == name], name) for name in names),
        prompt_tokens=sum(trial.prompt_tokens for trial in trials),
        output_tokens=sum(trial.output_tokens for trial in trials),
    )


def _family(trials: Sequence[Trial], name: str) -> FamilyScore:
    outcomes = [trial.verdict.outcome for trial in trials]
    return FamilyScore(
        family=name,
        passed=outcomes.count(TrialOutcome.PASS),
        counted=sum(TRIAL_RULES[outcome].counts for outcome in outcomes),
        total=len(outcomes),
    )


def _trial(item: Item, rate: float, wish: MadeUp, dice: random.Random) -> Trial:
    right = dice.random() < rate
    outcome = (
        TrialOutcome.PASS if right else dice.choice((TrialOutcome.FAIL, TrialOutcome.FAIL, TrialOutcome.NO_ANSWER))
    )
    if dice.random() < wish.broken_share:
        outcome = TrialOutcome.INFRA_ERROR
    answer = str(item.expected) if right else str(dice.randrange(1000))
    read = None if outcome in (TrialOutcome.NO_ANSWER, TrialOutcome.INFRA_ERROR) else wish.text("extracted", answer)
    return Trial(
        item_id=item.item_id,
        item_digest=item.item_digest,
        family=item.family,
        template=item.template,
        decode=0,
        prompt_digest=sha256_bytes(item.prompt.encode("utf-8", "surrogatepass")),
        output=wish.text("output", f"First I take the number.\nThen I add 7.\nAnswer: {answer}"),
        finish_reason=FinishReason.STOP,
        prompt_tokens=dice.randrange(30, 60),
        output_tokens=dice.randrange(8, 90),
        verdict=Verdict(outcome=outcome, extracted=read, reason=wish.text("reason", "compared as whole numbers")),
    )


def _best(attempts: Sequence[AttemptSummary]) -> int | None:
    rates = {one.attempt: one.score.rate for one in attempts if one.score is not None and one.score.rate is not None}
    return max(rates, key=lambda number: (rates[number], -number), default=None)


def _difference(base: Sequence[Trial], selected: Sequence[Trial], gate: float) -> Difference | None:
    """The mean paired difference with a normal interval; None when either side is below the gate."""
    if made_up_score(base, gate).rate is None or made_up_score(selected, gate).rate is None:
        return None
    pairs = [
        (after.verdict.outcome is TrialOutcome.PASS) - (before.verdict.outcome is TrialOutcome.PASS)
        for before, after in zip(base, selected, strict=True)
    ]
    mean = sum(pairs) / len(pairs)
    half = 1.96 * (sum((value - mean) ** 2 for value in pairs) / len(pairs) ** 2) ** 0.5
    return Difference(
        mean=mean,
        interval_low=mean - half,
        interval_high=mean + half,
        p_value=1.0 if half == 0 else math.erfc(abs(mean) / (half / 1.96) / math.sqrt(2)),
        items=len(pairs),
        method="made up",
    )


def _attempt(number: int, score: Score, wish: MadeUp, dice: random.Random) -> AttemptSummary:
    tokens = dice.randrange(30_000, 160_000)
    failed = number == FAILED
    return AttemptSummary(
        attempt=number,
        stage=wish.text("stage", "failed" if failed else "scored"),
        rows=dice.randrange(200, 2_000),
        train_tokens=tokens,
        steps=tokens // 1_024,
        learning_rate=dice.choice((0.0003, 0.001, 0.002)),
        epochs=dice.randrange(1, 4),
        lora_rank=dice.choice((8, 16, 32)),
        adapter_sha256=sha256_bytes(f"adapter {wish.seed} {number}".encode()),
        delta_norm=0.011 if number == NEAR_NOOP else dice.uniform(1.0, 4.0),
        near_noop=number == NEAR_NOOP,
        score=None if failed else score,
        training_micro_usd=tokens * 2 // 5,
        sampling_micro_usd=dice.randrange(3_000, 9_000),
        hypothesis=wish.text("hypothesis", f"Gap: {wish.families[0]}.\nData: worked steps, {number} styles."),
    )


def _submissions(wish: MadeUp) -> tuple[RecordedSubmission, ...]:
    messages = [
        {"role": "system", "content": "Answer with steps."},
        {"role": "user", "content": "What is 3 plus 10?"},
        {"role": "assistant", "content": "3 plus 10 is 13.\nAnswer: 13"},
    ]
    row = wish.text("row", json.dumps({"messages": messages, "family": "arithmetic"}))
    problem = wish.text("problem", "train_messages.jsonl:7: no assistant turn; add one (no_assistant)")
    count = wish.attempts + wish.refused
    return tuple(
        RecordedSubmission(
            submission=number,
            attempt=number if number <= wish.attempts else None,
            rows="\n".join([row] * 5),
            config=wish.text("config", '{"learning_rate": 0.001, "epochs": 2}'),
            hypothesis=wish.text("hypothesis", "Worked steps should help."),
            problems=() if number <= wish.attempts else (problem, problem),
        )
        for number in range(1, count + 1)
    )


def _events(wish: MadeUp) -> tuple[RecordedEvent, ...]:
    kinds = ("run.planned", "budget.opened", "base.scored", "research.started", "attempt.scored", "run.sealed")
    return tuple(
        RecordedEvent(
            seq=number,
            at=_BEGAN + timedelta(seconds=31 * number),
            elapsed_ms=31_000 * number,
            kind=kind,
            text=wish.text("event", f"what happened in {kind}"),
        )
        for number, kind in enumerate(kinds, start=1)
    )


def _lock(wish: MadeUp, selection: Sequence[Item], official: Sequence[Item]) -> Lock:
    profile = load_profile("pocket")
    protocol = Protocol(
        profile=profile.name,
        profile_version=profile.version,
        variant=profile.variant,
        student=StudentDigest(
            name="smollm2-135m-instruct",
            artefact_sha256=sha256_bytes(b"artefact"),
            weights_sha256=sha256_bytes(b"weights"),
            tokenizer_sha256=sha256_bytes(b"tokenizer"),
            config_sha256=sha256_bytes(b"config"),
        ),
        renderer=RendererFacts(name="chatml", version="1", stop_token_ids=(2,)),
        recipe=profile.recipe,
        trainer="local-torch-peft-1",
        sampler="local-torch-1",
        decoding=profile.decoding,
        system_prompt=profile.system_prompt,
        items=profile.items,
        selection=_digests(selection),
        official=_digests(official),
        feedback=profile.feedback,
        data=profile.data,
        coverage_gate=0.95,
        budget=profile.budget,
        pricing=resolve_pricing(profile.prices),
        brief_sha256=sha256_bytes(b"brief"),
        early_stop_message="Budget is left.",
    )
    return Lock(
        protocol=protocol,
        protocol_digest=protocol.digest(),
        run=RunPlan(
            run_id="pocket-feedback-20261130-201500-3f9a",
            researcher=wish.text("researcher", "feedback"),
            seed=wish.seed,
            isolation="unisolated",
            planned_at=_BEGAN,
            profile_source="pocket",
        ),
        machine=Machine(
            platform="Linux-x86_64",
            processor=wish.text("processor", "a processor"),
            cpu_capability="avx2",
            cpu_threads=2,
            accelerator=None,
            python="3.12.3",
            libraries={"torch": "2.14.1", "numpy": "2.4.0"},
        ),
        code=Code(version="0.1.0", commit="0" * 40, dirty=True),
    )


def _digests(items: Sequence[Item]) -> SplitDigests:
    return SplitDigests(
        item_ids=tuple(item.item_id for item in items), item_digests=tuple(item.item_digest for item in items)
    )
