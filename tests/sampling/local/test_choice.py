"""Choosing the next token."""

from __future__ import annotations

import math
from collections import Counter

import pytest
import torch

from rsibench.sampling.local.choice import choose, row_random


def test_greedy_takes_the_likeliest_with_its_log_probability() -> None:
    chosen = choose(torch.tensor([[0.0, 2.0, 1.0], [5.0, 0.0, 0.0]]), 0.0, [])
    assert chosen.tokens == [1, 0]
    total = sum(math.exp(logit) for logit in (0.0, 2.0, 1.0))
    assert chosen.logprobs[0] == pytest.approx(2.0 - math.log(total), rel=1e-6)


def test_draws_follow_the_tempered_distribution() -> None:
    shares, temperature, draws = (0.5, 0.3, 0.15, 0.05), 0.7, 4000
    logits = torch.tensor([[math.log(share) for share in shares]]).repeat(draws, 1)
    chosen = choose(logits, temperature, [row_random(1, row) for row in range(draws)])
    tempered = [share ** (1 / temperature) for share in shares]
    counts = Counter(chosen.tokens)
    for token, weight in enumerate(tempered):
        expected = draws * weight / sum(tempered)
        assert abs(counts[token] - expected) < 4 * math.sqrt(expected)


def test_a_token_without_probability_is_never_drawn() -> None:
    logits = torch.tensor([[-math.inf, 0.0, -math.inf, 0.0, -math.inf]]).repeat(500, 1)
    assert set(choose(logits, 1.0, [row_random(2, row) for row in range(500)]).tokens) == {1, 3}


def test_log_probabilities_are_the_students_own_whatever_the_temperature() -> None:
    logits = torch.tensor([[0.0, 1.0, 3.0]])
    chosen = choose(logits, 0.01, [row_random(0, 0)])
    assert chosen.tokens == [2]
    assert chosen.logprobs[0] == pytest.approx(float(logits.log_softmax(1)[0, 2]), rel=1e-6)


def test_a_rows_numbers_depend_on_seed_and_row_only() -> None:
    assert row_random(1, 2).random() == row_random(1, 2).random()
    assert len({row_random(seed, row).random() for seed in range(5) for row in range(5)}) == 25
