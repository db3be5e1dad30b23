"""LocalTrainer: the Trainer protocol on this machine, with torch and PEFT.

fp32 on a CPU, bf16 with fp32 adapter weights on a CUDA device when there is one. Invariant: same student, shape, seed,
steps, thread count and machine kind give the same adapter bytes. It keeps no data and orders nothing; the loop does.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path

import torch
from peft import PeftModel
from torch import Tensor

from rsibench.errors import SpecError
from rsibench.ports.trainer import AdamParams, AdapterFacts, LoraSpec, StepResult, TokenExample
from rsibench.training.local.adapted_student import AdaptedStudent, adapt_student
from rsibench.training.local.adapter_folder import write_adapter
from rsibench.training.local.head_loss import HeadLoss, head_logprobs, head_loss
from rsibench.training.local.padded import PaddedBatch, pad_batch

_STATE_VERSION = 1


class LocalTrainer:
    """One adapter at a time. `device` None takes CUDA when present; `threads` None leaves torch's own choice."""

    def __init__(self, device: str | None = None, threads: int | None = None) -> None:
        self._device = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
        self._threads = threads
        self._student: AdaptedStudent | None = None
        self._optimizer: torch.optim.AdamW | None = None
        self._lora: LoraSpec | None = None

    def open(self, student: Path, lora: LoraSpec, seed: int) -> None:
        """Loads the student and puts a fresh adapter on it; whatever was open before is dropped."""
        self.close()
        if self._threads is not None:
            torch.set_num_threads(self._threads)
        self._student = adapt_student(student, lora, seed, self._device)
        self._optimizer = torch.optim.AdamW(self._student.parameters, fused=True)
        self._lora = lora

    def step(self, batch: Sequence[TokenExample], adam: AdamParams) -> StepResult:
        """One optimiser step on the token mean of `batch`. SpecError when nothing in it carries weight."""
        student, _ = self._opened()
        padded = pad_batch(batch, self._device)
        if padded.weight_sum <= 0:
            raise SpecError("a batch without any loss token cannot be trained on", where="training")
        loss = self._backward(student, padded, padded.weight_sum)
        self.apply(adam)
        return StepResult(loss.loss_sum.item(), padded.weight_sum)

    def accumulate(self, batch: Sequence[TokenExample]) -> list[list[float]]:
        """Adds the gradient of the weighted sum of `batch`'s losses; returns every target's log-probability.

        `step` is `accumulate` with weights that add up to one, and `apply`; the gradients are equal to the bit.
        """
        student, _ = self._opened()
        padded = pad_batch(batch, self._device)
        hidden = self._hidden(student, padded)
        logprobs = self._every_logprob(student, padded, hidden.detach(), batch)
        if padded.weights.numel():
            self._backward(student, padded, 1.0, hidden)
        return logprobs

    def score(self, batch: Sequence[TokenExample]) -> list[list[float]]:
        """Log-probability of every target of `batch`, in nats; gradients stay as they are."""
        student, _ = self._opened()
        padded = pad_batch(batch, self._device)
        with torch.no_grad():
            return self._every_logprob(student, padded, self._hidden(student, padded), batch)

    def apply(self, adam: AdamParams, clip_norm: float = 0.0) -> None:
        """One step of AdamW along what was accumulated, which is then forgotten. `clip_norm` 0 clips nothing."""
        student, optimizer = self._opened()
        if clip_norm > 0:
            torch.nn.utils.clip_grad_norm_(student.parameters, clip_norm)
        for group in optimizer.param_groups:
            group.update(
                lr=adam.learning_rate,
                betas=(adam.beta1, adam.beta2),
                eps=adam.eps,
                weight_decay=adam.weight_decay,
            )
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    @property
    def vocabulary(self) -> int:
        """How many tokens the student has."""
        return int(self._opened()[0].head.shape[0])

    @property
    def pending(self) -> bool:
        """Whether there is a gradient that no step has used yet; no saved state would hold it."""
        return self._student is not None and any(parameter.grad is not None for parameter in self._student.parameters)

    def save_state(self, path: Path) -> None:
        """Writes adapter and optimiser to one file, whole or not at all."""
        student, optimizer = self._opened()
        state = {
            "version": _STATE_VERSION,
            "lora": _shape(self._lora),
            "adapter": [parameter.detach().cpu() for parameter in student.parameters],
            "optimizer": optimizer.state_dict(),
        }
        partial = path.with_name(f".{path.name}.partial")
        torch.save(state, partial)
        os.replace(partial, path)

    def resume(self, path: Path, *, optimizer: bool = True) -> None:
        """Continues from a saved state; the trainer must be open on the same student with the same shape.

        Without `optimizer`, the adapter alone is taken and AdamW begins anew.
        """
        student, adam = self._opened()
        state = torch.load(path, map_location=self._device, weights_only=True)
        if state["version"] != _STATE_VERSION or state["lora"] != _shape(self._lora):
            raise SpecError(
                f"the saved state is of another adapter shape: {state['lora']} instead of {_shape(self._lora)}",
                where=str(path),
                fix="open the trainer with the shape that was saved",
            )
        with torch.no_grad():
            for parameter, saved in zip(student.parameters, state["adapter"], strict=True):
                parameter.copy_(saved)
        if optimizer:
            adam.load_state_dict(state["optimizer"])
        else:
            self._optimizer = torch.optim.AdamW(student.parameters, fused=True)

    def export_sampler(self, path: Path) -> AdapterFacts:
        """Writes the adapter to the folder `path` in PEFT's format."""
        student, _ = self._opened()
        return write_adapter(student.model, path)

    def close(self) -> None:
        """Lets go of the model; harmless when nothing is open."""
        if self._student is not None:
            self._student = self._optimizer = self._lora = None
            gc.collect()  # models refer to themselves, so their memory would otherwise stay for a while

    @property
    def model(self) -> PeftModel | None:
        """The adapted student while the trainer is open, to look at."""
        return self._student.model if self._student is not None else None

    def _hidden(self, student: AdaptedStudent, padded: PaddedBatch) -> Tensor:
        """Hidden states (rows x length, width) of a batch."""
        with torch.autocast(self._device.type, torch.bfloat16, enabled=self._device.type != "cpu"):
            hidden: Tensor = student.decoder(input_ids=padded.inputs, use_cache=False).last_hidden_state
        return hidden.flatten(0, 1)

    def _backward(
        self, student: AdaptedStudent, padded: PaddedBatch, weight_sum: float, hidden: Tensor | None = None
    ) -> HeadLoss:
        """Adds the gradient of the batch's loss, divided by `weight_sum`, to the adapter's."""
        hidden = self._hidden(student, padded) if hidden is None else hidden
        selected = hidden.index_select(0, padded.positions)  # (loss positions, width)
        loss = head_loss(selected.detach(), student.head, padded.targets, padded.weights, weight_sum)
        torch.autograd.backward(selected, loss.gradient)
        return loss

    def _every_logprob(
        self, student: AdaptedStudent, padded: PaddedBatch, hidden: Tensor, batch: Sequence[TokenExample]
    ) -> list[list[float]]:
        length = padded.inputs.shape[1]
        places = [row * length + column for row, example in enumerate(batch) for column in range(len(example.targets))]
        targets = torch.tensor([target for example in batch for target in example.targets], device=self._device)
        found = head_logprobs(hidden[torch.tensor(places, device=self._device)], student.head, targets).tolist()
        ends = list(accumulate(len(example.targets) for example in batch))
        return [found[end - len(example.targets) : end] for end, example in zip(ends, batch, strict=True)]

    def _opened(self) -> tuple[AdaptedStudent, torch.optim.AdamW]:
        if self._student is None or self._optimizer is None:
            raise SpecError("the trainer is not open", where="training", fix="call open first")
        return self._student, self._optimizer


def _shape(lora: LoraSpec | None) -> list[object]:
    """`lora` as plain values, the way a state file holds them."""
    return [] if lora is None else [lora.rank, lora.alpha, list(lora.targets), lora.top_layers]
