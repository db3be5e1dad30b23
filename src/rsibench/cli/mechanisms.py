"""`rsibench mechanisms RUN`: what a researcher did between attempts, measured; observational."""

from __future__ import annotations

from rich.table import Table

from rsibench.analysis.mechanisms.detect import detect
from rsibench.analysis.mechanisms.records import AttemptMechanisms, RunMechanisms
from rsibench.cli.here import here
from rsibench.cli.output import console, print_json
from rsibench.report.wording import percent, probability
from rsibench.run.archive import open_archived, read_record


def mechanisms(run: str, *, json: bool = False) -> None:
    """Hypothesis accuracy, grounding, alignment, checkpoint preservation and novelty of a finished run.

    Parameters
    ----------
    run
        The run's name.
    json
        Print the figures as JSON.
    """
    with open_archived(here(), run) as archived:
        found = detect(read_record(archived))
    if json:
        print_json(found)
        return
    out = console()
    table = Table(box=None, pad_edge=False)
    for heading in ("attempt", "built on", "hypothesis", "grounding", "aligned", "new rows", "mix change", "settings"):
        table.add_column(heading, overflow="fold")
    for one in found.attempts:
        table.add_row(*_cells(one))
    out.print(table)
    for line in _summary(found):
        out.print(line, markup=False)


def _cells(one: AttemptMechanisms) -> tuple[str, ...]:
    said = one.hypothesis
    return (
        str(one.attempt),
        "nothing" if one.built_on is None else str(one.built_on),
        "nothing testable" if said is None else f"{said.hits} of {len(said.named)}, chance {said.expected_hits:.1f}",
        "none" if one.grounding is None else f"{one.grounding:+.2f}",
        percent(one.alignment),
        percent(one.new_rows),
        "" if one.mix_change is None else percent(one.mix_change),
        "" if one.settings_changed is None else "changed" if one.settings_changed else "same",
    )


def _summary(found: RunMechanisms) -> list[str]:
    lines = []
    if found.hypothesis_p_value is not None:
        lines.append(
            f"hypotheses named {found.hypothesis_named} families, {found.hypothesis_hits} of them moved up; naming at "
            f"random would hit {found.hypothesis_expected_hits:.1f} ({probability(found.hypothesis_p_value)})"
        )
    if found.preservation is not None:
        lines.append(f"the best selection score was {'committed' if found.preservation else 'not committed'}")
    return [*lines, found.note]
