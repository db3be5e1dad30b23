"""`hypothesis.md`: what gap, what data, what is expected to move. Its text is kept, not judged."""

from __future__ import annotations

from rsibench.gate.codes import Code
from rsibench.gate.problems import HYPOTHESIS_FILE, Problems
from rsibench.gate.text import decode_text

_FIX = "say in a few sentences which gap the data should close and what you expect to move"


def check_hypothesis(hypothesis: bytes | None, max_bytes: int, problems: Problems) -> None:
    """A hypothesis must be there, in UTF-8, with at least one visible character, within `max_bytes`."""
    if hypothesis is None:
        problems.add(Code.FILE_MISSING, "there is no hypothesis", _FIX, file=HYPOTHESIS_FILE)
        return
    if len(hypothesis) > max_bytes:
        why = f"the file has {len(hypothesis)} bytes; at most {max_bytes} are taken"
        problems.add(Code.FILE_TOO_LARGE, why, "shorten it", file=HYPOTHESIS_FILE)
        return
    text = decode_text(hypothesis, HYPOTHESIS_FILE, problems)
    if text is not None and not text.strip():
        problems.add(Code.FILE_EMPTY, "the hypothesis has no text", _FIX, file=HYPOTHESIS_FILE)
