"""Evidence for the pocket profile: what its families score with no, good, mediocre and harmful training data.

It trains and samples with the product's own trainer, sampler, renderer and graders under the profile's recipe, and
writes one record a condition and seed (scores, seconds, tokens) and every output beside it. `table` prints them as
Markdown. It is not a run: there is no researcher, no budget and no journal.

    python benchmarks/pocket_evidence.py measure --student FOLDER --out FOLDER --official 64
    python benchmarks/pocket_evidence.py table FOLDER [--into docs/pocket.md]
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections import defaultdict
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from rsibench.evaluation.answer import AnswerEvaluator
from rsibench.evaluation.pocket import make_items
from rsibench.evaluation.pocket.kit.rows import Row, make_rows
from rsibench.outcomes import TrialOutcome
from rsibench.rendering import ChatMessage, Renderer, load_renderer
from rsibench.rendering.renderer import RenderedRow
from rsibench.sampling.local import LocalSampler
from rsibench.spec.catalogue import load_profile, load_student
from rsibench.spec.item import Item, Split, Trial
from rsibench.spec.profile import Profile
from rsibench.spec.recipe import RunConfig
from rsibench.training.local import LocalTrainer
from rsibench.training.loop import train

CONDITIONS = {
    "base": "no training",
    "good": "worked solutions",
    "mediocre": "the same problems with the answer alone",
    "harmful": "worked solutions, each under another problem of its family",
    "prose": "friendly talk without an answer",
}
_STYLES = {"good": "worked", "mediocre": "answer", "harmful": "worked", "prose": "prose"}
_MOST_ROWS = 5000
_BEGIN, _END = "<!-- evidence: begin -->", "<!-- evidence: end -->"


class Settings(NamedTuple):
    """What `measure` is asked to do. `train_tokens` counts the tokens of all rows times epochs."""

    student: Path
    out: Path
    split: Split
    train_tokens: int
    epochs: int
    learning_rate: float


def training_rows(profile: Profile, condition: str, renderer: Renderer, settings: Settings, seed: int) -> list[Row]:
    """As many rows as fit the token budget, the families in equal number."""
    families = profile.items.families
    limit = settings.train_tokens // settings.epochs
    rows: list[Row] = []
    tokens = 0
    drawn = make_rows(families, _STYLES[condition], _MOST_ROWS, 1000 + seed)
    while block := list(islice(drawn, len(families))):
        tokens += sum(len(rendered(row, renderer).token_ids) for row in block)
        if tokens > limit:
            break
        rows += block
    return rotated(rows, seed) if condition == "harmful" else rows


def rotated(rows: Sequence[Row], seed: int) -> list[Row]:
    """The same prompts and replies, every reply under another prompt of its family."""
    by_family: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_family[row["family"]].append(row)
    rng = random.Random(seed)
    wrong: list[Row] = []
    for family, own in by_family.items():
        shift = rng.randrange(1, len(own))
        for row, other in zip(own, own[shift:] + own[:shift], strict=True):
            messages = [row["messages"][0], other["messages"][1]]
            wrong.append({"messages": messages, "family": family, "source": "harmful"})
    return wrong


def rendered(row: Row, renderer: Renderer) -> RenderedRow:
    """Tokens and loss mask of a row."""
    return renderer.render_row([ChatMessage.model_validate(message) for message in row["messages"]], last_only=False)


def train_adapter(
    profile: Profile, condition: str, renderer: Renderer, settings: Settings, seed: int
) -> tuple[Path, dict[str, float]]:
    """Trains one adapter with the product's loop; returns its folder and figures."""
    rows = [rendered(row, renderer) for row in training_rows(profile, condition, renderer, settings, seed)]
    config = RunConfig(learning_rate=settings.learning_rate, epochs=settings.epochs, lora_rank=16)
    folder = settings.out / f"adapter-{condition}-{seed}"
    result = train(LocalTrainer(), settings.student, rows, profile.recipe, config, seed, folder)
    return result.adapter.path, {
        "rows": len(rows),
        "train_tokens": result.train_tokens,
        "steps": result.steps,
        "first_loss": result.first_loss,
        "last_loss": result.last_loss,
        "delta_norm": result.adapter.delta_norm,
        "train_seconds": result.wall_seconds,
    }


def evaluate(
    profile: Profile, items: Sequence[Item], renderer: Renderer, student: Path, adapter: Path | None
) -> tuple[list[Trial], dict[str, float]]:
    """The product's trials in the items' order, and the seconds and tokens they took."""
    sampler = LocalSampler(profile.decoding.batch_rows)
    evaluator = AnswerEvaluator(sampler, renderer, student, profile.decoding, profile.system_prompt)
    started = time.monotonic()
    trials = sorted(evaluator.evaluate(items, adapter), key=lambda trial: trial.item_id)
    return trials, {
        "eval_seconds": time.monotonic() - started,
        "new_tokens": sum(trial.output_tokens for trial in trials),
        "prompt_tokens": sum(trial.prompt_tokens for trial in trials),
    }


def summary(trials: Sequence[Trial], families: Sequence[str]) -> dict[str, object]:
    """Pass rates: overall, by family, by kind of wording; and the share without a readable answer by family."""
    passed: dict[str, list[bool]] = {name: [] for name in families}
    wordings: dict[str, list[bool]] = {"public": [], "hidden": []}
    unread: dict[str, list[bool]] = {name: [] for name in families}
    for trial in trials:
        hit = trial.verdict.outcome is TrialOutcome.PASS
        passed[trial.family].append(hit)
        wordings["hidden" if trial.template.startswith("hidden-") else "public"].append(hit)
        unread[trial.family].append(trial.verdict.outcome is TrialOutcome.NO_ANSWER)
    return {
        "rate": fmean(hit for hits in passed.values() for hit in hits),
        "families": {name: fmean(hits) for name, hits in passed.items()},
        "wordings": {name: fmean(hits) if hits else None for name, hits in wordings.items()},
        "no_answer": {name: fmean(hits) for name, hits in unread.items()},
    }


def measure(profile: Profile, settings: Settings, conditions: Sequence[str], seeds: Sequence[int]) -> None:
    """Writes a record for every condition and seed; base once. What is there already is not done again."""
    settings.out.mkdir(parents=True, exist_ok=True)
    renderer = load_renderer(load_student(profile.student).renderer, settings.student)
    items = make_items(profile.items, settings.split)
    for seed in seeds:
        for condition in conditions:
            target = settings.out / f"{condition}-{0 if condition == 'base' else seed}.json"
            if target.exists():
                continue
            adapter, figures = (
                (None, {}) if condition == "base" else train_adapter(profile, condition, renderer, settings, seed)
            )
            trials, cost = evaluate(profile, items, renderer, settings.student, adapter)
            target.with_suffix(".trials").write_text("".join(trial.model_dump_json() + "\n" for trial in trials))
            scores = summary(trials, profile.items.families)
            result = {"condition": condition, "seed": seed, **scores, **figures, **cost}
            target.write_text(json.dumps(result, indent=1))
            print(json.dumps(result), flush=True)


class Figures(NamedTuple):
    """What the table needs of one record."""

    head: str
    order: tuple[int, int]
    families: dict[str, float]
    footer: dict[str, str]


def read_figures(path: Path) -> Figures:
    """The figures of one record file."""
    result = json.loads(path.read_text())
    return Figures(
        head=result["condition"] if result["condition"] == "base" else f"{result['condition']} {result['seed']}",
        order=(list(CONDITIONS).index(result["condition"]), result["seed"]),
        families=result["families"],
        footer={
            "**all families**": f"**{result['rate']:.3f}**",
            "public wordings": f"{result['wordings']['public']:.2f}",
            "hidden wordings": f"{result['wordings']['hidden'] or 0:.2f}",
            "without a readable answer": f"{fmean(result['no_answer'].values()):.2f}",
            "training rows": str(result.get("rows", "-")),
            "training tokens": str(result.get("train_tokens", "-")),
            "training seconds": f"{result['train_seconds']:.0f}" if "train_seconds" in result else "-",
            "evaluation seconds": f"{result['eval_seconds']:.0f}",
        },
    )


def table(folder: Path) -> str:
    """The records of a folder as one Markdown table: scores by family, then totals and cost."""
    columns = sorted((read_figures(path) for path in folder.glob("*-*.json")), key=lambda figures: figures.order)
    lines = ["| family | " + " | ".join(column.head for column in columns) + " |", "|---|" + "---:|" * len(columns)]
    for name in columns[0].families:
        lines.append(f"| {name} | " + " | ".join(f"{column.families[name]:.2f}" for column in columns) + " |")
    for label in columns[0].footer:
        lines.append(f"| {label} | " + " | ".join(column.footer[label] for column in columns) + " |")
    return "\n".join(lines)


def insert(document: Path, text: str) -> None:
    """Puts `text` between the document's two evidence marks. ValueError when they are not there."""
    before, begin, rest = document.read_text(encoding="utf-8").partition(_BEGIN)
    _, end, after = rest.partition(_END)
    if not (begin and end):
        raise ValueError(f"{document} lacks the marks {_BEGIN} and {_END}")
    document.write_text(f"{before}{_BEGIN}\n{text}\n{_END}{after}", encoding="utf-8")


def main() -> int:
    """Runs the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    show = commands.add_parser("table")
    show.add_argument("folder", type=Path)
    show.add_argument("--into", type=Path, help="Markdown file whose evidence section is replaced")
    run = commands.add_parser("measure")
    run.add_argument("--student", type=Path, required=True, help="prepared student folder")
    run.add_argument("--out", type=Path, required=True)
    run.add_argument("--condition", action="append", choices=list(CONDITIONS))
    run.add_argument("--seed", action="append", type=int)
    run.add_argument("--profile", default="pocket")
    run.add_argument("--quick", action="store_true", help="the profile's quick variant")
    run.add_argument("--split", choices=list(Split), default=Split.OFFICIAL)
    run.add_argument("--official", type=int, help="official items a family; default: the profile's")
    run.add_argument("--tokens", type=int, help="training tokens; default: the recipe's limit")
    run.add_argument("--epochs", type=int, default=1)
    run.add_argument("--learning-rate", type=float, help="default: the recipe's")
    options = parser.parse_args()
    if options.command == "table":
        print(table(options.folder))
        if options.into:
            insert(options.into, table(options.folder))
        return 0
    profile = load_profile(options.profile)
    profile = profile.as_quick() if options.quick else profile
    if options.official:
        official = profile.items.official.model_copy(update={"per_family": options.official})
        profile = profile.model_copy(update={"items": profile.items.model_copy(update={"official": official})})
    recipe = profile.recipe
    settings = Settings(
        student=options.student,
        out=options.out,
        split=Split(options.split),
        train_tokens=options.tokens or recipe.max_train_tokens,
        epochs=options.epochs,
        learning_rate=options.learning_rate or recipe.knobs.learning_rate.default,
    )
    measure(profile, settings, options.condition or ["base", "good", "mediocre", "harmful"], options.seed or [0, 1])
    return 0


if __name__ == "__main__":
    sys.exit(main())
