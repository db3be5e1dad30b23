"""Holm's step-down correction: planned comparisons stay at 5 % together, whatever their dependence."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from rsibench.analysis.arrays import Floats


def holm(p_values: ArrayLike) -> Floats:
    """Adjusted p-values in the order given. Holm (1979), Scand. J. Stat. 6, 65."""
    values = np.asarray(p_values, dtype=np.float64)
    if np.any((values < 0) | (values > 1) | np.isnan(values)):
        raise ValueError("a p-value lies between 0 and 1")
    order = np.argsort(values, kind="stable")
    stepped = np.minimum(1.0, np.maximum.accumulate(values[order] * (len(values) - np.arange(len(values)))))
    adjusted = np.empty_like(values)
    adjusted[order] = stepped
    return adjusted
