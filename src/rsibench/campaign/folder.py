"""The folder of a campaign: what was asked for when it began, who drives it now, and whether it was cancelled.

HOME/campaigns/<name>/   campaign.json, controller.lock, cancelled, logs/
Everything about the cells themselves is in their runs' journals.
"""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rsibench.errors import EnvironmentFault, LabError, SpecError
from rsibench.run.home import Home
from rsibench.spec.campaign import CampaignSpec


class CampaignFolder:
    """The files of one campaign of a home."""

    def __init__(self, home: Home, name: str) -> None:
        self.root: Path = home.root / "campaigns" / name
        self._name = name
        self._asked = self.root / "campaign.json"
        self._cancelled = self.root / "cancelled"

    @property
    def logs(self) -> Path:
        """Where each cell's output goes."""
        return self.root / "logs"

    def begin(self, spec: CampaignSpec) -> None:
        """Notes what is asked for, once. Raises SpecError when the name stands for something else already."""
        known = self.asked()
        if known is None:
            try:
                self.root.mkdir(parents=True, exist_ok=True)
                self._asked.write_bytes(spec.canonical())
            except OSError as error:
                raise EnvironmentFault(
                    f"the folder cannot be written: {error.strerror}",
                    where=str(self.root),
                    fix="set RSIBENCH_HOME to a folder that can be written",
                ) from error
        elif _comparable(known) != _comparable(spec):
            raise SpecError(
                "a campaign of this name with other cells or limits was begun here before",
                where=f"campaign {self._name}",
                fix="give the changed one another name; finished cells of both stay comparable by protocol digest",
            )

    def asked(self) -> CampaignSpec | None:
        """What the campaign was begun with; None when it never was."""
        if not self._asked.is_file():
            return None
        return CampaignSpec.model_validate_json(self._asked.read_bytes())

    def cancel(self) -> None:
        """Leaves the mark that makes the controller stop, and keeps the next one from starting."""
        self._cancelled.touch()

    def uncancel(self) -> None:
        """Takes the mark away."""
        self._cancelled.unlink(missing_ok=True)

    @property
    def cancelled(self) -> bool:
        """Whether the mark is there."""
        return self._cancelled.exists()

    @contextmanager
    def driven(self) -> Iterator[None]:
        """Held by the one process that starts cells. Raises LabError `in-use` when another one does."""
        with (self.root / "controller.lock").open("ab") as handle:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise LabError(
                    "another process drives it",
                    code="in-use",
                    where=f"campaign {self._name}",
                    fix="watch it with `rsibench campaign status`, or stop it with `rsibench campaign cancel`",
                ) from None
            yield

    @property
    def is_driven(self) -> bool:
        """Whether some process drives it now."""
        if not self.root.is_dir():
            return False
        try:
            with self.driven():
                return False
        except LabError:
            return True


def _comparable(spec: CampaignSpec) -> CampaignSpec:
    """Without what may change between two starts: how many cells run at once, the title, what power assumes."""
    neutral = CampaignSpec(name=spec.name, title="", researchers=("x",), profiles=spec.profiles, seeds=(0,))
    return spec.model_copy(update={"title": "", "parallel": 1, "assume": neutral.assume})
