"""Wordings that only the official split uses. They are not part of the kit, and no other split may show them."""

from __future__ import annotations

from collections.abc import Mapping

HIDDEN_TEMPLATES: Mapping[str, Mapping[str, str]] = {
    "shop": {
        "bill": "Please check a bill: {a} times {x} for ${p} apiece, plus {b} times {y} for ${q} apiece. "
        "Which sum in dollars should stand at the bottom?",
        "budget": "{name} needs {a} {x} and {b} {y}. Every one of the {x} sells for ${p}, "
        "every one of the {y} for ${q}. How much money must {name} bring?",
    },
    "stock": {
        "pantry": "There were {start} {x} in the pantry. {name} {first}; after that {name} {second}. "
        "What number of {x} is in the pantry at the end?",
        "note": "Notes about {x}. Start: {start}. Then the owner {first}. Then the owner {second}. End: ?",
    },
    "convert": {
        "recipe": "Somebody wrote down {n} {big}, {m} {small}. Written in {small} alone, which number is that?",
        "worth": "{n} {big} and another {m} {small} - what do they come to in {small}?",
    },
    "compare": {
        "fields": "Chairs stand in rows in four halls, written as rows * chairs. "
        "Name the hall with the {more} chairs.\n{options}",
        "calculator": "A calculator evaluates the lines below. "
        "Under which letter does the {kind} result appear?\n{options}",
    },
    "clock": {
        "oven": "The bread went into the oven at {start}. It came out at {end}. For how many minutes was it baked?",
        "parking": "A car was parked from {start} until {end}. The meter counts minutes. What does it show?",
    },
    "sequence": {
        "stairs": "Numbers painted on a stair go {terms} and so on, always changing by the same amount. "
        "Which number is painted on stair {wanted}?",
        "machine": "A machine prints {terms}, keeping the gap constant. What does it print as output number {wanted}?",
    },
    "grid": {
        "ledger": "Below is a ledger of {x}.\n{table}\nTaking {one} and {two} together, what is the amount for {name}?",
        "team": "{name} is on the team whose results are here:\n{table}\n"
        "What do the {one} and {two} results of {name} add up to?",
    },
    "order": {
        "phone": "Phone call: {name} calls from {city}, wants {x}, {n} pieces, and agrees to pay ${p} for each piece.",
        "form": "Delivery to {city}. {n} {x}, unit price ${p}. The buyer's name is {name}.",
    },
    "query": {
        "analyst": "An analyst works with {table}, which has a text column {label} "
        "and the whole-number columns {c1} and {c2}. The analyst has to {task}.",
        "request": "Database request: {task}. The data is in {table} ({label}, {c1}, {c2}).",
    },
    "tally": {
        "beads": "Somebody strings beads in this order: {words}. What is the number of {word} beads?",
        "votes": "Votes were cast one after another: {words}. How many votes did {word} get?",
    },
    "second": {
        "weights": "The parcels weigh {numbers} kilograms. What does the second {kind} parcel weigh?",
        "cards": "On the table lie cards with {numbers}. Take away the {kind} one; which number is now the {kind}?",
    },
    "rank": {
        "diary": "From a diary: {facts} So of these four, who is the {kind}?\n{options}",
        "puzzle": "Puzzle. Options:\n{options}\nWhat we know: {facts}\nWho must be the {kind}?",
    },
    "weekday": {
        "parcel": "A parcel was sent on a {day} and needs {n} days. It is delivered on a ...\n{options}",
        "birthday": "It is {day}, and {n} days remain until the party. "
        "What day of the week will the party be on?\n{options}",
    },
    "share": {
        "crates": "A packer has {total} {x} and crates that take exactly {k}. After filling as many crates "
        "as possible, what number of {x} stays outside?",
        "divide": "{total} {x} are dealt out to {k} players, the same number to each. How many {x} cannot be dealt?",
    },
}


def hidden_templates(family: str) -> Mapping[str, str]:
    """The official-only wordings of a family, by name. Raises KeyError for an unknown family."""
    return HIDDEN_TEMPLATES[family]
