"""`rsibench run` and `rsibench resume`: a run from its base score to its official score, shown while it goes on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from pydantic import ValidationError
from rich.console import Console

from rsibench.cli.here import here
from rsibench.cli.live import LiveView
from rsibench.cli.output import console, print_json
from rsibench.cli.page import write_page
from rsibench.cli.stoppable import stoppable
from rsibench.errors import SpecError
from rsibench.ports.clock import SystemClock
from rsibench.report.tables import attempts_table, outcome_text, result_table, spending_table
from rsibench.researchers.catalogue import researcher_command
from rsibench.run.archive import open_archived
from rsibench.run.context import open_run
from rsibench.run.execute import execute
from rsibench.run.local import local_engine
from rsibench.run.plan import Asked, Planned, plan_run, replan
from rsibench.run.progress import Progress
from rsibench.run.result import RunResult
from rsibench.spec.budget import BudgetChange
from rsibench.spec.settings import cache_folder
from rsibench.student import StudentProgress

INTERRUPTED = 130


def run(
    profile: str = "pocket",
    *,
    researcher: str = "feedback",
    seed: int = 0,
    quick: bool = False,
    model: str | None = None,
    run_id: str | None = None,
    budget: tuple[str, ...] = (),
    json: bool = False,
) -> int:
    """Run a researcher on a profile.

    Parameters
    ----------
    profile
        A shipped profile, or a YAML file.
    researcher
        Who improves the data; `rsibench researchers list` shows them.
    seed
        Seed of the run: of the researcher's draws and of the adapters' initial weights.
    quick
        The profile's small variant, for trying things out.
    model
        A local folder or a hub id in place of the profile's student.
    run_id
        A name for the run; one is made up by default.
    budget
        PART=VALUE in place of a part of the profile's budget, such as attempts=2 or training_usd=0.01; may be repeated.
    json
        Print the result as JSON on standard output; progress goes to standard error.
    """
    researcher_command(researcher, seed)  # refuses an unknown name before anything is fetched
    if seed < 0:
        raise SpecError(f"{seed} is negative", where="--seed", fix="use 0 or more")
    out = _console(json)
    asked = Asked(
        profile=profile,
        researcher=researcher,
        seed=seed,
        quick=quick,
        model=model,
        run_id=run_id,
        budget=budget_change(budget),
    )
    with stoppable():
        planned = plan_run(asked, cache_folder(), SystemClock(), _student_reporter(out))
        return _go(planned, out, json)


def budget_change(parts: Sequence[str]) -> BudgetChange | None:
    """What `--budget` options change; None for none of them. Raises SpecError for a part or value that cannot be."""
    named: dict[str, str] = {}
    for part in parts:
        name, equals, value = part.partition("=")
        if not equals or name in named:
            why = "is given twice" if equals else "has no value"
            raise SpecError(f"{part!r} {why}", where="--budget", fix="write it as attempts=2, each part once")
        named[name] = value
    if not named:
        return None
    try:
        return BudgetChange.model_validate(named)
    except ValidationError as error:
        first = error.errors()[0]
        known = ", ".join(BudgetChange.model_fields)
        where = f"--budget {'.'.join(str(key) for key in first['loc'])}"
        raise SpecError(first["msg"], where=where, fix=f"known parts: {known}") from error


def resume(run: str, *, json: bool = False) -> int:
    """Continue a run that was interrupted or killed; nothing that was scored is lost, nothing is charged twice."""
    out = _console(json)
    with stoppable():
        with open_archived(here(), run) as archived:
            lock = archived.lock()
        return _go(replan(lock, cache_folder(), _student_reporter(out)), out, json)


def _go(planned: Planned, out: Console, json: bool) -> int:
    home = here()
    run_id = planned.lock.run.run_id
    out.print(f"run {run_id} in {home.run(run_id).root}", markup=False, soft_wrap=True)
    try:
        with (
            open_run(planned, home, clock=SystemClock(), progress=Progress(), make_engine=local_engine) as context,
            LiveView(context, out),
        ):
            result = execute(context)
    except KeyboardInterrupt:
        out.print(f"\ninterrupted; continue with: rsibench resume {run_id}", markup=False)
        return INTERRUPTED
    page = write_page(home, run_id)
    if json:
        print_json(result)
    else:
        show_result(result, out, page)
    return 0


def show_result(result: RunResult, out: Console, page: Path) -> None:
    """The result as people read it, and where its files are."""
    out.print(attempts_table(result.attempts, result.base_selection, result.selected_attempt))
    out.print(result_table(result))
    out.print(spending_table(result))
    out.print(outcome_text(result), markup=False)
    if result.labels:
        out.print(f"labels: {', '.join(result.labels)}", markup=False)
    out.print(f"\npage: {page}\ncheck it: rsibench verify {result.run_id}", markup=False, soft_wrap=True)


def _console(json: bool) -> Console:
    return Console(stderr=True, highlight=False) if json else console()


def _student_reporter(out: Console) -> Callable[[StudentProgress], None]:
    """Shows long steps of preparing the student, a line each time another stage begins or a tenth of it is done."""
    last: list[tuple[str, int]] = [("", -1)]

    def report(progress: StudentProgress) -> None:
        tenth = int(10 * progress.done / progress.total) if progress.total else 0
        if (progress.stage, tenth) == last[0]:
            return
        last[0] = (progress.stage, tenth)
        amount = f" {progress.done:,} of {progress.total:,} {progress.unit}" if progress.total else ""
        out.print(f"student: {progress.stage}{amount}", markup=False)

    return report
