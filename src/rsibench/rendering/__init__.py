"""Chat to tokens and back: the only place in the project where a chat template lives.

Invariant: a training row's prefix up to any assistant turn is, token for token, the prompt that generation starts from.
It is not a tokenizer, and it needs neither torch nor transformers.
"""

from rsibench.rendering.load import load_renderer, renderer_names
from rsibench.rendering.message import ChatMessage, FunctionCall, Role, ToolCall
from rsibench.rendering.renderer import RenderedRow, Renderer

__all__ = [
    "ChatMessage",
    "FunctionCall",
    "RenderedRow",
    "Renderer",
    "Role",
    "ToolCall",
    "load_renderer",
    "renderer_names",
]
