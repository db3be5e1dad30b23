"""The worker's program, `python -P -m rsibench.run.worker.main`: commands on its input, replies on its output.

Standard output is taken away from everything else in the process before any library is loaded, so a stray print lands
in the log (standard error) and never in the protocol. The process ends when its input does, that is when its controller
is gone, whatever it is busy with; it never outlives it and holds no state worth keeping.
"""

from __future__ import annotations

import argparse
import os
import queue
import threading
from typing import BinaryIO, NamedTuple

from rsibench.run.worker.host import Host
from rsibench.run.worker.messages import COMMAND, Command, Heartbeat, Message

_STDIN, _STDOUT, _STDERR = 0, 1, 2


class Options(NamedTuple):
    """How the worker was started. `threads` 0 leaves torch's own choice."""

    batch_rows: int
    threads: int
    device: str | None
    heartbeat_seconds: float


class Outbox:
    """Writes whole lines, one writer at a time; ends the process when nobody reads them any more."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._lock = threading.Lock()

    def send(self, message: Message) -> None:
        """Writes one message."""
        line = message.line()
        with self._lock:
            try:
                self._stream.write(line)
                self._stream.flush()
            except BrokenPipeError:
                os._exit(0)


def main() -> None:
    """Serves commands until the input ends."""
    options = _options()
    commands, replies = _take_streams()
    outbox = Outbox(replies)
    inbox: queue.SimpleQueue[Command] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(commands, inbox), name="commands", daemon=True).start()
    threading.Thread(target=_beat, args=(outbox, options.heartbeat_seconds), name="heartbeat", daemon=True).start()
    # libgomp's default is to spin at the end of every parallel region, which steals the cores from the controller.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    host = Host(outbox.send, options.batch_rows, options.device, options.threads or None)
    while True:
        host.serve(inbox.get())


def _options() -> Options:
    parser = argparse.ArgumentParser(prog="rsibench.run.worker.main")
    parser.add_argument("--batch-rows", type=int, required=True)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--device", default=None)
    parser.add_argument("--heartbeat-seconds", type=float, default=1.0)
    read = parser.parse_args()
    return Options(read.batch_rows, read.threads, read.device, read.heartbeat_seconds)


def _take_streams() -> tuple[BinaryIO, BinaryIO]:
    """Input and output under other numbers; the usual ones now lead to nothing and to the log."""
    commands = os.fdopen(os.dup(_STDIN), "rb")
    replies = os.fdopen(os.dup(_STDOUT), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, _STDIN)
    os.close(nothing)
    os.dup2(_STDERR, _STDOUT)
    return commands, replies


def _read(stream: BinaryIO, inbox: queue.SimpleQueue[Command]) -> None:
    """Hands commands on; the end of the input is the end of the process, also in the middle of a job."""
    for line in stream:
        inbox.put(COMMAND.validate_json(line))
    os._exit(0)


def _beat(outbox: Outbox, seconds: float) -> None:
    """Says for ever that the process is alive."""
    never = threading.Event()
    while True:
        outbox.send(Heartbeat())
        never.wait(seconds)


if __name__ == "__main__":
    main()
