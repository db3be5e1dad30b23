"""The real agents in a sandbox, against a scripted model, on a real lab with a fake engine."""
# ruff: noqa: S604 - `shell=` is a turn's field, no subprocess

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import get_args
from urllib.parse import urlsplit

import pytest

from rsibench.errors import EnvironmentFault, SpecError
from rsibench.journal.state import Stage
from rsibench.ports.sandbox import SandboxProvider
from rsibench.researchers.install import AGENTS, InstalledAgent, agents_folder, find_agent
from rsibench.run.execute import prepare, seal
from rsibench.run.official import official
from rsibench.run.research import research
from rsibench.run.result import RunResult
from rsibench.run.sandboxed import SandboxedAgentStarter
from rsibench.sandbox.choose import choose_provider
from rsibench.spec.lock import Isolation
from rsibench.spec.researcher import EventKind, ModelAccess
from rsibench.spec.settings import cache_folder
from rsibench.testing.model_endpoint import ModelEndpoint
from rsibench.testing.model_turns import Script, Turn, by_position
from rsibench.testing.runs import TinyRuns
from rsibench.testing.sandbox import SocketTo

TOKEN = "run-token-of-a-test"
MODELS = {"claude-code": "claude-opus-4-8", "codex": "scripted-model", "opencode": "scripted-model"}
_FAMILY = "$(python3 -c \"import json; print(json.load(open('evidence/profile.json'))['families'][0])\")"
_ROWS = f"python3 seeds/kit.py rows --family {_FAMILY} --style worked --count 20 --seed 0 > train_messages.jsonl"


@pytest.fixture(scope="module")
def provider() -> SandboxProvider:
    try:
        return choose_provider()[0]
    except EnvironmentFault as fault:
        pytest.skip(str(fault))


@pytest.fixture(params=sorted(AGENTS))
def agent(request: pytest.FixtureRequest) -> InstalledAgent:
    name: str = request.param
    found = find_agent(name, agents_folder(cache_folder()))
    if found is None:
        pytest.skip(f"{name} is not installed; `rsibench researchers install {name}` does it")
    return found


@pytest.fixture
def short() -> Iterator[Path]:
    """A folder with a short path, as sockets need."""
    with tempfile.TemporaryDirectory(prefix="rsibench-") as text:
        yield Path(text)


def isolation(provider: SandboxProvider) -> Isolation:
    """The provider's name as a lock spells it."""
    found: Isolation = next(one for one in get_args(Isolation) if one == provider.name)
    return found


def drive(
    runs: TinyRuns, agent: InstalledAgent, provider: SandboxProvider, script: Script, short: Path
) -> tuple[RunResult, SandboxedAgentStarter, ModelEndpoint]:
    """A whole run."""
    planned = replace(runs, isolation=isolation(provider)).plan("feedback", run_id=f"run-{agent.name}")
    access = ModelAccess("not used", TOKEN, MODELS[agent.name], "high")
    with ModelEndpoint(script, key=TOKEN) as endpoint, runs.open(planned) as context:
        with SocketTo(short / "model.sock", urlsplit(endpoint.url).port or 0) as model:
            starter = SandboxedAgentStarter(context, agent, access, provider, model.path)
            prepare(context)
            research(context, starter)
        starter.discard()
        official(context)
        return seal(context), starter, endpoint


def test_an_agent_reads_submits_waits_and_selects(
    runs: TinyRuns, agent: InstalledAgent, provider: SandboxProvider, short: Path
) -> None:
    turns = (
        Turn(shell="cat TASK.md evidence/card.md && ./lab status && ./lab feedback 0"),
        Turn(shell=f"{_ROWS} && echo 'Gap: a family.' > hypothesis.md && ./lab submit --wait"),
        Turn(shell="./lab feedback 1; echo note > notes.md"),
        Turn(shell="./lab select 1 --final"),
        Turn(text="done"),
    )
    result, starter, _ = drive(runs, agent, provider, by_position(turns), short)
    log = (runs.home.run(f"run-{agent.name}").logs / "researcher.log").read_text("utf-8")
    assert [one.stage for one in result.attempts] == [Stage.SCORED], log
    assert (result.selected_attempt, result.selection_rule) == (1, "explicit")
    assert "unisolated" not in result.labels
    results = "".join(one.text for one in starter.transcripts[0].events if one.kind is EventKind.TOOL_RESULT)
    assert "Improve a fixed language model" in results
    folder = runs.home.run(f"run-{agent.name}")
    assert (folder.workspace / "notes.md").read_text("utf-8") == "note\n"
    assert list((folder.root / "sandbox").iterdir()) == []


def test_an_agent_that_stops_early_goes_on_in_its_session(
    runs: TinyRuns, agent: InstalledAgent, provider: SandboxProvider, short: Path
) -> None:
    """So its private home has come back and gone in again."""
    message = runs.plan("feedback", run_id="run-message").lock.protocol.early_stop_message
    first = by_position([Turn(shell="./lab status; echo 1 > started"), Turn(text="I think that is all.")])
    then = by_position([Turn(shell="cat started && ./lab select none --final"), Turn(text="done")])
    script: Script = lambda asked: (then if message in asked.prompt else first)(asked)  # noqa: E731
    result, starter, endpoint = drive(runs, agent, provider, script, short)
    resumed = [call for call in endpoint.calls if message in json.dumps(call.body, ensure_ascii=False)]
    assert result.selection_rule == "explicit"
    assert len(starter.transcripts) == 2
    assert any("I think that is all." in json.dumps(call.body) for call in resumed)


def test_an_agent_finds_nothing_of_the_host(
    runs: TinyRuns, agent: InstalledAgent, provider: SandboxProvider, short: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "planted-4f1c2a-secret"
    monkeypatch.setenv("ANTHROPIC_API_KEY", secret)
    monkeypatch.setenv("OPENAI_API_KEY", secret)
    home = runs.home.root
    looks = (
        "env; cat /proc/*/environ; echo finished-$((40 + 2))",
        f"ls -d {home} || echo no-home; cat {home}/*.sqlite* || echo no-store; ls /root || echo no-root",
        "echo homes: $(ls /home); echo as $(id -u)",
    )
    script = "\n".join(looks)  # in a file: an agent may refuse by itself to name such places
    write = Turn(shell=f"cat > look.sh <<'END'\n{script}\nEND")
    turns = (write, Turn(shell="sh look.sh 2>&1"), Turn(shell="./lab select none --final"), Turn(text="done"))
    _, _, endpoint = drive(runs, agent, provider, by_position(turns), short)
    sent = json.dumps([(dict(one.headers), one.body) for one in endpoint.requests])
    for expected in ("finished-42", "no-home\\n", "no-store\\n", "no-root", "homes: agent", "as 1000"):
        assert expected in sent.replace("\\\\n", "\\n"), expected
    assert "SQLite format" not in sent
    assert secret not in sent
    for path in home.rglob("*"):
        if path.is_file() and not path.is_symlink():
            assert secret.encode() not in path.read_bytes(), path


def test_a_run_that_was_planned_otherwise_is_refused(
    runs: TinyRuns, agent: InstalledAgent, provider: SandboxProvider, short: Path
) -> None:
    access = ModelAccess("not used", TOKEN, MODELS[agent.name], None)
    with runs.open(runs.plan("feedback", run_id="run-plain")) as context:
        starter = SandboxedAgentStarter(context, agent, access, provider, short / "model.sock")
        prepare(context)
        with pytest.raises(SpecError, match="planned unisolated"):
            research(context, starter)
