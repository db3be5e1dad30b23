"""A model that the server offers: its name on the wire, the student's folder, and what the wire leaves open.

The wire has no alpha, no list of layers and no list of modules; they belong to the served model and hold for all its
adapters. It is not a student's specification: digests are checked by whoever prepared the folder.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from rsibench.errors import SpecError
from rsibench.ports.trainer import LoraSpec

_ATTENTION = frozenset({"q_proj", "k_proj", "v_proj", "o_proj"})
_MLP = frozenset({"gate_proj", "up_proj", "down_proj"})
DEFAULT_ALPHA = 32


class ServedModel(NamedTuple):
    """`targets` are adapted as far as a client asks for attention and MLP; `top_layers` None means every layer."""

    name: str
    student: Path
    alpha: int = DEFAULT_ALPHA
    targets: tuple[str, ...] = tuple(sorted(_ATTENTION | _MLP))
    top_layers: int | None = None

    def lora(self, rank: int, *, attention: bool, mlp: bool) -> LoraSpec:
        """The adapter's shape for a client's wish. SpecError when nothing is left to adapt."""
        wanted = (_ATTENTION if attention else frozenset()) | (_MLP if mlp else frozenset())
        targets = tuple(name for name in self.targets if name in wanted)
        if rank < 1 or not targets:
            raise SpecError(f"rank {rank} on {len(targets)} kinds of modules is no adapter", where="lora_config")
        return LoraSpec(rank, self.alpha, targets, self.top_layers)

    def context_tokens(self) -> int:
        """Most tokens of prompt and answer together."""
        return int(self._config()["max_position_embeddings"])

    def end_tokens(self) -> tuple[int, ...]:
        """The tokens that end a text when a client names no stops."""
        ids = self._config().get("eos_token_id")
        if ids is None:
            return ()
        return tuple(ids) if isinstance(ids, list) else (int(ids),)

    def _config(self) -> dict[str, Any]:
        loaded: dict[str, Any] = json.loads((self.student / "config.json").read_text(encoding="utf-8"))
        return loaded
