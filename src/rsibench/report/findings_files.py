"""The folder of a report over several runs: the page, the same numbers as JSON and CSV, and the runs' own pages."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from rsibench.analysis.findings.records import Estimate, Findings
from rsibench.errors import EnvironmentFault
from rsibench.report.findings_page import findings_page


def write_findings(findings: Findings, folder: Path, run_pages: Iterable[tuple[str, Callable[[], str]]] = ()) -> Path:
    """Writes index.html, findings.json, researchers.csv, pairs.csv, process.csv and runs.csv, and `runs/`.

    `run_pages` gives a run's name and what makes its page. Raises EnvironmentFault when something cannot be written.
    """
    pages = dict(run_pages)
    try:
        (folder / "runs").mkdir(parents=True, exist_ok=True)
        for run_id, make in pages.items():
            (folder / "runs" / f"{run_id}.html").write_text(make(), encoding="utf-8")
        for name, rows in _tables(findings).items():
            (folder / name).write_text(_csv(rows), encoding="utf-8")
        (folder / "findings.json").write_text(findings.model_dump_json(indent=1) + "\n", encoding="utf-8")
        index = folder / "index.html"
        index.write_text(findings_page(findings, frozenset(pages)), encoding="utf-8")
    except OSError as error:
        fix = "give a folder you may write to"
        raise EnvironmentFault(f"the report cannot be written: {error.strerror}", where=str(folder), fix=fix) from error
    return index


def _tables(findings: Findings) -> dict[str, list[dict[str, object]]]:
    """Rows of each CSV file. Unknown figures are empty."""
    researchers, pairs, process, runs = [], [], [], []
    for protocol in findings.protocols:
        key: dict[str, object] = {
            "profile": protocol.profile,
            "variant": protocol.variant,
            "protocol_digest": protocol.protocol_digest,
        }
        for one in protocol.researchers:
            mine = key | {"researcher": one.researcher}
            researchers.append(
                mine
                | {
                    "runs": len(one.runs),
                    "official": one.official,
                    **_estimate("gain", one.gain),
                    "selection": one.selection,
                    "corrected": one.corrected,
                    "regret": one.regret,
                    "usd": one.usd,
                    "hours": one.hours,
                    "usd_after_peak": one.usd_after_peak,
                    **_estimate("gain_per_usd", one.gain_per_usd),
                    **_estimate("over_first", one.over_first),
                    **{k: v for name, area in one.areas.items() for k, v in _estimate(f"area_{name}", area).items()},
                }
            )
            runs += [mine | run.model_dump(mode="json") | {"labels": " ".join(run.labels)} for run in one.runs]
            process += [
                mine | {"rate": rate.rate, "events": rate.events, "of": rate.of} | null.model_dump(mode="json")
                for rate in one.process
                for null in rate.nulls
            ]
        pairs += [
            key
            | {"first": pair.first, "second": pair.second, **_estimate("difference", pair.difference)}
            | {"adjusted_p": pair.adjusted_p, "separable": pair.separable, "improvement": pair.improvement}
            for pair in protocol.pairs
        ]
    return {"researchers.csv": researchers, "pairs.csv": pairs, "process.csv": process, "runs.csv": runs}


def _estimate(name: str, estimate: Estimate | None) -> dict[str, object]:
    keys = (name, f"{name}_low", f"{name}_high", f"{name}_p")
    values = (None,) * 4 if estimate is None else (estimate.value, estimate.low, estimate.high, estimate.p_value)
    return dict(zip(keys, values, strict=True))


def _csv(rows: Sequence[dict[str, object]]) -> str:
    """Rows as CSV; a cell that a spreadsheet could take for a formula is kept as text by a quote mark before it."""
    if not rows:
        return ""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows([{name: _cell(value) for name, value in row.items()} for row in rows])
    return text.getvalue()


def _cell(value: object) -> object:
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r") else value
