"""The local sampler, on torch. Importing it imports torch and transformers, so only the process that samples does."""

from rsibench.sampling.local.sampler import LocalSampler

__all__ = ["LocalSampler"]
