"""`rsibench tinker-serve`: the local trainer and sampler for clients of the Tinker API on this machine."""

from __future__ import annotations

from pathlib import Path

from rsibench.errors import SpecError
from rsibench.spec.catalogue import load_profile, load_student
from rsibench.spec.settings import cache_folder, runs_home, tinker_key

_KEY_START = "tml-"
_DEFAULT_KEY = "tml-local"


def tinker_serve(profile: str = "pocket", *, port: int = 8899, folder: Path | None = None) -> int:
    """Serve a profile's student on the loopback interface until interrupted.

    Parameters
    ----------
    profile
        Whose student is served, with the adapter shape of its recipe.
    port
        0 takes a free port.
    folder
        Where checkpoints are kept; `tinker` in the folder of all runs by default.
    """
    from rsibench.student import ensure_student  # noqa: PLC0415 - loads when it is needed
    from rsibench.tinker_serve.served import ServedModel  # noqa: PLC0415 - loads torch
    from rsibench.tinker_serve.server import TinkerServer  # noqa: PLC0415 - loads torch
    from rsibench.tinker_serve.service import Settings  # noqa: PLC0415 - loads torch

    key = tinker_key() or _DEFAULT_KEY
    if not key.startswith(_KEY_START):
        raise SpecError("the official client refuses such a key", where="RSIBENCH_TINKER_KEY", fix="begin it with tml-")
    found = load_profile(profile)
    student = ensure_student(load_student(found.student), cache_folder(), None)
    lora = found.recipe.lora
    model = ServedModel(student.digest.name, student.folder, lora.alpha, lora.targets, lora.top_layers)
    settings = Settings(folder or runs_home() / "tinker")
    with TinkerServer((model,), settings, key, port) as server:
        print(f"{model.name} at {server.url}; Ctrl-C ends it", flush=True)
        server.wait()
    return 0
