"""A tiny random Llama with the tiny tokenizer: for tests of plumbing, never for a score.

The same seed gives the same bytes. It writes noise; how well anything trains on it says nothing about a student.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from rsibench.testing.tokenizer import tiny_tokenizer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

HIDDEN = 64
INNER = 128
LAYERS = 2
HEADS = 4
KEY_HEADS = 2
HEAD_ROWS = HIDDEN // HEADS
_SPREAD = 0.08


def tiny_student(folder: Path, seed: int = 0) -> Path:
    """Writes config.json, tokenizer.json and model.safetensors (fp32, 0.4 MB) into `folder` and returns it."""
    from safetensors.numpy import save_file  # noqa: PLC0415 - part of the extra `local`

    tiny_tokenizer(folder)
    words = len(json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))["model"]["vocab"])
    config = {
        "architectures": ["LlamaForCausalLM"],
        "attention_bias": False,
        "bos_token_id": 1,
        "dtype": "float32",
        "eos_token_id": 2,
        "head_dim": HEAD_ROWS,
        "hidden_act": "silu",
        "hidden_size": HIDDEN,
        "intermediate_size": INNER,
        "max_position_embeddings": 512,
        "mlp_bias": False,
        "model_type": "llama",
        "num_attention_heads": HEADS,
        "num_hidden_layers": LAYERS,
        "num_key_value_heads": KEY_HEADS,
        "pad_token_id": 0,
        "rms_norm_eps": 1e-5,
        "rope_parameters": {"rope_theta": 10000.0, "rope_type": "default"},
        "tie_word_embeddings": True,
        "vocab_size": words,
    }
    (folder / "config.json").write_text(json.dumps(config, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    save_file(_weights(words, seed), folder / "model.safetensors", metadata={"format": "pt"})
    return folder


def _weights(words: int, seed: int) -> dict[str, NDArray[np.float32]]:
    import numpy as np  # noqa: PLC0415 - part of the extra `local`

    generator = np.random.default_rng(seed)

    def noise(rows: int, columns: int) -> NDArray[np.float32]:
        return (_SPREAD * generator.standard_normal((rows, columns))).astype(np.float32)

    ones = np.ones(HIDDEN, dtype=np.float32)
    weights = {"model.embed_tokens.weight": noise(words, HIDDEN), "model.norm.weight": ones}
    for layer in range(LAYERS):
        prefix = f"model.layers.{layer}"
        weights |= {
            f"{prefix}.input_layernorm.weight": ones,
            f"{prefix}.post_attention_layernorm.weight": ones,
            f"{prefix}.self_attn.q_proj.weight": noise(HEADS * HEAD_ROWS, HIDDEN),
            f"{prefix}.self_attn.k_proj.weight": noise(KEY_HEADS * HEAD_ROWS, HIDDEN),
            f"{prefix}.self_attn.v_proj.weight": noise(KEY_HEADS * HEAD_ROWS, HIDDEN),
            f"{prefix}.self_attn.o_proj.weight": noise(HIDDEN, HEADS * HEAD_ROWS),
            f"{prefix}.mlp.gate_proj.weight": noise(INNER, HIDDEN),
            f"{prefix}.mlp.up_proj.weight": noise(INNER, HIDDEN),
            f"{prefix}.mlp.down_proj.weight": noise(HIDDEN, INNER),
        }
    return weights
