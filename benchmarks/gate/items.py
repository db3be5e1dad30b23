"""Made-up items of all six benchmark kinds and of pocket, and rows that resemble them without being them.

The same seed gives the same set. Two items, or an item and a negative, share at most half of their sentences.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.gate import pools

from rsibench.evaluation.generators import make_items
from rsibench.evaluation.pocket.kit.catalogue import FAMILIES
from rsibench.evaluation.pocket.kit.rows import STYLES, make_rows
from rsibench.gate.leaks.protected import ProtectedItem, protected_items
from rsibench.spec.catalogue import load_profile
from rsibench.spec.item import Split

KINDS = ("aime", "gpqa", "swe-verified", "swe-multilingual", "swe-pro", "terminal")
_POOLS = {"aime": pools.MATH, "gpqa": pools.SCIENCE, "terminal": pools.TERMINAL}


class Maker:
    """Draws items; remembers which sentences were combined, so that no two draws share more than half of them."""

    def __init__(self, seed: int) -> None:
        self._dice = random.Random(seed)
        self._combined: dict[str, list[tuple[int, ...]]] = {}

    def item(self, kind: str, number: int) -> ProtectedItem:
        """A new item of a kind."""
        dice = self._dice
        prompt = self._prompt(kind)
        if kind == "gpqa":
            options = tuple(dice.sample(pools.OPTIONS, 4))
            lines = "\n".join(f"{letter}) {option}" for letter, option in zip("ABCD", options, strict=True))
            return ProtectedItem(f"{kind}-{number}", f"{prompt}\n{lines}", "ABCD"[number % 4], options)
        if kind.startswith("swe"):
            name = f"{self._word()}__{self._word()}-{dice.randint(1000, 29999)}"
            return ProtectedItem(
                f"{kind}-{number}",
                prompt,
                None,
                (),
                self._code(),
                (self._patch(),),
                (name, f"{dice.getrandbits(160):040x}"),
            )
        return ProtectedItem(f"{kind}-{number}", prompt, str(dice.randint(0, 999)) if kind == "aime" else None)

    def _prompt(self, kind: str) -> str:
        parts = _POOLS.get(kind, pools.ISSUE)
        known = self._combined.setdefault(kind.partition("-")[0], [])
        for _ in range(5000):
            choice = tuple(self._dice.randrange(len(pool)) for pool in parts)
            if all(_differ(choice, other) for other in known):
                break
        else:
            raise LookupError(f"the pools of {kind} hold no further item")
        known.append(choice)
        return " ".join(pool[place] for pool, place in zip(parts, choice, strict=True)).format(**self._fields())

    def _fields(self) -> dict[str, object]:
        dice = self._dice
        numbers = {letter: dice.randint(3, 997) for letter in "abcde"}
        path = f"/srv/{self._word()}/{self._word()}"
        return numbers | {
            "name": dice.choice(pools.NAMES),
            "symbol": f"{self._word()}.{self._word()}_{self._word()}",
            "helper": f"_{self._word()}_{self._word()}",
            "error": f"{self._word().title()}Error",
            "path": path,
            "out": f"/var/{self._word()}.txt",
        }

    def _word(self) -> str:
        return "".join(self._dice.choices(pools.SYLLABLES, k=3))

    def _code(self) -> str:
        body = self._block(1) + self._block(1) + self._block(1)
        return f"def {self._word()}_{self._word()}({self._word()}):\n{body}    return {self._word()}\n"

    def _block(self, depth: int) -> str:
        """Random statements that look like a program."""
        dice, pad = self._dice, "    " * depth
        names = [self._word() for _ in range(3)]

        def value() -> str:
            one, other = dice.choice(names), dice.choice([*names, str(dice.randint(2, 9))])
            return dice.choice(
                (
                    f"{one} {dice.choice('+-*%')} {other}",
                    f"len({one})",
                    f"{one}[{other}]",
                    f"max({one}, {other})",
                    other,
                )
            )

        lines = []
        for _ in range(dice.randint(2, 4)):
            name = dice.choice(names)
            kind = dice.randrange(5)
            if kind == 0 and depth < 3:
                lines.append(f"{pad}for {name} in range({value()}):\n{self._block(depth + 1)}")
            elif kind == 1 and depth < 3:
                test = f"{value()} {dice.choice(('<', '>=', '==', 'in'))} {value()}"
                lines.append(f"{pad}{dice.choice(('if', 'while'))} {test}:\n{self._block(depth + 1)}")
            elif kind == 2:
                lines.append(f"{pad}{name}.append({value()})\n")
            else:
                lines.append(f"{pad}{name} {dice.choice(('=', '+=', '-='))} {value()}\n")
        return "".join(lines)

    def _patch(self) -> str:
        path = f"src/{self._word()}/{self._word()}.py"
        chosen = self._dice.sample(pools.PATCH_LINES, 5)
        lines = [f"+    {line.format(x=self._word(), y=self._word())}" for line in chosen]
        return f"--- a/{path}\n+++ b/{path}\n@@ -10,3 +10,8 @@\n     context = 1\n" + "\n".join(lines) + "\n"


def make_set(seed: int, each: int, negatives: int) -> tuple[list[ProtectedItem], list[list[str]]]:
    """`each` items of every kind, and about `negatives` rows that hold none of them."""
    maker = Maker(seed)
    items = [
        maker.item(kind, number) for kind in KINDS for number in range(each if kind in ("aime", "gpqa") else each // 3)
    ]
    plan = load_profile("pocket").items
    items += protected_items([*make_items(plan, Split.SELECTION), *make_items(plan, Split.OFFICIAL)])
    rows: list[list[str]] = []
    for row in make_rows(list(FAMILIES), list(STYLES)[seed % 3], negatives // 32, seed):
        rows.append([message["content"] for message in row["messages"]])
    rows.extend(_siblings(random.Random(seed + 1), [one for one in items if one.item_id.startswith(KINDS)], negatives))
    return items, rows


def _siblings(dice: random.Random, items: Sequence[ProtectedItem], count: int) -> Iterator[list[str]]:
    """Rows of the same topics: half of an item's sentences with those of others, other code, patches and options."""
    known = [{_shape(one) for one in _sentences(item.prompt.partition("\n")[0])} for item in items]
    choices = [item.options for item in items if item.options]
    while count > 0:
        first, second = dice.sample(items, 2)
        left, right = (_sentences(one.prompt.partition("\n")[0]) for one in (first, second))
        question = " ".join([*left[: len(left) // 2], *right[(len(right) + 1) // 2 :]])
        shapes = {_shape(one) for one in _sentences(question)}
        if any(len(shapes & sentences) * 2 > len(sentences) for sentences in known):
            continue
        fresh = re.sub(r"\d+", lambda _: str(dice.randint(2, 999)), question)
        reply = (
            f"We get {dice.randint(2, 999)} after {dice.randint(2, 99)} steps; the answer is {dice.randint(0, 999)}."
        )
        if dice.random() < 0.3:
            maker = Maker(dice.getrandbits(32))
            other = maker.item("swe-pro", 0)
            reply = f"```python\n{other.code}```\n{other.patches[0]}"
        elif dice.random() < 0.2:
            reply = json.dumps({"answer": dice.randint(0, 999), "options": _other_options(dice, choices)})
        elif dice.random() < 0.3:
            price, amount = dice.randint(2, 40), dice.randint(2, 40)
            fresh = f"{dice.choice(pools.NAMES)} buys {amount} notebooks for {price} dollars each. What do they cost?"
            reply = f"{amount} times {price} is {amount * price}."
        count -= 1
        yield [fresh, reply]


def _differ(choice: Sequence[int], other: Sequence[int]) -> bool:
    """Whether two items are different enough: two sentences of four, or not both of the first two of three."""
    shared = [a == b for a, b in zip(choice, other, strict=True)]
    return sum(shared) <= 2 if len(shared) == 4 else not (shared[0] and shared[1])


def _shape(sentence: str) -> str:
    return re.sub(r"\d+", "0", sentence)


def _other_options(dice: random.Random, choices: Sequence[tuple[str, ...]]) -> list[str]:
    """Three options of an item and a foreign one, which together are no item's set."""
    sets = {frozenset(options) for options in choices}
    while True:
        drawn = [*dice.sample(dice.choice(choices), 3), dice.choice(pools.OPTIONS)]
        if len(set(drawn)) == 4 and frozenset(drawn) not in sets:
            return drawn


def _sentences(text: str) -> list[str]:
    return re.split(r"(?<=[.?:])\s+", text)


def real_items(folder: Path) -> list[ProtectedItem]:
    """Real AIME items (and SWE items where a parquet reader is installed) from a folder. They are never printed."""
    items: list[ProtectedItem] = []
    for path in sorted((folder / "aime").glob("*.jsonl")):
        for number, line in enumerate(path.read_text("utf-8").splitlines()):
            row = json.loads(line)
            text = next(str(row[key]) for key in ("problem", "question", "prompt") if key in row)
            items.append(ProtectedItem(f"{path.stem}-{number}", text, str(row.get("answer", ""))))
    try:
        from pyarrow import parquet  # noqa: PLC0415 - only where it happens to be installed
    except ImportError:
        return items
    for path in sorted((folder / "swebench").glob("*.parquet")):
        for row in parquet.read_table(path).to_pylist():
            patches = (row["patch"], row["test_patch"])
            names = (row["instance_id"],)
            items.append(ProtectedItem(row["instance_id"], row["problem_statement"], None, (), None, patches, names))
    return items
