"""The part of an output that is read, and how its typography is folded. Nothing here knows what an answer is.

Invariant: every function is linear in its input, and what later stages see is at most `TAIL_CHARS` long, so that an
output of any size is graded in bounded time.
"""

from __future__ import annotations

import re
import unicodedata
from collections import deque
from typing import NamedTuple

TAIL_CHARS = 65_536
"""Only this many characters at the end of an output are read: the final answer stands at the end."""

_SCRATCH_OPEN, _SCRATCH_CLOSE = "<think>", "</think>"
_OPEN_WITHIN = 100
"""`<think>` opens scratch work only within this many characters of the beginning, after nothing but space."""
_LAST_WORD = re.compile(r"(?<!\S)\S++\Z")
_OTHER_LINE_ENDS = re.compile(r"[\u2028\u2029\x0b\x0c\x85]")
_THOUSANDS_SPACE = re.compile(r"(?<=\d)[\u00a0\u2009\u202f](?=\d{3}(?!\d))")
_MARKS = re.compile(r"(?<![\w)*`\"'])[*_`\"']++|[*_`\"']++(?![\w(])")
_TEX_STYLE = re.compile(
    r"\\(?:text|textbf|textit|textrm|texttt|mathbf|mathrm|mathit|mathsf|mathtt|mathbb|bf|rm|emph|operatorname|mbox|"
    r"boxed|fbox|displaystyle|textstyle|bold|boldsymbol|underline|left|right|big|Big)(?![A-Za-z])\*?"
)
_TEX_FRACTION = re.compile(r"\\[dt]?frac\s?\{\s?(-?\d{1,100})\s?\}\s?\{\s?(\d{1,100})\s?\}")
_TEX_DEGREE = re.compile(r"\^\s?\{?\s?\\circ\s?\}?|°")
_TEX_TIMES = re.compile(r"\\(?:times|cdot)(?![A-Za-z])")
_TEX_SPACE = re.compile(r"\\[,;:! ]|\\q?quad(?![A-Za-z])|~")
_TEX_COMMA = re.compile(r"(?<=\d)(?:\{,\}|\\,)(?=\d{3}(?!\d))")
_CURRENCY = re.compile(r"\\?[$€£¥]|\\[()\[\]]")


class Reading[T](NamedTuple):
    """What was read from a text: a value, or None and why not. `shown` is the answer as a verdict shows it."""

    value: T | None
    shown: str = ""
    reason: str = ""


class Output(NamedTuple):
    """What a student wrote. `cut_off` says that it was stopped at a limit and did not end by itself."""

    text: str
    cut_off: bool = False


def last_match(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    """The last of the matches that do not overlap."""
    matches = deque(pattern.finditer(text), maxlen=1)
    return matches[0] if matches else None


def visible_text(output: Output) -> str:
    """The end of `output` without scratch work: what follows the last `</think>`.

    Nothing is left of an output that begins with `<think>` and never closes it. Carriage returns become line feeds and
    characters that UTF-8 cannot hold become `?`.
    """
    start = output.text.rfind(_SCRATCH_CLOSE)
    text = output.text[start + len(_SCRATCH_CLOSE) :] if start >= 0 else output.text
    if text[:_OPEN_WITHIN].lstrip().startswith(_SCRATCH_OPEN):
        text = ""
    tail = text[-TAIL_CHARS:].encode("utf-8", "replace").decode("utf-8")
    return tail.replace("\r\n", "\n").replace("\r", "\n")


def prose(output: Output) -> Output:
    """The visible text, folded; of an output that was cut off, without its last word, which may be incomplete."""
    text = folded(visible_text(output))
    if output.cut_off:
        text = _LAST_WORD.sub("", text)
    return Output(text, output.cut_off)


def folded(text: str) -> str:
    """`text` with compatibility characters as plain ones (NFKC), signs and quotes as ASCII, line ends as one kind.

    Superscripts keep their meaning (`2²` becomes `2^2`, never 22) and vulgar fractions stay apart from a number before
    them.
    """
    text = _OTHER_LINE_ENDS.sub("\n", text)
    if text.isascii():
        return text
    text = _THOUSANDS_SPACE.sub(",", text)
    plain = "".join(character if character.isascii() else _plain(character) for character in text)
    return unicodedata.normalize("NFKC", plain)


def undecorated(text: str) -> str:
    """One line without emphasis, quotes, TeX styling, math and currency signs; its words and numbers stay."""
    text = _TEX_COMMA.sub(",", text)
    text = _TEX_FRACTION.sub(r"\1/\2", text)
    text = _TEX_STYLE.sub("", text)
    text = _TEX_DEGREE.sub(" ", text)
    text = _TEX_TIMES.sub(" * ", text)
    text = _CURRENCY.sub("", text)
    text = _TEX_SPACE.sub(" ", text).replace("{", "").replace("}", "").replace("\\%", "%")
    return _MARKS.sub("", text).strip()


_PLAIN = {"−": "-", "–": "-", "‐": "-", "‑": "-", "’": "'", "‘": "'", "“": '"', "”": '"', "⁄": "/", "∕": "/"}


def _plain(character: str) -> str:
    if character in _PLAIN:
        return _PLAIN[character]
    tag = unicodedata.decomposition(character).partition(" ")[0]
    if tag == "<super>":
        return "^" + unicodedata.normalize("NFKC", character)
    if tag == "<fraction>":
        return " " + unicodedata.normalize("NFKC", character).replace("\u2044", "/")
    decimal = unicodedata.decimal(character, None)
    return character if decimal is None else str(decimal)
