"""What turns texts into vectors. Any object of this form will do; the one that comes with the extra is made here."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from rsibench.errors import EnvironmentFault

type Vectors = NDArray[np.float32]


class Encoder(Protocol):
    """Texts to rows of unit length, shape (texts, dimensions). Deterministic, and each text by itself."""

    def __call__(self, texts: Sequence[str], /) -> Vectors: ...


def static_encoder() -> Encoder:
    """wordllama's static word vectors, from the files in its wheel; nothing is fetched. English above all.

    Raises EnvironmentFault when the extra is not installed.
    """
    try:
        import wordllama  # type: ignore[import-untyped,import-not-found,unused-ignore] # noqa: PLC0415 - of an extra
    except ImportError as error:
        raise EnvironmentFault(
            "the semantic stage needs wordllama",
            where="rsibench.gate.semantic",
            fix="pip install 'rsibench-data[semantic]'",
        ) from error
    model = wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)

    def encode(texts: Sequence[str], /) -> Vectors:
        return np.asarray(model.embed(list(texts), norm=True), dtype=np.float32)

    return encode
