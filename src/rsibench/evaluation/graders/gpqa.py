"""The `gpqa` grader: four options, one letter on a last line `Answer: X`.

`expected` is the letter of the right option as this item showed them. `context` may hold `permutation`, the positions
of the options in the source, kept for the record: the letter is mapped by position, since two options can be equal in
text.
"""

from __future__ import annotations

from pydantic import JsonValue

from rsibench.evaluation.graders.choices import find_choice
from rsibench.evaluation.graders.text import Output, prose
from rsibench.evaluation.graders.verdicts import bad_item, context_of, failed, no_answer, passed
from rsibench.spec.item import Verdict

_LETTERS = "ABCD"


def grade_gpqa(output: Output, expected: JsonValue, context: JsonValue) -> Verdict:
    """Verdict on `output`; raises SpecError when `expected` is not a letter A to D or the permutation is not one."""
    if not isinstance(expected, str) or len(expected) != 1 or expected not in _LETTERS:
        raise bad_item("gpqa", f"expects one of {_LETTERS}, not {expected!r}", "give the right option's letter")
    permutation = context_of("gpqa", context, ("permutation",)).get("permutation")
    if permutation is not None and not _is_permutation(permutation):
        raise bad_item("gpqa", f"got the permutation {permutation!r}", "give the numbers 0 to 3 in the order shown")
    found = find_choice(prose(output), _LETTERS)
    if found.value is None:
        return no_answer(found.reason)
    return passed(found.shown) if found.value == expected else failed(found.shown, "another option")


def _is_permutation(value: JsonValue) -> bool:
    numbers = [entry for entry in value if type(entry) is int] if isinstance(value, list) else []
    return sorted(numbers) == [0, 1, 2, 3] and isinstance(value, list) and len(value) == len(numbers)
