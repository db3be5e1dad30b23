"""Checks of JSON values against the format of a row, each finding with the path of the field it is about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pydantic import JsonValue

from rsibench.gate.codes import Code
from rsibench.gate.problems import Problems, quoted

type JsonObject = dict[str, JsonValue]


class RowReport(NamedTuple):
    """Where the problems of one row go."""

    problems: Problems
    row: int

    def add(self, code: Code, why: str, fix: str, field: str | None = None) -> None:
        """One reason against this row."""
        self.problems.add(code, why, fix, row=self.row, field=field or None)


def check_keys(
    value: JsonObject, field: str, needed: Sequence[str], optional: Sequence[str], report: RowReport
) -> None:
    """Every needed key is there, and no key beyond the needed and optional ones."""
    for key in needed:
        if key not in value:
            report.add(Code.MISSING_KEY, f"{key} is missing", f"add {key}", inside(field, key))
    for key in value:
        if key not in needed and key not in optional:
            fix = f"remove it; only {', '.join((*needed, *optional))} may stand here"
            report.add(Code.UNKNOWN_KEY, f"{quoted(key)} is not part of the format", fix, inside(field, quoted(key)))


def text_of(value: JsonObject, key: str, field: str, report: RowReport) -> str | None:
    """The string under `key`; None when it is missing, and with a problem when it is something else."""
    if key not in value:
        return None
    found = value[key]
    if isinstance(found, str):
        return found
    report.add(Code.WRONG_TYPE, f"{key} must be a string, not {described(found)}", "write a string", inside(field, key))
    return None


def object_of(value: JsonValue, field: str, report: RowReport) -> JsonObject | None:
    """The value as an object, or None with a problem."""
    if isinstance(value, dict):
        return value
    name = field or "the row"
    report.add(Code.NOT_AN_OBJECT, f"{name} must be an object, not {described(value)}", "write an object", field)
    return None


def list_of(value: JsonObject, key: str, field: str, report: RowReport) -> list[JsonValue] | None:
    """The array under `key`, which must have members; None when it is missing, and with a problem otherwise."""
    if key not in value:
        return None
    found = value[key]
    if isinstance(found, list) and found:
        return found
    what = "an empty array" if isinstance(found, list) else described(found)
    report.add(
        Code.WRONG_TYPE, f"{key} must be an array with members, not {what}", "write an array", inside(field, key)
    )
    return None


def described(value: JsonValue) -> str:
    """A JSON value's type, in words."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    names = {str: "a string", int: "a number", float: "a number", list: "an array", dict: "an object"}
    return names[type(value)]


def inside(field: str, key: str) -> str:
    """The path of `key` inside `field`."""
    return f"{field}.{key}" if field else key
