"""Which files make a student, and the digests that prove them.

Invariant: a digest covers names and bytes of the files only, never where they lie or what made them, so that two
machines with the same student agree.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from rsibench.errors import SpecError
from rsibench.ids import sha256_bytes, sha256_file
from rsibench.spec.frozen import canonical_json
from rsibench.spec.student import StudentDigest
from rsibench.student.progress import Reporter, StudentProgress, StudentStage

CONFIG_FILE = "config.json"
TOKENIZER_FILE = "tokenizer.json"
WEIGHTS_FILE = "model.safetensors"
_WEIGHTS_GLOB = "*.safetensors"


def hash_student(folder: Path, report: Reporter) -> dict[str, str]:
    """SHA-256 of config.json, tokenizer.json and every weight shard, by file name. SpecError when one is missing."""
    weights = sorted(folder.glob(_WEIGHTS_GLOB))
    files = [folder / CONFIG_FILE, folder / TOKENIZER_FILE, *weights]
    missing = [path.name for path in files if not path.is_file()]
    if not weights:
        missing.append(_WEIGHTS_GLOB)
    if missing:
        raise SpecError(
            f"not a student: {', '.join(missing)} is missing",
            where=str(folder),
            fix="name a folder with config.json, tokenizer.json and weights as safetensors",
        )
    total_bytes = sum(path.stat().st_size for path in files)
    done_bytes = 0
    digests: dict[str, str] = {}
    for path in files:
        report(StudentProgress(StudentStage.VERIFYING, done_bytes, total_bytes, "bytes"))
        digests[path.name] = sha256_file(path)
        done_bytes += path.stat().st_size
    report(StudentProgress(StudentStage.VERIFYING, done_bytes, total_bytes, "bytes"))
    return digests


def student_digest(name: str, files: Mapping[str, str], artefact_sha256: str | None = None) -> StudentDigest:
    """The digest of a student from those of its files.

    One weight file is its own digest; of several, the digest is over the canonical JSON of all names and digests.
    Without an artefact the files are the artefact.
    """
    shards = {name: sha for name, sha in files.items() if name not in (CONFIG_FILE, TOKENIZER_FILE)}
    return StudentDigest(
        name=name,
        artefact_sha256=artefact_sha256 or _joint_digest(files),
        weights_sha256=next(iter(shards.values())) if len(shards) == 1 else _joint_digest(shards),
        tokenizer_sha256=files[TOKENIZER_FILE],
        config_sha256=files[CONFIG_FILE],
    )


def _joint_digest(files: Mapping[str, str]) -> str:
    return sha256_bytes(canonical_json(dict(files)))
