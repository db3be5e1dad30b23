"""A connection to one Tinker service: address and key always given, no telemetry, a time limit on every wait.

Invariant: nothing waits longer than `call_seconds`, although the SDK polls a dead server for ever and a job without
funds for an hour; every failure is an InfrastructureFailure with its class, or an EnvironmentFault for the key.
"""

from __future__ import annotations

import json
import logging
import time
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import tinker

from rsibench.errors import EnvironmentFault, InfrastructureFailure, RsibenchError
from rsibench.spec.settings import turn_off_tinker_telemetry

POINTER = "tinker.json"
"""The file of an adapter folder whose adapter is on a service; it names the checkpoint to sample from."""
_SLICE_SECONDS = 0.5
_CLOSE_SECONDS = 10.0
_PAUSES = (("billing", "service_billing"), ("capacity", "service_capacity"), ("rate limit", "service_rate_limit"))
"""Words of the SDK's warnings while it waits, and the failure that they mean."""


class Service(NamedTuple):
    """`model` is the student's name there. Checkpoints end after `ttl_seconds` (an hour to ten years)."""

    base_url: str
    api_key: str
    model: str
    ttl_seconds: int = 7 * 86400
    call_seconds: float = 600.0


class Awaited[T](Protocol):
    """A future of the SDK."""

    def result(self, timeout: float | None = None) -> T: ...


class _Notices(logging.Handler):
    """Remembers which pause the SDK last warned of."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.failure = ""

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage().lower()
        self.failure = next((failure for word, failure in _PAUSES if word in text), self.failure)


class Connection:
    """A session at a service, until `close`."""

    def __init__(self, service: Service) -> None:
        turn_off_tinker_telemetry()
        self.service = service
        self._notices = _Notices()
        logging.getLogger("tinker").addHandler(self._notices)
        self.client = tinker.ServiceClient(base_url=service.base_url, api_key=service.api_key)

    def preflight(self, least_context_tokens: int) -> None:
        """EnvironmentFault unless the service trains and samples the student with enough context."""
        rest = tinker.RestClient(base_url=self.service.base_url, api_key=self.service.api_key)
        found = self.wait(rest.get_server_capabilities()).supported_models
        model = next((each for each in found if each.model_name == self.service.model), None)
        if model is None or not model.trainable or not model.sampleable:
            raise EnvironmentFault(
                f"the service does not both train and sample {self.service.model}",
                where=self.service.base_url,
                fix="choose one of: " + ", ".join(str(each.model_name) for each in found),
            )
        if model.max_context_length is not None and model.max_context_length < least_context_tokens:
            raise EnvironmentFault(
                f"the context there is {model.max_context_length} tokens, and {least_context_tokens} are needed",
                where=self.service.base_url,
            )

    def wait[T](self, future: Awaited[T]) -> T:
        """The future's result; see the module for what is raised."""
        until = time.monotonic() + self.service.call_seconds
        self._notices.failure = ""
        while True:
            try:
                return future.result(timeout=min(_SLICE_SECONDS, max(0.0, until - time.monotonic())))
            except TimeoutError:
                if self._notices.failure == "service_billing":
                    raise self._failed(
                        "service_billing", "the service asks for payment", "add funds, then resume"
                    ) from None
                if time.monotonic() >= until:
                    failure = self._notices.failure or "service_timeout"
                    what = f"the service gave no answer for {self.service.call_seconds:g} s"
                    raise self._failed(failure, what, "see whether it is up, then resume") from None
            except Exception as error:
                raise self._translated(error) from error

    def close(self) -> None:
        """Ends the session, if the service still listens."""
        logging.getLogger("tinker").removeHandler(self._notices)
        try:
            self.client.close("success").result(timeout=_CLOSE_SECONDS)
        except Exception as error:  # the service may be gone; there is nothing left to lose
            logging.getLogger(__name__).debug("the session could not be ended: %s", error)

    def _translated(self, error: Exception) -> RsibenchError:
        if isinstance(error, tinker.AuthenticationError):
            return EnvironmentFault("the service refuses the key", where=self.service.base_url, fix="give another key")
        status = getattr(error, "status_code", None)
        by_status = {402: "service_billing", 404: "service_missing", 429: "service_rate_limit"}
        category = str(getattr(error, "category", ""))
        rejected = "user" in category.lower()
        failure = by_status.get(status or 0, "service_rejected" if rejected else "service_error")
        return self._failed(failure, f"{type(error).__name__}: {error}", "see the message")

    def _failed(self, failure: str, what: str, fix: str) -> InfrastructureFailure:
        return InfrastructureFailure(what, failure=failure, where=self.service.base_url, fix=fix)


def read_pointer(file: Path) -> dict[str, Any]:
    """A file that names checkpoints on a service."""
    loaded: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return loaded
