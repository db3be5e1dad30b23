"""How long a lab request takes while 16 clients ask at once, beside a bare Starlette app in the same server program.

    read        GET of the status, of an attempt that is over and of its feedback
    submit      POST /v1/submissions of a small file that the gate refuses: read, judged, recorded, one durable commit
      peer      a Starlette route that answers the same number of bytes as the status

Lab and peer listen on Unix sockets through uvicorn and h11, each in a process of its own, and take turns in rounds.
Each client keeps its connection. First paced, then as fast as they are answered, where the latency is what
the server's whole capacity shared by all clients makes it. A client is a thread of this process: on few cores clients
and server wait for each other as well, so compare ratios between machines.
Run it with `python benchmarks/lab_latency.py [--clients N] [--requests N]`.
"""

from __future__ import annotations

import argparse
import http.client
import multiprocessing
import socket
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import count
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import NamedTuple

ROUNDS = 3
SCORED_ATTEMPTS = 2
START_SECONDS = 60
TARGET_SECONDS = 0.020
READS = {
    "status": "/v1/status",
    "attempt that is over": "/v1/attempts/1/wait?timeout_seconds=0",
    "feedback": "/v1/attempts/1/feedback",
}


class Load(NamedTuple):
    """So many clients that ask so often each; no pause means as fast as they are answered."""

    clients: int
    requests: int
    pause_seconds: float = 0.0


class Latency(NamedTuple):
    """Of all requests of a round: median and 99th percentile in seconds, and requests a second."""

    p50_seconds: float
    p99_seconds: float
    rate: float


type Ask = Callable[[http.client.HTTPConnection, int, int], int | None]
"""Sends the n-th request of a client; None, or the status when it is not the expected one."""


class UnixConnection(http.client.HTTPConnection):
    """HTTP over a Unix socket."""

    def __init__(self, path: Path) -> None:
        super().__init__("localhost", timeout=60)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self._path))


def serve_lab(folder: Path, path: Path, ready: Event, done: Event) -> None:
    """A lab whose run has a few scored attempts."""
    from rsibench.lab.http.server import LabServer  # noqa: PLC0415 - only in the server's process
    from rsibench.ports.clock import SystemClock  # noqa: PLC0415 - as above
    from rsibench.testing.lab import LabBench, bench_files  # noqa: PLC0415 - as above

    with LabBench(folder, clock=SystemClock()) as bench:
        for number in range(SCORED_ATTEMPTS):
            bench.session.submit(bench_files(f"text {number}"), f"prepared-{number}")
            bench.finish_next(number)
        with LabServer.on_socket(bench.session, path):
            ready.set()
            done.wait()


def serve_peer(path: Path, body_bytes: int, ready: Event, done: Event) -> None:
    """The least that any server of this kind must do."""
    import uvicorn  # noqa: PLC0415 - only in the server's process
    from starlette.applications import Starlette  # noqa: PLC0415 - as above
    from starlette.requests import Request  # noqa: PLC0415 - as above
    from starlette.responses import Response  # noqa: PLC0415 - as above
    from starlette.routing import Route  # noqa: PLC0415 - as above

    body = b"x" * body_bytes

    async def answer(request: Request) -> Response:
        await request.body()
        return Response(body, media_type="application/json")

    app = Starlette(routes=[Route("/", answer, methods=["GET", "POST"])])
    config = uvicorn.Config(app, http="h11", ws="none", loop="asyncio", lifespan="off", log_config=None, uds=str(path))
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    ready.set()
    done.wait()
    server.should_exit = True
    thread.join()


@contextmanager
def served(target: Callable[..., None], *arguments: object) -> Iterator[None]:
    """A server in a process of its own for the block."""
    spawn = multiprocessing.get_context("spawn")
    ready, done = spawn.Event(), spawn.Event()
    process = spawn.Process(target=target, args=(*arguments, ready, done))
    process.start()
    try:
        if not ready.wait(START_SECONDS):
            raise RuntimeError("the server did not start")
        yield
    finally:
        done.set()
        process.join()


def measure(path: Path, load: Load, ask: Ask) -> Latency:
    """Every client asks at its pace; an answer that `ask` does not expect ends the benchmark."""
    clients, requests, pause_seconds = load
    gate = threading.Barrier(clients + 1)
    took: list[list[float]] = [[] for _ in range(clients)]
    wrong: list[int] = []

    def work(client: int) -> None:
        connection = UnixConnection(path)
        connection.connect()
        gate.wait()
        begun = time.perf_counter() + pause_seconds * client / clients
        for number in range(requests):
            due = begun + number * pause_seconds
            time.sleep(max(0.0, due - time.perf_counter()))
            # From when it was due: a slow answer must not hide what it does to the requests after it.
            started = due if pause_seconds else time.perf_counter()
            status = ask(connection, client, number)
            took[client].append(time.perf_counter() - started)
            if status is not None:
                wrong.append(status)
        connection.close()

    threads = [threading.Thread(target=work, args=(client,)) for client in range(clients)]
    for thread in threads:
        thread.start()
    gate.wait()
    started = time.perf_counter()
    for thread in threads:
        thread.join()
    seconds = time.perf_counter() - started
    if wrong:
        raise RuntimeError(f"{len(wrong)} requests were answered with {sorted(set(wrong))}")
    every = sorted(one for client in took for one in client)
    return Latency(statistics.median(every), every[int(len(every) * 0.99)], len(every) / seconds)


def getting(path: str) -> Ask:
    """Asks for `path`."""

    def ask(connection: http.client.HTTPConnection, _client: int, _number: int) -> int | None:
        connection.request("GET", path)
        return _unexpected(connection.getresponse(), http.client.OK)

    return ask


def submitting(round_name: str) -> Ask:
    """Hands in a file whose one row is no message, under a new key each time."""
    rows = b'{"messages": "none"}\n'

    def ask(connection: http.client.HTTPConnection, client: int, number: int) -> int | None:
        headers = {"Idempotency-Key": f"{round_name}-{client}-{number}"}
        connection.request("POST", f"/v1/submissions?rows_bytes={len(rows)}", body=rows, headers=headers)
        return _unexpected(connection.getresponse(), http.client.UNPROCESSABLE_ENTITY)

    return ask


def _unexpected(response: http.client.HTTPResponse, expected: int) -> int | None:
    response.read()
    return None if response.status == expected else response.status


def report(title: str, ours: Latency, peer: Latency) -> None:
    """One line of the table."""
    met = "met" if ours.p99_seconds <= TARGET_SECONDS else "not met"
    print(
        f"{title:22} p50 {ours.p50_seconds * 1e3:7.1f} ms  p99 {ours.p99_seconds * 1e3:7.1f} ms  {ours.rate:8,.0f}/s"
        f"   peer p50 {peer.p50_seconds * 1e3:6.1f}  p99 {peer.p99_seconds * 1e3:6.1f}  {peer.rate:8,.0f}/s"
        f"   ratio of p99 {ours.p99_seconds / peer.p99_seconds:5.2f}   20 ms {met}"
    )


def best(measured: Callable[[], Latency]) -> Latency:
    """The round with the lowest p99."""
    return min((measured() for _ in range(ROUNDS)), key=lambda one: one.p99_seconds)


def main() -> None:
    """Prints one line a kind of request."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--requests", type=int, default=100, help="of each client in each round")
    parser.add_argument("--pace", type=float, default=10.0, help="requests a second of each client where it is paced")
    arguments = parser.parse_args()
    full = Load(arguments.clients, arguments.requests)
    paced = full._replace(pause_seconds=1 / arguments.pace)
    # A submission costs more and stays in the run.
    few, few_paced = (one._replace(requests=max(1, one.requests // 10)) for one in (full, paced))
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        lab, peer = folder / "s" / "lab", folder / "peer"
        with served(serve_lab, folder, lab), served(serve_peer, peer, status_bytes(lab)):
            measure(lab, Load(arguments.clients, 10), getting(READS["status"]))  # warm
            names = count()
            for title, load, submissions in (("paced", paced, few_paced), ("as fast as they can", full, few)):
                bare = best(partial(measure, peer, load, getting("/")))
                print(f"{arguments.clients} clients, {title}")
                for name, path in READS.items():
                    report(name, best(partial(measure, lab, load, getting(path))), bare)
                refused = best(lambda load=submissions: measure(lab, load, submitting(f"{next(names)}")))
                report("refused submission", refused, bare)


def status_bytes(path: Path) -> int:
    """How long the lab's status answer is."""
    connection = UnixConnection(path)
    connection.request("GET", "/v1/status")
    body = connection.getresponse().read()
    connection.close()
    return len(body)


if __name__ == "__main__":
    main()
