"""One line of plain words for each event that a person who watches a run wants to know."""

from __future__ import annotations

from rsibench.journal import events
from rsibench.report.wording import score_text


def event_line(event: events.AnyEvent) -> str:
    """The line, or an empty one for events that are bookkeeping."""
    match event:
        case events.RunPlanned():
            return (
                f"planned: {event.profile} ({event.variant}), {event.researcher}, protocol {event.protocol_digest[:12]}"
            )
        case events.BaseScored():
            cached = ", measured before" if event.measured.cached else ""
            return f"base student, {event.split} split: {score_text(event.score)}{cached}"
        case events.ResearcherStarted():
            return f"researcher started ({event.number})"
        case events.ResearcherExited():
            return "researcher stopped" if event.stopped_by_controller else f"researcher ended: {event.exit_code}"
        case events.SubmissionRefused():
            return f"submission {event.submission} refused: {', '.join(event.problem_codes)}"
        case events.SubmissionReplicated():
            return f"submission {event.submission} repeats attempt {event.attempt}"
        case _:
            return _attempt_line(event)


def _attempt_line(event: events.AnyEvent) -> str:
    match event:
        case events.AttemptAdmitted():
            return f"attempt {event.attempt}: {event.rows:,} rows, {event.train_tokens:,} tokens to train"
        case events.TrainingFinished():
            noop = ", near no-op" if event.near_noop else ""
            return f"attempt {event.attempt}: trained, loss {event.first_loss:.3f} to {event.last_loss:.3f}{noop}"
        case events.AttemptScored():
            return f"attempt {event.attempt}: {score_text(event.score)}"
        case events.AttemptEnded():
            return f"attempt {event.attempt}: {event.outcome}, {event.failure}"
        case events.SelectionCommitted():
            chosen = "the base student" if event.attempt is None else f"attempt {event.attempt}"
            return f"committed: {chosen} ({event.rule}, {event.reason})"
        case events.OfficialScored():
            return f"official split: {score_text(event.score)}"
        case events.IncidentRecorded():
            return f"incident: {event.incident}"
        case _:
            return ""
