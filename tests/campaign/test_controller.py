"""The controller: no cell stops another, shared limits hold at every moment, what is finished stays finished."""

from __future__ import annotations

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from rsibench.campaign.cell import Cell, cells
from rsibench.campaign.controller import Controller, Doing, WorstCase
from rsibench.spec.campaign import CampaignSpec, SharedLimits
from rsibench.testing.campaigns import Part, PlayedCells
from rsibench.testing.clock import FakeClock

WORST = WorstCase(Decimal("1.00"), 2.0)
EXITS = st.sampled_from([0, 0, 0, 2, 7, 130])


def _made(count: int) -> tuple[Cell, ...]:
    spec = CampaignSpec.model_validate(
        {"name": "play", "title": "", "researchers": ["r"], "profiles": ["pocket"], "seeds": list(range(count))}
    )
    return cells(spec)


def _controller(made: tuple[Cell, ...], played: PlayedCells, limits: SharedLimits, parallel: int) -> Controller:
    worst = {cell.run_id: WORST for cell in made}
    return Controller(made, worst, {}, limits, played, played, FakeClock(), parallel=parallel)


def _never() -> bool:
    return False


def _quiet(_: Controller) -> None:
    return


@given(
    parts=st.lists(st.builds(Part, st.integers(1, 4), st.decimals("0.10", "1.00", places=2), EXITS), max_size=8),
    limit=st.decimals("0.50", "6.00", places=2),
    parallel=st.integers(1, 3),
)
def test_whatever_cells_do_the_limit_holds_and_each_is_started_at_most_once(
    parts: list[Part], limit: Decimal, parallel: int
) -> None:
    made = _made(max(1, len(parts)))
    parts = parts or [Part(1, Decimal("0.5"))]
    worst = {cell.run_id: WORST for cell in made}
    played = PlayedCells(dict(zip([cell.run_id for cell in made], parts, strict=True)), worst)
    controller = _controller(made, played, SharedLimits(usd=limit), parallel)
    done = controller.drive(_never, _quiet)
    started = [run_id for run_id, _ in played.starts]
    assert played.most_usd <= limit
    assert played.most_at_once <= parallel
    assert len(started) == len(set(started))
    assert done == (len(started) == len(made) and all(part.code == 0 for part in parts))
    for run_id, one in controller.progress.items():
        assert one.doing is not Doing.RUNNING
        assert (one.doing is Doing.NO_ROOM) == (run_id not in started)


def test_without_limits_every_cell_is_started_although_some_fail() -> None:
    made = _made(4)
    parts = {cell.run_id: Part(1, Decimal("0.1"), code=7 if cell.seed == 1 else 0) for cell in made}
    played = PlayedCells(parts, {cell.run_id: WORST for cell in made})
    controller = _controller(made, played, SharedLimits(), 1)
    assert not controller.drive(_never, _quiet)
    doing = [one.doing for one in controller.progress.values()]
    assert doing == [Doing.DONE, Doing.FAILED, Doing.DONE, Doing.DONE]
    assert "it was played so" in controller.progress[made[1].run_id].said


def test_a_second_controller_resumes_what_is_open_and_leaves_what_is_sealed() -> None:
    made = _made(3)
    worst = {cell.run_id: WORST for cell in made}
    parts = {made[0].run_id: Part(1, Decimal("0.1")), made[1].run_id: Part(1, Decimal("0.1"), code=130)}
    played = PlayedCells(parts | {made[2].run_id: Part(1, Decimal("0.1"))}, worst)
    _controller(made, played, SharedLimits(), 1).drive(_never, _quiet)
    again = PlayedCells({cell.run_id: Part(1, Decimal("0.1")) for cell in made}, worst)
    again.records = played.records
    assert _controller(made, again, SharedLimits(), 1).drive(_never, _quiet)
    assert again.starts == [(made[1].run_id, True)]


def test_cancelling_stops_what_runs_and_starts_nothing_more() -> None:
    made = _made(3)
    played = PlayedCells({cell.run_id: Part(99, Decimal("0.1")) for cell in made}, {c.run_id: WORST for c in made})
    controller = _controller(made, played, SharedLimits(), 1)
    looks: list[int] = []

    def cancelled() -> bool:
        looks.append(1)
        return len(looks) > 3

    assert not controller.drive(cancelled, _quiet)
    assert [run_id for run_id, _ in played.starts] == [made[0].run_id]
    assert controller.progress[made[0].run_id].doing is Doing.WAITING


def test_a_cell_that_another_process_has_is_looked_at_again_until_it_is_free() -> None:
    made = _made(1)
    run_id = made[0].run_id
    played = PlayedCells({run_id: Part(1, Decimal("0.1"), code=8)}, {run_id: WORST})
    controller = _controller(made, played, SharedLimits(), 1)
    shown: list[Doing] = []

    def show(now: Controller) -> None:
        shown.append(now.progress[run_id].doing)
        if len(played.starts) == 2:
            played.parts = {run_id: Part(1, Decimal("0.1"))}

    assert controller.drive(_never, show)
    assert len(played.starts) == 3
    assert Doing.ELSEWHERE in shown
