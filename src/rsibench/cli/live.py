"""The live view of a run: attempts, scores, cost, what is being done, what is left; plain lines without a terminal."""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from rsibench.cli.narrate import event_line
from rsibench.journal.state import Phase
from rsibench.lab.replies import Left
from rsibench.report.tables import attempts_table
from rsibench.run.context import RunContext
from rsibench.run.progress import Doing
from rsibench.run.summarise import attempt_summaries
from rsibench.spec.item import Split

_REFRESH_PER_SECOND = 4
_PLAIN_SECONDS = 15.0
_PLAIN_TICK_SECONDS = 0.5
_BAR_CHARACTERS = 30


class LiveView:
    """Shows a run while the block is open. It only reads; it can neither slow down nor stop the run."""

    def __init__(self, context: RunContext, console: Console) -> None:
        self._context = context
        self._console = console
        self._live: Live | None = None
        self._done = threading.Event()
        self._plain = threading.Thread(target=self._print_lines, name="progress", daemon=True)

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._live = Live(
                get_renderable=self._render,
                console=self._console,
                refresh_per_second=_REFRESH_PER_SECOND,
                transient=True,  # the result that follows says it all again
            )
            self._live.start()
        else:
            self._plain.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None) -> None:
        self._done.set()
        if self._live is not None:
            self._live.stop()
        else:
            self._plain.join()

    def _render(self) -> RenderableType:
        context = self._context
        state = context.journal.state()
        base = state.base.get(Split.SELECTION)
        summaries = attempt_summaries(state, context.journal.entries(), context.blobs)
        chosen = state.committed.attempt if state.committed else None
        table = attempts_table(summaries, base.score if base else None, chosen)
        parts: list[RenderableType] = [table, _doing_line(context.progress.now())]
        if state.phase is Phase.RESEARCHING:
            parts.append(Text(left_text(context.session.left()), style="dim"))
        return Group(*parts)

    def _print_lines(self) -> None:
        """A line for every new event that a person wants to know, and one now and then for what is going on."""
        seen, printed_at = 0, self._context.clock.monotonic()
        while not self._done.wait(_PLAIN_TICK_SECONDS):
            before, seen = seen, self._print_events(seen)
            now = self._context.clock.monotonic()
            doing = self._context.progress.now()
            if seen != before:
                printed_at = now
            elif doing.total and now - printed_at >= _PLAIN_SECONDS:
                left = f" ({left_text(self._context.session.left())})" if doing.attempt else ""
                self._console.print(f"            {_doing_text(doing)}{left}", markup=False, highlight=False)
                printed_at = now
        self._print_events(seen)

    def _print_events(self, after: int) -> int:
        for entry in self._context.journal.entries(after):
            after = entry.seq
            line = event_line(entry.event)
            if line:
                clock = f"{entry.elapsed_ms / 1000:7.1f} s"
                self._console.print(f"{clock}  {line}", markup=False, highlight=False)
        return after


def left_text(left: Left) -> str:
    """What is left, in one line."""
    minutes, seconds = divmod(int(left.seconds), 60)
    return (
        f"left: {minutes}:{seconds:02d} min, {left.attempts} attempts, ${left.training_usd:.3f} training, "
        f"${left.sampling_usd:.3f} sampling"
    )


def _doing_line(doing: Doing) -> Table:
    line = Table.grid(padding=(0, 1))
    cells: list[RenderableType] = [Text(_doing_text(doing))]
    if doing.total:
        cells.append(ProgressBar(total=doing.total, completed=doing.done, width=_BAR_CHARACTERS))
    line.add_row(*cells)
    return line


def _doing_text(doing: Doing) -> str:
    name = doing.stage if doing.attempt is None else f"{doing.stage} attempt {doing.attempt}"
    amount = f": {doing.done:,} of {doing.total:,} {doing.unit}" if doing.total else ""
    note = f", {doing.note}" if doing.note else ""
    return f"{name}{amount}{note}"
