"""What a replayed rule is called in tables."""

from __future__ import annotations

from typing import assert_never

from rsibench.analysis.what_if import Best, BudgetShare, Corrected, First, Ladder, Last, Rule, StopAfter, StopAt


def rule_name(rule: Rule) -> str:
    """A short name with the rule's number in it."""
    match rule:
        case Best():
            return "all attempts, best selection score"
        case First():
            return "first attempt"
        case Last():
            return "all attempts, last one"
        case StopAt():
            return f"stop at {rule.attempts}"
        case StopAfter():
            return f"stop after {rule.without_best} without a new best"
        case BudgetShare():
            return f"stop at {rule.share:.0%} of the spending"
        case Ladder():
            return f"ladder, step {rule.step * 100:g} points"
        case Corrected():
            return "best if its corrected score beats base"
        case _:
            assert_never(rule)
