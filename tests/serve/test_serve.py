"""The live pages: they follow what happens, read only, and let nobody in who has no business there."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from rsibench.errors import EnvironmentFault
from rsibench.journal.events import IncidentRecorded
from rsibench.run.execute import execute, prepare
from rsibench.serve.library import Library
from rsibench.serve.server import PageServer
from rsibench.testing.pages import parse_page
from rsibench.testing.runs import TinyRuns

HOSTILE = "<script>alert(1)</script>\u202e\x1b[31m" + "x" * 50_000


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> TinyRuns:
    """One finished run and one that was only prepared."""
    made = TinyRuns(tmp_path_factory.mktemp("serve"))
    with made.open(made.plan("one-shot", run_id="finished")) as context:
        execute(context)
    with made.open(made.plan("no-op", run_id="begun")) as context:
        prepare(context)
    return made


@pytest.fixture
def client(runs: TinyRuns) -> Iterator[httpx2.Client]:
    with PageServer(Library(runs.home)) as server, httpx2.Client(base_url=server.address, timeout=30) as made:
        yield made


def test_the_list_names_every_run_and_loads_nothing_from_elsewhere(client: httpx2.Client) -> None:
    answer = client.get("/")
    page = parse_page(answer.text)
    assert answer.status_code == 200
    assert [one.text for one in page.all("a")][2:] == ["begun", "finished"]
    assert all(value.startswith(("/", "#")) for value in _addresses(answer.text))
    assert "default-src 'none'" in answer.headers["content-security-policy"]


def test_a_finished_run_has_its_own_page_and_another_one_a_live_page(client: httpx2.Client) -> None:
    finished, begun = client.get("/runs/finished"), client.get("/runs/begun")
    assert "data-sse-connect" not in finished.text
    assert parse_page(finished.text).loading() == []
    page = parse_page(begun.text)
    assert "preparing" in page.visible
    assert "official split: " not in page.visible
    assert "/runs/begun/stream" in begun.text


def test_what_the_runs_show_together_is_there_too(client: httpx2.Client) -> None:
    assert "one-shot" in parse_page(client.get("/findings").text).visible


def test_everything_that_a_page_asks_for_is_served(client: httpx2.Client) -> None:
    for address in _addresses(client.get("/").text):
        if address.startswith("/static/"):
            answer = client.get(address)
            assert answer.status_code == 200
            assert answer.headers["content-type"].startswith(("text/javascript", "text/css"))


def test_a_stream_tells_of_each_change_with_inert_text(runs: TinyRuns, client: httpx2.Client) -> None:
    with runs.open(runs.again("begun")) as context, client.stream("GET", "/runs/begun/stream") as stream:
        lines = stream.iter_lines()
        assert HOSTILE[:20] not in "".join(_event(lines))
        context.journal.append(IncidentRecorded(incident=HOSTILE, detail="a test"))
        told = _event(lines)
    assert "event: changed" in told
    text = "\n".join(line.removeprefix("data: ") for line in told if line.startswith("data: "))
    assert "alert(1)" in text
    assert "<script" not in text
    assert "\u202e" not in text
    assert "\x1b" not in text
    assert len(text) < 30_000


@pytest.mark.parametrize(
    ("path", "status"), [("/runs/nobody", 404), ("/runs/..%2F..%2Fetc", 404), ("/runs/UPPER", 404), ("/nowhere", 404)]
)
def test_what_is_not_there_is_said_without_a_trace(client: httpx2.Client, path: str, status: int) -> None:
    answer = client.get(path)
    assert answer.status_code == status
    assert "Traceback" not in answer.text


def test_nothing_can_be_sent(client: httpx2.Client) -> None:
    for method in ("POST", "PUT", "DELETE", "PATCH"):
        assert client.request(method, "/runs/begun").status_code == 405


def test_a_page_elsewhere_cannot_reach_it_by_a_name_of_its_own(client: httpx2.Client) -> None:
    assert client.get("/", headers={"Host": "evil.example"}).status_code == 403


def test_outside_loopback_a_token_is_asked_for_and_leaves_the_address(runs: TinyRuns) -> None:
    with PageServer(Library(runs.home), "0.0.0.0") as server:  # noqa: S104 - what is tested
        place, _, token = server.address.partition("?token=")
        port = place.rstrip("/").rsplit(":", 1)[1]
        with httpx2.Client(base_url=f"http://127.0.0.1:{port}", timeout=30) as client:
            assert client.get("/").status_code == 401
            assert client.get("/runs/begun", params={"token": token[:-1] + "x"}).status_code == 401
            let_in = client.get("/", params={"token": token})
            assert let_in.status_code == 303
            assert token not in let_in.headers["location"]
            assert "httponly" in let_in.headers["set-cookie"].lower()
            assert client.get("/").status_code == 200


def test_a_port_that_is_taken_is_said(runs: TinyRuns) -> None:
    with PageServer(Library(runs.home)) as server:
        port = int(server.address.rstrip("/").rsplit(":", 1)[1])
        with pytest.raises(EnvironmentFault, match="cannot be served there"):
            PageServer(Library(runs.home), port=port)


def test_a_home_without_runs_says_how_to_start_one(tmp_path: Path) -> None:
    with (
        PageServer(Library(TinyRuns(tmp_path).home)) as server,
        httpx2.Client(base_url=server.address, timeout=30) as client,
    ):
        assert "rsibench run" in client.get("/").text
        assert client.get("/findings").status_code == 404
    assert not (tmp_path / "runs").exists()


def test_many_readers_at_once_change_nothing(runs: TinyRuns, client: httpx2.Client) -> None:
    before = Library(runs.home).heads()
    answers: list[int] = []

    def read() -> None:
        answers.append(client.get("/runs/begun").status_code)

    threads = [threading.Thread(target=read) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [200] * 12
    assert Library(runs.home).heads() == before


def _event(lines: Iterator[str]) -> list[str]:
    """The lines of the next event."""
    told: list[str] = []
    for line in lines:
        if line == "" and any(one.startswith("data: ") for one in told):
            return told
        told.append(line)
    return told


def _addresses(text: str) -> list[str]:
    page = parse_page(text)
    names = ("href", "src", "data-sse-connect")
    found = [one.attributes[name] for one in page.elements for name in names if name in one.attributes]
    config = next(one for one in page.all("meta") if one.attributes.get("name") == "htmx-config")
    assert json.loads(config.attributes["content"])["allowEval"] is False
    return found
