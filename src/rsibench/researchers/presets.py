"""Presets: an agent with the model and effort of the published settings. They can be planned before they can run."""

from __future__ import annotations

from typing import NamedTuple


class Preset(NamedTuple):
    """Which agent drives which model, and the effort it is asked for."""

    agent: str
    model: str
    effort: str | None


PRESETS: dict[str, Preset] = {
    "claude-code-opus-4.8": Preset("claude-code", "claude-opus-4.8", "high"),
    "claude-code-sonnet-5": Preset("claude-code", "claude-sonnet-5", "high"),
    "codex-gpt-5.6-sol": Preset("codex", "gpt-5.6-sol", "max"),
    "codex-gpt-5.6-terra": Preset("codex", "gpt-5.6-terra", "max"),
    "claude-code-kimi-k2.6": Preset("claude-code", "kimi-k2.6", None),
}
"""Names as campaigns use them."""
