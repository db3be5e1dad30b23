"""Findings over runs whose truth is known: skill is found, chance is not, and figures agree with the tables."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from rsibench.analysis.findings.findings import findings
from rsibench.analysis.findings.records import ProtocolFindings, ResearcherFindings
from rsibench.analysis.frames.collect import collect, gathered
from rsibench.analysis.frames.schema import Frames, empty
from rsibench.run.execute import execute
from rsibench.testing.made_frames import MadeResearcher, joined, made_frames
from rsibench.testing.runs import TinyRuns

SKILLED = MadeResearcher("skilled", skill=0.15)
LEARNER = MadeResearcher("learner", drift=0.06, noise=0.0)
CHANCE = MadeResearcher("chance")


def _of(protocol: ProtocolFindings, name: str) -> ResearcherFindings:
    (found,) = (one for one in protocol.researchers if one.researcher == name)
    return found


@pytest.fixture(scope="module")
def made() -> Frames:
    return made_frames([SKILLED, LEARNER, CHANCE], seeds=12, tasks=120, seed=3)


def test_skill_is_told_apart_from_base_and_chance_is_not(made: Frames) -> None:
    (protocol,) = findings(made, "made").protocols
    skilled, chance = _of(protocol, "skilled"), _of(protocol, "chance")
    assert skilled.gain is not None
    assert skilled.gain.p_value is not None
    assert skilled.gain.p_value < 0.001
    assert chance.gain is not None
    assert abs(chance.gain.value) < 0.06
    pair = next(one for one in protocol.pairs if {one.first, one.second} == {"skilled", "chance"})
    assert pair.separable
    assert (pair.improvement > 0.9) == (pair.first == "skilled")
    ranks = {one.researcher: (one.best, one.worst) for one in protocol.ranks}
    assert ranks["chance"] == (3, 3)


def test_learning_from_feedback_shows_in_the_order_of_attempts_and_skill_alone_does_not(made: Frames) -> None:
    (protocol,) = findings(made, "made").protocols
    for name, unusual in (("learner", True), ("skilled", False)):
        regression = next(one for one in _of(protocol, name).process if one.rate == "post-peak regression")
        discovery = next(one for one in _of(protocol, name).process if one.rate == "discovery")
        tested = [null.p_value for rate in (regression, discovery) for null in rate.nulls]
        assert (min(tested) < 0.01) == unusual


def test_figures_are_those_of_the_tables(made: Frames) -> None:
    (protocol,) = findings(made, "made").protocols
    for one in protocol.researchers:
        runs = made.runs.filter(pl.col("researcher") == one.researcher)
        assert one.official == pytest.approx(runs["official"].mean())
        assert one.gain is not None
        assert one.gain.value == pytest.approx(runs["difference"].mean())
        assert one.usd == pytest.approx(runs["usd"].mean())
        assert one.selection == pytest.approx(runs["selected_selection"].mean())
        better_base = (runs["base_selection"] - runs["selected_selection"]).clip(lower_bound=0)
        assert one.regret == pytest.approx(better_base.mean())  # every made run selects its best attempt, never base
        assert len(one.runs) == runs.height
        assert set(one.areas) == {"dollars", "hours", "training tokens"}
        first = made.attempts.filter(pl.col("attempt") == 1, pl.col("run_id").is_in(runs["run_id"].implode()))
        assert one.over_first is not None
        over = runs.sort("run_id")["selected_selection"] - first.sort("run_id")["score"]
        assert one.over_first.value == pytest.approx(over.mean())
        assert one.curve[0].mean == pytest.approx(runs["base_selection"].mean())


def test_the_luck_of_the_choice_is_taken_out(made: Frames) -> None:
    chance = _of(findings(made, "made").protocols[0], "chance")
    assert chance.selection is not None
    assert chance.corrected is not None
    assert chance.corrected < chance.selection


def test_protocols_are_never_compared(made: Frames) -> None:
    other = made_frames([SKILLED], seeds=3, tasks=120, seed=4, digest="e" * 64, profile="other")
    found = findings(joined(made, other), "two")
    assert [len(one.researchers) for one in found.protocols] == [3, 1]
    assert found.protocols[1].pairs == ()
    names = {name for pair in found.protocols[0].pairs for name in (pair.first, pair.second)}
    assert names == {"skilled", "learner", "chance"}
    # one researcher is on both profiles, so that one has aggregates
    assert [(one.researcher, one.profiles) for one in found.aggregates] == [("skilled", ("made", "other"))]


def test_the_same_runs_and_seed_give_the_same_findings(made: Frames) -> None:
    shuffled = Frames(*(table.sample(fraction=1.0, shuffle=True, seed=1) for table in made))
    assert findings(made, "a", seed=5) == findings(shuffled, "a", seed=5)
    assert findings(made, "a", seed=5) != findings(made, "a", seed=6)


def test_one_run_has_no_spread_between_runs_and_no_detectable_difference() -> None:
    single = made_frames([SKILLED, CHANCE], seeds=1)
    (protocol,) = findings(single, "one").protocols
    assert protocol.detectable is None
    skilled = _of(protocol, "skilled")
    assert skilled.reliability is not None
    assert skilled.reliability.spread is None
    assert skilled.areas["dollars"].low is None


def test_nothing_recorded_is_nothing_to_say() -> None:
    with pytest.raises(ValueError, match="no runs"):
        findings(empty(), "none")


def test_real_journals_with_a_run_that_is_still_open(tmp_path_factory: pytest.TempPathFactory) -> None:
    runs = TinyRuns(tmp_path_factory.mktemp("found"))
    with runs.open(runs.plan("one-shot", run_id="done-run")) as context:
        result = execute(context)
    with runs.open(runs.plan("one-shot", run_id="open-run", seed=1)):
        pass
    (protocol,) = findings(gathered(collect(runs.home)), "real").protocols
    (one,) = protocol.researchers
    assert one.open_runs == 1
    assert one.official == result.selected_official.rate
    assert protocol.base_official == result.base_official.rate


def test_trials_that_do_not_count_leave_the_comparison(made: Frames) -> None:
    """A task of which nothing counted in one run is left out for all, never taken as failed."""
    broken = made.trials.with_columns(
        counts=~((pl.col("split") == "official") & (pl.col("item_id") == "official-00000") & (pl.col("attempt") > 0)),
    )
    (protocol,) = findings(made._replace(trials=broken), "broken").protocols
    for one in protocol.researchers:
        assert one.gain is not None
        assert one.gain.of == 119
        assert one.official is not None
        assert np.isfinite(one.official)
