"""`rsibench simulate`: what researchers of set skill, noise and stopping would show, true and apparent."""

from __future__ import annotations

import time
from pathlib import Path

from pydantic import ValidationError
from rich.table import Table

from rsibench.analysis.researcher_model import LONGEST, FixedAttempts, Patience, ProfileModel, ResearcherModel
from rsibench.analysis.simulate import simulate as draw
from rsibench.analysis.simulation_summary import SimulationSummary, summarise
from rsibench.cli.output import console, print_json
from rsibench.errors import SpecError
from rsibench.spec.frozen import Frozen
from rsibench.spec.load import load_model

MOST_RUNS = 10_000_000


class SimulationSpec(Frozen):
    """A file of `simulate`: researchers as numbers, and the profile they work on."""

    profile: ProfileModel
    researchers: tuple[ResearcherModel, ...]


def simulate(
    file: Path | None = None,
    *,
    base: float = 0.3,
    selection: int = 100,
    official: int = 100,
    decodes: int = 1,
    attempts: int = 4,
    noise: float = 0.03,
    runs: int = 100_000,
    seed: int = 0,
    json: bool = False,
) -> None:
    """Simulate researchers over a profile; without a file a few of standard skill beside chance.

    Parameters
    ----------
    file
        A YAML file with `profile` and `researchers`; the other options that describe them are then not used.
    base
        The base student's true score.
    selection
        Tasks of the selection split.
    official
        Tasks of the official split.
    decodes
        Decodes a task.
    attempts
        Attempts a run.
    noise
        Standard deviation of the true score between attempts.
    runs
        Runs to draw for each researcher.
    seed
        The same seed gives the same figures.
    json
        Print the summaries as JSON.
    """
    if not 1 <= runs <= MOST_RUNS:
        raise SpecError(f"{runs} runs cannot be simulated", where="--runs", fix=f"use 1 to {MOST_RUNS:,}")
    spec = load_model(SimulationSpec, file) if file else _standard(base, selection, official, decodes, attempts, noise)
    started = time.monotonic()
    found = {one.name: summarise(draw(one, spec.profile, runs, seed)) for one in spec.researchers}
    seconds = time.monotonic() - started
    if json:
        print_json(
            {
                "profile": spec.profile.model_dump(mode="json"),
                "researchers": [one.model_dump(mode="json") for one in spec.researchers],
                "seed": seed,
                "summaries": {name: one.model_dump(mode="json") for name, one in found.items()},
            }
        )
        return
    profile = spec.profile
    out = console()
    out.print(_table(found))
    out.print(
        f"{runs:,} runs each in {seconds:.1f} s; base {profile.base:g}, {profile.selection_tasks} selection and "
        f"{profile.official_tasks} official tasks x {profile.decodes}",
        markup=False,
    )


def _standard(base: float, selection: int, official: int, decodes: int, attempts: int, noise: float) -> SimulationSpec:
    """Chance, a steady improver, one that learns from feedback, and one that does not stop."""
    if not 1 <= attempts <= LONGEST:
        raise SpecError(f"{attempts} attempts cannot be simulated", where="--attempts", fix=f"use 1 to {LONGEST}")
    fixed = FixedAttempts(attempts=attempts)
    try:
        profile = ProfileModel(base=base, selection_tasks=selection, official_tasks=official, decodes=decodes)
        researchers = (
            ResearcherModel(name="no skill", noise=noise, stopping=fixed),
            ResearcherModel(name="skilled first attempt", skill=0.05, noise=noise, stopping=fixed),
            ResearcherModel(name="learns from feedback", drift=0.02, noise=noise, stopping=fixed),
            ResearcherModel(name="does harm, may keep base", skill=-0.05, noise=noise, stopping=fixed, keeps_base=True),
            ResearcherModel(
                name="patient, no skill", noise=noise, stopping=Patience(without_best=2, at_most=min(LONGEST, 16))
            ),
        )
    except ValidationError as error:
        first = error.errors()[0]
        where = f"simulate, {'.'.join(str(part) for part in first['loc'])}"
        raise SpecError(first["msg"], where=where, fix="shares lie between 0 and 1, counts are 1 or more") from error
    return SimulationSpec(profile=profile, researchers=researchers)


def _table(found: dict[str, SimulationSummary]) -> Table:
    table = Table(box=None, pad_edge=False)
    headings = (
        "researcher",
        "attempts",
        "true gain",
        "apparent",
        "official",
        "P(gain)",
        "P(harm)",
        "later beats first",
    )
    for heading in (*headings, "ends below peak"):
        table.add_column(heading, overflow="fold")
    for name, one in found.items():
        table.add_row(
            name,
            f"{one.mean_attempts:.1f}",
            f"{one.true_gain:+.3f}",
            f"{one.apparent_gain:+.3f}",
            f"{one.official_gain:+.3f}",
            f"{one.probability_of_gain:.0%}",
            f"{one.probability_of_harm:.0%}",
            "none" if one.discovery is None else f"{one.discovery:.0%}",
            "none" if one.regression is None else f"{one.regression:.0%}",
        )
    return table
