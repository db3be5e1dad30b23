"""`run_config.json`: resolves a researcher's settings against the recipe's knobs.

Invariant: an unknown key, another type, or a value outside a knob's bounds is a reason to refuse, never something to
clamp or ignore. A setting that is left out has the profile's default.
"""

from __future__ import annotations

import difflib

from pydantic import JsonValue

from rsibench.gate.codes import Code
from rsibench.gate.problems import CONFIG_FILE, Problems, quoted
from rsibench.gate.strict_json import StrictReader
from rsibench.gate.text import decode_text
from rsibench.spec.recipe import Knob, Knobs, RunConfig

MAX_CONFIG_BYTES = 65_536
_MAX_DEPTH = 8


def resolve_config(config: bytes | None, knobs: Knobs, problems: Problems) -> RunConfig | None:
    """Every knob with its value; None when there was a problem. No file at all means all defaults."""
    before = len(problems)
    values: dict[str, float] = {name: _knob(knobs, name).default for name in knob_names()}
    if config is not None:
        for name, value in _settings(config, problems).items():
            if name not in values:
                _unknown(name, problems)
            else:
                number = _number(name, value, _knob(knobs, name), problems)
                values[name] = values[name] if number is None else number
    if len(problems) > before:
        return None
    return RunConfig(
        learning_rate=values["learning_rate"], epochs=int(values["epochs"]), lora_rank=int(values["lora_rank"])
    )


def knob_names() -> tuple[str, ...]:
    """Every key that `run_config.json` may hold."""
    return tuple(Knobs.model_fields)


def _knob(knobs: Knobs, name: str) -> Knob:
    knob: Knob = getattr(knobs, name)
    return knob


def _settings(config: bytes, problems: Problems) -> dict[str, JsonValue]:
    if len(config) > MAX_CONFIG_BYTES:
        why = f"the file has {len(config)} bytes; at most {MAX_CONFIG_BYTES} are taken"
        problems.add(Code.FILE_TOO_LARGE, why, "keep only the settings", file=CONFIG_FILE)
        return {}
    text = decode_text(config, CONFIG_FILE, problems)
    if text is None:
        return {}
    parsed = StrictReader(_MAX_DEPTH).parse(text)
    for finding in parsed.findings:
        problems.add(finding.code, finding.why, finding.fix, file=CONFIG_FILE, field=finding.field)
    if parsed.findings:
        return {}
    if not isinstance(parsed.value, dict):
        why = "the file does not hold a JSON object"
        problems.add(Code.NOT_AN_OBJECT, why, 'write {"epochs": 2} or the like', file=CONFIG_FILE)
        return {}
    return parsed.value


def _unknown(name: str, problems: Problems) -> None:
    close = difflib.get_close_matches(name, knob_names(), n=1)
    fix = f"did you mean {close[0]}?" if close else f"only {', '.join(knob_names())} may be set"
    problems.add(Code.UNKNOWN_KEY, f"{quoted(name)} is not a setting", fix, file=CONFIG_FILE, field=quoted(name))


def _number(name: str, value: JsonValue, knob: Knob, problems: Problems) -> float | None:
    """The value as a number within the knob's bounds, or None with a problem. JSON's true and false are not numbers."""
    kind = "a whole number" if knob.whole else "a number"
    number = float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
    if number is None or (knob.whole and not number.is_integer()):
        why = f"{name} must be {kind}, not {_described(value)}"
        problems.add(Code.WRONG_TYPE, why, f"write {name} as {kind}", file=CONFIG_FILE, field=name)
        return None
    if knob.minimum <= number <= knob.maximum:
        return number
    if knob.locked:
        why = f"{name} is fixed at {knob.default:g} in this profile and cannot be {number:g}"
        problems.add(Code.LOCKED, why, f"remove {name}", file=CONFIG_FILE, field=name)
    else:
        why = f"{name} is {number:g}; the profile takes {knob.minimum:g} to {knob.maximum:g}"
        problems.add(Code.OUT_OF_BOUNDS, why, "choose a value within the bounds", file=CONFIG_FILE, field=name)
    return None


def _described(value: JsonValue) -> str:
    if isinstance(value, str):
        return f"the string {quoted(value)}"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return "an array" if isinstance(value, list) else "an object" if isinstance(value, dict) else f"{value}"
