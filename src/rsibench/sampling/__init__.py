"""Sampling: the local sampler. It never trains and never judges."""
