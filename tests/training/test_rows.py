"""Shifting rows."""

from __future__ import annotations

import pytest

from rsibench.errors import SpecError
from rsibench.rendering import RenderedRow
from rsibench.training.rows import to_example


def test_every_target_is_the_token_after_its_input() -> None:
    example = to_example(RenderedRow((5, 6, 7, 8), (False, False, True, True)))
    assert example.inputs == (5, 6, 7)
    assert example.targets == (6, 7, 8)
    assert example.weights == (0.0, 1.0, 1.0)


def test_a_mask_on_the_first_token_alone_teaches_nothing() -> None:
    with pytest.raises(SpecError, match="no loss"):
        to_example(RenderedRow((5, 6, 7), (True, False, False)))


def test_a_mask_of_another_length_is_refused() -> None:
    with pytest.raises(SpecError, match="mask of 2"):
        to_example(RenderedRow((5, 6, 7), (True, True)))
