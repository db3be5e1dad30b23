"""The gate's decision: a submission becomes token rows with a resolved configuration, or is refused with every reason.

Invariants: nothing is spent, changed or repaired here; a submission is admitted whole or not at all; every admitted row
is seen in full by the training that it asks for. Memory holds one line of the file and, while nothing is wrong, the
tokens of the rows, which the recipe's token budget bounds.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple

from rsibench.gate.codes import Code
from rsibench.gate.config import resolve_config
from rsibench.gate.files import SubmissionFiles, read_lines
from rsibench.gate.hypothesis import check_hypothesis
from rsibench.gate.leaks.detector import ProtectedIndex
from rsibench.gate.leaks.duplicates import DuplicateCounts
from rsibench.gate.problems import Problems
from rsibench.gate.row import Conversation, RowReader
from rsibench.gate.screen import Screen, Witness
from rsibench.gate.shape import RowReport
from rsibench.rendering import RenderedRow, Renderer
from rsibench.spec.profile import DataPolicy
from rsibench.spec.recipe import Recipe, RunConfig

NO_FAMILY = "(none)"
"""Where rows without a family label are counted."""
HOPELESS_FACTOR = 10
"""Rows beyond this many times the token budget are checked for form but no longer turned into tokens, which is slow."""


@dataclass(frozen=True, slots=True)
class GatePolicy:
    """What a submission is held to."""

    recipe: Recipe
    data: DataPolicy
    renderer: Renderer
    protected: ProtectedIndex | None = None
    """What no row may hold; without it nothing is looked for."""


class TrainingRow(NamedTuple):
    """One admitted row, ready for the trainer, with the researcher's own labels."""

    rendered: RenderedRow
    family: str | None
    source: str | None


@dataclass(frozen=True, slots=True)
class Admitted:
    """A submission that may be trained on. `train_tokens` is `row_tokens` times the epochs; `families` counts rows."""

    rows: tuple[TrainingRow, ...]
    config: RunConfig
    row_tokens: int
    loss_tokens: int
    train_tokens: int
    families: dict[str, int]
    duplicates: DuplicateCounts


def check_submission(files: SubmissionFiles, policy: GatePolicy, witness: Witness | None = None) -> Admitted:
    """Admits a submission. Raises SubmissionRefused with every reason that was found."""
    problems = Problems()
    config = resolve_config(files.config, policy.recipe.knobs, problems)
    check_hypothesis(files.hypothesis, policy.data.max_hypothesis_bytes, problems)
    collector = _Collector(policy, problems)
    reader = RowReader(policy.data, problems)
    screen = Screen(policy.protected, policy.data.contamination, problems, witness)
    for line in read_lines(files.rows, policy.data, problems):
        conversation = reader.read(line)
        if conversation is not None:
            screen.take(conversation)
            collector.take(conversation)
    screen.finish()
    epochs = config.epochs if config is not None else max(1, int(policy.recipe.knobs.epochs.minimum))
    _check_exposure(collector, epochs, policy.recipe.max_train_tokens, problems)
    problems.raise_if_any()
    if config is None:
        raise AssertionError("a configuration that could not be resolved left no problem")
    return Admitted(
        rows=tuple(collector.rows),
        config=config,
        row_tokens=collector.row_tokens,
        loss_tokens=collector.loss_tokens,
        train_tokens=collector.row_tokens * epochs,
        families=dict(sorted(collector.families.items())),
        duplicates=screen.duplicates,
    )


class _Collector:
    """Renders conversations and adds up their tokens; keeps rows only while the submission can still be admitted."""

    def __init__(self, policy: GatePolicy, problems: Problems) -> None:
        self._renderer = policy.renderer
        self._recipe = policy.recipe
        self._problems = problems
        self.rows: list[TrainingRow] = []
        self.rows_not_counted = 0
        self.row_tokens = 0
        self.loss_tokens = 0
        self.families: Counter[str] = Counter()

    def take(self, conversation: Conversation) -> None:
        """Renders one row, counts its tokens, and keeps it unless something is wrong already."""
        report = RowReport(self._problems, conversation.number)
        if not self._can_be_rendered(conversation, report) or not conversation.well_formed:
            return
        if self.row_tokens > HOPELESS_FACTOR * self._recipe.max_train_tokens:
            self.rows_not_counted += 1
            return
        rendered = self._renderer.render_row(conversation.messages, conversation.last_only)
        loss_tokens = sum(rendered.loss_mask)
        self.row_tokens += len(rendered.token_ids)
        self.loss_tokens += loss_tokens
        self.families[conversation.family or NO_FAMILY] += 1
        if len(rendered.token_ids) > self._recipe.max_row_tokens:
            why = f"the row has {len(rendered.token_ids)} tokens; at most {self._recipe.max_row_tokens} are trained on"
            report.add(Code.ROW_TOO_LONG, why, "shorten or split it; nothing is ever cut off", "messages")
        if loss_tokens == 0:
            report.add(Code.NO_LOSS_TOKENS, "nothing in the row is learned from", "add an answer", "messages")
        if self._problems or self.row_tokens > self._recipe.max_train_tokens:
            self.rows.clear()
        else:
            self.rows.append(TrainingRow(rendered, conversation.family, conversation.source))

    def _can_be_rendered(self, conversation: Conversation, report: RowReport) -> bool:
        before = len(self._problems)
        for index, message in enumerate(conversation.messages):
            for text in message.texts():
                if tokens := self._renderer.control_tokens_in(text):
                    why = f"the text spells {', '.join(tokens)}, which steers the student instead of being read"
                    report.add(Code.CONTROL_TOKEN, why, "remove or reword it", f"messages[{index}]")
                if lost := self._renderer.unencodable_in(text):
                    shown = ", ".join(f"U+{ord(character):04X}" for character in lost[:5])
                    why = f"the student has no tokens for {len(lost)} character(s): {shown}"
                    report.add(Code.UNENCODABLE, why, "remove them", f"messages[{index}]")
        return len(self._problems) == before


def _check_exposure(collector: _Collector, epochs: int, max_train_tokens: int, problems: Problems) -> None:
    train_tokens = collector.row_tokens * epochs
    excess = train_tokens - max_train_tokens
    if excess > 0:
        more = f", not counting {collector.rows_not_counted} more rows" if collector.rows_not_counted else ""
        why = (
            f"{collector.row_tokens} tokens in rows x {epochs} epoch(s) are {train_tokens}; an attempt trains on "
            f"at most {max_train_tokens}: {excess} too many{more}, so some rows would never be seen"
        )
        problems.add(Code.EXPOSURE, why, "hand in fewer or shorter rows, or set fewer epochs")
