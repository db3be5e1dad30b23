"""Protobuf messages of the wire, to and from our own types. What is wrong with them is a SpecError for the client."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from tinker.proto import tinker_public_pb2 as pb

from rsibench.errors import SpecError
from rsibench.outcomes import FinishReason
from rsibench.ports.sampler import Completion
from rsibench.ports.trainer import TokenExample

_DTYPES: dict[int, np.dtype[Any]] = {
    pb.DTYPE_FLOAT32: np.dtype(np.float32),
    pb.DTYPE_INT64: np.dtype(np.int64),
    pb.DTYPE_INT32: np.dtype(np.int32),
}


def examples_of(request: pb.ForwardBackwardRequest, vocabulary: int, context_tokens: int) -> list[TokenExample]:
    """The rows of a request. SpecError for another loss, unequal lengths and tokens that the model does not have."""
    if request.loss_fn != "cross_entropy":
        raise SpecError(f"loss {request.loss_fn!r} is not served", where="loss_fn", fix="use cross_entropy")
    return [_example(number, datum, vocabulary, context_tokens) for number, datum in enumerate(request.data)]


def _example(number: int, datum: pb.Datum, vocabulary: int, context_tokens: int) -> TokenExample:
    where = f"datum {number}"
    inputs: list[int] = []
    for chunk in datum.model_input:
        if not chunk.HasField("encoded_text"):
            raise SpecError("only encoded text is served", where=where)
        inputs += np.frombuffer(chunk.encoded_text.tokens, np.int32).tolist()
    if "target_tokens" not in datum.loss_fn_inputs:
        raise SpecError("there are no target_tokens", where=where)
    targets = [int(token) for token in _dense(datum.loss_fn_inputs["target_tokens"], where)]
    weights = [1.0] * len(targets)
    if "weights" in datum.loss_fn_inputs:
        weights = _dense(datum.loss_fn_inputs["weights"], where)
    if not inputs or not len(inputs) == len(targets) == len(weights):
        lengths = f"{len(inputs)} inputs, {len(targets)} targets and {len(weights)} weights"
        raise SpecError(f"{lengths} are not equally many, or none", where=where)
    if len(inputs) > context_tokens:
        raise SpecError(f"{len(inputs)} tokens are more than the context of {context_tokens}", where=where)
    if min(*inputs, *targets) < 0 or max(*inputs, *targets) >= vocabulary:
        raise SpecError(f"a token is outside the vocabulary of {vocabulary}", where=where)
    if not all(np.isfinite(weights)):
        raise SpecError("a weight is not finite", where=where)
    return TokenExample(tuple(inputs), tuple(targets), tuple(weights))


def _dense(tensor: pb.Tensor, where: str) -> list[float]:
    dtype = _DTYPES.get(tensor.dtype)
    if dtype is None or tensor.HasField("sparse_csr"):
        raise SpecError("only dense float32 and integer tensors are served", where=where)
    values: list[float] = np.frombuffer(tensor.dense, dtype).tolist()
    return values


def forward_output(examples: Sequence[TokenExample], logprobs: Sequence[Sequence[float]]) -> bytes:
    """The answer to a forward pass: log-probabilities by row, and the weighted sum of losses."""
    arrays = [np.array(row, np.float32) for row in logprobs]
    loss = -sum(
        float(np.dot(np.array(example.weights, np.float64), array.astype(np.float64)))
        for example, array in zip(examples, arrays, strict=True)
    )
    output = pb.ForwardBackwardOutput(loss_fn_output_type="CrossEntropyLossReturn")
    output.metrics["loss:sum"] = loss
    record = output.loss_fn_outputs.add(num_datums=len(arrays))
    offsets = np.zeros(len(arrays) + 1, np.int64)
    offsets[1:] = np.cumsum([array.nbytes for array in arrays])
    data = b"".join(array.tobytes() for array in arrays)
    record.fields["logprobs"].CopyFrom(pb.BatchedTensor(data=data, offsets=offsets.tobytes(), dtype=pb.DTYPE_FLOAT32))
    return bytes(output.SerializeToString())


def sample_output(completions: Sequence[Completion], prompt_logprobs: Sequence[float] | None) -> bytes:
    """The answer to a sampling: the token that stopped a text is its last one, as on the service."""
    response = pb.SampleResponse()
    if prompt_logprobs is not None:
        response.prompt_logprobs = np.array([np.nan, *prompt_logprobs], np.float32).tobytes()
    for done in completions:
        tokens, logprobs = list(done.tokens), list(done.logprobs)
        if done.stop_token is not None and done.stop_logprob is not None:
            tokens.append(done.stop_token)
            logprobs.append(done.stop_logprob)
        stopped = done.finish_reason is FinishReason.STOP
        response.sequences.append(
            pb.SampledSequence(
                stop_reason=pb.STOP_REASON_STOP if stopped else pb.STOP_REASON_LENGTH,
                tokens=np.array(tokens, np.int32).tobytes(),
                logprobs=np.array(logprobs, np.float32).tobytes(),
            )
        )
    return bytes(response.SerializeToString())
