"""The key and value cache of a batch whose rows come and go: fixed buffers, one slot a row, only single rows move.

Each row fills its slot from position 0, so rows of different lengths need no alignment. Slots 0 .. live - 1 are in use;
a row that ends is replaced by the last live one. Invariant: a row's keys and values never depend on its slot.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from transformers.cache_utils import Cache, DynamicLayer


class SlotLayer(DynamicLayer):  # type: ignore[no-untyped-call]  # transformers leaves its class hook untyped
    """One layer's buffers, keys and values each (slots, key heads, capacity, width); made at the first write."""

    def __init__(self, slots: int, capacity: int) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # transformers leaves it untyped
        self._shape = (slots, capacity)
        self._owner: SlotCache | None = None
        self.key_buffer: Tensor | None = None
        self.value_buffer: Tensor | None = None

    def belong_to(self, owner: SlotCache) -> None:
        """Follows `owner`'s live rows and positions from here on."""
        self._owner = owner

    def buffers(self, like: Tensor) -> tuple[Tensor, Tensor]:
        """Both buffers, made now if they were not."""
        if self.key_buffer is None or self.value_buffer is None:
            slots, capacity = self._shape
            shape = (slots, like.shape[1], capacity, like.shape[3])
            self.key_buffer, self.value_buffer = like.new_zeros(shape), like.new_zeros(shape)
        return self.key_buffer, self.value_buffer

    def update(self, key_states: Tensor, value_states: Tensor, *_: Any, **__: Any) -> tuple[Tensor, Tensor]:
        """Writes one new position of every live row, (live, key heads, 1, width), and returns all that is filled."""
        if self._owner is None:
            raise RuntimeError("a slot layer belongs to no cache")
        keys, values = self.buffers(key_states)
        owner = self._owner
        keys[owner.rows, :, owner.positions] = key_states[:, :, 0]
        values[owner.rows, :, owner.positions] = value_states[:, :, 0]
        return keys[: owner.live, :, : owner.filled], values[: owner.live, :, : owner.filled]


class SlotCache(Cache):
    """`lengths[s]` positions of slot s are filled. `step` says where the next write goes; the model then writes."""

    def __init__(self, layers: int, slots: int, capacity: int, device: torch.device) -> None:
        self._layers = [SlotLayer(slots, capacity) for _ in range(layers)]
        super().__init__(layers=list(self._layers))
        for layer in self._layers:
            layer.belong_to(self)
        self._device = device
        self.slots = slots
        self.lengths: list[int] = []
        self.rows = torch.empty(0, dtype=torch.long, device=device)
        self.positions = torch.empty(0, dtype=torch.long, device=device)
        self.filled = 0

    @property
    def live(self) -> int:
        """Slots in use."""
        return len(self.lengths)

    def admit(self, filled: Sequence[DynamicLayer], lengths: Sequence[int]) -> None:
        """Takes over rows from the layers of a cache that one pass has filled, as new slots at the end.

        `lengths` count whole prompts; what the pass padded beyond them is overwritten later and never seen.
        """
        first, rows = self.live, len(lengths)
        for mine, theirs in zip(self._layers, filled, strict=True):
            if theirs.keys is None or theirs.values is None:
                raise RuntimeError("the pass over the prompts filled no cache")
            keys, values = mine.buffers(theirs.keys)
            width = theirs.keys.shape[2]
            keys[first : first + rows, :, :width] = theirs.keys
            values[first : first + rows, :, :width] = theirs.values
        self.lengths += lengths

    def step(self) -> tuple[Tensor, Tensor | None]:
        """Opens a new position on every live row: position ids (live, 1), and a mask (live, 1, 1, filled) if needed."""
        self.rows = torch.arange(self.live, device=self._device)
        self.positions = torch.tensor(self.lengths, device=self._device)
        self.lengths = [length + 1 for length in self.lengths]
        self.filled = max(self.lengths)
        mask = None
        if min(self.lengths) < self.filled:
            mask = (torch.arange(self.filled, device=self._device) <= self.positions.unsqueeze(1))[:, None, None]
        return self.positions.unsqueeze(1), mask

    def release(self, slot: int) -> int:
        """Frees `slot`; the last live row moves into it. Returns the slot that the mover came from."""
        last = self.live - 1
        if slot != last:
            length = self.lengths[last]
            for layer in self._layers:
                for buffer in (layer.key_buffer, layer.value_buffer):
                    if buffer is not None:
                        buffer[slot, :, :length] = buffer[last, :, :length]
            self.lengths[slot] = length
        self.lengths.pop()
        return last
