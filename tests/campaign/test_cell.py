"""The matrix: every combination once, under a name of its own, whole seeds first."""

from __future__ import annotations

import pytest

from rsibench.campaign.cell import cells
from rsibench.errors import SpecError
from rsibench.spec.campaign import CampaignSpec
from rsibench.spec.catalogue import campaign_names, load_campaign
from rsibench.spec.load import parse_model


def _spec(text: str) -> CampaignSpec:
    return parse_model(CampaignSpec, text, name="campaign.yaml")


MATRIX = """
name: m
title: All of them
researchers: [feedback, no-op]
profiles: [pocket, {profile: pocket, quick: true}]
seeds: [3, 1]
budgets: [{name: whole}, {name: half, change: {attempts: 2}}]
"""


def test_every_combination_is_one_cell_with_its_own_name() -> None:
    made = cells(_spec(MATRIX))
    keys = {(one.researcher, one.profile.label, one.seed, one.budget.name) for one in made}
    assert len(made) == len(keys) == len({one.run_id for one in made}) == 2 * 2 * 2 * 2


def test_a_seed_is_finished_by_all_before_the_next_one_begins() -> None:
    seeds = [one.seed for one in cells(_spec(MATRIX))]
    assert seeds == sorted(seeds, key=[3, 1].index)


def test_the_same_file_gives_the_same_names() -> None:
    assert cells(_spec(MATRIX)) == cells(_spec(MATRIX))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ("researchers: [feedback, feedback]", "researchers given twice: feedback"),
        ("seeds: [1, 1]", "seeds given twice: 1"),
        ("profiles: [pocket, pocket]", "profiles given twice: pocket"),
        ("budgets: [{name: a}, {name: a, change: {attempts: 1}}]", "budgets given twice: a"),
        ("profiles: [./mine/other.yaml]", "needs a `name`"),
        ("researchers: []", "researchers"),
        ("seeds: [-1]", "seeds"),
        ("colour: blue", "colour"),
        ("parallel: 0", "parallel"),
    ],
)
def test_a_file_that_cannot_be_is_refused_with_its_reason(change: str, says: str) -> None:
    key = change.split(":", maxsplit=1)[0]
    kept = [line for line in MATRIX.strip().splitlines() if not line.startswith(f"{key}:")]
    with pytest.raises(SpecError, match=says):
        _spec("\n".join([*kept, change]))


def test_names_that_only_differ_in_where_their_dashes_stand_are_refused() -> None:
    spec = _spec("""
name: m
title: Alike
researchers: [a-b, a]
profiles: [{profile: pocket, name: c}, {profile: pocket, name: b-c}]
seeds: [0]
""")
    with pytest.raises(SpecError, match="two cells would be the run m-a-b-c-s0"):
        cells(spec)


@pytest.mark.parametrize("name", campaign_names())
def test_shipped_campaigns_have_cells(name: str) -> None:
    spec = load_campaign(name)
    assert spec.name == name
    assert len(cells(spec)) == len(spec.researchers) * len(spec.profiles) * len(spec.seeds) * len(spec.budgets)
