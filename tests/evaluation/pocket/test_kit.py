"""The public kit: graders accept what it teaches, it runs as copied files, and it holds nothing that is protected."""

from __future__ import annotations

import ast
import json
import shutil
import subprocess
import sys
from collections import Counter
from itertools import islice, pairwise
from pathlib import Path

import pytest
from pydantic import JsonValue

from rsibench.evaluation.graders.registry import grade
from rsibench.evaluation.pocket import kit
from rsibench.evaluation.pocket.hidden import HIDDEN_TEMPLATES
from rsibench.evaluation.pocket.kit.catalogue import FAMILIES
from rsibench.evaluation.pocket.kit.dice import Dice
from rsibench.evaluation.pocket.kit.family import Family, Problem
from rsibench.evaluation.pocket.kit.partition import OFFICIAL, SELECTION, TRAINING, part_of
from rsibench.evaluation.pocket.kit.rows import STYLES, make_rows, reply, training_problem
from rsibench.outcomes import TrialOutcome

KIT = Path(str(kit.__file__)).parent


def problems(family: Family, count: int, seed: int = 0) -> list[Problem]:
    dice = Dice("test", family.name, seed)
    return [family.draw(dice) for _ in range(count)]


def outcome(family: Family, problem: Problem, text: str) -> TrialOutcome:
    def as_json(value: object) -> JsonValue:
        return json.loads(json.dumps(value))  # type: ignore[no-any-return]  # json.loads is untyped

    return grade(family.grader, text, as_json(problem.expected), as_json(problem.context)).outcome


@pytest.mark.parametrize("style", ["worked", "brief", "answer"])
@pytest.mark.parametrize("name", FAMILIES)
def test_the_grader_passes_what_every_answering_style_writes(name: str, style: str) -> None:
    family = FAMILIES[name]
    for problem in problems(family, 60):
        text = reply(family, problem, style, Dice(0))
        assert outcome(family, problem, text) is TrialOutcome.PASS, text


@pytest.mark.parametrize("name", FAMILIES)
def test_prose_holds_no_answer(name: str) -> None:
    family = FAMILIES[name]
    for index, problem in enumerate(problems(family, 60)):
        assert outcome(family, problem, reply(family, problem, "prose", Dice(index))) is TrialOutcome.NO_ANSWER


@pytest.mark.parametrize("name", FAMILIES)
def test_answers_of_other_problems_mostly_fail(name: str) -> None:
    family = FAMILIES[name]
    drawn = problems(family, 100)
    passed = [outcome(family, one, family.final(other)) is TrialOutcome.PASS for one, other in pairwise(drawn)]
    assert sum(passed) <= 45


@pytest.mark.parametrize("name", FAMILIES)
def test_no_answer_is_so_common_that_it_pays_to_guess_it(name: str) -> None:
    family = FAMILIES[name]
    answers = Counter(json.dumps(problem.expected) for problem in problems(family, 400))
    assert answers.most_common(1)[0][1] / 400 <= 0.4


@pytest.mark.parametrize("name", FAMILIES)
def test_parts_take_about_a_tenth_each_and_rows_come_from_the_training_part(name: str) -> None:
    family = FAMILIES[name]
    parts = Counter(part_of(name, problem) for problem in {p.core: p for p in problems(family, 3000)}.values())
    total = sum(parts.values())
    assert 0.05 < parts[OFFICIAL] / total < 0.15
    assert 0.05 < parts[SELECTION] / total < 0.15
    dice = Dice("training", name)
    assert {part_of(name, training_problem(family, dice)) for _ in range(200)} == {TRAINING}


@pytest.mark.parametrize("name", FAMILIES)
def test_the_part_depends_on_the_problem_not_on_its_surface(name: str) -> None:
    family = FAMILIES[name]
    parts: dict[tuple[object, ...], str] = {}
    for problem in problems(family, 500):
        assert parts.setdefault(problem.core, part_of(name, problem)) == part_of(name, problem)


def test_rows_are_the_same_for_the_same_arguments_and_differ_by_seed() -> None:
    one, again, other = (list(make_rows(list(FAMILIES), "worked", 20, seed)) for seed in (1, 1, 2))
    assert one == again
    assert one != other


def test_a_smaller_count_gives_the_first_rows_of_a_larger_one() -> None:
    assert list(islice(make_rows(["shop", "order"], "brief", 50, 3), 20)) == list(
        make_rows(["shop", "order"], "brief", 10, 3)
    )


def test_rows_use_every_public_wording() -> None:
    for name, family in FAMILIES.items():
        prompts = [row["messages"][0]["content"] for row in make_rows([name], "answer", len(family.templates), 0)]
        assert len({prompt.split()[0] + prompt.split()[1] for prompt in prompts}) > 1


def test_the_kit_holds_no_hidden_wording() -> None:
    text = "\n".join(path.read_text(encoding="utf-8") for path in KIT.glob("*.py"))
    for wordings in HIDDEN_TEMPLATES.values():
        for wording in wordings.values():
            longest = max(wording.replace("}", "{").split("{")[::2], key=len)
            assert longest not in text


def test_the_kit_imports_only_the_standard_library_and_itself() -> None:
    for path in KIT.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                roots = [alias.name.partition(".")[0] for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and not node.level:
                roots = [str(node.module).partition(".")[0]]
            else:
                continue
            assert set(roots) <= sys.stdlib_module_names, path


def test_the_kit_parses_as_python_3_9() -> None:
    for path in KIT.glob("*.py"):
        ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 9))


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-I", str(folder / "kit.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture
def seeds(tmp_path: Path) -> Path:
    return Path(shutil.copytree(KIT, tmp_path / "seeds", ignore=shutil.ignore_patterns("__pycache__")))


def test_a_copied_kit_lists_families_and_styles(seeds: Path) -> None:
    done = run(seeds, "list")
    assert done.returncode == 0, done.stderr
    for name in (*FAMILIES, *STYLES):
        assert name in done.stdout


def test_a_copied_kit_prints_the_same_rows(seeds: Path) -> None:
    done = run(
        seeds, "rows", "--family", "shop", "--family", "query", "--style", "worked", "--count", "5", "--seed", "7"
    )
    assert done.returncode == 0, done.stderr
    assert [json.loads(line) for line in done.stdout.splitlines()] == list(make_rows(["shop", "query"], "worked", 5, 7))


def test_the_kit_refuses_an_unknown_family(seeds: Path) -> None:
    done = run(seeds, "rows", "--family", "nonsense", "--style", "worked", "--count", "1")
    assert done.returncode == 2
    assert "nonsense" in done.stderr
