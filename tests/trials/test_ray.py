"""Trials on a Ray cluster: the contract, the death of a worker, programs from elsewhere, wrong
addresses.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import psutil
import pytest

from contracts.executor import (
    HEALTHY,
    ExecutorContract,
    program_in,
    wait_for_file,
    wait_until_gone,
)
from reenact.probe.outcome import OutcomeKind
from reenact.trials.executor import Executor
from reenact.trials.ray import RayExecutor
from reenact.trials.trial import Trial
from waiting import LONGEST_S

pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("ray"),
    pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed."),
]


@pytest.fixture(scope="module")
def cluster() -> Iterator[RayExecutor]:
    """Two workers on this machine, and a core for others, in a cluster that its user has joined
    already.
    """
    import ray

    ray.init(address="local", num_cpus=3, include_dashboard=False, log_to_driver=False)
    with RayExecutor(workers=2) as found:
        yield found
    assert ray.is_initialized(), "a cluster that was there stays"
    ray.shutdown()


class TestRay(ExecutorContract):
    @pytest.fixture
    def executor(self, cluster: RayExecutor) -> Executor:
        return cluster


def test_a_trial_whose_worker_is_killed_is_done_again_and_none_is_lost_or_doubled(
    cluster: RayExecutor, tmp_path: Path
) -> None:
    notes, log = tmp_path / "pid", tmp_path / "log"
    first = f"""\
        import os, time
        first = not os.path.exists({str(notes)!r})
        with open({str(notes)!r}, "a") as file:
            print(os.getppid(), os.getpid(), file=file)
        if first:
            time.sleep(600)
    """
    other = f"""\
        with open({str(log)!r}, "a") as file:
            print("ran", file=file)
    """
    mortal = program_in(tmp_path / "p", first)
    trials = [
        Trial(mortal),
        *(Trial(program_in(tmp_path / "q", other), seed=seed) for seed in range(5)),
    ]
    killed: list[int] = []

    def kill() -> None:
        server, trial = map(int, wait_for_file(notes).split())
        worker = psutil.Process(server).ppid()
        os.kill(worker, signal.SIGKILL)
        killed.extend((worker, server, trial))

    killing = threading.Thread(target=kill)
    killing.start()
    reported: list[Trial] = []
    found = cluster.run(trials, on=lambda trial, _: reported.append(trial))
    killing.join()
    assert [outcome.kind for outcome in found] == [OutcomeKind.NO_TRAINING] * 6, found
    assert len(reported) == len({trial.key for trial in reported}) == 6
    assert len(notes.read_text(encoding="utf-8").splitlines()) == 2, "it was done again, once"
    assert log.read_text(encoding="utf-8").split() == ["ran"] * 5, "the others were done once"
    wait_until_gone(killed)


def test_a_program_from_elsewhere_runs_in_the_sandbox_of_its_worker(
    cluster: RayExecutor, tmp_path: Path
) -> None:
    outside = tmp_path / "outside.txt"
    attack = f"""\
try:
    open({str(outside)!r}, "w").write("I was here")
except OSError:
    print("kept in")
"""
    program = program_in(tmp_path / "p", HEALTHY + attack)
    with RayExecutor(workers=1, boxed=True) as boxed:
        (outcome,) = boxed.run([Trial(program, seed=1)])
    assert outcome.kind is OutcomeKind.FINISHED, outcome
    assert not outside.exists()
    (open_air,) = cluster.run([Trial(program, seed=1)])
    assert outside.exists(), "without a sandbox it could"
    assert open_air.metrics == outcome.metrics


@pytest.mark.parametrize(
    "address", ["ray://127.0.0.1:9", "127.0.0.1:9", "ray://no-such-host.invalid:10001"]
)
def test_a_wrong_address_is_refused_at_once_with_the_cause(address: str) -> None:
    # In a process of its own: the one of these tests is connected already.
    code = f"from reenact.trials.ray import RayExecutor; RayExecutor({address!r})"
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=LONGEST_S
    )
    assert f"Received: {address}." in ended.stderr
    assert "refused" in ended.stderr or "not known" in ended.stderr or "resolution" in ended.stderr


def test_connecting_hears_that_it_should_stop() -> None:
    code = """
import socket
from reenact.trials.pool import ProcessPool
from reenact.trials.ray import RayExecutor
from reenact.trials.folder import SCRATCH
from reenact.types import Stop
silent = socket.create_server(("127.0.0.1", 0))
stop = Stop()
stop.ask()
RayExecutor(f"ray://127.0.0.1:{silent.getsockname()[1]}", stop=stop)
"""
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=LONGEST_S
    )
    assert "Stopped: Stopped while connecting to Ray." in ended.stderr
