"""The trainer over the official Tinker SDK. Importing it imports the SDK."""

from rsibench.training.tinker.trainer import TinkerTrainer

__all__ = ["TinkerTrainer"]
