"""Compares windows of a row with every item's vector. Candidates for a judgement, calibrated to few false alarms.

Windows are as long as items are: whole messages when short, overlapping runs of words when long. The threshold belongs
to the encoder and was set on near misses (rows about the same things), not on unrelated text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np

from rsibench.gate.leaks.phrases import Match
from rsibench.gate.leaks.protected import ProtectedItem
from rsibench.gate.semantic.encoder import Encoder
from rsibench.spec.contamination import LeakClass

STATIC_THRESHOLD = 0.88
"""For `static_encoder`; see docs/gate.md for what it costs and catches."""
_WINDOWS_WORDS = (48, 96)
_ITEM_WORDS = 96
_LEAST_WORDS = 12
_ENGLISH = frozenset("the of and to in is that with for on are as by from which how if at this be".split())  # noqa: SIM905
_LEAST_ENGLISH_SHARE = 0.1


class SemanticStage:
    """Searches texts for items by meaning."""

    def __init__(self, items: Sequence[ProtectedItem], encoder: Encoder, threshold: float = STATIC_THRESHOLD) -> None:
        self._encoder = encoder
        self._threshold = threshold
        long_enough = [item for item in items if len(item.prompt.split()) >= _LEAST_WORDS]
        self._ids = [item.item_id for item in long_enough]
        heads = [" ".join(item.prompt.split()[:_ITEM_WORDS]) for item in long_enough]
        self._vectors = encoder(heads) if heads else np.zeros((0, 1), dtype=np.float32)

    def search(self, text: str) -> Iterator[Match]:
        """The nearest item of each window that is near enough."""
        windows = list(_windows(text))
        if not windows or not len(self._vectors):
            return
        near = self._encoder(windows) @ self._vectors.T  # (windows, items)
        best = near.argmax(axis=1)
        for window, place in enumerate(best.tolist()):
            if near[window, place] >= self._threshold:
                leak = LeakClass.PARAPHRASE if _is_english(windows[window]) else LeakClass.TRANSLATION
                yield Match(self._ids[place], leak, float(near[window, place]), windows[window])


def _windows(text: str) -> Iterator[str]:
    words = text.split()
    for size in _WINDOWS_WORDS:
        step = size // 2
        for start in range(0, max(1, len(words) - step), step):
            if len(window := words[start : start + size]) >= _LEAST_WORDS:
                yield " ".join(window)
        if len(words) <= size:
            return


def _is_english(text: str) -> bool:
    words = re.findall(r"\w+", text.casefold())
    return sum(word in _ENGLISH for word in words) >= _LEAST_ENGLISH_SHARE * len(words)
