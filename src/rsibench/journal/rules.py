"""The means by which rules are written: a registry of one step an event kind, and the refusal of an impossible one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from rsibench.journal.events import Event
from rsibench.journal.layered import extended
from rsibench.journal.state import Phase, RunState

type Step[E: Event] = Callable[[RunState, E], RunState]


class Impossible(Exception):
    """An event that the state does not allow. Becomes an IntegrityError that names run and event."""


class Rules:
    """One step for every kind of event; a step returns the state after the event or raises Impossible."""

    def __init__(self) -> None:
        self._steps: dict[type[Event], Step[Any]] = {}

    def on[E: Event](self, kind: type[E]) -> Callable[[Step[E]], Step[E]]:
        """Registers a function as the step for events of class `kind`."""

        def register(step: Step[E]) -> Step[E]:
            self._steps[kind] = step
            return step

        return register

    def steps(self) -> Mapping[type[Event], Step[Any]]:
        """Every registered step by event class."""
        return MappingProxyType(self._steps)


def require(condition: object, why: str) -> None:
    """Raises Impossible with `why` unless `condition` holds."""
    if not condition:
        raise Impossible(why)


def require_phase(state: RunState, *allowed: Phase) -> None:
    """Raises Impossible unless the run is in one of the `allowed` phases."""
    if state.phase not in allowed:
        raise Impossible(f"the run is {state.phase}; this needs it to be {' or '.join(allowed)}")


def put[K, V](mapping: Mapping[K, V], key: K, value: V) -> Mapping[K, V]:
    """A copy of `mapping` in which `key` is `value`."""
    return extended(mapping, key, value)
