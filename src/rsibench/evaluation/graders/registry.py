"""The closed table of graders by name. An unknown name is an error in the item, never a wrong answer."""

from __future__ import annotations

import difflib
from collections.abc import Callable

from pydantic import JsonValue

from rsibench.errors import SpecError
from rsibench.evaluation.graders.aime import grade_aime
from rsibench.evaluation.graders.choice import grade_choice
from rsibench.evaluation.graders.gpqa import grade_gpqa
from rsibench.evaluation.graders.integer import grade_integer
from rsibench.evaluation.graders.json_object import grade_json
from rsibench.evaluation.graders.number import grade_number
from rsibench.evaluation.graders.sql import grade_sql
from rsibench.evaluation.graders.text import Output
from rsibench.spec.item import Verdict

Grader = Callable[[Output, JsonValue, JsonValue], Verdict]
"""(output, expected, context) -> verdict; raises SpecError when the item's own fields are not what the grader needs."""

GRADERS: dict[str, Grader] = {
    "aime": grade_aime,
    "choice": grade_choice,
    "gpqa": grade_gpqa,
    "integer": grade_integer,
    "json": grade_json,
    "number": grade_number,
    "sql": grade_sql,
}


def grade(grader: str, output: str, expected: JsonValue, context: JsonValue, *, cut_off: bool = False) -> Verdict:
    """The verdict of the grader named `grader` on `output`; `cut_off` says that the student was stopped at a limit.

    Raises SpecError for an unknown grader and for an `expected` or `context` that the grader cannot use; never for
    anything that the output holds.
    """
    function = GRADERS.get(grader)
    if function is None:
        close = difflib.get_close_matches(grader, GRADERS, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"one of: {', '.join(sorted(GRADERS))}"
        raise SpecError(f"no grader is called {grader!r}", where="item.grader", fix=hint)
    return function(Output(output, cut_off), expected, context)
