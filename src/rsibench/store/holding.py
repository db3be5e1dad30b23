"""Holding: where a reservation is in its life."""

from __future__ import annotations

from enum import StrEnum


class Holding(StrEnum):
    """The last two are final."""

    RESERVED = "reserved"
    """Set aside, not spent."""
    SETTLED = "settled"
    """Charged what it really cost; the rest went back."""
    RELEASED = "released"
    """Given back unspent."""
