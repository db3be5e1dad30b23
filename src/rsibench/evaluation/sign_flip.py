"""The exact paired sign-flip test: if base and selected were exchangeable, how often would they differ as much?

All 2^n flips of the items' differences are counted, not sampled. With one decode an item the differences are -1, 0 and
1 and the test is the exact McNemar test (R. A. Fisher, The Design of Experiments, 1935, section 21; Q. McNemar,
Psychometrika 12 (1947)).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction


def sign_flip_p_value(differences: Sequence[Fraction]) -> float:
    """Two-sided p value of the items' differences; 1.0 when none differs."""
    scale = math.lcm(*(difference.denominator for difference in differences))
    steps = [int(abs(difference) * scale) for difference in differences if difference]
    observed = abs(int(sum(differences, Fraction(0)) * scale))
    if not steps or not observed:
        return 1.0
    return float(Fraction(_extreme_flips(steps, observed), 2 ** len(steps)))


def _extreme_flips(steps: Sequence[int], observed: int) -> int:
    """How many of the flips of `steps` have a sum of at least `observed` in absolute value.

    The product of (1 + x^step) over all steps counts, as coefficient i, the flips whose positive part is i, so that
    their sum is 2 i - total. The polynomial is held in one integer with a fixed number of bytes a coefficient.
    """
    total = sum(steps)
    width_bytes = len(steps) // 8 + 1
    polynomial = 1
    for step in steps:
        polynomial += polynomial << (8 * width_bytes * step)
    coefficients = polynomial.to_bytes(width_bytes * (total + 1), "little")
    return sum(
        int.from_bytes(coefficients[index * width_bytes : (index + 1) * width_bytes], "little")
        for index in range(total + 1)
        if abs(2 * index - total) >= observed
    )
