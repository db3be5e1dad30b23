"""How protected items are smuggled into rows. Each gives a row's texts for an item, or None where it does not fit."""

from __future__ import annotations

import base64
import codecs
import gzip
import json
import random
import re
import urllib.parse
import zlib
from collections.abc import Callable, Mapping

from benchmarks.gate import pools

from rsibench.gate.leaks.protected import ProtectedItem

type Transform = Callable[[ProtectedItem, random.Random], list[str] | None]


def verbatim(item: ProtectedItem, dice: random.Random) -> list[str]:
    return [f"Here is a task.\n{item.prompt}", f"Let us see. The result is {dice.randint(0, 99)}."]


def upper(item: ProtectedItem, _dice: random.Random) -> list[str]:
    return [re.sub(r"\s+", "  \n", item.prompt.upper()).replace(".", " ."), "Done."]


def typo(item: ProtectedItem, dice: random.Random) -> list[str]:
    words = item.prompt.split(" ")
    long = [place for place, word in enumerate(words) if len(word) >= 6 and word.isalpha()]
    for place in dice.sample(long, min(len(long), max(1, len(words) // 15))):
        word, cut = words[place], dice.randint(1, 3)
        words[place] = word[:cut] + word[cut + 1] + word[cut] + word[cut + 2 :]
    return [" ".join(words), "Done."]


def numbers_changed(item: ProtectedItem, dice: random.Random) -> list[str] | None:
    if len(re.findall(r"\d+", item.prompt)) < 2:
        return None
    return [re.sub(r"\d+", lambda _: str(dice.randint(1000, 1998)), item.prompt), "Done."]


def options_shuffled(item: ProtectedItem, dice: random.Random) -> list[str] | None:
    if sum(len(option.split()) for option in item.options) < 10:
        return None
    stem = item.prompt.partition("\n")[0].split(" ")
    lines = "\n".join(f"({mark}) {option}" for mark, option in zip("wxyz", dice.sample(item.options, 4), strict=True))
    return [f"{' '.join(stem[: len(stem) // 3])} ...\n{lines}", "Answer: x"]


def renamed(item: ProtectedItem, dice: random.Random) -> list[str] | None:
    if item.code is None:
        return None
    names = sorted(set(re.findall(r"\b[a-z]\w{3,}\b", item.code)) - set(_KEPT))
    table = {name: f"v{dice.randint(100, 999)}{place}" for place, name in enumerate(names)}
    code = re.sub(r"\b[a-z]\w{3,}\b", lambda match: table.get(match.group(), match.group()), item.code)
    return ["Write the function.", f"```python\n# rewritten\n{code.replace('    ', '  ')}```"]


def patch_reordered(item: ProtectedItem, dice: random.Random) -> list[str] | None:
    if not item.patches:
        return None
    lines = [line[1:] for line in item.patches[0].splitlines() if line.startswith("+") and not line.startswith("+++")]
    if sum(len(line.strip()) for line in lines) < 40:
        return None
    dice.shuffle(lines)
    return ["Apply the fix.", "The change:\n" + "\n".join(lines) + "\nThat is all."]


def split_over_turns(item: ProtectedItem, _dice: random.Random) -> list[str]:
    words = item.prompt.split(" ")
    third = len(words) // 3
    return [" ".join(words[:third]), " ".join(words[third : 2 * third]), " ".join(words[2 * third :]), "Done."]


def base64_blob(item: ProtectedItem, _dice: random.Random) -> list[str]:
    return ["Decode: " + base64.b64encode(item.prompt.encode()).decode(), "Done."]


def gzip_blob(item: ProtectedItem, _dice: random.Random) -> list[str]:
    return ["Unpack: " + base64.b64encode(gzip.compress(item.prompt.encode(), mtime=0)).decode(), "Done."]


def hexadecimal(item: ProtectedItem, _dice: random.Random) -> list[str]:
    return [f"Bytes: {item.prompt.encode().hex()}", "Done."]


def rot13(item: ProtectedItem, _dice: random.Random) -> list[str]:
    return [codecs.encode(item.prompt, "rot13"), "Done."]


def backwards(item: ProtectedItem, _dice: random.Random) -> list[str]:
    return [item.prompt[::-1], "Done."]


def zero_width(item: ProtectedItem, _dice: random.Random) -> list[str]:
    return ["\u200b".join(item.prompt), "Done."]


def url_escaped(item: ProtectedItem, _dice: random.Random) -> list[str]:
    return [urllib.parse.quote(item.prompt), "Done."]


def in_trajectory(item: ProtectedItem, dice: random.Random) -> list[str]:
    noise = [" ".join(dice.choices(_NOISE, k=40)) for _ in range(500)]
    noise.insert(dice.randrange(500), item.prompt)
    return ["Work on the repository.", "\n".join(noise)]


def tool_arguments(item: ProtectedItem, _dice: random.Random) -> list[str]:
    return ["Look it up.", "search", json.dumps({"query": item.prompt}), "Nothing was found."]


def paraphrase(item: ProtectedItem, dice: random.Random) -> list[str]:
    """Synonyms by rule, small words dropped, sentences in another order."""
    sentences = re.split(r"(?<=[.?:])\s+", item.prompt)
    if len(sentences) > 2:
        sentences = [*sentences[1:-1], sentences[0], sentences[-1]]
    words = " ".join(sentences).split(" ")
    changed = [pools.SYNONYMS.get(word.lower(), word) for word in words]
    return [" ".join(word for word in changed if word not in ("the", "of", "that") or dice.random() < 0.6), "Done."]


def german(item: ProtectedItem, _dice: random.Random) -> list[str]:
    return _by_dictionary(item, pools.GERMAN)


def spanish(item: ProtectedItem, _dice: random.Random) -> list[str]:
    return _by_dictionary(item, pools.SPANISH)


def other_script(item: ProtectedItem, _dice: random.Random) -> list[str]:
    """Every word replaced by two Chinese characters, numbers kept: what is left of an item in a foreign script."""
    text = re.sub(r"[A-Za-z]+", lambda match: _ideographs(match.group().lower()), item.prompt)
    return [re.sub(r"(?<=[^\x00-\x7f]) (?=[^\x00-\x7f])", "", text), "Done."]


def _ideographs(word: str) -> str:
    value = zlib.crc32(word.encode())
    return chr(0x4E00 + value % 5000) + chr(0x4E00 + value // 5000 % 5000)


def answers_by_name(item: ProtectedItem, dice: random.Random) -> list[str] | None:
    if not item.names:
        return None
    return ["Give the key.", f"{item.names[0]}: {item.answer or dice.randint(0, 9)}"]


def _by_dictionary(item: ProtectedItem, table: Mapping[str, str]) -> list[str]:
    return [re.sub(r"[A-Za-z]+", lambda match: table.get(match.group().lower(), match.group()), item.prompt), "Done."]


_KEPT = ("return", "while", "else", "except", "raise", "lambda", "range", "None", "True", "pass")
_NOISE = [
    "run",
    "test",
    "open",
    "file",
    "line",
    "edit",
    "value",
    "check",
    "path",
    "module",
    "import",
    "call",
    "error",
    "output",
    "build",
    "patch",
    "read",
    "write",
    "next",
]
TRANSFORMS: dict[str, Transform] = {
    "verbatim": verbatim,
    "upper case and spaces": upper,
    "split over turns": split_over_turns,
    "inside a 20k-token trajectory": in_trajectory,
    "in tool arguments": tool_arguments,
    "base64": base64_blob,
    "gzip and base64": gzip_blob,
    "hexadecimal": hexadecimal,
    "URL escapes": url_escaped,
    "rot13": rot13,
    "reversed": backwards,
    "zero-width characters": zero_width,
    "misspelt": typo,
    "numbers changed": numbers_changed,
    "options shuffled": options_shuffled,
    "identifiers renamed": renamed,
    "patch reordered": patch_reordered,
    "answers by name": answers_by_name,
    "paraphrase by rule": paraphrase,
    "German by dictionary": german,
    "Spanish by dictionary": spanish,
    "every word in Chinese script": other_script,
}
