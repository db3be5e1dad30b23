"""From a rendered row to a training example: targets shifted by one, so that a trainer never has to know about it.

Invariant: `weights[i]` is 1.0 exactly where the row's mask covers the token that is predicted there.
"""

from __future__ import annotations

from rsibench.errors import SpecError
from rsibench.ports.trainer import TokenExample
from rsibench.rendering.renderer import RenderedRow


def to_example(row: RenderedRow) -> TokenExample:
    """`row` of n tokens as n - 1 predictions. SpecError when the row is malformed or nothing in it can be learned."""
    tokens, mask = row
    if len(tokens) != len(mask):
        raise SpecError(f"a training row has {len(tokens)} tokens but a mask of {len(mask)}", fix="render it again")
    example = TokenExample(tokens[:-1], tokens[1:], tuple(float(counts) for counts in mask[1:]))
    if not any(example.weights):
        raise SpecError(
            f"a training row of {len(tokens)} tokens has no loss on any of them",
            fix="give it at least one assistant turn after the first token",
        )
    return example
