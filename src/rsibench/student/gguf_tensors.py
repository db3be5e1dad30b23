"""The Llama part of GGUF: metadata as a Hugging Face config, and tensors as fp32 under their Hugging Face names.

Invariant: the result depends on the GGUF file alone. The config is written out here rather than by a model library,
whose version would show in it; dequantisation is element by element, so its bytes are the same everywhere.
A tensor or an architecture that is not known is refused, never skipped.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from rsibench.errors import SpecError
from rsibench.student.gguf_fields import integer, number, text, words

if TYPE_CHECKING:
    from gguf import GGUFReader
    from numpy.typing import NDArray

_OUTER_NAMES = {
    "token_embd.weight": "model.embed_tokens.weight",
    "output_norm.weight": "model.norm.weight",
    "output.weight": "lm_head.weight",
}
_LAYER_NAMES = {
    "attn_norm.weight": "input_layernorm.weight",
    "attn_q.weight": "self_attn.q_proj.weight",
    "attn_k.weight": "self_attn.k_proj.weight",
    "attn_v.weight": "self_attn.v_proj.weight",
    "attn_output.weight": "self_attn.o_proj.weight",
    "ffn_norm.weight": "post_attention_layernorm.weight",
    "ffn_gate.weight": "mlp.gate_proj.weight",
    "ffn_up.weight": "mlp.up_proj.weight",
    "ffn_down.weight": "mlp.down_proj.weight",
}
_PAD_WORD = "<|endoftext|>"

type ConfigValue = str | int | float | bool | list[str] | dict[str, str | float] | None


def llama_config(reader: GGUFReader) -> dict[str, ConfigValue]:
    """config.json of the model. Raises SpecError for an architecture other than Llama."""
    architecture = text(reader, "general.architecture")
    if architecture != "llama":
        raise SpecError(f"the GGUF's architecture is {architecture!r}; only llama can be dequantised here")
    vocabulary = words(reader, "tokenizer.ggml.tokens")
    hidden = integer(reader, "llama.embedding_length")
    heads = integer(reader, "llama.attention.head_count")
    config: dict[str, ConfigValue] = {
        "architectures": ["LlamaForCausalLM"],
        "attention_bias": False,
        "bos_token_id": integer(reader, "tokenizer.ggml.bos_token_id"),
        "dtype": "float32",
        "eos_token_id": integer(reader, "tokenizer.ggml.eos_token_id"),
        "head_dim": integer(reader, "llama.rope.dimension_count"),
        "hidden_act": "silu",
        "hidden_size": hidden,
        "intermediate_size": integer(reader, "llama.feed_forward_length"),
        "max_position_embeddings": integer(reader, "llama.context_length"),
        "mlp_bias": False,
        "model_type": "llama",
        "num_attention_heads": heads,
        "num_hidden_layers": integer(reader, "llama.block_count"),
        "num_key_value_heads": integer(reader, "llama.attention.head_count_kv"),
        "rms_norm_eps": number(reader, "llama.attention.layer_norm_rms_epsilon"),
        "rope_parameters": {"rope_theta": number(reader, "llama.rope.freq_base"), "rope_type": "default"},
        "tie_word_embeddings": all(tensor.name != "output.weight" for tensor in reader.tensors),
        "vocab_size": len(vocabulary),
    }
    if _PAD_WORD in vocabulary:
        # Not the file's own padding id, which is the end of a turn.
        config["pad_token_id"] = vocabulary.index(_PAD_WORD)
    return config


def tensors(reader: GGUFReader) -> Iterator[tuple[str, NDArray[np.float32]]]:
    """Every tensor as (Hugging Face name, fp32 array). SpecError for a tensor that has no place in a Llama model."""
    from gguf import dequantize  # noqa: PLC0415 - part of the extra `local`

    heads = integer(reader, "llama.attention.head_count")
    key_heads = integer(reader, "llama.attention.head_count_kv")
    for tensor in reader.tensors:
        values = np.asarray(dequantize(tensor.data, tensor.tensor_type), dtype=np.float32)
        if tensor.name.endswith("attn_q.weight"):
            values = _halves(values, heads)
        elif tensor.name.endswith("attn_k.weight"):
            values = _halves(values, key_heads)
        yield _model_name(tensor.name), np.ascontiguousarray(values)


def _halves(rows: NDArray[np.float32], heads: int) -> NDArray[np.float32]:
    """Rows of each head from GGUF's rotary order (pairs side by side) to Llama's (first halves, then second halves)."""
    head_rows = rows.shape[0] // heads
    paired = rows.reshape(heads, head_rows // 2, 2, rows.shape[1])
    return paired.swapaxes(1, 2).reshape(rows.shape)


def _model_name(name: str) -> str:
    if name in _OUTER_NAMES:
        return _OUTER_NAMES[name]
    block, _, rest = name.partition(".")
    layer, _, part = rest.partition(".")
    if block != "blk" or not layer.isdigit() or part not in _LAYER_NAMES:
        raise SpecError(f"the GGUF has a tensor {name!r} that has no place in a plain Llama model")
    return f"model.layers.{layer}.{_LAYER_NAMES[part]}"
