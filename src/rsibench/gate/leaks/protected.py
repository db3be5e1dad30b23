"""Protected items: what the controller knows of a benchmark item and no row may hold.

Built in the controller's memory only; nothing here is written to a file that a researcher could read.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import NamedTuple

from rsibench.spec.item import Item


class ProtectedItem(NamedTuple):
    """One item. `names` are identifiers that belong to it alone (instance, commit, pull request)."""

    item_id: str
    prompt: str
    answer: str | None = None
    options: tuple[str, ...] = ()
    code: str | None = None
    patches: tuple[str, ...] = ()
    names: tuple[str, ...] = ()


def protected_items(items: Iterable[Item]) -> tuple[ProtectedItem, ...]:
    """The protected form of a profile's items; options are taken from a choice item's context."""
    return tuple(
        ProtectedItem(
            item_id=item.item_id,
            prompt=item.prompt,
            answer=_answer_of(item),
            options=_options_of(item),
            names=(item.item_id,),
        )
        for item in items
    )


def _answer_of(item: Item) -> str:
    return item.expected if isinstance(item.expected, str) else json.dumps(item.expected)


def _options_of(item: Item) -> tuple[str, ...]:
    options = item.context.get("options") if isinstance(item.context, dict) else None
    return tuple(str(option) for option in options) if isinstance(options, list) else ()
