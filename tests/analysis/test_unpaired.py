"""Comparisons of totals, and ranks made of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from rsibench.analysis.holm import holm
from rsibench.analysis.rank_sets import rank
from rsibench.analysis.unpaired import fisher_exact, newcombe


@given(st.integers(1, 120), st.integers(1, 120), st.data())
def test_fisher_agrees_with_scipy(first: int, second: int, data: st.DataObject) -> None:
    passed = (data.draw(st.integers(0, first)), data.draw(st.integers(0, second)))
    table = [[passed[0], first - passed[0]], [passed[1], second - passed[1]]]
    ours = fisher_exact(passed, (first, second))
    assert ours.p_value == pytest.approx(stats.fisher_exact(table).pvalue, abs=1e-8)
    assert 0 <= ours.mid_p <= ours.p_value


@pytest.mark.parametrize(
    ("first", "second", "interval"),
    [((48, 80), (56, 70), (0.0524, 0.3339)), ((3, 10), (9, 10), (0.1705, 0.8090))],
)
def test_newcombe_published_examples(
    first: tuple[int, int], second: tuple[int, int], interval: tuple[float, float]
) -> None:
    # Newcombe (1998), Stat. Med. 17, 873, table II, method 10
    found = newcombe((first[0], second[0]), (first[1], second[1]))
    assert found == pytest.approx(interval, abs=5.1e-5)


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_lies_between_raw_and_bonferroni(values: list[float]) -> None:
    adjusted = holm(values)
    for raw, corrected in zip(values, adjusted, strict=True):
        assert raw <= corrected <= min(1.0, raw * len(values)) + 1e-12


def test_holm_refuses_what_is_no_probability() -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        holm([0.2, float("nan")])


def test_rank_sets_by_hand() -> None:
    # "a" is far above "c"; nothing else can be told apart
    table = {frozenset("ab"): 0.3, frozenset("ac"): 0.001, frozenset("bc"): 0.04}
    names = "bca"
    found = rank(names, [0.5, 0.2, 0.6], lambda one, two: table[frozenset((names[one], names[two]))])
    assert [(entry.name, entry.best, entry.worst) for entry in found.sets] == [("a", 1, 2), ("b", 1, 3), ("c", 2, 3)]
    assert found.leaders == ("a", "b")
    (pair,) = found.separable
    assert (pair.better, pair.worse) == ("a", "c")
    assert pair.adjusted_p == pytest.approx(0.003)
