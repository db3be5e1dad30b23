"""The research phase: the lab is open, the researcher works, attempts are trained, and the clock closes it all.

The researcher's exit code decides nothing. One that stops early with budget left is started again with the protocol's
fixed message, a bounded number of times.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from rsibench.errors import SpecError
from rsibench.journal.events import ResearcherExited, ResearcherStarted
from rsibench.journal.state import Phase, RunState
from rsibench.lab.http.server import LabServer
from rsibench.researchers.catalogue import researcher_command
from rsibench.run.attempts import AttemptLoop
from rsibench.run.context import RunContext
from rsibench.run.researcher import ResearcherProcess, Running
from rsibench.run.workspace import prepare_workspace
from rsibench.spec.researcher import AgentEnd
from rsibench.units import Account

_TICK_SECONDS = 0.2
MAX_API_ERRORS = 3
"""How often an agent is started again because its model API failed, in a run."""
_FIRST_BACKOFF_SECONDS = 1.0
_SOCKET_PREFIX = "rsibench-"


class Starter(Protocol):
    """Starts a researcher's process, for the `number`-th time, with the protocol's message when it stopped early."""

    isolation: str
    """`unisolated`, or the sandbox provider's name; must be what the lock says."""

    def start(self, number: int, socket: Path, message: str | None) -> Running:
        """The running process; the lab listens on `socket`."""

    def end(self, exit_code: int | None) -> AgentEnd:
        """How the last start ended, asked after its process was stopped."""


class ScriptedStarter:
    """Starts the scripted researcher that the lock names."""

    isolation = "unisolated"

    def __init__(self, context: RunContext) -> None:
        self._context = context

    def start(self, number: int, socket: Path, message: str | None) -> ResearcherProcess:  # noqa: ARG002 - the protocol
        run, folder = self._context.planned.lock.run, self._context.folder
        command = researcher_command(run.researcher, run.seed, message=message)
        return ResearcherProcess(command, folder.workspace, socket, folder.logs / "researcher.log")

    def end(self, exit_code: int | None) -> AgentEnd:
        """A scripted researcher has no model that could fail."""
        return AgentEnd.COMPLETED if exit_code == 0 else AgentEnd.CRASHED


class Ended(StrEnum):
    """Why the controller stopped watching a researcher's process."""

    EXITED = "exited"
    """The process ended by itself."""
    COMMITTED = "committed"
    """The selection is final."""
    DEADLINE = "deadline"
    """The wall-clock budget is used up."""


def research(context: RunContext, starter: Starter | None = None) -> None:
    """From an opened budget to a committed selection; does nothing in a run that is beyond it.

    `starter` starts the researcher's process; None starts the scripted one that the lock names.
    """
    start = starter or ScriptedStarter(context)
    planned = context.planned.lock.run.isolation
    if start.isolation != planned:
        what = f"the run was planned {planned}, its researcher would run {start.isolation}"
        raise SpecError(what, where=context.planned.lock.run.run_id, fix="plan the run anew")
    session = context.session
    if context.journal.state().phase not in (Phase.PREPARING, Phase.RESEARCHING):
        return
    prepare_workspace(context.folder.workspace, context.planned.profile, session.feedback_bytes(0))
    session.open_research()
    session.recover()
    context.progress.begin("waiting for a submission")
    with _lab_socket(context) as socket, AttemptLoop(context) as loop:
        while context.journal.state().committed is None:
            ended = _one_start(context, socket, loop, start)
            _after(context, ended, loop)


def early_stops(state: RunState, exits: list[ResearcherExited]) -> int:
    """How often the researcher ended by itself before the run was committed."""
    if state.committed:
        return 0
    return sum(not (exited.stopped_by_controller or exited.api_error) for exited in exits)


@contextmanager
def _lab_socket(context: RunContext) -> Iterator[Path]:
    """The lab's server on a Unix socket in a private folder; socket paths must be short, so it is a temporary one."""
    with tempfile.TemporaryDirectory(prefix=_SOCKET_PREFIX) as folder:
        socket = Path(folder) / "lab.sock"
        with LabServer.on_socket(context.session, socket):
            yield socket


def _one_start(context: RunContext, socket: Path, loop: AttemptLoop, starter: Starter) -> Ended:
    """Starts the researcher once and watches it to its end."""
    state = context.journal.state()
    number = state.researchers_started + 1
    again = any(not exited.stopped_by_controller for exited in _exits(context))
    message = context.planned.lock.protocol.early_stop_message if again else None
    context.journal.append(ResearcherStarted(number=number))
    process = starter.start(number, socket, message)
    ended: Ended | None = None
    try:
        ended = _watch(context, loop, lambda: process.poll() is not None)
    finally:
        code = process.stop()
        stopped = ended is not Ended.EXITED
        context.journal.append(
            ResearcherExited(
                number=number,
                exit_code=None if stopped else code,
                stopped_by_controller=stopped,
                api_error=not stopped and starter.end(code) is AgentEnd.API_ERROR,
            )
        )
    return ended


def _watch(context: RunContext, loop: AttemptLoop, exited: Callable[[], bool]) -> Ended:
    """Waits until the selection is committed, the time is up, or `exited()`."""
    while True:
        if loop.error is not None:
            raise loop.error
        if context.journal.state().committed is not None:
            return Ended.COMMITTED
        if context.session.seconds_left() <= 0:
            return Ended.DEADLINE
        if exited():
            # A final selection may have been made in the process's last moment.
            committed = context.journal.state().committed is not None
            return Ended.COMMITTED if committed else Ended.EXITED
        context.clock.sleep(_TICK_SECONDS)


def _after(context: RunContext, ended: Ended, loop: AttemptLoop) -> None:
    """What follows a researcher's end: nothing, the commit, or another start."""
    if ended is Ended.COMMITTED:
        return
    if ended is Ended.EXITED:
        ended = _watch(context, loop, lambda: _all_over(context.journal.state()))
    state = context.journal.state()
    if ended is Ended.DEADLINE or context.session.in_final_window():
        context.session.commit("final-window")
    elif state.balances[Account.ATTEMPTS].available == 0:
        context.session.commit("budget")
    elif (failures := sum(exited.api_error for exited in _exits(context))) > MAX_API_ERRORS:
        context.session.commit("researcher-ended")
    elif failures and _exits(context)[-1].api_error:
        context.clock.sleep(min(_FIRST_BACKOFF_SECONDS * 2 ** (failures - 1), context.session.seconds_left()))
    elif early_stops(state, _exits(context)) > context.planned.lock.protocol.budget.max_early_stops:
        context.session.commit("researcher-ended")


def _all_over(state: RunState) -> bool:
    return all(attempt.stage.final for attempt in state.attempts.values())


def _exits(context: RunContext) -> list[ResearcherExited]:
    return [entry.event for entry in context.journal.entries() if isinstance(entry.event, ResearcherExited)]
