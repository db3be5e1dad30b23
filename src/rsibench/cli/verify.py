"""`rsibench verify RUN`: recomputes everything a run printed and says what does not agree."""

from __future__ import annotations

from pathlib import Path

from rich.table import Table

from rsibench.cli.here import here
from rsibench.cli.output import console, print_json
from rsibench.errors import IntegrityError, SpecError
from rsibench.journal.envelope import Head
from rsibench.run.archive import open_archived, open_store
from rsibench.run.bundle import SUFFIX, opened_bundle
from rsibench.run.home import Home
from rsibench.run.verify import Verification
from rsibench.run.verify import verify as verify_run


def verify(run: str, *, head: str | None = None, json: bool = False) -> int:
    """Check the chain, history, budget, every blob, verdict and score, and the result. Exit code 4 when one differs.

    Parameters
    ----------
    run
        The run's name, or a bundle that `rsibench export --to bundle` wrote.
    head
        The journal's head as it was printed elsewhere (`number:hash`); without it a cut end cannot be seen.
    json
        Print JSON.
    """
    if run.endswith(SUFFIX):
        with opened_bundle(Path(run)) as (home, manifest):
            found = _verified(home, manifest.run_id, head)
    else:
        found = _verified(here(), run, head)
    if json:
        checks = [{"name": c.name, "ok": c.ok, "looked_at": c.looked_at, "problem": c.problem} for c in found.checks]
        print_json({"run_id": found.run_id, "ok": found.ok, "head": found.head, "checks": checks})
    else:
        table = Table(box=None, pad_edge=False)
        for heading in ("", "check", "looked at"):
            table.add_column(heading, overflow="fold")
        for check in found.checks:
            table.add_row("ok" if check.ok else "BROKEN", check.name, check.looked_at or "see below")
        out = console()
        out.print(table)
        for check in found.checks:
            if not check.ok:
                out.print(f"\n{check.name}: {check.problem}", markup=False, soft_wrap=True)
        verdict = "everything agrees" if found.ok else "NOT verified"
        out.print(f"\n{found.run_id}: {verdict}; journal head {found.head}", soft_wrap=True)
    return 0 if found.ok else IntegrityError.exit_code


def _verified(home: Home, run_id: str, head: str | None) -> Verification:
    with open_archived(home, run_id) as archived, open_store(home) as store:
        return verify_run(archived, store, expected_head=_head(head))


def _head(text: str | None) -> Head | None:
    if text is None:
        return None
    number, _, hashed = text.partition(":")
    if not number.isdigit() or not hashed:
        raise SpecError(f"{text!r} is no journal head", where="--head", fix="give it as it was printed, number:hash")
    return Head(int(number), hashed)
