"""TRL's SFTTrainer as `training_speed.py` measures it: same rows, layers, adapter, precision; no padding counted.

It needs `trl`, which is not one of the project's dependencies, and is loaded only where that is installed.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import torch
from datasets import Dataset
from peft import LoraConfig
from transformers import AutoModelForCausalLM, PreTrainedTokenizerFast, TrainerCallback
from trl import SFTConfig, SFTTrainer

from rsibench.rendering import RenderedRow
from rsibench.spec.recipe import LoraShape

LEARNING_RATE = 1e-3
NEVER = 1_000_000
CONTROL = {"pad_token": "<|endoftext|>", "eos_token": "<|im_end|>"}


class Plan(NamedTuple):
    """How the peer trains: `steps` are counted after `warm_steps` that are not."""

    rank: int
    rows_a_batch: int
    warm_steps: int
    steps: int
    seed: int


class Watch(TrainerCallback):  # type: ignore[misc]  # untyped in transformers
    """Wall and CPU seconds, and real tokens, after the warm steps."""

    def __init__(self, warm_steps: int) -> None:
        self._warm_steps = warm_steps
        self._started = (0.0, 0.0)
        self.tokens = 0
        self.measured = (0, 0.0, 0.0)

    def on_step_begin(self, _args: Any, state: Any, _control: Any, **_: Any) -> None:
        """Starts counting when the warm steps are done."""
        if state.global_step == self._warm_steps:
            self.tokens, self._started = 0, (time.perf_counter(), time.process_time())

    def on_step_end(self, _args: Any, _state: Any, _control: Any, **_: Any) -> None:
        """Takes the time so far."""
        wall, cpu = self._started
        self.measured = (self.tokens, time.perf_counter() - wall, time.process_time() - cpu)


class CountingTrainer(SFTTrainer):  # type: ignore[misc]  # untyped in trl
    """Counts the real tokens that it is given."""

    watch: Watch

    def compute_loss(self, model: Any, inputs: dict[str, torch.Tensor], *rest: Any, **named: Any) -> Any:
        """The parent's loss."""
        self.watch.tokens += int(inputs["attention_mask"].sum())
        return super().compute_loss(model, inputs, *rest, **named)


def train(student: Path, rows: list[RenderedRow], shape: LoraShape, plan: Plan) -> tuple[int, float, float]:
    """Real tokens, wall seconds and CPU seconds of the counted steps."""
    model = AutoModelForCausalLM.from_pretrained(student, dtype=torch.float32)
    layers = model.config.num_hidden_layers
    top = shape.top_layers or layers
    data = [{"input_ids": list(row.token_ids), "completion_mask": [int(on) for on in row.loss_mask]} for row in rows]
    lora = LoraConfig(
        r=plan.rank,
        lora_alpha=shape.alpha,
        lora_dropout=0.0,
        target_modules=list(shape.targets),
        layers_to_transform=list(range(layers - top, layers)),
        task_type="CAUSAL_LM",
    )
    watch = Watch(plan.warm_steps)
    with tempfile.TemporaryDirectory() as folder:
        settings = SFTConfig(
            output_dir=folder,
            per_device_train_batch_size=plan.rows_a_batch,
            learning_rate=LEARNING_RATE,
            max_steps=plan.warm_steps + plan.steps,
            gradient_checkpointing=False,
            completion_only_loss=True,
            max_length=None,
            use_cpu=True,
            bf16=False,
            report_to=[],
            logging_steps=NEVER,
            save_strategy="no",
            disable_tqdm=True,
            dataloader_pin_memory=False,
            seed=plan.seed,
        )
        trainer = CountingTrainer(
            model=model,
            args=settings,
            train_dataset=Dataset.from_list(data),
            processing_class=PreTrainedTokenizerFast(tokenizer_file=str(student / "tokenizer.json"), **CONTROL),
            peft_config=lora,
            callbacks=[watch],
        )
        trainer.watch = watch
        trainer.train()
    return watch.measured
