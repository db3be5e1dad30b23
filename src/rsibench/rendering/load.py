"""Finds a renderer by name and opens it on a student's tokenizer.

A renderer is listed here once; what it needs from a tokenizer it checks itself when it is opened.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from rsibench.errors import SpecError
from rsibench.rendering.chatml import ChatMLRenderer
from rsibench.rendering.renderer import Renderer

if TYPE_CHECKING:
    from tokenizers import Tokenizer

TOKENIZER_FILE = "tokenizer.json"
_RENDERERS: dict[str, Callable[[Tokenizer], Renderer]] = {ChatMLRenderer.name: ChatMLRenderer}


def renderer_names() -> list[str]:
    """Names that `load_renderer` knows."""
    return sorted(_RENDERERS)


def load_renderer(name: str, student_folder: Path) -> Renderer:
    """The renderer `name` on the tokenizer.json of a student.

    Raises SpecError for an unknown name, a missing or unreadable tokenizer.json, and a tokenizer that lacks what the
    template needs.
    """
    opener = _RENDERERS.get(name)
    if opener is None:
        close = difflib.get_close_matches(name, _RENDERERS, n=1)
        hint = f"did you mean {close[0]}?" if close else f"known: {', '.join(renderer_names())}"
        raise SpecError(f"there is no renderer {name!r}", where="renderer", fix=hint)
    path = student_folder / TOKENIZER_FILE
    tokenizer = _read_tokenizer(path)
    try:
        return opener(tokenizer)
    except SpecError as error:
        raise SpecError(error.what, where=str(path), fix=error.fix) from error


def _read_tokenizer(path: Path) -> Tokenizer:
    # Loaded here: the library is native code that a command which renders nothing should not wait for.
    from tokenizers import Tokenizer  # noqa: PLC0415 - see above

    if not path.is_file():
        raise SpecError(
            "there is no such file",
            where=str(path),
            fix="a student folder needs config.json, tokenizer.json and weights",
        )
    try:
        return Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises bare Exception for a file it cannot parse
        raise SpecError(f"cannot be read as a tokenizer: {error}", where=str(path), fix="restore the file") from error
