"""The exported adapter: a standard PEFT folder with `adapter_config.json` and `adapter_model.safetensors`.

Invariant: equal weights and shape give equal bytes in both files, on every machine: keys are sorted, sets too, and no
path is written. The base student is not named in it; the journal says which one it was.
"""

from __future__ import annotations

import json
import math
from enum import Enum
from pathlib import Path

import torch
from peft import PeftModel, get_peft_model_state_dict
from peft.tuners.lora import LoraLayer
from safetensors.torch import save_file

from rsibench.ids import sha256_file
from rsibench.ports.trainer import AdapterFacts

WEIGHTS = "adapter_model.safetensors"
CONFIG = "adapter_config.json"
_ADAPTER = "default"


def write_adapter(model: PeftModel, folder: Path) -> AdapterFacts:
    """Writes the adapter on `model` to `folder`, made when missing, and says what it is."""
    folder.mkdir(parents=True, exist_ok=True)
    weights = {
        name: tensor.detach().to("cpu", torch.float32).contiguous()
        for name, tensor in sorted(get_peft_model_state_dict(model).items())
    }
    save_file(weights, folder / WEIGHTS, metadata={"format": "pt"})
    settings = {**model.peft_config[_ADAPTER].to_dict(), "base_model_name_or_path": "", "inference_mode": True}
    text = json.dumps(_plain(settings), indent=2, sort_keys=True)
    (folder / CONFIG).write_text(text + "\n", encoding="utf-8")
    return AdapterFacts(
        path=folder,
        sha256=sha256_file(folder / WEIGHTS),
        delta_norm=delta_norm(model),
        parameters=sum(tensor.numel() for tensor in weights.values()),
    )


@torch.no_grad()
def delta_norm(model: PeftModel) -> float:
    """Frobenius norm of all weight changes together: sqrt of the sum over modules of ||s B A||^2.

    Formed from the rank x rank Gram matrices, ||B A||^2 = trace((B^T B)(A A^T)), so no product B A is ever made.
    """
    total = 0.0
    for module in model.modules():
        if isinstance(module, LoraLayer) and _ADAPTER in module.lora_A:
            down = module.lora_A[_ADAPTER].get_parameter("weight").double()  # (rank, in)
            up = module.lora_B[_ADAPTER].get_parameter("weight").double()  # (out, rank)
            squared = ((up.t() @ up) * (down @ down.t())).sum().item()
            total += module.scaling[_ADAPTER] ** 2 * max(squared, 0.0)
    return math.sqrt(total)


def _plain(value: object) -> object:
    """`value` as JSON types, sets sorted."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, set | frozenset):
        return sorted(str(item) for item in value)
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Enum):
        return value.value
    return value
