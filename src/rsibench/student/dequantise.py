"""Turns a GGUF file into a Hugging Face style folder in fp32: `python -m rsibench.student.dequantise GGUF FOLDER`.

A process of its own, so that half a gigabyte of weights never sits in the controller. It writes `done total` lines,
counting tensors, to stdout; on failure it writes the reason to stderr and exits with the error's code. It makes no
digest and publishes nothing: the folder is the caller's temporary one.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from rsibench.errors import EnvironmentFault, RsibenchError
from rsibench.student.digests import CONFIG_FILE, TOKENIZER_FILE, WEIGHTS_FILE

_LOCAL_EXTRA = ("numpy", "gguf", "safetensors")


def dequantise(gguf_file: Path, folder: Path) -> None:
    """Writes config.json, tokenizer.json and model.safetensors into `folder`, which exists.

    Raises EnvironmentFault when a library of the extra `local` is missing, SpecError for a GGUF of another kind.
    """
    try:
        from gguf import GGUFReader  # noqa: PLC0415 - part of the extra `local`
        from safetensors.numpy import save_file  # noqa: PLC0415 - part of the extra `local`

        from rsibench.student.gguf_tensors import llama_config, tensors  # noqa: PLC0415 - needs numpy
        from rsibench.student.gguf_tokenizer import byte_level_tokenizer  # noqa: PLC0415 - with the others
    except ModuleNotFoundError as error:
        if error.name not in _LOCAL_EXTRA:
            raise
        raise EnvironmentFault(
            f"the library {error.name} is missing, so the student cannot be dequantised",
            fix="install the extra `local`: pip install 'rsibench-data[local]'",
        ) from error

    reader = GGUFReader(gguf_file)
    config = llama_config(reader)
    tokenizer = json.dumps(byte_level_tokenizer(reader), ensure_ascii=False)
    (folder / TOKENIZER_FILE).write_text(tokenizer, encoding="utf-8")
    (folder / CONFIG_FILE).write_text(json.dumps(config, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    weights = {}
    total = len(reader.tensors)
    for name, values in tensors(reader):
        weights[name] = values
        print(len(weights), total, flush=True)
    save_file(weights, folder / WEIGHTS_FILE, metadata={"format": "pt"})
    # The library makes it readable by its owner only; a cache may be shared as far as its other files are.
    (folder / WEIGHTS_FILE).chmod((folder / CONFIG_FILE).stat().st_mode)


def main(arguments: list[str]) -> int:
    """Exit code: 0, or that of the error."""
    gguf_file, folder = (Path(argument) for argument in arguments)
    try:
        dequantise(gguf_file, folder)
    except RsibenchError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
