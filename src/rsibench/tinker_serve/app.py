"""The server's HTTP: routes under /api/v1 with an API key, each a thin step to the service.

Invariant: a wrong key is 401 before anything is read. It knows nothing of training or sampling.
"""

from __future__ import annotations

import hmac
import json
import uuid
from collections.abc import Awaitable, Callable
from typing import Any

import zstandard
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from tinker.proto import tinker_public_pb2 as pb

from rsibench.errors import SpecError
from rsibench.tinker_serve.checkpoints import KINDS, CheckpointMeta
from rsibench.tinker_serve.service import Service

_PREFIX = "/api/v1/"
_WAIT_SECONDS = 20.0
_MOST_BODY_BYTES = 1 << 28
type _Handler = Callable[[Request], Awaitable[Response]]


def make_app(service: Service, api_key: str) -> Starlette:
    """The application over `service`; `api_key` is what clients must send."""
    routes = Routes(service)
    table: list[tuple[str, str, _Handler]] = [
        ("POST", "client/config", routes.config),
        ("POST", "client/dynamic_config", routes.nothing),
        ("POST", "create_session", routes.create_session),
        ("POST", "session_heartbeat", routes.heartbeat),
        ("POST", "telemetry", routes.telemetry),
        ("POST", "sessions/{session}/finish", routes.finish),
        ("GET", "get_server_capabilities", routes.capabilities),
        ("POST", "create_model", routes.create_model),
        ("POST", "get_info", routes.get_info),
        ("POST", "forward_backward", routes.forward_backward),
        ("POST", "optim_step", routes.optim_step),
        ("POST", "save_weights", routes.save_weights),
        ("POST", "save_weights_for_sampler", routes.save_sampler),
        ("POST", "load_weights", routes.load_weights),
        ("POST", "create_sampling_session", routes.sampling_session),
        ("GET", "samplers/{sampler}", routes.sampler),
        ("POST", "asample", routes.sample),
        ("POST", "retrieve_future", routes.retrieve),
        ("POST", "weights_info", routes.weights_info),
        ("GET", "training_runs", routes.training_runs),
        ("GET", "training_runs/{run}", routes.training_run),
        ("GET", "training_runs/{run}/checkpoints", routes.run_checkpoints),
        ("GET", "checkpoints", routes.checkpoints),
        ("DELETE", "training_runs/{run}/checkpoints/{kind}/{name}", routes.delete),
        ("PUT", "training_runs/{run}/checkpoints/{kind}/{name}/ttl", routes.set_ttl),
    ]
    return Starlette(
        routes=[Route(_PREFIX + path, _guarded(handler, api_key), methods=[verb]) for verb, path, handler in table]
    )


def _guarded(handler: _Handler, api_key: str) -> _Handler:
    async def guarded(request: Request) -> Response:
        if not hmac.compare_digest(request.headers.get("x-api-key", "").encode(), api_key.encode()):
            return JSONResponse({"detail": "the API key is not this server's"}, 401)
        try:
            return await handler(request)
        except SpecError as error:
            return JSONResponse({"detail": str(error)}, 404)
        except (KeyError, ValueError, TypeError) as error:
            return JSONResponse({"detail": f"not understood: {error!r}"}, 422)

    return guarded


async def _body(request: Request) -> bytes:
    data = await request.body()
    if request.headers.get("content-encoding") == "zstd":
        data = zstandard.ZstdDecompressor().decompress(data, max_output_size=_MOST_BODY_BYTES)
    return data


async def _json(request: Request) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(await _body(request) or b"{}")
    return loaded


def _future(request_id: str, **more: object) -> Response:
    return JSONResponse({"request_id": request_id, **more})


class Routes:
    """One method a route."""

    def __init__(self, service: Service) -> None:
        self._service = service

    async def config(self, _: Request) -> Response:
        return JSONResponse({"proto_compress_fwdbwd": True})

    async def nothing(self, _: Request) -> Response:
        return JSONResponse({})

    async def create_session(self, _: Request) -> Response:
        return JSONResponse({"type": "create_session", "session_id": uuid.uuid4().hex})

    async def heartbeat(self, _: Request) -> Response:
        return JSONResponse({"type": "session_heartbeat"})

    async def telemetry(self, _: Request) -> Response:
        return JSONResponse({"status": "accepted"})

    async def finish(self, request: Request) -> Response:
        self._service.finish_session(request.path_params["session"])
        return JSONResponse({})

    async def capabilities(self, _: Request) -> Response:
        models = [
            {
                "model_name": model.name,
                "max_context_length": model.context_tokens(),
                "trainable": True,
                "sampleable": True,
            }
            for model in self._service.served.values()
        ]
        return JSONResponse({"supported_models": models})

    async def create_model(self, request: Request) -> Response:
        return _future(self._service.create_model(await _json(request)))

    async def get_info(self, request: Request) -> Response:
        model = self._service.models.get((await _json(request))["model_id"])
        name = model.shape.served.name
        return JSONResponse(
            {
                "type": "get_info",
                "model_id": model.model_id,
                "is_lora": True,
                "lora_rank": model.shape.rank,
                "model_name": name,
                "model_data": {"arch": "local", "model_name": name, "tokenizer_id": name},
            }
        )

    async def forward_backward(self, request: Request) -> Response:
        message = pb.ForwardBackwardRequest()
        message.ParseFromString(await _body(request))
        return _future(self._service.forward_backward(message))

    async def optim_step(self, request: Request) -> Response:
        return _future(self._service.optim_step(await _json(request)))

    async def save_weights(self, request: Request) -> Response:
        return _future(self._service.save(await _json(request), "weights"))

    async def save_sampler(self, request: Request) -> Response:
        return _future(self._service.save(await _json(request), "sampler_weights"))

    async def load_weights(self, request: Request) -> Response:
        body = await _json(request)
        load = self._service.create_from_state if body.get("session_id") else self._service.load
        return _future(load(body))

    async def sampling_session(self, request: Request) -> Response:
        body = await _json(request)
        session = self._service.samplers.open(body.get("base_model"), body.get("model_path"))
        return JSONResponse({"type": "create_sampling_session", "sampling_session_id": session})

    async def sampler(self, request: Request) -> Response:
        name = request.path_params["sampler"]
        source = self._service.samplers.source(name)
        return JSONResponse({"sampler_id": name, "base_model": source.base_model, "model_path": source.path})

    async def sample(self, request: Request) -> Response:
        request_id, samples = self._service.samplers.submit(await _json(request), self._service.jobs)
        return _future(request_id, sample_sequence_ids=[f"{request_id}:{number}" for number in range(samples)])

    async def retrieve(self, request: Request) -> Response:
        name = (await _json(request))["request_id"]
        answer = await run_in_threadpool(self._service.jobs.answer, name, _WAIT_SECONDS)
        if answer == "unknown":
            return JSONResponse({"detail": "there is no such future"}, 410)
        if answer == "pending":
            return JSONResponse({"type": "try_again", "request_id": name, "queue_state": "active"}, 408)
        if isinstance(answer, bytes):
            return Response(answer, media_type="application/x-protobuf")
        return JSONResponse(answer)

    async def weights_info(self, request: Request) -> Response:
        meta, _ = self._service.checkpoints.find((await _json(request))["tinker_path"])
        return JSONResponse(
            {
                "base_model": meta.base_model,
                "is_lora": True,
                "lora_rank": meta.rank,
                "train_unembed": False,
                "train_mlp": meta.train_mlp,
                "train_attn": meta.train_attn,
            }
        )

    async def training_runs(self, request: Request) -> Response:
        offset, limit = int(request.query_params.get("offset", 0)), int(request.query_params.get("limit", 20))
        names = [model.model_id for model in self._service.models.all()]
        cursor = {"offset": offset, "limit": limit, "total_count": len(names)}
        runs = [self._run(name) for name in names[offset : offset + limit]]
        return JSONResponse({"training_runs": runs, "cursor": cursor})

    async def training_run(self, request: Request) -> Response:
        return JSONResponse(self._run(request.path_params["run"]))

    async def run_checkpoints(self, request: Request) -> Response:
        return self._listing(self._service.checkpoints.listed(request.path_params["run"]), request)

    async def checkpoints(self, request: Request) -> Response:
        return self._listing(self._service.checkpoints.listed(), request)

    async def delete(self, request: Request) -> Response:
        self._service.checkpoints.delete(_path(request))
        return JSONResponse({})

    async def set_ttl(self, request: Request) -> Response:
        self._service.checkpoints.set_ttl(_path(request), (await _json(request)).get("ttl_seconds"))
        return JSONResponse({})

    def _run(self, model_id: str) -> dict[str, object]:
        model = self._service.models.get(model_id)
        return {
            "training_run_id": model_id,
            "base_model": model.shape.served.name,
            "model_owner": "local",
            "is_lora": True,
            "lora_rank": model.shape.rank,
            "last_request_time": model.last_used.isoformat(),
        }

    def _listing(self, found: list[CheckpointMeta], request: Request) -> Response:
        offset, limit = int(request.query_params.get("offset", 0)), int(request.query_params.get("limit", 100))
        cursor = {"offset": offset, "limit": limit, "total_count": len(found)}
        rows = [self._checkpoint(meta) for meta in found[offset : offset + limit]]
        return JSONResponse({"checkpoints": rows, "cursor": cursor})

    def _checkpoint(self, meta: CheckpointMeta) -> dict[str, object]:
        return {
            "checkpoint_id": "/".join(meta.path.split("/")[-2:]),
            "checkpoint_type": KINDS[meta.kind],
            "time": meta.created_at.isoformat(),
            "tinker_path": meta.path,
            "size_bytes": self._service.checkpoints.size_bytes(meta.path),
            "user_metadata": meta.user_metadata,
            "expires_at": meta.expires_at.isoformat() if meta.expires_at is not None else None,
        }


def _path(request: Request) -> str:
    found = request.path_params
    return f"tinker://{found['run']}/{found['kind']}/{found['name']}"
