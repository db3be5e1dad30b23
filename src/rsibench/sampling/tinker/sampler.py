"""TinkerSampler: the Sampler protocol at a Tinker service, from the base model or a checkpoint that a folder names.

Temperature 0 is asked for as top-k 1, because the service does not keep to temperature 0. Seeds are sent, one a prompt,
but the service does not promise to repeat itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import tinker
from tinker import types

from rsibench.errors import SpecError
from rsibench.outcomes import FinishReason
from rsibench.ports.sampler import Completion, SampleParams
from rsibench.tinker_api.connection import POINTER, Connection, Service, read_pointer


class TinkerSampler:
    """Samples at `service`."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._connection: Connection | None = None
        self._client: tinker.SamplingClient | None = None

    def open(self, student: Path, adapter: Path | None) -> None:  # noqa: ARG002 - part of the protocol
        """`student` is the same one here and is not read; `adapter` is a folder with `tinker.json`."""
        self.close()
        if adapter is not None and not (adapter / POINTER).is_file():
            raise SpecError("the adapter is not at the service", where=str(adapter), fix="train it there")
        self._connection = Connection(self._service)
        client = self._connection.client
        if adapter is None:
            future = client.create_sampling_client(base_model=self._service.model)
        else:
            future = client.create_sampling_client(model_path=read_pointer(adapter / POINTER)["sampler"])
        self._client = self._connection.wait(future)

    def sample(self, prompts: Sequence[tuple[int, ...]], params: SampleParams) -> Iterator[tuple[int, Completion]]:
        """Yields (prompt index, completion), all asked for at once, in the order of the prompts."""
        connection, client = self._connection, self._client
        if connection is None or client is None:
            raise SpecError("the sampler is not open", where="sampling", fix="call open first")
        futures = [
            client.sample(types.ModelInput.from_ints(list(prompt)), 1, _params(params, index))
            for index, prompt in enumerate(prompts)
        ]
        return (
            (index, _completion(connection.wait(future).sequences[0], params)) for index, future in enumerate(futures)
        )

    def close(self) -> None:
        """Ends the session; harmless when nothing is open."""
        connection, self._connection, self._client = self._connection, None, None
        if connection is not None:
            connection.close()


def _params(params: SampleParams, index: int) -> types.SamplingParams:
    greedy = params.temperature == 0
    return types.SamplingParams(
        max_tokens=params.max_new_tokens,
        seed=None if greedy else (params.seed + index) % 2**31,
        stop=list(params.stop_token_ids),
        temperature=1.0 if greedy else params.temperature,
        top_k=1 if greedy else -1,
    )


def _completion(found: types.SampledSequence, params: SampleParams) -> Completion:
    tokens, logprobs = list(found.tokens), list(found.logprobs or [])
    if found.stop_reason != "stop":
        return Completion(tuple(tokens), tuple(logprobs), FinishReason.LENGTH)
    if tokens and tokens[-1] in params.stop_token_ids:
        stop = tokens.pop()
        return Completion(tuple(tokens), tuple(logprobs[: len(tokens)]), FinishReason.STOP, stop, logprobs[-1])
    return Completion(tuple(tokens), tuple(logprobs), FinishReason.STOP)
