"""Wordings that only the official split uses. They are not part of the kit, and no other split may show them."""

from __future__ import annotations

from collections.abc import Mapping

HIDDEN_TEMPLATES: Mapping[str, Mapping[str, str]] = {
    "shop": {
        "bill": "Please check a bill: {n} times {x} for ${p} apiece, shipping ${d}. "
        "Which sum should stand at the bottom?",
        "budget": "{name} needs {n} {x}. One of the {x} sells for ${p}, and the ride home costs ${d}. "
        "How much money must {name} bring?",
    },
    "convert": {
        "recipe": "With {options}: somebody wrote down {n} {big}, {m} {small}. Written in {small} alone, what is that?",
        "worth": "A quiz offers {options}. Take {n} {big} and another {m} {small} - what do they come to in {small}?",
    },
    "grid": {
        "ledger": "From a ledger: {rows}. The entry of {name} grows by {bonus}. What does it become?",
        "bank": "Savings: {rows}. Today {name} puts {bonus} more in. How much has {name} saved?",
    },
    "age": {
        "siblings": "{name} and {other} are siblings. The first has lived {age} years, "
        "the second is {n} years {older}. What is the age of the second?",
        "album": "An album says that {name} is {age} and that {other} is {older} by {n} years. "
        "Tell the age of {other}.",
    },
    "member": {
        "lesson": "The teacher writes {options} on the board and asks for the {kind}. Which letter do the pupils call?",
        "sorting": "Sorting cards {options}: one card goes into the drawer for the {kind}. Which one?",
    },
    "date": {
        "stamp": "Stamped {month} {day} {year} at the desk of {name}.",
        "ticket": "Ticket for {name}: travel on the {day} of {month} in the year {year}.",
    },
    "order": {
        "phone": "Phone call: {name} calls from {city}, wants {x}, {n} pieces, and agrees to pay ${p} for each piece.",
        "form": "Delivery to {city}. {n} {x}, unit price ${p}. The buyer is {name}.",
    },
    "query": {
        "analyst": "An analyst works with the table {table}, which has a text column {label} "
        "and the number columns {c1} and {c2}. The analyst has to {task}.",
        "request": "Database request: {task}. The data is in {table} ({label}, {c1}, {c2}).",
    },
}


def hidden_templates(family: str) -> Mapping[str, str]:
    """The official-only wordings of a family, by name. Raises KeyError for an unknown family."""
    return HIDDEN_TEMPLATES[family]
