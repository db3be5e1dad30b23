"""Complaints: what a database objects to, in words, with what can be done about it.

Only trouble with the database itself is a complaint (its file, server, lock or rights). A statement that breaks a rule
of the tables is none and reaches the caller as the database library raised it.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import NamedTuple

from sqlalchemy import URL

from rsibench.errors import EnvironmentFault


class Trouble(StrEnum):
    """What kind of trouble a database has; decides whether a transaction may be begun again."""

    DAMAGED = "damaged"
    """Its content cannot be read; nothing helps but a copy."""
    BUSY = "busy"
    """Somebody else held a lock for too long."""
    LOST = "lost"
    """The connection is gone or could not be made; a transaction that had not begun may be tried again."""
    UNUSABLE = "unusable"
    """It cannot be used as it is: rights, space, a wrong name."""


class Complaint(NamedTuple):
    """Trouble, what happened and what to do."""

    trouble: Trouble
    what: str
    fix: str


class StoreUnreachable(EnvironmentFault):
    """The database server is away. What was being written is there whole or not at all."""


def fault_of(complaint: Complaint, where: str) -> EnvironmentFault:
    """The error for a complaint about the database at `where`."""
    kind = StoreUnreachable if complaint.trouble is Trouble.LOST else EnvironmentFault
    return kind(complaint.what, where=where, fix=complaint.fix)


def shown(url: URL) -> str:
    """A URL without its password, wherever in it that stands."""
    return url.difference_update_query([name for name in url.query if "password" in name]).render_as_string()


def shown_text(url: str) -> str:
    """The same for text that is no URL: whatever stands between a colon and the last `@` is left out."""
    return re.sub(r"(://[^:/@]*):.*@", r"\1:***@", url)
