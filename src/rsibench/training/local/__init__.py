"""The local trainer, on torch and PEFT. Importing it imports both, so only the process that trains does."""

from rsibench.training.local.trainer import LocalTrainer

__all__ = ["LocalTrainer"]
