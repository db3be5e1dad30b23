"""The tiny student as what a real one comes as: a GGUF file inside a wheel, with its spec.

The GGUF is written from the folder that `tiny_student` makes, so a test can compare what comes back with what went in.
"""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

from rsibench.ids import sha256_file
from rsibench.spec.student import StudentSpec, WheelArtefact
from rsibench.testing.student import HEAD_ROWS, HEADS, HIDDEN, INNER, KEY_HEADS, LAYERS, tiny_student
from rsibench.testing.tokenizer import CONTROL_TOKENS

WHEEL_NAME = "tiny_student-0.0.1-py3-none-any.whl"
_MEMBER = "tiny_student/tiny.F32.gguf"
_LAYER_NAMES = {
    "input_layernorm": "attn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "post_attention_layernorm": "ffn_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}


def tiny_gguf(folder: Path, split: str = "smollm", architecture: str = "llama") -> Path:
    """Writes the tiny student into `folder`/hf and as a GGUF with fp32 tensors; returns the GGUF file."""
    # Loaded here: part of the extra `local`.
    from gguf import GGUFWriter, TokenType  # noqa: PLC0415 - see above
    from safetensors.numpy import load_file  # noqa: PLC0415 - see above

    student = tiny_student(folder / "hf")
    model = json.loads((student / "tokenizer.json").read_text(encoding="utf-8"))["model"]
    words = sorted(model["vocab"], key=model["vocab"].__getitem__)
    path = folder / Path(_MEMBER).name
    writer = GGUFWriter(path, architecture)
    writer.add_block_count(LAYERS)
    writer.add_context_length(512)
    writer.add_embedding_length(HIDDEN)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KEY_HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(HEAD_ROWS)
    writer.add_rope_freq_base(10000.0)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(split)
    writer.add_token_list(words)
    writer.add_token_types([TokenType.CONTROL if word in CONTROL_TOKENS else TokenType.NORMAL for word in words])
    writer.add_token_merges([" ".join(pair) for pair in model["merges"]])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_pad_token_id(2)
    for name, values in load_file(student / "model.safetensors").items():
        heads = {"q": HEADS, "k": KEY_HEADS}.get(name.partition("self_attn.")[2][:1])
        if heads is not None:
            # GGUF's rotary order: for each head, first-half and second-half rows alternate.
            halves = values.reshape(heads, 2, HEAD_ROWS // 2, HIDDEN)
            values = halves.swapaxes(1, 2).reshape(values.shape).copy()  # noqa: PLW2901 - the same tensor, reordered
        writer.add_tensor(_gguf_name(name), values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def tiny_wheel(folder: Path, gguf_file: Path) -> StudentSpec:
    """Packs a GGUF file into a wheel in `folder` (created if missing) and returns the spec of that student."""
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(folder / WHEEL_NAME, "w") as archive:
        archive.write(gguf_file, _MEMBER)
        archive.writestr(
            "tiny_student-0.0.1.dist-info/METADATA", "Metadata-Version: 2.1\nName: tiny-student\nVersion: 0.0.1\n"
        )
        archive.writestr(
            "tiny_student-0.0.1.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr("tiny_student-0.0.1.dist-info/RECORD", "")
    artefact = WheelArtefact(
        distribution="tiny-student", version="0.0.1", member=_MEMBER, member_sha256=sha256_file(gguf_file)
    )
    return StudentSpec(
        name="tiny student/1", licence="Apache-2.0", renderer="chatml", context_tokens=512, artefact=artefact
    )


def _gguf_name(name: str) -> str:
    outer = {"model.embed_tokens.weight": "token_embd.weight", "model.norm.weight": "output_norm.weight"}
    if name in outer:
        return outer[name]
    layer, _, part = name.removeprefix("model.layers.").partition(".")
    return f"blk.{layer}.{_LAYER_NAMES[part.removesuffix('.weight')]}.weight"
