"""The researcher's workspace: its brief, the evidence it may read, the public kit, and the `lab` command.

Nothing in it comes from the official split: the evidence is the profile's card, the recipe with its bounds and the base
student's feedback on the selection split.
"""

from __future__ import annotations

import json
import shutil
from importlib import resources
from pathlib import Path

from rsibench.run.brief import brief
from rsibench.spec.profile import Profile

_EXECUTABLE = 0o755


def prepare_workspace(folder: Path, profile: Profile, base_feedback: bytes) -> None:
    """Write the workspace, or complete one that an interrupted run left; files of the researcher's own are not touched.

    `base_feedback` is the base student's feedback document, the same bytes the lab serves.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "TASK.md").write_text(brief(profile), encoding="utf-8")
    evidence = folder / "evidence"
    evidence.mkdir(exist_ok=True)
    (evidence / "card.md").write_text(profile.card, encoding="utf-8")
    (evidence / "recipe.json").write_text(profile.recipe.model_dump_json(indent=1) + "\n", encoding="utf-8")
    (evidence / "profile.json").write_text(json.dumps(_public_facts(profile), indent=1) + "\n", encoding="utf-8")
    (evidence / "base_feedback.json").write_bytes(base_feedback)
    _copy_package_folder("evaluation/pocket/kit", folder / "seeds")
    lab = folder / "lab"
    lab.write_bytes(_package_path("lab/client/lab.py").read_bytes())
    lab.chmod(_EXECUTABLE)


def _public_facts(profile: Profile) -> dict[str, object]:
    return {
        "profile": profile.name,
        "variant": profile.variant,
        "families": list(profile.items.families),
        "selection_items_per_family": profile.items.selection.per_family,
        "official_items_per_family": profile.items.official.per_family,
        "max_new_tokens": profile.decoding.max_new_tokens,
        "system_prompt": profile.system_prompt,
        "feedback": profile.feedback.value,
        "budget": profile.budget.model_dump(mode="json"),
    }


def _package_path(relative: str) -> Path:
    return Path(str(resources.files("rsibench") / relative))


def _copy_package_folder(relative: str, target: Path) -> None:
    shutil.copytree(
        _package_path(relative), target, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__", "*.pyc")
    )
