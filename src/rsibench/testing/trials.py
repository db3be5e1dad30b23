"""Items and trials for tests: valid in every field, told apart only by what a test is about."""

from __future__ import annotations

from rsibench.ids import sha256_bytes
from rsibench.outcomes import FinishReason, TrialOutcome
from rsibench.spec.item import Item, Trial, Verdict


def sum_item(index: int, family: str = "sums") -> Item:
    """An item that asks for a sum and expects an integer."""
    return Item(
        item_id=f"{family}-{index:04d}",
        family=family,
        template="plain",
        prompt=f"What is {index} + {index + 1}?",
        grader="integer",
        expected=2 * index + 1,
    )


def trial_of(
    item: Item, outcome: TrialOutcome, decode: int = 0, prompt_tokens: int = 7, output_tokens: int = 3
) -> Trial:
    """A trial of `item` that ended with `outcome`."""
    broken = outcome in {TrialOutcome.INFRA_ERROR, TrialOutcome.INVALID}
    return Trial(
        item_id=item.item_id,
        item_digest=item.item_digest,
        family=item.family,
        template=item.template,
        decode=decode,
        prompt_digest=sha256_bytes(item.prompt.encode()),
        output="" if broken else f"Answer: {item.expected}",
        finish_reason=None if broken else FinishReason.STOP,
        prompt_tokens=prompt_tokens,
        output_tokens=output_tokens,
        verdict=Verdict(outcome=outcome),
    )
