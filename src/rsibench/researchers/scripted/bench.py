"""The bench a policy works at: the lab, the kit, the profile's public facts, and the files of the next submission."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_TOKENISH = re.compile(r"\d|[A-Za-z]+|[^\sA-Za-z\d]")
_TOKENS_PER_WORD = 1.4
_TOKENS_PER_MESSAGE = 6
_SAFETY = 0.97
_TOO_MANY_TOKENS = "exposure"
_SHRINK = 0.7
_LEAST_FIT = 0.2


class LabRefused(Exception):
    """The lab did not do what was asked; the message is its own. `codes` names what was wrong with a submission."""

    def __init__(self, message: str, codes: frozenset[str] = frozenset()) -> None:
        super().__init__(message)
        self.codes = codes


@dataclass(frozen=True)
class FamilyResult:
    """How one family did on the selection items."""

    passed: int
    total: int
    no_answer: int

    @property
    def rate(self) -> float:
        return self.passed / self.total if self.total else 0.0


@dataclass(frozen=True)
class Seen:
    """What a policy reads from feedback."""

    attempt: int
    rate: float
    families: dict[str, FamilyResult]


@dataclass(frozen=True)
class Mix:
    """A plan for a data set: a share of the token budget for each (family, style)."""

    shares: dict[tuple[str, str], float]
    learning_rate: float
    epochs: int
    lora_rank: int = 16


class Bench:
    """Everything a policy may touch."""

    def __init__(self, workspace: Path, seed: int) -> None:
        self.workspace = workspace
        self.seed = seed
        facts = json.loads((workspace / "evidence" / "profile.json").read_text(encoding="utf-8"))
        recipe = json.loads((workspace / "evidence" / "recipe.json").read_text(encoding="utf-8"))
        self.families: list[str] = facts["families"]
        self.max_train_tokens: int = recipe["max_train_tokens"]
        self._fit = 1.0
        """How much of the guessed number of rows fits; learnt from refusals, the tokenizer is not known here."""

    def attempts_left(self) -> int:
        """Whole attempts that the budget still allows."""
        return int(self._lab("status")["left"]["attempts"])

    def attempts_done(self) -> list[int]:
        """Numbers of the attempts that were scored so far."""
        return [entry["attempt"] for entry in self._lab("status")["attempts"] if entry["stage"] == "scored"]

    def base(self) -> Seen:
        """The base student's result on the selection items."""
        return self.feedback(0)

    def feedback(self, attempt: int) -> Seen:
        """An attempt's result on the selection items."""
        document = self._lab("feedback", str(attempt))["feedback"]
        counts: dict[str, list[int]] = {}
        for item in document.get("items", []):
            count = counts.setdefault(item["family"], [0, 0, 0])
            count[0] += item["outcome"] == "pass"
            count[1] += 1
            count[2] += item["outcome"] == "no_answer"
        families = {family: FamilyResult(*count) for family, count in counts.items()}
        return Seen(attempt, float(document["score"]["rate"] or 0.0), families)

    def submit(self, mix: Mix, hypothesis: str, draw: int) -> Seen | None:
        """Write and submit a data set, wait for its score; None when it failed for reasons of the infrastructure."""
        while True:
            self._write(self._rows(mix, draw), mix, hypothesis)
            try:
                return self._submit_and_wait()
            except LabRefused as refusal:
                if refusal.codes != {_TOO_MANY_TOKENS} or self._fit < _LEAST_FIT:
                    raise
                self._fit *= _SHRINK

    def submit_rows(self, rows: list[dict[str, Any]], mix: Mix, hypothesis: str) -> Seen | None:
        """Like submit, for rows that the policy made itself."""
        self._write(rows, mix, hypothesis)
        return self._submit_and_wait()

    def select(self, attempt: int | None) -> None:
        """Commit to an attempt, or to the base student. The run closes with it."""
        self._lab("select", "none" if attempt is None else str(attempt), "--final")

    def kit_rows(self, family: str, style: str, count: int, seed: int) -> list[dict[str, Any]]:
        """Training rows from the public kit."""
        argv = [sys.executable, "seeds/kit.py", "rows", "--family", family, "--style", style]
        argv += ["--count", str(count), "--seed", str(seed)]
        done = subprocess.run(argv, cwd=self.workspace, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise LabRefused(f"the kit failed: {done.stderr.strip()}")
        return [json.loads(line) for line in done.stdout.splitlines()]

    def _rows(self, mix: Mix, draw: int) -> list[dict[str, Any]]:
        budget = self.max_train_tokens / mix.epochs * _SAFETY * self._fit
        total = sum(mix.shares.values())
        rows: list[dict[str, Any]] = []
        for place, ((family, style), share) in enumerate(sorted(mix.shares.items())):
            seed = self.seed * 1_000_003 + draw * 1_009 + place
            rows += self._rows_for(family, style, budget * share / total, seed)
        return rows

    def _rows_for(self, family: str, style: str, tokens: float, seed: int) -> list[dict[str, Any]]:
        """As many rows as fit in `tokens`, by a careful guess of the tokenizer."""
        probe = self.kit_rows(family, style, 20, seed)
        per_row = sum(_tokens(row) for row in probe) / len(probe)
        rows, used = [], 0.0
        for row in self.kit_rows(family, style, int(tokens / per_row * 1.3) + 20, seed):
            used += _tokens(row)
            if used > tokens:
                break
            rows.append(row)
        return rows

    def _write(self, rows: list[dict[str, Any]], mix: Mix, hypothesis: str) -> None:
        lines = "".join(json.dumps(row, ensure_ascii=False, sort_keys=True) + "\n" for row in rows)
        config = {"learning_rate": mix.learning_rate, "epochs": mix.epochs, "lora_rank": mix.lora_rank}
        (self.workspace / "train_messages.jsonl").write_text(lines, encoding="utf-8")
        (self.workspace / "run_config.json").write_text(json.dumps(config) + "\n", encoding="utf-8")
        (self.workspace / "hypothesis.md").write_text(hypothesis.strip() + "\n", encoding="utf-8")

    def _submit_and_wait(self) -> Seen | None:
        reply = self._lab("submit", "--wait")
        attempt = int(reply["attempt"])
        print(f"attempt {attempt}: {reply['stage']}", flush=True)
        return self.feedback(attempt) if reply["stage"] == "scored" else None

    def _lab(self, *arguments: str) -> dict[str, Any]:
        argv = [sys.executable, "lab", *arguments, "--json"]
        done = subprocess.run(argv, cwd=self.workspace, capture_output=True, text=True, check=False)
        try:
            reply: dict[str, Any] = json.loads(done.stdout)
        except ValueError:
            raise LabRefused(f"lab {' '.join(arguments)}: {done.stderr.strip() or done.stdout.strip()}") from None
        error = reply.get("error")
        if error is not None:
            message = f"lab {' '.join(arguments)}: {error.get('code')}: {error.get('what')}"
            raise LabRefused(message, frozenset(error.get("counts") or ()))
        return reply


def _tokens(row: dict[str, Any]) -> float:
    """A guess, on the high side, of how many tokens a row has: digits and marks one each, words a little more."""
    total = 0.0
    for message in row["messages"]:
        pieces = _TOKENISH.findall(message["content"])
        words = sum(piece.isalpha() for piece in pieces)
        total += len(pieces) - words + words * _TOKENS_PER_WORD + _TOKENS_PER_MESSAGE
    return total
