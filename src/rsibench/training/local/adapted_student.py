"""The student with a fresh LoRA adapter on it, ready to train: loaded from its folder, frozen, adapted, seeded.

Invariant: the adapter's first bytes depend on the seed, the shape and the student alone. It is not an optimiser.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any, NamedTuple

import torch
from peft import LoraConfig, PeftModel, get_peft_model
from torch import Tensor, nn
from transformers import AutoModelForCausalLM

from rsibench.errors import EnvironmentFault, SpecError
from rsibench.ports.trainer import LoraSpec
from rsibench.training.local.frozen_linear import freeze_linears

_SCALED_LOGITS = {"final_logit_softcapping": None, "logits_scaling": 1, "logit_scale": 1}
"""Settings of other models by which logits are more than head times hidden state; the value that means no."""


class AdaptedStudent(NamedTuple):
    """`decoder` maps token ids to hidden states; `head` (vocabulary, width) is the unembedding, never trained."""

    model: PeftModel
    decoder: nn.Module
    head: Tensor
    parameters: list[nn.Parameter]


def load_student(folder: Path, device: torch.device) -> Any:
    """The bare student of transformers: fp32 on a CPU, bf16 elsewhere. EnvironmentFault when it is unreadable."""
    dtype = torch.float32 if device.type == "cpu" else torch.bfloat16
    try:
        model: Any = AutoModelForCausalLM.from_pretrained(
            folder, dtype=dtype, attn_implementation="sdpa", local_files_only=True
        )
    except (OSError, ValueError) as error:
        raise EnvironmentFault(
            f"the student cannot be loaded: {error}", where=str(folder), fix="prepare the student again"
        ) from error
    for setting, neutral in _SCALED_LOGITS.items():
        value = getattr(model.config, setting, None)
        if value is not None and value != neutral:
            raise SpecError(
                f"the student scales its logits ({setting} = {value}), which the local trainer does not do",
                where=str(folder),
                fix="choose another student",
            )
    return model.to(device).requires_grad_(False)


def adapt_student(folder: Path, lora: LoraSpec, seed: int, device: torch.device) -> AdaptedStudent:
    """Loads the student and puts an untrained adapter of shape `lora` on its top layers."""
    student = load_student(folder, device)
    decoder = student.get_decoder()
    head = student.get_output_embeddings().weight
    config = LoraConfig(
        r=lora.rank,
        lora_alpha=lora.alpha,
        lora_dropout=0.0,
        target_modules=list(lora.targets),
        layers_to_transform=_top(lora.top_layers, student.config.num_hidden_layers),
        task_type="CAUSAL_LM",
    )
    torch.manual_seed(seed)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # PEFT asks the model for a setting that it is about to drop
            model = get_peft_model(student, config)
    except ValueError as error:
        raise SpecError(f"the adapter does not fit the student: {error}", where="recipe.lora") from error
    freeze_linears(decoder)
    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    model.train()
    return AdaptedStudent(model, decoder, head, parameters)


def _top(top_layers: int | None, layers: int) -> list[int] | None:
    if top_layers is None:
        return None
    if top_layers > layers:
        raise SpecError(
            f"the adapter wants the top {top_layers} layers of a student that has {layers}",
            where="recipe.lora.top_layers",
            fix=f"use at most {layers}",
        )
    return list(range(layers - top_layers, layers))
