"""How graders word their verdicts, and how they refuse an item that they cannot grade."""

from __future__ import annotations

from collections.abc import Collection
from typing import TypeGuard

from pydantic import JsonValue

from rsibench.errors import SpecError
from rsibench.outcomes import TrialOutcome
from rsibench.spec.item import Verdict

MAX_SHOWN_CHARS = 2_000
"""Longest extracted answer or reason that a verdict keeps; a longer one is cut and marked."""


def passed(extracted: str) -> Verdict:
    """The answer was read and is right."""
    return Verdict(outcome=TrialOutcome.PASS, extracted=_shown(extracted))


def failed(extracted: str, reason: str) -> Verdict:
    """The answer was read and is wrong."""
    return Verdict(outcome=TrialOutcome.FAIL, extracted=_shown(extracted), reason=_shown(reason))


def no_answer(reason: str) -> Verdict:
    """No single answer could be read."""
    return Verdict(outcome=TrialOutcome.NO_ANSWER, reason=_shown(reason))


def bad_item(grader: str, what: str, fix: str) -> SpecError:
    """An item whose `expected` or `context` its grader cannot use."""
    return SpecError(f"the {grader} grader {what}", where="item", fix=fix)


def context_of(grader: str, context: JsonValue, allowed: Collection[str]) -> dict[str, JsonValue]:
    """`context` as a mapping ({} for None); raises SpecError for another type or an unknown key."""
    if context is None:
        return {}
    if not isinstance(context, dict):
        raise bad_item(grader, f"got a context of type {type(context).__name__}", "give an object or null")
    unknown = sorted(set(context) - set(allowed))
    if unknown:
        known = ", ".join(sorted(allowed)) or "none"
        raise bad_item(grader, f"does not know the context key {unknown[0]!r}", f"known keys: {known}")
    return context


def is_text_list(value: JsonValue) -> TypeGuard[list[str]]:
    """True for a list that holds strings only."""
    return isinstance(value, list) and all(isinstance(entry, str) for entry in value)


def _shown(text: str) -> str:
    return text if len(text) <= MAX_SHOWN_CHARS else text[:MAX_SHOWN_CHARS] + " [cut]"
