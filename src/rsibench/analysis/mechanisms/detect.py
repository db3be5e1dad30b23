"""Detects the four habits in a recorded run: accurate hypotheses, grounding, aligned data, preserved checkpoints.

Each is a plain function of recorded bytes, so that anybody gets the same figures. Where a habit could be met by chance
the figure has chance beside it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from scipy import stats

from rsibench.analysis.mechanisms.records import AttemptMechanisms, HypothesisFinding, RunMechanisms
from rsibench.analysis.mechanisms.submitted import Submitted, submitted
from rsibench.run.record import RunRecord
from rsibench.run.result import AttemptSummary
from rsibench.spec.score import Score

_EXPECTS = re.compile(r"\b(expect|predict|anticipat)\w*|\bshould (move|rise|improve|gain)", re.IGNORECASE)
_MOVED = 0.0
"""A family moved when its rate rose by more than this."""


def detect(record: RunRecord) -> RunMechanisms:
    """The mechanisms of one sealed run."""
    result = record.result
    rows = {one.attempt: submitted(one.rows) for one in record.submissions if one.attempt is not None}
    scored = [one for one in result.attempts if one.attempt in rows]
    attempts = tuple(_attempt(record, scored[: place + 1], rows, result.base_selection) for place in range(len(scored)))
    tested = [one.hypothesis for one in attempts if one.hypothesis is not None]
    known = [one.grounding for one in attempts if one.grounding is not None]
    best = _best(scored)
    return RunMechanisms(
        run_id=result.run_id,
        attempts=attempts,
        hypothesis_hits=sum(one.hits for one in tested),
        hypothesis_named=sum(len(one.named) for one in tested),
        hypothesis_expected_hits=sum(one.expected_hits for one in tested),
        hypothesis_p_value=_joint_p(tested, len(record.lock.protocol.items.families)),
        grounding=float(np.mean(known)) if known else None,
        alignment=float(np.mean([one.alignment for one in attempts])) if attempts else 0.0,
        preservation=None if not scored else _preserved(result.selected_attempt, best, result.base_selection),
        novelty=float(np.mean([one.new_rows for one in attempts[1:]])) if len(attempts) > 1 else None,
    )


def _attempt(
    record: RunRecord, so_far: Sequence[AttemptSummary], rows: dict[int, Submitted], base: Score
) -> AttemptMechanisms:
    """The last of `so_far` against the ones before it."""
    mine, before = so_far[-1], so_far[:-1]
    data = rows[mine.attempt]
    earlier = frozenset().union(*(rows[one.attempt].contents for one in before))
    built_on = _nearest(data, before, rows)
    fed_back = before[-1].score if before and before[-1].score is not None else base
    best = _best(before)
    reference = next((one.score for one in before if one.attempt == built_on), best.score if best else base) or base
    last = before[-1] if before else None
    return AttemptMechanisms(
        attempt=mine.attempt,
        built_on=built_on,
        hypothesis=_hypothesis(mine, reference, record.lock.protocol.items.families),
        grounding=_grounding(data, fed_back) if before else None,
        alignment=_alignment(data, with_system=record.lock.protocol.system_prompt is not None),
        new_rows=len(data.contents - earlier) / max(1, len(data.contents)),
        mix_change=_mix_change(data, rows[last.attempt]) if last else None,
        settings_changed=_settings(mine) != _settings(last) if last else None,
        repaired_from_best=_repaired(data, before, rows),
    )


def predicted(hypothesis: str, families: Sequence[str]) -> tuple[str, ...]:
    """Families that a hypothesis expects to move: those named in lines that speak of an expectation, else anywhere."""
    lines = [line for line in hypothesis.splitlines() if _EXPECTS.search(line)]
    text = "\n".join(lines) if any(_names(line, families) for line in lines) else hypothesis
    return _names(text, families)


def _names(text: str, families: Sequence[str]) -> tuple[str, ...]:
    return tuple(name for name in families if re.search(rf"\b{re.escape(name)}\b", text, re.IGNORECASE))


def _hypothesis(mine: AttemptSummary, reference: Score, families: Sequence[str]) -> HypothesisFinding | None:
    """Named families against those that moved up; None without a score or where it names none, or all of them."""
    if mine.score is None:
        return None
    named = predicted(mine.hypothesis, families)
    if not named or len(named) == len(families):
        return None
    before, after = _rates(reference), _rates(mine.score)
    moved = tuple(name for name in families if after.get(name, 0.0) - before.get(name, 0.0) > _MOVED)
    hits = len(set(named) & set(moved))
    chance = stats.hypergeom(len(families), len(moved), len(named))
    return HypothesisFinding(
        named=named,
        moved=moved,
        hits=hits,
        expected_hits=len(named) * len(moved) / len(families),
        p_value=float(chance.sf(hits - 1)),
    )


def _joint_p(tested: Sequence[HypothesisFinding], families: int) -> float | None:
    """Upper tail of the sum of independent hypergeometric hits, exactly by convolution."""
    if not tested:
        return None
    total = np.ones(1)
    for one in tested:
        counts = np.arange(len(one.named) + 1)
        total = np.convolve(total, stats.hypergeom(families, len(one.moved), len(one.named)).pmf(counts))
    hits = sum(one.hits for one in tested)
    return float(min(1.0, total[hits:].sum()))


def _grounding(data: Submitted, fed_back: Score) -> float | None:
    """Spearman's correlation over families of row shares with failure rates; None where either does not vary."""
    names = [one.family for one in fed_back.families]
    shares = [data.families.get(name, 0) for name in names]
    failures = [1 - _rates(fed_back)[name] for name in names]
    if len(set(shares)) < 2 or len(set(failures)) < 2:
        return None
    return float(stats.spearmanr(shares, failures).statistic)


def _alignment(data: Submitted, *, with_system: bool) -> float:
    """Product of three shares: one user turn, the system prompt as evaluated, an answer where it is read."""
    system = data.with_system if with_system else 1 - data.with_system
    return data.single_turn * system * data.answer_formed


def _nearest(data: Submitted, before: Sequence[AttemptSummary], rows: dict[int, Submitted]) -> int | None:
    """The earlier attempt that shares most rows, the latest of equals."""
    shared = [(len(data.contents & rows[one.attempt].contents), one.attempt) for one in before]
    most = max(shared, default=(0, 0))
    return most[1] if most[0] > 0 else None


def _repaired(data: Submitted, before: Sequence[AttemptSummary], rows: dict[int, Submitted]) -> bool | None:
    best = _best(before)
    if best is None or before[-1].attempt == best.attempt:
        return None
    with_best = len(data.contents & rows[best.attempt].contents)
    return with_best > len(data.contents & rows[before[-1].attempt].contents)


def _best(attempts: Sequence[AttemptSummary]) -> AttemptSummary | None:
    """The best selection score, the earliest of equals."""
    known = [one for one in attempts if one.score is not None and one.score.rate is not None]
    return max(known, key=lambda one: (_rate(one.score), -one.attempt), default=None)


def _preserved(selected: int | None, best: AttemptSummary | None, base: Score) -> bool:
    if best is None or _rate(best.score) < _rate(base):
        return selected is None
    return selected == best.attempt or (selected is None and _rate(best.score) == _rate(base))


def _mix_change(data: Submitted, before: Submitted) -> float:
    """Total variation distance of the families' shares."""
    names = data.families.keys() | before.families.keys()
    return (
        sum(
            abs(data.families.get(name, 0) / max(1, data.rows) - before.families.get(name, 0) / max(1, before.rows))
            for name in names
        )
        / 2
    )


def _settings(one: AttemptSummary) -> tuple[float, int, int]:
    return one.learning_rate, one.epochs, one.lora_rank


def _rates(score: Score) -> dict[str, float]:
    return {one.family: one.passed / one.counted if one.counted else 0.0 for one in score.families}


def _rate(score: Score | None) -> float:
    return score.rate if score is not None and score.rate is not None else -1.0
