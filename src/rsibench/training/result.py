"""What a training reports while it runs and when it has ended."""

from __future__ import annotations

from typing import NamedTuple

from rsibench.ports.trainer import AdapterFacts


class TrainProgress(NamedTuple):
    """State after a step: `step` of `steps` are done, `tokens` of `total_tokens` (real ones, no padding).

    `loss` is the step's token mean in nats; `peak_rss_bytes` is of the process that trains.
    """

    step: int
    steps: int
    tokens: int
    total_tokens: int
    loss: float
    tokens_per_second: float
    peak_rss_bytes: int


class TrainingResult(NamedTuple):
    """An adapter and how it came about. Losses are token means in nats over the first and the last few steps.

    `near_noop` labels an adapter whose delta norm is below the recipe's threshold. `wall_seconds`, `tokens_per_second`
    and `peak_rss_bytes` are measured, of the last sitting alone, and differ from run to run. `resumed_at_step` says how
    many steps an earlier sitting had done, `state_note` why a state that was found was not used. All others repeat.
    """

    adapter: AdapterFacts
    steps: int
    train_tokens: int
    loss_tokens: int
    first_loss: float
    last_loss: float
    near_noop: bool
    wall_seconds: float
    tokens_per_second: float
    peak_rss_bytes: int
    resumed_at_step: int = 0
    state_note: str = ""
