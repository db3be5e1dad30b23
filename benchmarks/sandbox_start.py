"""What a sandbox costs: from the call to a program's first word, and to its end, beside a bare subprocess.

    bare        subprocess.Popen of the program
    peer        bwrap with the same namespaces and a bind of /, called directly: what bubblewrap itself takes
    first       a sandbox's first start: its file system is made
    again       the next starts of the same run: the file system is there
    probe       a throwaway sandbox with all checks
    bridge      a round trip of 100 bytes over the loopback port, beside one over the Unix socket itself, both inside

Figures are medians of alternating rounds; compare ratios, not times, between machines.
Run it with `python benchmarks/sandbox_start.py [--rounds N]`.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from rsibench.sandbox.choose import choose_provider
from rsibench.testing.sandbox import BRIDGE_PORT, EchoSocket, SandboxBench

_PROGRAM = ["/bin/sh", "-c", "echo up"]
_PEER = ["bwrap", "--unshare-all", "--bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "--die-with-parent", "--"]
_ASKS = 300
_ASKER = f"""
import socket, statistics, time
def times(make):
    found = []
    for _ in range({_ASKS}):
        started = time.perf_counter()
        with make() as client:
            client.sendall(b"x" * 100)
            client.shutdown(socket.SHUT_WR)
            while client.recv(4096):
                pass
        found.append(time.perf_counter() - started)
    return statistics.median(found)
def by_path():
    client = socket.socket(socket.AF_UNIX)
    client.connect("/run/bridge/lab.sock")
    return client
by_port = lambda: socket.create_connection(("127.0.0.1", {BRIDGE_PORT}))
times(by_path), times(by_port)
print(times(by_path), times(by_port))
"""


def bare(argv: list[str]) -> tuple[float, float]:
    """Seconds to the first word and to the end of a subprocess."""
    started = time.perf_counter()
    with subprocess.Popen(argv, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"up\n"
        first = time.perf_counter() - started
        process.wait()
        return first, time.perf_counter() - started


def boxed(bench: SandboxBench) -> tuple[float, float]:
    """Seconds to the first word and to the end of a sandbox, folders given back."""
    started = time.perf_counter()
    process = bench.start(_PROGRAM)
    assert process.stdout is not None
    assert process.stdout.readline() == b"up\n"
    first = time.perf_counter() - started
    process.stop()
    process.stdout.close()
    return first, time.perf_counter() - started


def main() -> None:
    """Prints a line a figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    provider, probe = choose_provider()
    print(f"provider {provider.name}: {dict(probe.facts)}")
    taken: dict[str, list[tuple[float, float]]] = {"bare": [], "peer": [], "first": [], "again": []}
    probes = []
    with tempfile.TemporaryDirectory(prefix="rsibench-bench-") as text:
        for number in range(rounds):
            bench = SandboxBench(provider, Path(text) / str(number))
            taken["bare"].append(bare(_PROGRAM))
            taken["peer"].append(bare(_PEER + _PROGRAM))
            taken["first"].append(boxed(bench))
            taken["again"].append(boxed(bench))
            started = time.perf_counter()
            provider.probe()
            probes.append(time.perf_counter() - started)
        with EchoSocket(Path(text) / "s") as echo:
            bench = SandboxBench(provider, Path(text) / "bridge").with_socket("lab", echo.path)
            by_path, by_port = map(float, bench.run(["python3", "-I", "-c", _ASKER]).output.split())
    base = statistics.median(first for first, _ in taken["bare"])
    for name, pairs in taken.items():
        first, end = (statistics.median(pair[at] for pair in pairs) for at in (0, 1))
        print(f"{name:6} first word {first * 1e3:7.1f} ms ({first / base:6.1f} x bare)   end {end * 1e3:7.1f} ms")
    print(f"probe  {statistics.median(probes) * 1e3:7.1f} ms")
    print(f"bridge {by_port * 1e3:7.3f} ms a round trip, {by_port / by_path:.2f} x the socket itself")


if __name__ == "__main__":
    main()
