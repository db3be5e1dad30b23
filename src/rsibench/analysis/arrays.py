"""The array types of this package. Shapes are in the docstrings of what takes and returns them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

type Floats = npt.NDArray[np.float64]
type Ints = npt.NDArray[np.int64]
type Bools = npt.NDArray[np.bool_]
