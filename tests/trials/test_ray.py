"""Trials on a Ray cluster: the contract, the death of a worker, and programs from elsewhere."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from reenact.errors import MissingExtra
from reenact.probe.outcome import OutcomeKind
from reenact.testing.executor import HEALTHY, ExecutorContract, program_in, wait_for_file, wait_until_gone
from reenact.trials.executor import Executor
from reenact.trials.ray import RayExecutor
from reenact.trials.trial import Trial


def test_without_ray_a_sentence_says_what_to_install() -> None:
    if "ray" in sys.modules or _installed():
        pytest.skip("Ray is installed here.")
    with pytest.raises(MissingExtra, match="the package ray") as refused:
        RayExecutor()
    assert refused.value.next_step == "pip install 'reenact[ray]'"


def _installed() -> bool:
    import importlib.util

    return importlib.util.find_spec("ray") is not None


needs_ray = pytest.mark.skipif(not _installed(), reason="Ray is not installed.")


@pytest.fixture(scope="module")
def cluster() -> Iterator[RayExecutor]:
    """Two workers on this machine."""
    with RayExecutor(workers=2) as found:
        yield found


@needs_ray
class TestRay(ExecutorContract):
    @pytest.fixture
    def executor(self, cluster: RayExecutor) -> Executor:
        return cluster


@needs_ray
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
    trials = [Trial(mortal), *(Trial(program_in(tmp_path / "q", other), seed=seed) for seed in range(5))]
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


@needs_ray
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
    with RayExecutor(boxed=True) as boxed:
        (outcome,) = boxed.run([Trial(program, seed=1)])
    assert outcome.kind is OutcomeKind.FINISHED, outcome
    assert not outside.exists()
    (open_air,) = cluster.run([Trial(program, seed=1)])
    assert outside.exists(), "without a sandbox it could"
    assert open_air.metrics == outcome.metrics
