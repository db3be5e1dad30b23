"""WorkerEngine with real worker processes on the tiny student: the whole way, and every way in which it can end."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from rsibench.errors import EnvironmentFault, InfrastructureFailure, SpecError
from rsibench.ports.sampler import SampleParams
from rsibench.run.engine import Engine, TrainOrder
from rsibench.run.worker.engine import WorkerEngine, WorkerSettings
from rsibench.sampling.local import LocalSampler
from rsibench.testing.training import counting_rows, tiny_config, tiny_recipe
from rsibench.training.kept import SAVE_EVERY_STEPS
from rsibench.training.local import LocalTrainer
from rsibench.training.loop import train
from rsibench.training.result import TrainProgress

SETTINGS = WorkerSettings(batch_rows=4, threads=1, device="cpu", heartbeat_seconds=0.2)
GREEDY = SampleParams(max_new_tokens=6, temperature=0.0, stop_token_ids=())
PROMPTS = [(5, 6, 7), (8, 9), (10, 11, 12, 13), (14,), (15, 16)]
SHORT, LONG = 20, 600


def order(out: Path, rows: int = SHORT) -> TrainOrder:
    return TrainOrder(counting_rows(rows), tiny_recipe(), tiny_config(), 7, out)


def ignore(_: TrainProgress) -> None:
    """A progress callback that does nothing."""


@pytest.fixture(scope="module")
def engine(student: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[WorkerEngine]:
    """One engine for all tests: whatever one of them did to its process must not matter to the next."""
    with WorkerEngine(student, tmp_path_factory.mktemp("logs") / "worker.log", SETTINGS) as opened:
        yield opened


@pytest.fixture(scope="module")
def undisturbed(student: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The adapter that the short order gives without any worker."""
    out = tmp_path_factory.mktemp("undisturbed")
    work = order(out / "adapter")
    trainer = LocalTrainer("cpu", threads=1)
    return train(trainer, student, work.rows, work.recipe, work.config, work.seed, work.out).adapter.sha256


def test_it_is_an_engine_that_starts_nothing_before_it_is_needed(student: Path, tmp_path: Path) -> None:
    with WorkerEngine(student, tmp_path / "worker.log", SETTINGS) as engine:
        as_engine: Engine = engine
        assert as_engine.student == student
        assert engine.pid is None


def test_training_and_sampling_give_what_they_give_in_process(
    engine: WorkerEngine, student: Path, tmp_path: Path, undisturbed: str
) -> None:
    seen: list[TrainProgress] = []
    result = engine.train(order(tmp_path / "adapter"), seen.append)
    assert result.adapter.sha256 == undisturbed
    assert [progress.step for progress in seen] == list(range(1, result.steps + 1))
    assert seen[-1].peak_rss_bytes > 100_000_000
    assert seen[-1].tokens_per_second > 0
    sampler = engine.sampler()
    sampler.open(student, result.adapter.path)
    here = LocalSampler(4, "cpu", threads=1)
    here.open(student, result.adapter.path)
    assert sorted(sampler.sample(PROMPTS, GREEDY)) == sorted(here.sample(PROMPTS, GREEDY))


@pytest.mark.chaos
def test_a_training_killed_in_the_middle_goes_on_from_its_state(
    engine: WorkerEngine, student: Path, tmp_path: Path
) -> None:
    whole = engine.train(order(tmp_path / "whole", LONG), ignore)
    work = order(tmp_path / "adapter", LONG)._replace(state=tmp_path / "state")

    def kill(progress: TrainProgress) -> None:
        if progress.step == SAVE_EVERY_STEPS + 5 and engine.pid is not None:
            os.kill(engine.pid, signal.SIGKILL)

    with pytest.raises(InfrastructureFailure) as caught:
        engine.train(work, kill)
    assert caught.value.failure == "out_of_memory"  # how a SIGKILL from outside is explained
    seen: list[TrainProgress] = []
    result = engine.train(work, seen.append)
    assert result.resumed_at_step >= SAVE_EVERY_STEPS
    assert seen[0].step == result.resumed_at_step + 1
    assert result.adapter.sha256 == whole.adapter.sha256


@pytest.mark.chaos
def test_a_worker_killed_in_training_is_a_typed_failure_and_costs_nothing_else(
    engine: WorkerEngine, tmp_path: Path, undisturbed: str
) -> None:
    def kill(_: TrainProgress) -> None:
        assert engine.pid is not None
        os.kill(engine.pid, signal.SIGKILL)

    with pytest.raises(InfrastructureFailure, match="was killed") as caught:
        engine.train(order(tmp_path / "lost", LONG), kill)
    assert caught.value.failure == "out_of_memory"
    assert engine.train(order(tmp_path / "adapter"), ignore).adapter.sha256 == undisturbed


@pytest.mark.chaos
def test_another_death_names_the_signal_and_the_log(engine: WorkerEngine, tmp_path: Path) -> None:
    def end(_: TrainProgress) -> None:
        assert engine.pid is not None
        os.kill(engine.pid, signal.SIGTERM)

    with pytest.raises(InfrastructureFailure, match=f"signal {signal.SIGTERM.value}") as caught:
        engine.train(order(tmp_path / "lost", LONG), end)
    assert caught.value.failure == "worker_died"
    assert "worker.log" in str(caught.value)


@pytest.mark.chaos
def test_a_worker_that_falls_silent_is_killed_and_said_so(student: Path, tmp_path: Path) -> None:
    stopped: list[int] = []
    settings = SETTINGS._replace(silence_seconds=5.0)
    with WorkerEngine(student, tmp_path / "worker.log", settings) as impatient:

        def stop(_: TrainProgress) -> None:
            if not stopped and impatient.pid is not None:
                stopped.append(impatient.pid)
                os.kill(impatient.pid, signal.SIGSTOP)

        with pytest.raises(InfrastructureFailure, match="no sign of life for 5 s") as caught:
            impatient.train(order(tmp_path / "lost", LONG), stop)
    assert caught.value.failure == "worker_timeout"
    assert not _exists(stopped[0])


@pytest.mark.chaos
def test_sampling_survives_a_death_between_two_calls(engine: WorkerEngine, student: Path) -> None:
    sampler = engine.sampler()
    sampler.open(student, None)
    before = sorted(sampler.sample(PROMPTS, GREEDY))
    pid = engine.pid
    assert pid is not None
    handle = os.pidfd_open(pid)
    os.kill(pid, signal.SIGKILL)
    assert _ends(handle)
    assert sorted(sampler.sample(PROMPTS, GREEDY)) == before


def test_cancelling_from_another_thread_ends_the_job(engine: WorkerEngine, tmp_path: Path, undisturbed: str) -> None:
    begun = threading.Event()

    def cancel() -> None:
        begun.wait(60)
        engine.cancel()

    canceller = threading.Thread(target=cancel)
    canceller.start()
    with pytest.raises(InfrastructureFailure) as caught:
        engine.train(order(tmp_path / "lost", LONG), lambda _: begun.set())
    canceller.join()
    assert caught.value.failure == "cancelled"
    assert engine.train(order(tmp_path / "adapter"), ignore).adapter.sha256 == undisturbed


def test_cancelling_nothing_does_nothing(engine: WorkerEngine, tmp_path: Path) -> None:
    engine.cancel()
    engine.train(order(tmp_path / "a"), ignore)
    process = engine.pid
    engine.cancel()
    assert engine.pid == process


def test_what_the_callback_raises_ends_the_process_and_reaches_the_caller(engine: WorkerEngine, tmp_path: Path) -> None:
    pids: list[int] = []

    def interrupt(_: TrainProgress) -> None:
        pids.append(engine.pid or 0)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        engine.train(order(tmp_path / "lost", LONG), interrupt)
    assert not _exists(pids[0])


def test_leaving_off_in_the_middle_of_sampling_frees_the_engine(engine: WorkerEngine, student: Path) -> None:
    sampler = engine.sampler()
    sampler.open(student, None)
    answers = sampler.sample(PROMPTS, GREEDY)
    next(answers)
    answers.close()  # type: ignore[attr-defined]  # a generator, though the protocol says iterator
    assert len(list(sampler.sample(PROMPTS, GREEDY))) == len(PROMPTS)


def test_errors_inside_the_worker_come_back_as_what_they_are(
    engine: WorkerEngine, student: Path, tmp_path: Path
) -> None:
    sampler = engine.sampler()
    with pytest.raises(EnvironmentFault, match="cannot be loaded"):
        sampler.open(tmp_path / "nowhere", None)
    with pytest.raises(SpecError, match="not open"):
        sampler.sample(PROMPTS, GREEDY)
    sampler.open(student, None)
    process = engine.pid
    with pytest.raises(SpecError, match="prompt 0 is empty"):
        list(sampler.sample([()], GREEDY))
    too_long = order(tmp_path / "a")._replace(recipe=tiny_recipe(max_train_tokens=10))
    with pytest.raises(SpecError, match="token budget"):
        engine.train(too_long, ignore)
    assert engine.pid == process  # a wrong request is no reason to lose the process


def test_a_job_within_a_job_of_the_same_thread_is_refused_rather_than_stuck(
    engine: WorkerEngine, student: Path, tmp_path: Path
) -> None:
    sampler = engine.sampler()
    sampler.open(student, None)
    answers = sampler.sample(PROMPTS, GREEDY)
    next(answers)
    with pytest.raises(RuntimeError, match="has a job of the worker open"):
        engine.train(order(tmp_path / "a"), ignore)
    assert len(list(answers)) == len(PROMPTS) - 1


def test_closing_leaves_no_process(student: Path, tmp_path: Path) -> None:
    with WorkerEngine(student, tmp_path / "worker.log", SETTINGS) as engine:
        engine.sampler().open(student, None)
        pid = engine.pid
    assert pid is not None
    assert not _exists(pid)


CONTROLLER = """
import os, sys
from pathlib import Path
from rsibench.run.engine import TrainOrder
from rsibench.run.worker.engine import WorkerEngine, WorkerSettings
from rsibench.testing.training import counting_rows, tiny_config, tiny_recipe
student, out = map(Path, sys.argv[1:])
engine = WorkerEngine(student, out / "worker.log", WorkerSettings(4, 1, "cpu"))
def told(progress):
    if progress.step == 1:
        print(engine.pid, flush=True)
engine.train(TrainOrder(counting_rows(2000), tiny_recipe(), tiny_config(), 7, out / "adapter"), told)
"""


@pytest.mark.chaos
def test_a_worker_ends_with_its_controller_however_that_ends(student: Path, tmp_path: Path) -> None:
    controller = subprocess.Popen(
        [sys.executable, "-c", CONTROLLER, str(student), str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    assert controller.stdout is not None
    worker = int(controller.stdout.readline())
    assert os.getsid(worker) == worker  # its own session: Ctrl-C in the terminal does not reach it
    # A handle on the worker's end: readable once the process is gone, whoever its parent is by then.
    handle = os.pidfd_open(worker)
    controller.kill()
    controller.wait()
    controller.stdout.close()
    assert _ends(handle)


def _ends(handle: int) -> bool:
    """Waits until the process behind `handle` has ended; closes the handle."""
    ended, _, _ = select.select([handle], [], [], 60)
    os.close(handle)
    return bool(ended)


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
