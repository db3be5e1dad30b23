"""How long a campaign still takes: from the cells that are finished, with what is open and what waits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from statistics import median

from rsibench.campaign.recorded import CellStage, Recorded

_SECONDS_PER_HOUR = 3600


def seconds_left(stands: Mapping[str, Recorded], counted: Iterable[str], parallel: int) -> float | None:
    """Seconds until the counted cells are done, at the median time of those that are; None before the first is."""
    known = [stands[run_id] for run_id in counted]
    finished = [one.hours for one in known if one.stage is CellStage.SEALED]
    if not finished:
        return None
    each = median(finished) * _SECONDS_PER_HOUR
    left = [each - one.hours * _SECONDS_PER_HOUR for one in known if one.stage is not CellStage.SEALED]
    if not left:
        return 0.0
    if len(left) <= parallel:
        return max(0.0, *left)
    return max(*left, sum(max(0.0, one) for one in left) / parallel)
