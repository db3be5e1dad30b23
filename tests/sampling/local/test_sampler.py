"""LocalSampler on the tiny student, against transformers' own generation and forward pass."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoModelForCausalLM

from rsibench.errors import EnvironmentFault, SpecError
from rsibench.outcomes import FinishReason
from rsibench.ports.sampler import Completion, SampleParams
from rsibench.sampling.local import LocalSampler

GREEDY = SampleParams(max_new_tokens=12, temperature=0.0, stop_token_ids=())
NOISE = 1e-4


def prompts(count: int, seed: int = 0, prefix: tuple[int, ...] = ()) -> list[tuple[int, ...]]:
    rng = random.Random(seed)
    return [(*prefix, *(rng.randrange(3, 272) for _ in range(rng.randint(1, 30)))) for _ in range(count)]


def opened(student: Path, batch_rows: int = 8, adapter: Path | None = None) -> LocalSampler:
    sampler = LocalSampler(batch_rows, "cpu", threads=1)
    sampler.open(student, adapter)
    return sampler


def answers(sampler: LocalSampler, asked: list[tuple[int, ...]], params: SampleParams) -> list[Completion]:
    found = list(sampler.sample(asked, params))
    assert sorted(index for index, _ in found) == list(range(len(asked)))
    return [completion for _, completion in sorted(found)]


@pytest.mark.parametrize("batch_rows", [1, 5, 64])
@pytest.mark.parametrize("prefix", [(), tuple(range(40, 60))])
def test_greedy_answers_are_those_of_transformers(student: Path, batch_rows: int, prefix: tuple[int, ...]) -> None:
    model: Any = AutoModelForCausalLM.from_pretrained(student)
    asked = prompts(23, prefix=prefix)
    for prompt, completion in zip(asked, answers(opened(student, batch_rows), asked, GREEDY), strict=True):
        inputs = torch.tensor([prompt])
        reference = model.generate(
            inputs, attention_mask=torch.ones_like(inputs), max_new_tokens=12, do_sample=False, eos_token_id=None
        )
        assert completion.tokens == tuple(reference[0, len(prompt) :].tolist())
        assert completion.finish_reason is FinishReason.LENGTH


def test_log_probabilities_are_those_of_one_forward_pass(student: Path) -> None:
    model: Any = AutoModelForCausalLM.from_pretrained(student)
    asked = prompts(9)
    for prompt, completion in zip(asked, answers(opened(student), asked, GREEDY), strict=True):
        with torch.no_grad():
            logits = model(input_ids=torch.tensor([prompt + completion.tokens])).logits[0].log_softmax(-1)
        expected = [float(logits[len(prompt) - 1 + place, token]) for place, token in enumerate(completion.tokens)]
        assert completion.logprobs == pytest.approx(expected, abs=NOISE)


def test_answers_do_not_depend_on_the_rest_of_the_batch(student: Path) -> None:
    asked = prompts(30)
    params = GREEDY._replace(temperature=0.8, seed=5)
    together = answers(opened(student, 7), asked, params)
    for place in (0, 13, 29):
        alone = [asked[place] if index == place else (3,) for index in range(30)]
        other = answers(opened(student, 30), alone, params)[place]
        assert other.tokens == together[place].tokens
        assert other.logprobs == pytest.approx(together[place].logprobs, abs=NOISE)


def test_the_same_call_gives_the_same_bits(student: Path) -> None:
    asked, params = prompts(20), GREEDY._replace(temperature=1.0, seed=3)
    sampler = opened(student, 6)
    assert answers(sampler, asked, params) == answers(sampler, asked, params)
    assert answers(sampler, asked, params) != answers(sampler, asked, params._replace(seed=4))


def test_a_stop_token_ends_the_answer_and_is_not_part_of_it(student: Path) -> None:
    asked = prompts(20)
    free = answers(opened(student), asked, GREEDY)
    stop = free[4].tokens[3]
    stopped = answers(opened(student), asked, GREEDY._replace(stop_token_ids=(stop,)))
    for before, after in zip(free, stopped, strict=True):
        assert stop not in after.tokens
        if stop in before.tokens:
            assert after.finish_reason is FinishReason.STOP
            assert after.tokens == before.tokens[: before.tokens.index(stop)]
        else:
            assert (after.tokens, after.finish_reason) == (before.tokens, FinishReason.LENGTH)


def test_an_answer_ends_with_the_context(student: Path) -> None:
    long = tuple(3 + place % 200 for place in range(508))
    completion = answers(opened(student), [long, (5, 6)], GREEDY)[0]
    assert (len(completion.tokens), completion.finish_reason) == (4, FinishReason.LENGTH)


@pytest.mark.parametrize(
    ("prompt", "complaint"),
    [((), "is empty"), ((5,) * 512, "has 512 tokens"), ((5, 272), "outside the vocabulary"), ((-1,), "outside")],
)
def test_prompts_that_cannot_be_answered_are_refused_at_once(
    student: Path, prompt: tuple[int, ...], complaint: str
) -> None:
    with pytest.raises(SpecError, match=f"prompt 1.*{complaint}"):
        opened(student).sample([(4,), prompt], GREEDY)


def test_no_prompts_have_no_answers(student: Path) -> None:
    assert list(opened(student).sample([], GREEDY)) == []


def test_a_closed_sampler_refuses(student: Path) -> None:
    sampler = opened(student)
    sampler.close()
    with pytest.raises(SpecError, match="not open"):
        sampler.sample([(4,)], GREEDY)


def test_no_rows_at_a_time_are_refused() -> None:
    with pytest.raises(SpecError, match="batch_rows is 0"):
        LocalSampler(0)


def test_a_folder_that_is_no_student_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentFault, match="cannot be loaded"):
        opened(tmp_path)


def test_a_folder_that_is_no_adapter_is_refused(student: Path, tmp_path: Path) -> None:
    with pytest.raises(EnvironmentFault, match=r"adapter .* cannot be loaded"):
        opened(student, adapter=tmp_path)


def test_answers_come_as_rows_finish(student: Path) -> None:
    asked = prompts(40)
    found = opened(student, 4).sample(asked, GREEDY)
    next(found)
    assert len(list(found)) == 39
