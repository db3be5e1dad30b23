"""Stock keeping: a starting amount, one gain and one loss in either order."""

from __future__ import annotations

from .dice import Dice
from .family import INTEGER_ASK, REPLY, Family, Problem
from .words import PEOPLE, PRODUCE

TEMPLATES = {
    "farm": "{name} has {start} {x}. {name} {first}, then {second}. How many {x} does {name} have now?",
    "store": "A store keeps {start} {x}. First it {first}, and later it {second}. How many {x} are left in the store?",
    "count": "At dawn {name} counted {start} {x}. During the day {name} {first} and {second}. What is the count now?",
}
_GAINS = ("buys {n} more", "gets {n} more", "adds {n}")
_LOSSES = ("sells {n}", "gives away {n}", "loses {n}")


def draw(dice: Dice) -> Problem:
    """Start 20 to 89, changes 3 to 19."""
    start, gain, loss = dice.between(20, 89), dice.between(3, 19), dice.between(3, 19)
    moves = [
        (f"+ {gain}", dice.pick(_GAINS).format(n=gain), gain),
        (f"- {loss}", dice.pick(_LOSSES).format(n=loss), -loss),
    ]
    (sign1, text1, change1), (sign2, text2, _) = dice.shuffled(moves)
    middle, total = start + change1, start + gain - loss
    return Problem(
        core=(start, gain, loss),
        fields={
            "name": dice.pick(PEOPLE),
            "start": f"{start}",
            "x": dice.pick(PRODUCE),
            "first": text1,
            "second": text2,
        },
        expected=total,
        answer=str(total),
        steps=(f"{start} {sign1} = {middle}", f"{middle} {sign2} = {total}"),
    )


FAMILY = Family("stock", "A stock after one gain and one loss", "integer", INTEGER_ASK, REPLY, TEMPLATES, draw)
