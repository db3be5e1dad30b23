"""McNemar's test for one decode a task and side: only tasks whose verdict changed say anything."""

from __future__ import annotations

from typing import NamedTuple

from scipy import special


class ExactTest(NamedTuple):
    """`p_value` is exact and conservative; `mid_p` counts the observed outcome half and is nearer the nominal size."""

    p_value: float
    mid_p: float


def mcnemar(gained: int, lost: int) -> ExactTest:
    """Two-sided test that gaining and losing a task are equally likely.

    McNemar (1947), Psychometrika 12, 153, with the binomial distribution; mid-p after Fagerland, Lydersen and Laake
    (2013), BMC Med. Res. Methodol. 13, 91. With no task changed both are 1.
    """
    changed = gained + lost
    if changed == 0:
        return ExactTest(1.0, 1.0)
    fewer = min(gained, lost)
    tail = float(special.bdtr(fewer, changed, 0.5))
    below = float(special.bdtr(fewer - 1, changed, 0.5)) if fewer > 0 else 0.0
    if gained == lost:
        return ExactTest(1.0, 1.0)
    return ExactTest(min(1.0, 2 * tail), min(1.0, tail + below))
