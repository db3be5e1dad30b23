"""The order in which prompts are read, and how much of their beginning is read only once.

Prompts are ordered by length, so that a group read together has little padding; what the whole group begins with, such
as a system prompt, passes through the student as one row. It changes no result beyond floating-point noise.
"""

from __future__ import annotations

from collections.abc import Sequence

SHORTEST_PREFIX = 8
"""A shorter common beginning is not worth a pass of its own."""


def reading_order(prompts: Sequence[tuple[int, ...]]) -> list[int]:
    """Indices of `prompts` by length, then by tokens, equal ones in the order given."""
    return sorted(range(len(prompts)), key=lambda index: (len(prompts[index]), prompts[index], index))


def shared_prefix(prompts: Sequence[tuple[int, ...]]) -> int:
    """Length of the beginning that all `prompts` share and that is worth reading once; every prompt keeps a token."""
    if len(prompts) < 2:
        return 0
    low, high = min(prompts), max(prompts)
    shortest = min(len(prompt) for prompt in prompts) - 1
    common = 0
    while common < shortest and low[common] == high[common]:
        common += 1
    return common if common >= SHORTEST_PREFIX else 0
