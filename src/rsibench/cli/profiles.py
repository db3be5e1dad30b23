"""`rsibench profiles list|show`: the shipped benchmarks, what they run and what a run may cost."""

from __future__ import annotations

from rich.markdown import Markdown
from rich.table import Table

from rsibench.cli.output import console, print_json
from rsibench.run.plan import resolve_profile
from rsibench.spec.catalogue import load_profile, load_student, profile_names, resolve_pricing
from rsibench.spec.profile import Profile


def list_profiles(*, json: bool = False) -> None:
    """Names, titles and sizes of the shipped profiles."""
    profiles = [load_profile(name) for name in profile_names()]
    if json:
        print_json([{"name": p.name, "version": p.version, "title": p.title, "student": p.student} for p in profiles])
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("profile", "version", "student", "title"):
        table.add_column(heading)
    for profile in profiles:
        table.add_row(profile.name, profile.version, profile.student, profile.title)
    console().print(table)


def show_profile(name: str, *, quick: bool = False, json: bool = False) -> None:
    """What a profile runs, what a submission may be, and what a run may cost."""
    profile = resolve_profile(name, quick=quick)
    if json:
        print_json(profile)
        return
    pricing = resolve_pricing(profile.prices)
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    for label, value in _facts(profile):
        table.add_row(label, value)
    shadow = " (shadow prices for local compute)" if pricing.shadow else ""
    table.add_row("prices", f"{pricing.model} in {pricing.table}, dated {pricing.dated}{shadow}")
    out = console()
    out.print(table)
    out.print()
    out.print(Markdown(profile.card))


def _facts(profile: Profile) -> list[tuple[str, str]]:
    budget, recipe, items = profile.budget, profile.recipe, profile.items
    student = load_student(profile.student)
    families = len(items.families)
    return [
        ("profile", f"{profile.name} {profile.version} ({profile.variant}): {profile.title}"),
        ("student", f"{student.name}, {student.licence}"),
        ("families", ", ".join(items.families)),
        ("selection", f"{items.selection.per_family} items a family, {items.selection.per_family * families} in all"),
        (
            "official",
            f"{items.official.per_family} items a family, {items.official.per_family * families} in all, "
            f"{items.official.hidden_template_share:.0%} of them in wordings that selection never shows",
        ),
        ("decoding", f"temperature {profile.decoding.temperature:g}, {profile.decoding.max_new_tokens} new tokens"),
        ("recipe", f"{recipe.version}, at most {recipe.max_train_tokens} training tokens an attempt"),
        ("feedback", profile.feedback.value),
        (
            "budget",
            f"{budget.wall_seconds} s, {budget.attempts} attempts, ${budget.training_usd} training, "
            f"${budget.sampling_usd} sampling",
        ),
    ]
