"""The sign-flip permutation test of paired differences: under the null either side could have come first.

Whole tasks are flipped, so decodes stay together. Where differences are multiples of one step, as with a fixed number
of decodes, the distribution over all 2^n flips is computed; otherwise it is drawn.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from rsibench.analysis.arrays import Floats
from rsibench.analysis.mcnemar import ExactTest

DRAWS = 20_000
_CHUNK_CELLS = 4_000_000
_CLOSE = 1e-9


def sign_flip(steps: ArrayLike) -> ExactTest:
    """Exact two-sided test that differences (n,) are symmetric about 0; `steps` are whole numbers of one unit.

    The sum's null distribution is the product of the distributions of its parts, one part for each size of difference;
    with sizes 0 and 1 only it is McNemar's test. Fisher (1935), The Design of Experiments, section 21.
    """
    whole = np.asarray(steps, dtype=np.int64)
    observed = abs(int(whole.sum()))
    sizes, counts = np.unique(np.abs(whole[whole != 0]), return_counts=True)
    masses = np.ones(1)
    for size, count in zip(sizes, counts, strict=True):
        masses = np.convolve(masses, _flip_masses(int(size), int(count)))
    span = (len(masses) - 1) // 2
    sums = np.abs(np.arange(-span, span + 1))
    at = float(masses[sums == observed].sum())
    beyond = float(masses[sums > observed].sum())
    return ExactTest(min(1.0, at + beyond), min(1.0, beyond + at / 2 if observed else 1.0))


def sign_flip_drawn(differences: Floats, rng: np.random.Generator, draws: int = DRAWS) -> ExactTest:
    """The same test of any real differences (n,) by `draws` random flips.

    The observed order is one of the draws, so the p-value is never 0: Phipson and Smyth (2010), Stat. Appl. Genet.
    Mol. Biol. 9, 39.
    """
    observed = abs(float(differences.sum()))
    slack = _CLOSE * max(1.0, float(np.abs(differences).sum()))
    beyond = at = 0
    step = max(1, _CHUNK_CELLS // max(1, len(differences)))
    for start in range(0, draws, step):
        size = min(step, draws - start)
        signs = 2.0 * rng.integers(0, 2, size=(size, len(differences)), dtype=np.int8) - 1.0
        sums = np.abs(signs @ differences)
        beyond += int((sums > observed + slack).sum())
        at += int((np.abs(sums - observed) <= slack).sum())
    if observed <= slack:
        return ExactTest(1.0, 1.0)
    return ExactTest((beyond + at + 1) / (draws + 1), (beyond + at / 2 + 0.5) / (draws + 1))


def _flip_masses(size: int, count: int) -> Floats:
    """(2 * size * count + 1,): distribution of the sum of `count` differences of plus or minus `size`."""
    ups = np.arange(count + 1)
    log_binomials = special.gammaln(count + 1) - special.gammaln(ups + 1) - special.gammaln(count - ups + 1)
    masses = np.zeros(2 * size * count + 1)
    masses[:: 2 * size] = np.exp(log_binomials - count * np.log(2))
    return masses
