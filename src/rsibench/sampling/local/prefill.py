"""Reading prompts: one pass over a group of them, which leaves their keys, values and first logits.

Rows are padded on the right; attention is causal, so padding is never seen by a prompt's own tokens.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from transformers.cache_utils import Cache, DynamicLayer

from rsibench.sampling.local.merged_student import MergedStudent
from rsibench.sampling.local.prefix import shared_prefix

_PADDING_ID = 0


class Prefilled(NamedTuple):
    """hidden (rows, width) at each prompt's last token; each of `layers` holds (rows, key heads, positions, width)."""

    hidden: Tensor
    layers: list[DynamicLayer]
    prefix: int


def cache_argument(decoder: nn.Module) -> str:
    """What the decoder calls its cache: transformers renamed it between versions."""
    names = inspect.signature(decoder.forward).parameters
    return "cache" if "cache" in names else "past_key_values"


def run_decoder(
    student: MergedStudent, cache_name: str, ids: Tensor, positions: Tensor, mask: Tensor | None, cache: Cache
) -> Tensor:
    """Hidden states (rows, tokens, width) of `ids` (rows, tokens); `cache` takes their keys and values."""
    arguments: dict[str, Any] = {cache_name: cache}
    output = student.decoder(input_ids=ids, position_ids=positions, attention_mask=mask, use_cache=True, **arguments)
    hidden: Tensor = output.last_hidden_state
    return hidden


def prefill(student: MergedStudent, cache_name: str, prompts: Sequence[tuple[int, ...]]) -> Prefilled:
    """Reads `prompts`, their common beginning only once."""
    device = student.device
    layers = [DynamicLayer() for _ in range(student.layers)]  # type: ignore[no-untyped-call]  # untyped there
    cache = Cache(layers=list(layers))
    prefix = shared_prefix(prompts)
    mask = None
    longest = max(len(prompt) for prompt in prompts)
    if prefix:
        head = torch.tensor([prompts[0][:prefix]], device=device)
        run_decoder(student, cache_name, head, torch.arange(prefix, device=device).unsqueeze(0), None, cache)
        cache.batch_repeat_interleave(len(prompts))
        seen = torch.arange(longest, device=device) <= torch.arange(prefix, longest, device=device).unsqueeze(1)
        mask = seen[None, None]  # (1, 1, longest - prefix, longest)
    padded = [[*prompt[prefix:], *[_PADDING_ID] * (longest - len(prompt))] for prompt in prompts]
    positions = torch.arange(prefix, longest, device=device).unsqueeze(0)
    hidden = run_decoder(student, cache_name, torch.tensor(padded, device=device), positions, mask, cache)
    last = torch.tensor([len(prompt) - prefix - 1 for prompt in prompts], device=device)
    return Prefilled(hidden[torch.arange(len(prompts), device=device), last], layers, prefix)
