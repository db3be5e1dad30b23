"""The plan: what is known, what is unknown and what stands in the way, before anything is started."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import pytest

from rsibench.campaign.cell import Cell, cells
from rsibench.campaign.controller import Controller, Doing, WorstCase
from rsibench.campaign.folder import CampaignFolder
from rsibench.campaign.plan import CampaignPlan, plan_campaign
from rsibench.campaign.recorded import CellStage, open_recorded
from rsibench.cli.main import main
from rsibench.errors import EnvironmentFault, LabError, SpecError
from rsibench.ports.clock import SystemClock
from rsibench.run.plan import Planned
from rsibench.spec.campaign import CampaignSpec
from rsibench.spec.catalogue import load_campaign
from rsibench.testing.campaigns import TinyCells
from rsibench.testing.runs import TinyRuns


def _tiny(researchers: list[str], *, seeds: tuple[int, ...] = (0,)) -> CampaignSpec:
    return CampaignSpec.model_validate(
        {"name": "tiny", "title": "Tiny", "researchers": researchers, "profiles": ["tiny"], "seeds": list(seeds)}
    )


def _plan(spec: CampaignSpec, runs: TinyRuns) -> CampaignPlan:
    def plan_cell(cell: Cell) -> Planned:
        return runs.plan(cell.researcher, run_id=cell.run_id, seed=cell.seed)

    with open_recorded(runs.home, SystemClock()) as recorded:
        return plan_campaign(spec, plan_cell, recorded)


def test_a_plan_starts_nothing_and_knows_the_worst_case(tmp_path: Path) -> None:
    runs = TinyRuns(tmp_path)
    plan = _plan(_tiny(["one-shot", "no-op"], seeds=(0, 1)), runs)
    assert not runs.home.root.exists()
    budget = runs.plan("no-op", run_id="other").lock.protocol.budget
    a_run = budget.training_usd + budget.sampling_usd + budget.researcher_usd + budget.rollout_usd
    assert plan.worst_usd == 4 * a_run
    assert plan.worst_hours == pytest.approx(4 * budget.wall_seconds / 3600)
    assert plan.expected_usd is None
    assert {cell.protocol_digest for cell in plan.cells} == {runs.plan("x", run_id="abc").lock.protocol_digest}
    assert plan.power[0].official_tasks == 27
    assert plan.obstacles == ()


def test_cells_run_to_their_seals_and_the_next_plan_expects_what_they_cost(tmp_path: Path) -> None:
    runs = TinyRuns(tmp_path)
    spec = _tiny(["one-shot", "nobody", "no-op"])
    plan = _plan(spec, runs)
    worst = {c.run_id: WorstCase(c.worst_usd or Decimal(0), c.worst_hours or 0.0) for c in plan.cells}
    with open_recorded(runs.home, SystemClock(), make=True) as recorded:
        controller = Controller(
            cells(spec), worst, {}, spec.limits, TinyCells(runs), recorded, SystemClock(), parallel=1
        )
        done = controller.drive(lambda: False, lambda _: None)
        stands = recorded.of(cell.run_id for cell in cells(spec))
    assert not done
    assert [one.doing for one in controller.progress.values()] == [Doing.DONE, Doing.FAILED, Doing.DONE]
    assert "no researcher 'nobody'" in controller.progress["tiny-nobody-s0"].said
    assert stands["tiny-one-shot-s0"].stage is stands["tiny-no-op-s0"].stage is CellStage.SEALED
    again = _plan(spec, runs)
    expected = {cell.researcher: cell.expected_usd for cell in again.cells}
    assert expected["one-shot"] == stands["tiny-one-shot-s0"].spent_usd > 0
    assert again.power[0].rate_from.endswith("of 2 finished cells")


def test_published_matrix_is_planned_from_its_outlines_with_sums() -> None:
    spec = load_campaign("paper")

    def nothing_here(cell: Cell) -> Planned:
        raise EnvironmentFault("not installed", where=cell.profile.profile)

    with open_recorded(TinyRuns(Path("/nonexistent")).home, SystemClock()) as recorded:
        plan = plan_campaign(spec, nothing_here, recorded)
    assert len(plan.cells) == 24
    assert plan.worst_hours == 24 * 16
    assert plan.expected_usd is not None
    assert plan.obstacles
    assert {one.profile: one.official_tasks for one in plan.power}["aime-2026"] == 30


def test_a_profile_without_outline_must_exist() -> None:
    spec = CampaignSpec.model_validate(
        {"name": "abc", "title": "", "researchers": ["no-op"], "profiles": ["nowhere"], "seeds": [0]}
    )

    def unknown(cell: Cell) -> Planned:
        raise SpecError(f"there is no {cell.profile.profile}")

    with (
        open_recorded(TinyRuns(Path("/nonexistent")).home, SystemClock()) as recorded,
        pytest.raises(SpecError, match="nowhere"),
    ):
        plan_campaign(spec, unknown, recorded)


def test_a_name_stands_for_one_matrix(tmp_path: Path) -> None:
    folder = CampaignFolder(TinyRuns(tmp_path).home, "tiny")
    folder.begin(_tiny(["no-op"]))
    folder.begin(_tiny(["no-op"]).model_copy(update={"parallel": 3, "title": "Other words"}))
    with pytest.raises(SpecError, match="other cells or limits"):
        folder.begin(_tiny(["no-op", "one-shot"]))


def test_only_one_process_drives_a_campaign(tmp_path: Path) -> None:
    home = TinyRuns(tmp_path).home
    folder = CampaignFolder(home, "tiny")
    folder.begin(_tiny(["no-op"]))
    assert not folder.is_driven
    with folder.driven():
        assert CampaignFolder(home, "tiny").is_driven
        with pytest.raises(LabError, match="drives it"), CampaignFolder(home, "tiny").driven():
            pass


@pytest.mark.parametrize("name", ["paper", "same-family"])
def test_shipped_matrices_are_planned_from_the_command_line_and_refused_where_they_cannot_run(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("RSIBENCH_HOME", str(tmp_path / "runs"))
    monkeypatch.setenv("RSIBENCH_CACHE", str(tmp_path / "cache"))
    with pytest.raises(SystemExit) as planned:
        main(["campaign", "plan", name, "--json"])
    document = json.loads(capsys.readouterr().out)
    assert planned.value.code == 0
    assert all(cell["obstacle"] for cell in document["cells"])
    assert Decimal(document["worst_usd"]) > 10_000
    with pytest.raises(SystemExit) as refused:
        main(["campaign", "run", name])
    assert refused.value.code == 3
    assert not (tmp_path / "runs").exists()
