"""Checkpoints in a folder: `<run>/<kind>/<name>/` with a `meta.json` beside the files, and a time at which each ends.

Invariant: `meta.json` is written last, so what has none is not a checkpoint; a name never leads out of the folder. A
restarted server finds all of them. It is not a store of models in training.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

from rsibench.errors import SpecError
from rsibench.ports.clock import Clock
from rsibench.spec.frozen import Frozen

_SCHEME = "tinker://"
_META = "meta.json"
_PART = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}")
KINDS = {"weights": "training", "sampler_weights": "sampler"}
"""Kinds on the wire and how listings call them."""
SHORTEST_TTL_SECONDS = 3600
LONGEST_TTL_SECONDS = 10 * 366 * 86400


class CheckpointMeta(Frozen):
    """What a checkpoint is of. `expires_at` None is never."""

    path: str
    base_model: str
    rank: int
    train_attn: bool
    train_mlp: bool
    created_at: datetime
    expires_at: datetime | None = None
    user_metadata: dict[str, str] | None = None

    @property
    def run(self) -> str:
        """The training run that it belongs to."""
        return self.path.removeprefix(_SCHEME).split("/")[0]

    @property
    def kind(self) -> str:
        """`weights` or `sampler_weights`."""
        return self.path.removeprefix(_SCHEME).split("/")[1]


class Checkpoints:
    """All checkpoints below `root`."""

    def __init__(self, root: Path, clock: Clock) -> None:
        self._root = root
        self._clock = clock

    def expiry(self, ttl_seconds: int | None) -> datetime | None:
        """When something with this time to live ends. SpecError outside an hour to ten years, as on the service."""
        if ttl_seconds is None:
            return None
        if not SHORTEST_TTL_SECONDS <= ttl_seconds <= LONGEST_TTL_SECONDS:
            raise SpecError(f"a time to live of {ttl_seconds} s is not within 1 hour and 10 years", where="ttl_seconds")
        return self._clock.now() + timedelta(seconds=ttl_seconds)

    def write(self, meta: CheckpointMeta, fill: Callable[[Path], object], *, overwrite: bool = False) -> None:
        """Makes the checkpoint's folder with `fill`. SpecError when the name is taken."""
        folder = self._folder(meta.path)
        if (folder / _META).exists() and not overwrite:
            raise SpecError(f"there is a checkpoint {meta.path} already", where="path", fix="choose another name")
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        fill(folder)
        (folder / _META).write_text(meta.model_dump_json(), encoding="utf-8")

    def find(self, path: str) -> tuple[CheckpointMeta, Path]:
        """A checkpoint and its folder. SpecError when there is none, or none any more."""
        self.expire()
        folder = self._folder(path)
        if not (folder / _META).is_file():
            raise SpecError(f"there is no checkpoint {path}", where="path", fix="it may have expired; list them")
        return CheckpointMeta.model_validate_json((folder / _META).read_bytes()), folder

    def listed(self, run: str | None = None) -> list[CheckpointMeta]:
        """All checkpoints, or those of one run, the oldest first."""
        self.expire()
        return [meta for meta in self._all() if run is None or meta.run == run]

    def delete(self, path: str) -> None:
        """Removes a checkpoint. SpecError when there is none."""
        _, folder = self.find(path)
        shutil.rmtree(folder)

    def set_ttl(self, path: str, ttl_seconds: int | None) -> None:
        """Gives a checkpoint another end, from now on."""
        meta, folder = self.find(path)
        changed = meta.model_copy(update={"expires_at": self.expiry(ttl_seconds)})
        (folder / _META).write_text(changed.model_dump_json(), encoding="utf-8")

    def expire(self) -> None:
        """Removes what has come to its end."""
        now = self._clock.now()
        for meta in self._all():
            if meta.expires_at is not None and meta.expires_at <= now:
                shutil.rmtree(self._folder(meta.path), ignore_errors=True)

    def size_bytes(self, path: str) -> int:
        """Bytes of a checkpoint's files."""
        return sum(file.stat().st_size for file in self._folder(path).iterdir())

    def _all(self) -> list[CheckpointMeta]:
        found = [CheckpointMeta.model_validate_json(file.read_bytes()) for file in self._root.glob(f"*/*/*/{_META}")]
        return sorted(found, key=lambda meta: (meta.created_at, meta.path))

    def _folder(self, path: str) -> Path:
        parts = path.removeprefix(_SCHEME).split("/")
        whole = path.startswith(_SCHEME) and len(parts) == len(("run", "kind", "name")) and parts[1] in KINDS
        if not whole or not all(_PART.fullmatch(part) for part in parts):
            raise SpecError(f"{path!r} is no path of a checkpoint", where="path", fix="tinker://RUN/weights/NAME")
        return self._root / parts[0].replace(":", "_") / parts[1] / parts[2]
