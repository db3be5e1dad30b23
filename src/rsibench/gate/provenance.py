"""Where a row says it comes from, held to the profile's lists. The label is the researcher's word, not a proof."""

from __future__ import annotations

from collections.abc import Set

from rsibench.gate.codes import Code
from rsibench.gate.problems import Problems, quoted
from rsibench.gate.row import Conversation
from rsibench.ids import sha256_bytes
from rsibench.spec.contamination import ContaminationPolicy


def from_rollouts(conversation: Conversation, rollouts: Set[str]) -> bool:
    """Whether the row holds a rollout of the lab unchanged. `rollouts` are SHA-256 digests of their UTF-8 texts.

    Only whole texts of assistant turns are compared; a rollout that was edited is no longer traced.
    """
    texts = (message.content for message in conversation.messages if message.role == "assistant")
    return any(sha256_bytes(text.encode()) in rollouts for text in texts)


def check_source(conversation: Conversation, policy: ContaminationPolicy, problems: Problems) -> None:
    """Adds a problem when the row's source is forbidden, or missing or unknown where the profile lists sources."""
    source = (conversation.source or "").casefold()
    if source and any(denied.casefold() in source for denied in policy.denied_sources):
        why = f"the profile forbids data from {quoted(source)}"
        fix = "remove the row"
        problems.add(Code.SOURCE, why, fix, row=conversation.number, field="source", incident="forbidden-source")
    elif policy.allowed_sources and not source.startswith(tuple(one.casefold() for one in policy.allowed_sources)):
        why = "the row's source is not one that the profile lists" if source else "the row names no source"
        fix = "begin source with one of: " + ", ".join(policy.allowed_sources)
        problems.add(Code.SOURCE, why, fix, row=conversation.number, field="source")
