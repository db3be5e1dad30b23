"""Reads YAML into frozen models: duplicate keys are refused, every error names the file, the line and the key."""

from __future__ import annotations

from collections.abc import Hashable
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from rsibench.errors import SpecError
from rsibench.spec.frozen import Frozen


class _StrictLoader(yaml.SafeLoader):
    """SafeLoader that refuses a key given twice in one mapping and leaves dates as text."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[Hashable] = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if key in seen:
                raise yaml.constructor.ConstructorError(
                    "while reading a mapping", node.start_mark, f"key {key!r} is given twice", key_node.start_mark
                )
            seen.add(key)
        return super().construct_mapping(node, deep=deep)


def load_model[M: Frozen](model: type[M], path: Path) -> M:
    """The model that a YAML file describes. Raises SpecError with file, line and key of the first problem."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SpecError(f"cannot be read: {error}", where=str(path), fix="name a readable UTF-8 YAML file") from error
    return parse_model(model, text, name=str(path))


def parse_model[M: Frozen](model: type[M], text: str, *, name: str) -> M:
    """Like load_model, for text that is already at hand; `name` stands in error messages."""
    try:
        root = yaml.compose(text, Loader=_StrictLoader)
        data = yaml.load(text, Loader=_StrictLoader)  # noqa: S506 - a SafeLoader subclass
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise SpecError(f"not valid YAML: {error.problem}", where=f"{name}:{line}", fix="correct the line") from error
    except yaml.YAMLError as error:
        raise SpecError(f"not valid YAML: {error}", where=name, fix="correct the file") from error
    if not isinstance(data, dict):
        raise SpecError("a mapping of keys is expected", where=f"{name}:1", fix="start with `name: ...`")
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise _first_problem(error, root, name) from error


def _first_problem(error: ValidationError, root: yaml.Node | None, name: str) -> SpecError:
    problems = error.errors()
    first = problems[0]
    key = ".".join(str(part) for part in first["loc"]) or "(the file)"
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    line = _line_of(root, first["loc"])
    return SpecError(f"{key}: {first['msg']}{more}", where=f"{name}:{line}", fix="correct the value or remove the key")


def _line_of(node: yaml.Node | None, path: tuple[int | str, ...]) -> int:
    """1-based line of the deepest node on `path` that exists in the document."""
    line = node.start_mark.line + 1 if node is not None else 1
    for part in path:
        found: yaml.Node | None = None
        if isinstance(node, yaml.MappingNode):
            for key_node, value_node in node.value:
                if key_node.value == str(part):
                    line, found = key_node.start_mark.line + 1, value_node
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
            found = node.value[part]
            line = node.value[part].start_mark.line + 1
        if found is None:
            break
        node = found
    return line
