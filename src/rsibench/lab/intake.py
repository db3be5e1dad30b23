"""Intake: a submission's way from three files to an attempt, a replicate or a refusal.

Invariants: the files are stored and the submission is recorded before anybody looks at them; the gate runs outside
every lock; the decision, the reservation and the attempt are one transaction. What is answered is read back from the
record, so that the first answer and every repeated one are the same. A key belongs to one set of files for ever.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from rsibench.errors import BudgetError, LabError, SubmissionRefused
from rsibench.gate.config import resolve_config
from rsibench.gate.files import SubmissionFiles
from rsibench.gate.leaks.findings import Finding, evidence_json
from rsibench.gate.problems import Problems
from rsibench.gate.submission import Admitted, check_submission
from rsibench.ids import sha256_bytes
from rsibench.journal import events
from rsibench.journal.state import AttemptState, Decision, Phase, RunState, Stage, SubmissionState
from rsibench.lab.core import Core, program_fault, require_researching
from rsibench.lab.refusal import Refusal
from rsibench.lab.replies import SubmissionOutcome, SubmitReply
from rsibench.spec.frozen import canonical_json
from rsibench.units import MILLISECONDS_PER_SECOND, Account

_KEY = re.compile(r"[A-Za-z0-9._:-]{1,128}")
_NO_CONFIG = b"{}"


class Intake:
    """The submissions of one Session. Safe to share between threads."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._deciding: set[int] = set()

    def submit(self, files: SubmissionFiles, idempotency_key: str) -> SubmitReply:
        """See Session.submit."""
        if not _KEY.fullmatch(idempotency_key):
            why = "an idempotency key has 1 to 128 letters, digits, dots, colons, dashes or underscores"
            raise LabError(why, code="bad-key", status=400, fix="leave it out, or use a hash of the files")
        state = self._core.journal.state()
        if not _under_key(state, idempotency_key):
            require_researching(state)  # before anything is stored
        return self._decided(self._receive(files, idempotency_key))

    def recover(self) -> None:
        """Decides submissions that were received by a controller that died before it could."""
        state = self._core.journal.state()
        for number in [one.number for one in state.submissions.values() if one.decision is Decision.PENDING]:
            self._decide(number)

    def files_of(self, submission: SubmissionState) -> SubmissionFiles:
        """A submission's files as they were stored. Raises IntegrityError when one was changed since."""
        blobs = self._core.blobs
        return SubmissionFiles(
            rows=blobs.checked_path(submission.rows_blob),
            config=blobs.get(submission.config_blob),
            hypothesis=blobs.get(submission.hypothesis_blob) or None,
        )

    def _receive(self, files: SubmissionFiles, key: str) -> int:
        """Stores the files and records the submission; the number of a known one when key and files repeat it."""
        blobs = self._core.blobs
        rows = blobs.put(files.rows) if isinstance(files.rows, bytes) else blobs.put_file(files.rows)
        config_bytes = _NO_CONFIG if files.config is None else files.config
        config, hypothesis = blobs.put(config_bytes), blobs.put(files.hypothesis or b"")
        resolved = resolve_config(config_bytes, self._core.terms.gate.recipe.knobs, Problems())
        settings = config if resolved is None else resolved.model_dump(mode="json")
        with self._core.change() as state:
            known = _under_key(state, key)
            for earlier in known:
                if (earlier.rows_blob, earlier.config_blob, earlier.hypothesis_blob) != (rows, config, hypothesis):
                    raise LabError(
                        f"the idempotency key {key} belongs to other files (submission {earlier.number})",
                        code="key-reused",
                        fix="use another key for other files",
                    )
            if known and not self._may_be_tried_again(known[-1]):
                return known[-1].number
            require_researching(state)
            received = events.SubmissionReceived(
                submission=len(state.submissions) + 1,
                rows_blob=rows,
                config_blob=config,
                hypothesis_blob=hypothesis,
                submission_digest=sha256_bytes(canonical_json([rows, settings])),
                idempotency_key=key if not known else f"{key}~{len(known) + 1}",
            )
            self._core.journal.append(received)
            return received.submission

    def _may_be_tried_again(self, submission: SubmissionState) -> bool:
        refusal = self._refusal_of(submission)
        return refusal is not None and not refusal.final

    def _decided(self, number: int) -> SubmitReply:
        """The answer to a submission, decided now if nobody has. Raises what it was refused with."""
        self._decide(number)
        state = self._core.journal.state()
        submission = state.submissions[number]
        refusal = self._refusal_of(submission)
        if refusal is not None:
            raise refusal.error()
        if submission.attempt is None:
            raise program_fault("it was decided without a result", f"submission {number}")
        attempt = state.attempts[submission.attempt]
        replicated = submission.decision is Decision.REPLICATED
        return SubmitReply(
            left=self._core.left(state),
            submission=number,
            outcome=SubmissionOutcome.REPLICATED if replicated else SubmissionOutcome.ADMITTED,
            attempt=attempt.number,
            stage=attempt.stage,
            rows=attempt.rows,
            train_tokens=attempt.train_tokens,
        )

    def _decide(self, number: int) -> None:
        with self._alone(number):
            submission = self._core.journal.state().submissions[number]
            if submission.decision is not Decision.PENDING:
                return
            findings: list[Finding] = []
            try:
                admitted = check_submission(self.files_of(submission), self._core.terms.gate, findings.append)
            except SubmissionRefused as error:
                self._settle_on(number, Refusal.of(error), findings)
            else:
                self._settle_on(number, admitted)

    @contextmanager
    def _alone(self, number: int) -> Iterator[None]:
        """One thread at a time decides a submission; a second one waits for the first."""
        core = self._core
        with core.condition:
            core.condition.wait_for(lambda: number not in self._deciding)
            self._deciding.add(number)
        try:
            yield
        finally:
            with core.condition:
                self._deciding.discard(number)
            core.wake()

    def _settle_on(self, number: int, found: Admitted | Refusal, findings: Sequence[Finding] = ()) -> None:
        """Records what becomes of a submission, unless the run was closed over it in the meantime."""
        with self._core.change() as state:
            submission = state.submissions[number]
            if submission.decision is not Decision.PENDING:
                return
            twin = _replicated(state, submission)
            if isinstance(found, Admitted) and twin is not None:
                self._core.journal.append(events.SubmissionReplicated(submission=number, attempt=twin.number))
                return
            refusal = found if isinstance(found, Refusal) else self._admit(state, submission, found)
            if refusal is not None:
                refuse(self._core, number, refusal)
                if refusal.incidents and findings:
                    self._keep_evidence(number, refusal, findings)

    def _keep_evidence(self, number: int, refusal: Refusal, findings: Sequence[Finding]) -> None:
        """Stores what was matched, so that a refusal can be contested. It is never part of an answer."""
        refusing = self._core.terms.gate.data.contamination.refuse
        evidence = self._core.blobs.put(evidence_json([one for one in findings if one.leak in refusing]))
        detail = f"submission {number}: {', '.join(refusal.incidents)}; evidence in blob {evidence}"
        self._core.journal.append(events.IncidentRecorded(incident="contamination", detail=detail))

    def _admit(self, state: RunState, submission: SubmissionState, admitted: Admitted) -> Refusal | None:
        """Reserves the attempt's cost and records it, or says why it cannot be."""
        terms = self._core.terms
        number = len(state.attempts) + 1
        key = f"attempt/{number}"
        try:
            self._require_time(state, admitted.train_tokens)
            amounts = {
                Account.TRAINING: terms.pricing.training_micro_usd(admitted.train_tokens),
                Account.SAMPLING: terms.pricing.sampling_micro_usd(*terms.evaluation),
                Account.ATTEMPTS: 1,
            }
            self._core.ledger.reserve(key, amounts)
        except (BudgetError, LabError) as error:
            return Refusal.of(error)
        self._core.journal.append(
            events.AttemptAdmitted(
                attempt=number,
                submission=submission.number,
                rows=len(admitted.rows),
                row_tokens=admitted.row_tokens,
                loss_tokens=admitted.loss_tokens,
                train_tokens=admitted.train_tokens,
                config=admitted.config,
                reservation=key,
            )
        )
        return None

    def _require_time(self, state: RunState, train_tokens: int) -> None:
        """Raises LabError for an attempt that cannot be over when the final window begins."""
        require_researching(state)
        if self._core.closed:
            raise LabError("no more submissions are taken", code="closing", fix="select an attempt, or wait")
        seconds = self._core.seconds_left(state) - self._core.terms.budget.final_window_seconds
        if seconds <= 0:
            why = "the final window has begun: no attempt may start any more"
            raise LabError(why, code="final-window", fix="select a scored attempt, or none")
        waiting = sum(self._seconds_to_go(one) for one in state.attempts.values() if not one.stage.final)
        needed = waiting + self._core.terms.estimate_seconds(train_tokens)
        if needed > seconds:
            why = f"the attempt would take about {needed:.0f} s with those before it; {seconds:.0f} s are left for it"
            raise LabError(why, code="too-late", fix="hand in fewer rows or set fewer epochs, or select")

    def _seconds_to_go(self, attempt: AttemptState) -> float:
        estimate = self._core.terms.estimate_seconds(attempt.train_tokens)
        with self._core.condition:
            claimed_ms = self._core.claimed.get(attempt.number)
        if claimed_ms is None:
            return estimate
        return max(0.0, estimate - (self._core.journal.elapsed_ms() - claimed_ms) / MILLISECONDS_PER_SECOND)

    def _refusal_of(self, submission: SubmissionState) -> Refusal | None:
        if submission.problems_blob is None:
            return None
        return Refusal.model_validate_json(self._core.blobs.get(submission.problems_blob))


def refuse(core: Core, number: int, refusal: Refusal) -> None:
    """Records a refusal, in the caller's change."""
    core.journal.append(
        events.SubmissionRefused(
            submission=number,
            problems_blob=core.blobs.put(refusal.canonical()),
            problem_codes=refusal.counts,
            incidents=refusal.incidents,
        )
    )


def _under_key(state: RunState, key: str) -> list[SubmissionState]:
    """Submissions under a key, the first and those of later tries."""
    return [one for one in state.submissions.values() if one.idempotency_key.partition("~")[0] == key]


def _replicated(state: RunState, submission: SubmissionState) -> AttemptState | None:
    """The attempt that the submission repeats. One that ended without a score is not repeated but tried again."""
    if state.phase is not Phase.RESEARCHING:
        return None
    same = (attempt for attempt in state.attempts.values() if attempt.submission_digest == submission.digest)
    return next((attempt for attempt in same if attempt.stage not in (Stage.FAILED, Stage.CANCELLED)), None)
