"""The distribution's version, read by hatchling and printed by `rsibench --version`."""

__version__ = "0.1.0"
