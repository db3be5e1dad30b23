"""A student from the Hugging Face hub: a snapshot of the files that are needed, in the hub library's own cache layout.

The library resumes, locks and verifies downloads by itself. Give a commit as `revision`: a branch's name may mean other
bytes tomorrow, which the student's digest would show but not prevent.
"""

from __future__ import annotations

from pathlib import Path

from rsibench.errors import EnvironmentFault
from rsibench.spec.student import HubArtefact

_WANTED = ["config.json", "tokenizer.json", "*.safetensors"]


def snapshot(artefact: HubArtefact, folder: Path, endpoint: str | None = None) -> Path:
    """The folder of the snapshot, downloaded under `folder` unless it is there; `endpoint` None is the default hub.

    Raises EnvironmentFault when the library is missing, or the hub cannot be reached or does not have the model.
    """
    try:
        from huggingface_hub import snapshot_download  # noqa: PLC0415 - part of the extra `local`
        from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError  # noqa: PLC0415 - as above
    except ModuleNotFoundError as error:
        raise EnvironmentFault(
            "the library huggingface_hub is missing, so no hub model can be fetched",
            where="student",
            fix="install the extra `local`: pip install 'rsibench-data[local]'",
        ) from error

    try:
        path = snapshot_download(
            artefact.repo, revision=artefact.revision, cache_dir=folder, allow_patterns=_WANTED, endpoint=endpoint
        )
    except (HfHubHTTPError, LocalEntryNotFoundError, OSError, ValueError) as error:
        reason = str(error).strip().splitlines()
        raise EnvironmentFault(
            f"{artefact.repo} at {artefact.revision or 'its default branch'} could not be fetched from the hub: "
            f"{reason[0] if reason else type(error).__name__}",
            where="student",
            fix="check the name, the revision and the network, or download it elsewhere and name it as a folder",
        ) from error
    return Path(path)
