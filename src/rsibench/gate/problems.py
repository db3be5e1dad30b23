"""Collects the reasons against a submission: every one is counted, a readable number of them is listed.

Invariant: text that came from a submission appears only quoted, escaped to ASCII and cut, so that a problem can always
be encoded, logged and shown.
"""

from __future__ import annotations

from collections import Counter

from rsibench.errors import Problem, SubmissionRefused
from rsibench.gate.codes import Code

ROWS_FILE = "train_messages.jsonl"
CONFIG_FILE = "run_config.json"
HYPOTHESIS_FILE = "hypothesis.md"

LISTED_PER_CODE = 25
LISTED = 200
_QUOTED_CHARACTERS = 40


class Problems:
    """The reasons found so far, in the order in which they were found."""

    def __init__(self) -> None:
        self._listed: list[Problem] = []
        self._counts: Counter[str] = Counter()

    def __len__(self) -> int:
        return self._counts.total()

    def add(
        self,
        code: Code,
        why: str,
        fix: str,
        *,
        file: str = ROWS_FILE,
        row: int | None = None,
        field: str | None = None,
        incident: str | None = None,
    ) -> None:
        """Counts a reason, and lists it while there is room; `row` is 1-based, `incident` a class of broken rule."""
        self._counts[code.value] += 1
        if self._counts[code.value] <= LISTED_PER_CODE and len(self._listed) < LISTED:
            self._listed.append(Problem(code.value, why, fix, file=file, row=row, field=field, incident=incident))

    def raise_if_any(self) -> None:
        """Raises SubmissionRefused with everything that was found."""
        if self._listed:
            raise SubmissionRefused(self._listed, counts=dict(self._counts))


def quoted(text: str) -> str:
    """Text of a submission, safe to print: ASCII, escaped, at most 40 characters of it."""
    cut = text if len(text) <= _QUOTED_CHARACTERS else text[:_QUOTED_CHARACTERS] + "..."
    return ascii(cut)
