"""What a profile says about protected material: which classes of leak refuse a submission, and which sources are fine.

Part of the protocol: it changes what a researcher may train on.
"""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from rsibench.spec.frozen import Frozen


class LeakClass(StrEnum):
    """How a row resembles protected material, from the plainest to the faintest."""

    CANARY = "canary"
    """A marker that benchmarks carry so that copies can be found."""
    VERBATIM = "verbatim"
    """The item word for word, also encoded, or split over turns."""
    NEAR = "near"
    """The item with small changes of wording or spelling; its numbers are unchanged."""
    OPTIONS = "options"
    """The item's set of options, whatever their order or letters."""
    CODE = "code"
    """The item's code with other names, comments or layout."""
    PATCH = "patch"
    """Added lines of a gold or test patch."""
    ANSWER_KEY = "answer-key"
    """Answers by item name, or a run of answers in the order of the items."""
    IDENTIFIER = "identifier"
    """The name, commit or pull request of an item."""
    TEMPLATE = "template"
    """The item's wording with other numbers or names."""
    PARAPHRASE = "paraphrase"
    """The item in other words."""
    TRANSLATION = "translation"
    """The item in another language."""


class ContaminationPolicy(Frozen):
    """Which leaks refuse a submission, and the limits on copies and sources. Other classes are counted, not refused."""

    refuse: tuple[LeakClass, ...] = (
        LeakClass.CANARY,
        LeakClass.VERBATIM,
        LeakClass.NEAR,
        LeakClass.OPTIONS,
        LeakClass.CODE,
        LeakClass.PATCH,
        LeakClass.ANSWER_KEY,
        LeakClass.IDENTIFIER,
        LeakClass.TEMPLATE,
    )
    canaries: tuple[str, ...] = ()
    max_duplicate_share: float = Field(default=1.0, ge=0, le=1)
    """Most rows, as a share, that may repeat an earlier row of the submission, exactly or nearly."""
    allowed_sources: tuple[str, ...] = ()
    """When given, every row needs a `source` that begins with one of these."""
    denied_sources: tuple[str, ...] = ()
    """No row's `source` may name one of these data sets or repositories."""
