"""`rsibench gate FILE --profile P`: checks a submission's files without spending anything."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.table import Table

from rsibench.cli.output import console, print_json
from rsibench.errors import SpecError, SubmissionRefused
from rsibench.evaluation.generators import make_items
from rsibench.gate.files import SubmissionFiles
from rsibench.gate.leaks.detector import ProtectedIndex
from rsibench.gate.leaks.findings import Finding
from rsibench.gate.leaks.protected import protected_items
from rsibench.gate.submission import Admitted, GatePolicy, check_submission
from rsibench.rendering import load_renderer
from rsibench.run.plan import resolve_profile, resolve_student
from rsibench.spec.item import Split
from rsibench.spec.profile import Profile
from rsibench.spec.settings import cache_folder
from rsibench.student import ensure_student

_PLACEHOLDER = b"(not checked)"


def gate(
    file: Path,
    *,
    profile: str = "pocket",
    quick: bool = False,
    config: Path | None = None,
    hypothesis: Path | None = None,
    evidence: bool = False,
    json: bool = False,
) -> int:
    """Check training rows as the lab would. Exit code 6 when they are refused.

    Parameters
    ----------
    file
        The rows, `train_messages.jsonl`.
    profile
        The profile whose policy they are held to.
    quick
        Use the profile's quick variant.
    config
        The `run_config.json` to check with them; the defaults without one.
    hypothesis
        The `hypothesis.md` to check with them; not checked without one.
    evidence
        Also say which protected items were matched, and by what. For who runs the benchmark, never for a researcher.
    json
        Print JSON.
    """
    resolved = resolve_profile(profile, quick=quick)
    spec = resolve_student(resolved, None)
    student = ensure_student(spec, cache_folder())
    policy = GatePolicy(
        recipe=resolved.recipe,
        data=resolved.data,
        renderer=load_renderer(spec.renderer, student.folder),
        protected=_protected(resolved),
    )
    files = SubmissionFiles(
        rows=file,
        config=_bytes(config) if config else None,
        hypothesis=_bytes(hypothesis) if hypothesis else _PLACEHOLDER,
    )
    findings: list[Finding] = []
    try:
        admitted = check_submission(files, policy, findings.append)
    except SubmissionRefused as refused:
        _show_refusal(refused, json, findings if evidence else [])
        return SubmissionRefused.exit_code
    _show_admitted(admitted, json, findings if evidence else [])
    return 0


def _protected(profile: Profile) -> ProtectedIndex:
    items = [item for split in (Split.SELECTION, Split.OFFICIAL) for item in make_items(profile.items, split)]
    return ProtectedIndex(protected_items(items), profile.data.contamination.canaries)


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise SpecError(f"cannot be read: {error.strerror}", where=str(path), fix="name a readable file") from error


def _show_refusal(refused: SubmissionRefused, json: bool, findings: Sequence[Finding]) -> None:
    if json:
        problems = [
            {"code": p.code, "file": p.file, "row": p.row, "field": p.field, "why": p.why, "fix": p.fix}
            for p in refused.problems
        ]
        told = {"admitted": False, "counts": refused.counts, "problems": problems}
        print_json(told | ({"evidence": _told(findings)} if findings else {}))
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("where", "field", "why", "what to do"):
        table.add_column(heading, overflow="fold")
    for p in refused.problems:
        table.add_row(p.file if p.row is None else f"{p.file}:{p.row}", p.field or "", p.why, p.fix)
    console().print(table, markup=False)
    counts = ", ".join(f"{code} {count}" for code, count in sorted(refused.counts.items()))
    console().print(f"refused for {sum(refused.counts.values())} reason(s): {counts}")
    _print_evidence(findings)


def _show_admitted(admitted: Admitted, json: bool, findings: Sequence[Finding]) -> None:
    facts = {
        "rows": len(admitted.rows),
        "row_tokens": admitted.row_tokens,
        "loss_tokens": admitted.loss_tokens,
        "train_tokens": admitted.train_tokens,
        "repeated_rows": admitted.duplicates.exact,
        "nearly_repeated_rows": admitted.duplicates.near,
    }
    if json:
        told = {"admitted": True, "families": admitted.families, "config": admitted.config.model_dump(), **facts}
        print_json(told | ({"evidence": _told(findings)} if findings else {}))
        return
    console().print("admitted: " + ", ".join(f"{value:,} {name.replace('_', ' ')}" for name, value in facts.items()))
    _print_evidence(findings)


def _told(findings: Sequence[Finding]) -> list[dict[str, object]]:
    return [{**finding._asdict(), "leak": finding.leak.value} for finding in findings]


def _print_evidence(findings: Sequence[Finding]) -> None:
    for one in findings:
        console().print(
            f"row {one.row}: {one.leak.value} of {one.item_id} ({one.share:.0%}, {one.via})",
            markup=False,
            highlight=False,
        )
