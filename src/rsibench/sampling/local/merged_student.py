"""The student, with or without one adapter, ready to answer: loaded afresh, merged, packed.

Invariant: the weights depend on the student's and the adapter's files alone, never on what was loaded before, because
every opening starts from the files (a tenth of a second once the pages are in memory). The adapter is merged: W + s B A
in the student's own precision, so that decoding costs what the base student costs.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any, NamedTuple

import torch
from peft import PeftModel
from torch import nn
from transformers import AutoModelForCausalLM

from rsibench.errors import EnvironmentFault, SpecError
from rsibench.sampling.local.packed_linear import pack_linears

_SCALED_LOGITS = {"final_logit_softcapping": None, "logits_scaling": 1, "logit_scale": 1}
"""Settings of other models by which logits are more than head times hidden state; the value that means no."""


class MergedStudent(NamedTuple):
    """`decoder` maps token ids to hidden states, `head` those to logits."""

    decoder: nn.Module
    head: nn.Module
    layers: int
    context_tokens: int
    vocabulary: int
    device: torch.device


def load_merged(folder: Path, adapter: Path | None, device: torch.device) -> MergedStudent:
    """fp32 on a CPU, bf16 elsewhere. EnvironmentFault for unreadable files, SpecError for an unsuitable student."""
    dtype = torch.float32 if device.type == "cpu" else torch.bfloat16
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # PEFT asks the model for a setting that it is about to drop
            model: Any = AutoModelForCausalLM.from_pretrained(
                folder, dtype=dtype, attn_implementation="sdpa", local_files_only=True
            )
            if adapter is not None:
                model = PeftModel.from_pretrained(model, adapter).merge_and_unload()
    except (OSError, ValueError, RuntimeError) as error:
        which = f"adapter {adapter}" if adapter is not None else "base student"
        raise EnvironmentFault(f"the {which} cannot be loaded: {error}", where=str(folder)) from error
    _check(model.config, folder)
    model = model.to(device).requires_grad_(False).eval()
    decoder, head = model.get_decoder(), nn.ModuleList([model.get_output_embeddings()])
    with torch.inference_mode():
        pack_linears(decoder)
        pack_linears(head)
        _own_the_rest(decoder)
    config = model.config
    return MergedStudent(
        decoder, head[0], config.num_hidden_layers, config.max_position_embeddings, config.vocab_size, device
    )


def _own_the_rest(decoder: nn.Module) -> None:
    """Copies what was not packed: all weights are views of one mapped file, which stays in memory with any of them."""
    for parameter in decoder.parameters():
        parameter.data = parameter.data.clone()


def _check(config: object, folder: Path) -> None:
    """SpecError when the student computes something that this sampler does not."""
    found = [
        f"{setting} = {value}"
        for setting, neutral in _SCALED_LOGITS.items()
        if (value := getattr(config, setting, None)) is not None and value != neutral
    ]
    kinds = set(getattr(config, "layer_types", None) or ()) - {"full_attention"}
    found += [f"layers of kind {kind}" for kind in sorted(kinds)]
    if found:
        raise SpecError(
            f"the student has {' and '.join(found)}, which the local sampler does not do",
            where=str(folder),
            fix="choose another student",
        )
