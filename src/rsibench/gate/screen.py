"""The screen: what a submission's rows resemble, repeat and come from, turned into problems.

Invariant: a problem names the row and the class, nothing of what was matched; the findings go to the witness alone.
Rows of any form are screened as long as their texts could be read.
"""

from __future__ import annotations

from collections.abc import Callable

from rsibench.gate.codes import Code
from rsibench.gate.leaks.detector import Detector, ProtectedIndex
from rsibench.gate.leaks.duplicates import DuplicateCounter, DuplicateCounts
from rsibench.gate.leaks.findings import Finding
from rsibench.gate.problems import Problems
from rsibench.gate.provenance import check_source
from rsibench.gate.row import Conversation
from rsibench.spec.contamination import ContaminationPolicy

type Witness = Callable[[Finding], None]
"""Is told every finding, also of classes that do not refuse. What it keeps is for the controller only."""


class Screen:
    """Takes the conversations of one submission in order."""

    def __init__(
        self,
        protected: ProtectedIndex | None,
        policy: ContaminationPolicy,
        problems: Problems,
        witness: Witness | None,
    ) -> None:
        self._policy = policy
        self._problems = problems
        self._witness = witness
        self._refusing = frozenset(policy.refuse)
        self._detector = None if protected is None else Detector(protected)
        self._duplicates = DuplicateCounter()

    @property
    def duplicates(self) -> DuplicateCounts:
        """Rows that repeat earlier ones, so far."""
        return self._duplicates.counts

    def take(self, conversation: Conversation) -> None:
        """Looks at one row."""
        texts = [text for message in conversation.messages for text in message.texts()]
        check_source(conversation, self._policy, self._problems)
        self._duplicates.take(texts)
        if self._detector is not None:
            self._report(self._detector.take(conversation.number, texts))

    def finish(self) -> None:
        """Reports what is left, and the share of repeated rows."""
        if self._detector is not None:
            self._report(self._detector.finish())
        counts = self.duplicates
        share = (counts.exact + counts.near) / counts.rows if counts.rows else 0.0
        if share > self._policy.max_duplicate_share:
            why = f"{counts.exact} row(s) repeat an earlier one exactly and {counts.near} nearly, of {counts.rows}"
            self._problems.add(Code.DUPLICATES, why, "remove repeated rows")

    def _report(self, findings: list[Finding]) -> None:
        told: set[int] = set()
        for finding in findings:
            if self._witness is not None:
                self._witness(finding)
            if finding.leak in self._refusing and finding.row not in told:
                told.add(finding.row)
                self._problems.add(
                    Code(f"leak-{finding.leak.value}"),
                    f"the row holds protected evaluation material ({finding.leak.value})",
                    "remove the row; what may be seen in feedback may not be trained on",
                    row=finding.row,
                    incident=f"contamination-{finding.leak.value}",
                )
