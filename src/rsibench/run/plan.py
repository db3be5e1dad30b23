"""Planning: a profile and a few choices become a lock, before anything runs.

Everything that can change a result is resolved here (student bytes, items, renderer, prices, brief) and covered by the
protocol digest.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from rsibench.errors import IntegrityError, SpecError
from rsibench.evaluation.generators import make_items
from rsibench.ids import RUN_ID, new_run_id, sha256_bytes
from rsibench.ports.clock import Clock
from rsibench.rendering import Renderer, load_renderer
from rsibench.run.brief import EARLY_STOP_MESSAGE, brief
from rsibench.run.facts import code_facts, machine_facts
from rsibench.spec.budget import BudgetChange
from rsibench.spec.catalogue import load_profile, load_student, resolve_pricing
from rsibench.spec.frozen import canonical_json
from rsibench.spec.item import Item, Split
from rsibench.spec.lock import Isolation, Lock, Protocol, RendererFacts, RunPlan, SplitDigests
from rsibench.spec.profile import Profile
from rsibench.spec.student import FolderArtefact, HubArtefact, StudentSpec
from rsibench.student import PreparedStudent, ensure_student
from rsibench.student.progress import Reporter

LOCAL_TRAINER = "local-torch-peft-1"
LOCAL_SAMPLER = "local-torch-1"
_CUSTOM_CONTEXT_TOKENS = 2048


@dataclass(frozen=True, slots=True)
class Asked:
    """What the user asked for."""

    profile: str
    researcher: str
    seed: int
    quick: bool
    model: str | None = None
    run_id: str | None = None
    budget: BudgetChange | None = None
    isolation: Isolation = "unisolated"
    """How the researcher will run; only for a provider whose probe has just passed."""


@dataclass(frozen=True, slots=True)
class Planned:
    """A lock with what it was resolved from, ready to run."""

    lock: Lock
    profile: Profile
    student: PreparedStudent
    renderer: Renderer
    selection: tuple[Item, ...]
    official: tuple[Item, ...]


def resolve_profile(name: str, *, quick: bool, budget: BudgetChange | None = None) -> Profile:
    """A profile, or its quick variant, with its budget or a changed one. SpecError when there is no quick variant."""
    profile = load_profile(name)
    if quick:
        if profile.quick is None:
            raise SpecError(f"profile {name} has no quick variant", where="--quick", fix="run it without --quick")
        profile = profile.as_quick()
    return profile if budget is None else profile.model_copy(update={"budget": budget.applied(profile.budget)})


def resolve_student(profile: Profile, model: str | None) -> StudentSpec:
    """The profile's student, or the folder or hub id that `--model` names in its place."""
    if model is None:
        return load_student(profile.student)
    default = load_student(profile.student)
    folder = Path(model)
    artefact = FolderArtefact(path=str(folder.resolve())) if folder.is_dir() else HubArtefact(repo=model)
    if isinstance(artefact, HubArtefact) and (model.count("/") != 1 or model.startswith((".", "/"))):
        raise SpecError(
            f"{model!r} is neither a folder here nor a hub id",
            where="--model",
            fix="name a folder with config.json, tokenizer.json and safetensors, or an `owner/name`",
        )
    return StudentSpec(
        name=folder.name if folder.is_dir() else model,
        licence="as stated by its publisher",
        renderer=default.renderer,
        context_tokens=_CUSTOM_CONTEXT_TOKENS,
        artefact=artefact,
    )


def plan_run(asked: Asked, cache: Path, clock: Clock, progress: Reporter | None = None) -> Planned:
    """Resolve a run, fetching the student if need be. Raises SpecError, EnvironmentFault, UnknownPrice."""
    profile = resolve_profile(asked.profile, quick=asked.quick, budget=asked.budget)
    if asked.run_id is not None and not RUN_ID.fullmatch(asked.run_id):
        raise SpecError(f"{asked.run_id!r} cannot be the name of a run", where="--run-id", fix="use a-z, 0-9, . _ -")
    student = ensure_student(resolve_student(profile, asked.model), cache, progress)
    protocol, renderer, selection, official = _resolve(profile, student, _renderer_name(profile, asked.model))
    now = clock.now()
    run = RunPlan(
        run_id=asked.run_id or new_run_id(profile.name, asked.researcher, now),
        researcher=asked.researcher,
        seed=asked.seed,
        isolation=asked.isolation,
        planned_at=now,
        model=asked.model,
        budget_change=asked.budget,
        profile_source=asked.profile,
    )
    lock = Lock(
        protocol=protocol,
        protocol_digest=protocol.digest(),
        run=run,
        machine=machine_facts(),
        code=code_facts(),
    )
    return Planned(lock, profile, student, renderer, selection, official)


def replan(lock: Lock, cache: Path, progress: Reporter | None = None) -> Planned:
    """What a lock was resolved from, resolved again. Raises IntegrityError when the protocol came out different."""
    quick = lock.protocol.variant == "quick"
    profile = resolve_profile(lock.run.profile_source, quick=quick, budget=lock.run.budget_change)
    student = ensure_student(resolve_student(profile, lock.run.model), cache, progress)
    protocol, renderer, selection, official = _resolve(profile, student, _renderer_name(profile, lock.run.model))
    if protocol.digest() != lock.protocol_digest:
        raise IntegrityError(
            f"the protocol resolves differently now: {_difference(lock.protocol, protocol)}",
            where=f"run {lock.run.run_id}",
            fix="continue it with the version of the program and the files it was planned with",
        )
    return Planned(lock, profile, student, renderer, selection, official)


def read_lock(data: bytes, *, where: str) -> Lock:
    """A lock from its JSON. Raises IntegrityError when its digest does not fit its protocol.

    The digest is that of the protocol as it was written, so that a lock of an older version, which lacks what was added
    since, can still be read; whether the run can be continued is found out by `replan`.
    """
    try:
        lock = Lock.model_validate_json(data)
        found = sha256_bytes(canonical_json(json.loads(data)["protocol"]))
    except ValueError as error:
        raise IntegrityError(f"the lock cannot be read: {error}", where=where, fix="restore the file") from error
    if found != lock.protocol_digest:
        raise IntegrityError(
            f"the lock says protocol digest {lock.protocol_digest} but its protocol has {found}",
            where=where,
            fix="the file was changed after the run was planned; restore it",
        )
    return lock


def _renderer_name(profile: Profile, model: str | None) -> str:
    return resolve_student(profile, model).renderer


def _resolve(
    profile: Profile, student: PreparedStudent, renderer_name: str
) -> tuple[Protocol, Renderer, tuple[Item, ...], tuple[Item, ...]]:
    renderer = load_renderer(renderer_name, student.folder)
    selection = tuple(make_items(profile.items, Split.SELECTION))
    official = tuple(make_items(profile.items, Split.OFFICIAL))
    protocol = Protocol(
        profile=profile.name,
        profile_version=profile.version,
        variant=profile.variant,
        student=student.digest,
        renderer=RendererFacts(
            name=renderer.name, version=renderer.version, stop_token_ids=tuple(renderer.stop_token_ids)
        ),
        recipe=profile.recipe,
        trainer=LOCAL_TRAINER,
        sampler=LOCAL_SAMPLER,
        decoding=profile.decoding,
        system_prompt=profile.system_prompt,
        items=profile.items,
        selection=_digests(selection),
        official=_digests(official),
        feedback=profile.feedback,
        data=profile.data,
        coverage_gate=profile.coverage_gate,
        budget=profile.budget,
        pricing=resolve_pricing(profile.prices),
        brief_sha256=sha256_bytes(brief(profile).encode()),
        early_stop_message=EARLY_STOP_MESSAGE,
    )
    return protocol, renderer, selection, official


def _digests(items: tuple[Item, ...]) -> SplitDigests:
    return SplitDigests(
        item_ids=tuple(item.item_id for item in items), item_digests=tuple(item.item_digest for item in items)
    )


def _difference(recorded: Protocol, resolved: Protocol) -> str:
    """Names of the protocol's parts that are not equal."""
    before, after = json.loads(recorded.canonical()), json.loads(resolved.canonical())
    return ", ".join(key for key in before if before[key] != after.get(key)) or "unknown part"
