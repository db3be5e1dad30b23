"""Graders: pure functions from one output and one expected answer to a verdict, looked up by name.

Invariant: the same arguments always give the same verdict, in time bounded by the first arguments' sizes; nothing
that a student writes makes a grader raise, hang or touch the machine. The rules of extraction are in
`docs/graders.md`.
"""

from rsibench.evaluation.graders.registry import GRADERS, grade

__all__ = ["GRADERS", "grade"]
