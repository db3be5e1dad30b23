"""Families before and after, and their split by templates."""

from __future__ import annotations

import pytest

from rsibench.report.families import family_changes, novelty_changes, shown_templates
from rsibench.spec.score import FamilyScore
from rsibench.testing.records import MadeUp, made_up_record, made_up_score


@pytest.mark.parametrize("seed", range(5))
def test_seen_and_unseen_add_up_to_the_scores(seed: int) -> None:
    record = made_up_record(MadeUp(seed=seed, broken_share=0.03))
    shown = shown_templates(record.selection_items)
    changes = family_changes(record.result.base_official, record.result.selected_official)
    rows = novelty_changes(shown, record.base_official_trials, record.selected_official_trials, changes)
    assert [row.family for row in rows] == [*(change.family for change in changes), "all"]
    for change, row in zip(changes, rows, strict=False):
        for whole, parts in (
            (change.base, (row.seen.base, row.unseen.base)),
            (change.selected, (row.seen.selected, row.unseen.selected)),
        ):
            assert whole is not None
            for name in ("passed", "counted", "total"):
                assert getattr(whole, name) == sum(getattr(part, name) for part in parts if part is not None)
    totals = rows[-1]
    assert totals.seen.base is not None
    assert totals.unseen.base is not None
    assert totals.seen.base.passed + totals.unseen.base.passed == record.result.base_official.passed


def test_largest_gain_first_and_uncounted_families_last() -> None:
    record = made_up_record()
    base = made_up_score(record.base_official_trials, 0.5)
    dead = FamilyScore(family="aaa", passed=0, counted=0, total=4)
    base = base.model_copy(update={"families": (dead, *base.families)})
    changes = family_changes(base, record.result.selected_official)
    assert changes[-1].family == "aaa"
    assert changes[-1].change is None
    known = [change.change for change in changes if change.change is not None]
    assert known == sorted(known, reverse=True)
