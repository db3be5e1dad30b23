"""Reading one option letter from a text.

The letter stands alone (`B`, `(B)`, `B.`, `B) the option's text`, `**B**`, `$B$`); a word that begins with it is not
it, `A` followed by a lowercase word is the article, and a lowercase letter counts only when nothing else is stated. Two
different letters are no answer. An option's exact text counts as its letter when the item gives the texts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from rsibench.evaluation.graders.answer_line import answer_line, loose_reading
from rsibench.evaluation.graders.boxes import box_reading
from rsibench.evaluation.graders.text import Output, Reading, undecorated

_WRAPPED = re.compile(r"[(\[]\s?([A-Za-z])\s?[)\]]")
_ALONE = re.compile(r"([A-Za-z])\s?[.)]?")
_OPTION_WORD = re.compile(r"^(?:option|choice|answer)\s+(?=[(\[]?[A-Za-z]\b)", re.IGNORECASE)
_CONNECTIVE = re.compile(r"\b(?:answer|option|choice|one|it|that|this|which)(?: is| =|:)", re.IGNORECASE)
_PARENTHESES = re.compile(r"\([^()]*\)")
_EXPLANATION = re.compile(r"\b(?:because|since|as|due)\b", re.IGNORECASE)
_LEADING = re.compile(r"([A-Z])(?![A-Za-z'])")
_STANDALONE = re.compile(r"(?<![A-Za-z'])([A-Z])(?![A-Za-z'])")
_ARTICLE = re.compile(r"A\s+[a-z]{2,}")
_DELIMITER = re.compile(r"[A-Z]\s?[.):,-]?\s*")


def find_choice(said: Output, letters: str, options: Sequence[str] = ()) -> Reading[str]:
    """The letter out of `letters` that an output, as `text.prose` gives it, states as its answer.

    In this order, the first that is there: the last line-anchored `Answer:`; the last TeX box; the whole text, when
    it is a letter alone; an ending such as `... that is (C).`; phrases `the answer is (C)` that all agree.
    """

    def lenient(statement: str) -> Reading[str]:
        return single_choice(statement, letters, options)

    def strict(statement: str) -> Reading[str] | None:
        return _alone(_cleaned(statement), letters, options)

    stated = answer_line(said.text)
    if stated is not None:
        return lenient(stated)
    return box_reading(said.text, lenient) or loose_reading(said, _CONNECTIVE, strict, lenient)


def single_choice(statement: str, letters: str, options: Sequence[str] = ()) -> Reading[str]:
    """The one letter that a statement gives."""
    plain = _cleaned(statement)
    alone = _alone(plain, letters, options)
    if alone is not None:
        return alone
    leading = _LEADING.match(plain)
    if leading is None or _ARTICLE.match(plain):
        return Reading(None, reason="the answer does not begin with an option's letter")
    letter = leading.group(1)
    if letter not in letters:
        return _not_offered(letter, letters)
    if _names_option(plain, letter, letters, options):
        return Reading(letter, letter)
    rest = _EXPLANATION.split(_PARENTHESES.sub(" ", plain), maxsplit=1)[0]
    stated = {
        match.group(1)
        for match in _STANDALONE.finditer(rest)
        if match.group(1) in letters and not (match.start() and _ARTICLE.match(rest, match.start()))
    }
    if stated - {letter}:
        return Reading(None, reason=f"several options: {', '.join(sorted(stated))}")
    return Reading(letter, letter)


def _cleaned(statement: str) -> str:
    plain = _OPTION_WORD.sub("", undecorated(statement))
    return _WRAPPED.sub(lambda match: match.group(1) + " ", plain, count=1).strip()


def _alone(plain: str, letters: str, options: Sequence[str]) -> Reading[str] | None:
    """A reading when `plain` is one letter or one option's text and nothing else."""
    match = _ALONE.fullmatch(plain)
    if match is not None:
        letter = match.group(1).upper()
        return Reading(letter, letter) if letter in letters else _not_offered(letter, letters)
    same = [index for index, option in enumerate(options) if _same_text(option, plain)]
    return Reading(letters[same[0]], letters[same[0]]) if len(same) == 1 else None


def _names_option(plain: str, letter: str, letters: str, options: Sequence[str]) -> bool:
    """True for `B) text` where text is exactly what option B says."""
    if not options:
        return False
    delimiter = _DELIMITER.match(plain)
    return delimiter is not None and _same_text(options[letters.index(letter)], plain[delimiter.end() :])


def _same_text(option: str, plain: str) -> bool:
    return _bare(undecorated(option)) == _bare(plain) != ""


def _bare(text: str) -> str:
    return "".join(text.split()).rstrip(".").casefold()


def _not_offered(letter: str, letters: str) -> Reading[str]:
    return Reading(None, reason=f"{letter} is not one of the options {letters[0]} to {letters[-1]}")
