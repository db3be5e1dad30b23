"""A Chromium page driven over the browser's own debugging pipe, for tests of pages that change by themselves."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Any, Self

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
_FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--window-size=400,800", "--remote-debugging-pipe"),
)


class BrowserPage:
    """One page at `address`. Messages are JSON objects ended by a zero byte, on the child's descriptors 3 and 4."""

    def __init__(self, address: str, profile: Path) -> None:
        if BROWSER is None:
            raise RuntimeError("there is no Chromium on this machine")
        reads, self._write = os.pipe()
        self._read, writes = os.pipe()

        def arrange() -> None:
            first, second = os.dup(reads), os.dup(writes)
            os.dup2(first, 3)
            os.dup2(second, 4)

        self._process = subprocess.Popen(
            [BROWSER, *_FLAGS, f"--user-data-dir={profile}", "about:blank"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(3, 4),
            preexec_fn=arrange,  # noqa: PLW1509 - the browser expects its pipe on these two descriptors
        )
        os.close(reads)
        os.close(writes)
        self._buffer = b""
        self._number = 0
        target = self._call("Target.createTarget", {"url": "about:blank"})["targetId"]
        self._session = self._call("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        self._call("Page.enable", {}, session=self._session)
        self._call("Page.navigate", {"url": address}, session=self._session)
        while self._next().get("method") != "Page.loadEventFired":
            pass

    def evaluate(self, script: str) -> Any:
        """The value of a JavaScript expression in the page; a promise is awaited."""
        asked = {"expression": script, "returnByValue": True, "awaitPromise": True}
        answer = self._call("Runtime.evaluate", asked, session=self._session)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"the page raised: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._write)
        os.close(self._read)

    def _call(self, method: str, parameters: dict[str, Any], *, session: str | None = None) -> Any:
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def _next(self) -> Any:
        """The next message of the browser."""
        while b"\0" not in self._buffer:
            piece = os.read(self._read, 1 << 16)
            if not piece:
                raise RuntimeError("the browser ended")
            self._buffer += piece
        line, _, self._buffer = self._buffer.partition(b"\0")
        return json.loads(line)
