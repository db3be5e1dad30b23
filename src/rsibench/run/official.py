"""The official evaluation: opened once, after the commit. Base and committed checkpoint answer the same items."""

from __future__ import annotations

from rsibench.journal.events import Measured, OfficialOpened, OfficialScored
from rsibench.journal.state import Phase
from rsibench.run.attempts import checked_adapter
from rsibench.run.base import score_base
from rsibench.run.context import RunContext, evaluation_bound
from rsibench.run.evaluate import evaluate
from rsibench.spec.item import Split
from rsibench.units import MILLISECONDS_PER_SECOND, Account

OFFICIAL_KEY = "official"
"""The reservation that holds the cost of the official evaluation."""


def reserve_official(context: RunContext) -> None:
    """Sets the worst-case cost of the official evaluation aside, before an attempt can spend it."""
    protocol = context.planned.lock.protocol
    bound = evaluation_bound(
        context.planned.official, context.planned.renderer, protocol.decoding, protocol.system_prompt
    )
    cost = protocol.pricing.sampling_micro_usd(bound.prompt_tokens, bound.output_tokens)
    context.ledger.reserve(OFFICIAL_KEY, {Account.SAMPLING: cost})


def official(context: RunContext) -> None:
    """Scores what was committed. Keeping the base student costs nothing: its score is the protocol's."""
    state = context.journal.state()
    if state.phase is Phase.COMMITTED:
        context.journal.append(OfficialOpened())
    if state.phase not in (Phase.COMMITTED, Phase.OFFICIAL):
        return
    score_base(context, Split.OFFICIAL)
    state = context.journal.state()
    if state.official is not None or state.committed is None:
        return
    number = state.committed.attempt
    base = state.base[Split.OFFICIAL]
    if number is None:
        with context.store.transaction(context.journal.run_id):
            context.ledger.release(OFFICIAL_KEY)
            context.journal.append(OfficialScored(attempt=None, trials_blob=base.trials_blob, score=base.score))
        return
    sha256 = state.attempts[number].adapter_sha256
    adapter = checked_adapter(context, number, sha256 or "")
    items = context.planned.official
    context.progress.begin("official evaluation", attempt=number, total=len(items), unit="items")
    done = evaluate(context, items, adapter, lambda _: None)
    cost = context.planned.lock.protocol.pricing.sampling_micro_usd(done.score.prompt_tokens, done.score.output_tokens)
    measured = Measured(wall_ms=int(done.seconds * MILLISECONDS_PER_SECOND))
    with context.store.transaction(context.journal.run_id):
        context.ledger.settle(OFFICIAL_KEY, {Account.SAMPLING: cost})
        context.journal.append(
            OfficialScored(attempt=number, trials_blob=done.trials_blob, score=done.score, measured=measured)
        )
