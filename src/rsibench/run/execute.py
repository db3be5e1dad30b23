"""Executes a run from wherever its journal says it is to its seal."""

from __future__ import annotations

from rsibench.errors import IntegrityError
from rsibench.journal.events import RunInterrupted, RunSealed
from rsibench.journal.state import Phase
from rsibench.run.base import score_base
from rsibench.run.context import RunContext
from rsibench.run.official import official, reserve_official
from rsibench.run.research import research
from rsibench.run.result import RunResult
from rsibench.run.summarise import summarise
from rsibench.spec.item import Split


def execute(context: RunContext) -> RunResult:
    """Every stage that the journal does not hold yet, in order. Returns the sealed result.

    On KeyboardInterrupt the run is marked as interrupted, can be resumed, and the exception goes on.
    """
    try:
        prepare(context)
        research(context)
        official(context)
        return seal(context)
    except KeyboardInterrupt:
        if not context.journal.state().interrupted:
            context.journal.append(RunInterrupted(reason="operator"))
        raise


def prepare(context: RunContext) -> None:
    """Opens the budget, scores the base student on the selection split, sets the official evaluation aside."""
    if context.journal.state().phase is not Phase.PREPARING:
        return
    context.ledger.open(context.planned.lock.protocol.budget.limits())
    score_base(context, Split.SELECTION)
    reserve_official(context)


def seal(context: RunContext) -> RunResult:
    """Stores the result and ends the journal; a sealed run gives back what was stored."""
    state = context.journal.state()
    if state.phase is Phase.SEALED:
        return sealed_result(context)
    result = summarise(context.planned.lock, state, context.journal.entries(), context.blobs)
    context.journal.append(RunSealed(result_blob=context.blobs.put(result.canonical())))
    context.folder.result.write_text(result.model_dump_json(indent=1) + "\n", encoding="utf-8")
    return result


def sealed_result(context: RunContext) -> RunResult:
    """The result that a sealed run recorded."""
    blob = context.journal.state().result_blob
    if blob is None:
        raise IntegrityError(
            "the run is not sealed", where=f"run {context.run_id}", fix="`rsibench resume` finishes it"
        )
    return RunResult.model_validate_json(context.blobs.get(blob))
