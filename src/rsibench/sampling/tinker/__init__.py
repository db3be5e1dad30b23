"""The sampler over the official Tinker SDK. Importing it imports the SDK."""

from rsibench.sampling.tinker.sampler import TinkerSampler

__all__ = ["TinkerSampler"]
