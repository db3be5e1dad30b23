"""The real agents against a scripted model on loopback, on a real lab with a fake engine. No key, no provider.

Codex is asked for a model it does not know: for those it knows it may offer its tools in a form of their own (an input
item `additional_tools` with a JavaScript tool), which the scripted model does not speak.
"""
# ruff: noqa: S604 - `shell=` is a turn's field, no subprocess

from __future__ import annotations

import json

import pytest

from rsibench.journal.events import ResearcherExited
from rsibench.journal.state import Stage
from rsibench.researchers.install import AGENTS, InstalledAgent, agents_folder, find_agent
from rsibench.run.agent import AgentStarter
from rsibench.run.execute import prepare, seal
from rsibench.run.official import official
from rsibench.run.research import MAX_API_ERRORS, research
from rsibench.run.result import RunResult
from rsibench.spec.researcher import AgentEnd, EventKind, ModelAccess
from rsibench.spec.settings import cache_folder
from rsibench.testing.model_endpoint import ModelEndpoint
from rsibench.testing.model_turns import Refuse, Script, Turn, by_position
from rsibench.testing.runs import TinyRuns

TOKEN = "run-token-of-a-test"
MODELS = {"claude-code": "claude-opus-4-8", "codex": "scripted-model", "opencode": "scripted-model"}
_FAMILY = "$(python3 -c \"import json; print(json.load(open('evidence/profile.json'))['families'][{place}])\")"


def rows(place: int, count: int) -> str:
    """A command that writes a submission with rows of one family."""
    family = _FAMILY.format(place=place)
    kit = f"python3 seeds/kit.py rows --family {family} --style worked --count {count} --seed {place}"
    return f"{kit} > train_messages.jsonl && echo 'Gap: family {place}.' > hypothesis.md"


CAREFUL = (
    Turn(shell="cat TASK.md && ./lab status && ./lab feedback 0"),
    Turn(shell=f"{rows(0, 20)} && ./lab submit --wait"),
    Turn(shell="./lab feedback 1"),
    Turn(shell=f"{rows(1, 40)} && ./lab submit --wait"),
    Turn(shell="./lab feedback 2"),
    Turn(shell="./lab select 2 --final"),
    Turn(text="done"),
)


@pytest.fixture(params=sorted(AGENTS))
def agent(request: pytest.FixtureRequest) -> InstalledAgent:
    name: str = request.param
    found = find_agent(name, agents_folder(cache_folder()))
    if found is None:
        pytest.skip(f"{name} is not installed; `rsibench researchers install {name}` does it")
    return found


def drive(runs: TinyRuns, agent: InstalledAgent, endpoint: ModelEndpoint) -> tuple[RunResult, AgentStarter]:
    """A whole run."""
    access = ModelAccess(endpoint.url, TOKEN, MODELS[agent.name], "high")
    with runs.open(runs.plan("feedback", run_id=f"run-{agent.name}")) as context:
        starter = AgentStarter(context, agent, access)
        prepare(context)
        research(context, starter)
        official(context)
        return seal(context), starter


def test_an_agent_submits_reads_revises_and_selects(runs: TinyRuns, agent: InstalledAgent) -> None:
    with ModelEndpoint(by_position(CAREFUL), key=TOKEN) as endpoint:
        result, starter = drive(runs, agent, endpoint)
    assert [one.stage for one in result.attempts] == [Stage.SCORED, Stage.SCORED]
    assert (result.selected_attempt, result.selection_rule) == (2, "explicit")
    (transcript,) = starter.transcripts
    commands = [one.text for one in transcript.events if one.kind is EventKind.TOOL_CALL]
    assert len(commands) >= len(CAREFUL) - 2
    results = "".join(one.text for one in transcript.events if one.kind is EventKind.TOOL_RESULT)
    assert "Improve a fixed language model" in results
    log = runs.home.run(f"run-{agent.name}").logs / "transcript-1.jsonl"
    lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    assert [one["monotonic_ns"] for one in lines] == sorted(one["monotonic_ns"] for one in lines)


def test_an_agent_that_stops_early_is_resumed_in_its_session(runs: TinyRuns, agent: InstalledAgent) -> None:
    message = runs.plan("feedback", run_id="run-message").lock.protocol.early_stop_message
    first = by_position([Turn(shell="./lab status"), Turn(text="I think that is all.")])
    then = by_position([Turn(shell="./lab select none --final"), Turn(text="done")])
    script: Script = lambda asked: (then if message in asked.prompt else first)(asked)  # noqa: E731
    with ModelEndpoint(script, key=TOKEN) as endpoint:
        result, starter = drive(runs, agent, endpoint)
        resumed = [call for call in endpoint.calls if message in json.dumps(call.body, ensure_ascii=False)]
    assert (result.selected_attempt, result.selection_rule) == (None, "explicit")
    assert len(starter.transcripts) == 2
    assert agent.adapter.outcome(starter.transcripts[0].events, 0) is AgentEnd.COMPLETED
    assert any("I think that is all." in json.dumps(call.body) for call in resumed)


def test_out_of_money_ends_the_agent_and_is_told_apart(runs: TinyRuns, agent: InstalledAgent) -> None:
    refusal = Refuse(402, message="budget used up", headers={"x-should-retry": "false"})
    with ModelEndpoint(by_position(CAREFUL), key=TOKEN, disturbances=[refusal] * 40) as endpoint:
        result, starter = drive(runs, agent, endpoint)
    assert result.closed_because == "researcher-ended"
    assert {agent.adapter.outcome(one.events, 1) for one in starter.transcripts} == {AgentEnd.BUDGET}


def test_a_busy_provider_is_waited_for(runs: TinyRuns, agent: InstalledAgent) -> None:
    busy = [Refuse(529, kind="overloaded_error", headers={"retry-after": "0"})] * 2
    turns = [Turn(shell="./lab select none --final"), Turn(text="done")]
    with ModelEndpoint(by_position(turns), key=TOKEN, disturbances=busy) as endpoint:
        result, starter = drive(runs, agent, endpoint)
    assert result.selection_rule == "explicit"
    assert len(starter.transcripts) == 1


def test_the_controllers_secrets_are_nowhere_in_the_run(
    runs: TinyRuns, agent: InstalledAgent, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "planted-4f1c2a-secret"
    monkeypatch.setenv("ANTHROPIC_API_KEY", secret)
    monkeypatch.setenv("OPENAI_API_KEY", secret)
    turns = [Turn(shell="env; cat /proc/self/environ"), Turn(shell="./lab select none --final"), Turn(text="done")]
    with ModelEndpoint(by_position(turns), key=TOKEN) as endpoint:
        drive(runs, agent, endpoint)
        sent = json.dumps([(dict(one.headers), one.body) for one in endpoint.requests])
    assert secret not in sent
    files = [path for path in runs.home.root.rglob("*") if path.is_file() and not path.is_symlink()]
    assert files
    for path in files:
        assert secret.encode() not in path.read_bytes(), path


def test_exits_are_journaled_once_a_start(runs: TinyRuns, agent: InstalledAgent) -> None:
    turns = [Turn(shell="./lab select none --final"), Turn(text="done")]
    with ModelEndpoint(by_position(turns), key=TOKEN) as endpoint:
        _, starter = drive(runs, agent, endpoint)
    with runs.open(runs.again(f"run-{agent.name}")) as context:
        exits = [one.event for one in context.journal.entries() if isinstance(one.event, ResearcherExited)]
    assert len(exits) == len(starter.transcripts)


def test_a_failing_api_is_no_early_stop_and_is_tried_a_bounded_number_of_times(
    runs: TinyRuns, agent: InstalledAgent
) -> None:
    refusal = Refuse(403, kind="permission_error", message="not allowed", headers={"x-should-retry": "false"})
    with ModelEndpoint(by_position(CAREFUL), key=TOKEN, disturbances=[refusal] * 400) as endpoint:
        result, starter = drive(runs, agent, endpoint)
    assert result.closed_because == "researcher-ended"
    assert len(starter.transcripts) == MAX_API_ERRORS + 1
