"""Parts of the run's state as the researcher sees them. Pure functions; nothing of the official split passes here."""

from __future__ import annotations

from rsibench.journal.state import AttemptState, RunState
from rsibench.lab.feedback import ScoreView, score_view
from rsibench.lab.replies import AttemptView, SelectionView
from rsibench.spec.item import Split
from rsibench.store.holding import Holding
from rsibench.units import Account, to_whole


def attempt_view(state: RunState, attempt: AttemptState) -> AttemptView:
    """One attempt with what it cost, or what is reserved for it while it is not over."""
    reservation = state.reservations[attempt.reservation]
    amounts = reservation.amounts if reservation.holding is Holding.RESERVED else reservation.spent
    return AttemptView(
        attempt=attempt.number,
        submission=attempt.submission,
        stage=attempt.stage,
        rows=attempt.rows,
        train_tokens=attempt.train_tokens,
        config=attempt.config,
        score=None if attempt.score is None else score_view(attempt.score),
        near_noop=attempt.near_noop,
        failure=attempt.failure,
        training_usd=to_whole(Account.TRAINING, amounts.get(Account.TRAINING, 0)),
        sampling_usd=to_whole(Account.SAMPLING, amounts.get(Account.SAMPLING, 0)),
    )


def selection_view(state: RunState) -> SelectionView:
    """The choice, committed or only proposed."""
    choice = state.committed or state.proposed
    return SelectionView(
        chosen=choice is not None,
        committed=state.committed is not None,
        attempt=None if choice is None else choice.attempt,
        rule=None if choice is None else choice.rule,
    )


def base_view(state: RunState) -> ScoreView | None:
    """The base student's score on the selection split."""
    base = state.base.get(Split.SELECTION)
    return None if base is None else score_view(base.score)
