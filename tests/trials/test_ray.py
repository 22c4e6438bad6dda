"""Trials on a Ray cluster: the contract, the death of a worker, programs from elsewhere; slow: two nodes that
share no folder, one of them killed, refused, or cut off from the data."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from contracts.executor import (
    HEALTHY,
    LOOP,
    NET,
    ExecutorContract,
    program_in,
    wait_for_file,
    wait_until_gone,
)
from reenact.errors import MissingExtra, MissingPart
from reenact.probe.outcome import OutcomeKind
from reenact.trials.executor import Executor
from reenact.trials.folder import SCRATCH
from reenact.trials.pool import ProcessPool
from reenact.trials.ray import RayExecutor
from reenact.trials.trial import Trial


def test_without_ray_a_sentence_says_what_to_install() -> None:
    if _installed():
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
    """Two workers on this machine, and a core for others, in a cluster that its user has joined already."""
    import ray

    ray.init(address="local", num_cpus=3, include_dashboard=False, log_to_driver=False)
    with RayExecutor(workers=2) as found:
        yield found
    assert ray.is_initialized(), "a cluster that was there stays"
    ray.shutdown()


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
    with RayExecutor(workers=1, boxed=True) as boxed:
        (outcome,) = boxed.run([Trial(program, seed=1)])
    assert outcome.kind is OutcomeKind.FINISHED, outcome
    assert not outside.exists()
    (open_air,) = cluster.run([Trial(program, seed=1)])
    assert outside.exists(), "without a sandbox it could"
    assert open_air.metrics == outcome.metrics


@needs_ray
@pytest.mark.parametrize("address", ["ray://127.0.0.1:9", "127.0.0.1:9", "ray://no-such-host.invalid:10001"])
def test_a_wrong_address_is_refused_at_once_with_the_cause(address: str) -> None:
    # In a process of its own: the one of these tests is connected already.
    code = f"from reenact.trials.ray import RayExecutor; RayExecutor({address!r})"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert f"Received: {address}." in ended.stderr
    assert "refused" in ended.stderr or "not known" in ended.stderr or "resolution" in ended.stderr


@needs_ray
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
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert "Stopped: Stopped while connecting to Ray." in ended.stderr


@pytest.fixture
def nodes(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A head without cores; the tests add nodes."""
    import ray
    from ray.cluster_utils import Cluster

    assert not ray.is_initialized(), "another test of this process is connected"
    found = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    try:
        yield found
    finally:
        ray.shutdown()
        found.shutdown()


SHIPPED = (
    NET
    + """\
import os
x = x * float(open("scale.txt").read()) * float(os.environ["MY_SCALE"])
print("at", os.getcwd())
"""
    + LOOP
)


@needs_ray
@pytest.mark.slow
def test_two_nodes_that_share_no_folder_train_what_is_sent_to_them(
    nodes: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:9")
    for _ in range(2):
        nodes.add_node(num_cpus=1)
    monkeypatch.setenv("MY_SCALE", "2")
    folder = tmp_path / "home"
    folder.mkdir()
    (folder / "scale.txt").write_text("0.5", encoding="utf-8")
    program = program_in(folder, SHIPPED)
    trials = [Trial(program, seed=seed) for seed in range(6)]
    with ProcessPool(1) as pool:
        expected = pool.run(trials)
    with RayExecutor(nodes.address) as executor:
        executor.ship(program)
        shutil.rmtree(folder)
        found = executor.run(trials)
        assert executor.notes == ()
    assert [one.metrics for one in found] == [one.metrics for one in expected]
    assert all(one.trained for one in found)
    assert not list(Path(tempfile.gettempdir()).glob(f"{SCRATCH}*/*/scale.txt")), "nothing is left on a node"


@needs_ray
@pytest.mark.slow
def test_a_node_that_dies_costs_its_trainings_and_no_more(nodes: Any, tmp_path: Path) -> None:
    first, second = nodes.add_node(num_cpus=1), nodes.add_node(num_cpus=1)
    notes = tmp_path / "notes"
    notes.mkdir()
    text = (
        f"""\
        import os, time, uuid
        open({str(notes)!r} + "/" + uuid.uuid4().hex, "w").write(os.environ.get("RAY_NODE_ID", ""))
        time.sleep(2)
    """
        + ""
    )
    program = program_in(tmp_path / "p", text)
    with RayExecutor(nodes.address) as executor:
        reported: list[int] = []
        killed: list[Any] = []

        def on(trial: Trial, _: Any) -> None:
            reported.append(trial.seed)
            if not killed:
                killed.append(first)
                nodes.remove_node(first, allow_graceful=False)

        found = executor.run([Trial(program, seed=seed) for seed in range(6)], on=on)
    assert [one.kind for one in found] == [OutcomeKind.NO_TRAINING] * 6
    assert sorted(reported) == list(range(6)), "none is lost or doubled"
    assert second in nodes.worker_nodes


@needs_ray
@pytest.mark.slow
def test_a_node_that_differs_is_refused_by_name_and_the_others_train(
    nodes: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "old" / "torch-9.0.dist-info").mkdir(parents=True)
    nodes.add_node(num_cpus=1, env_vars={"PYTHONPATH": str(tmp_path / "old")})
    program = program_in(tmp_path / "p", HEALTHY)
    data = tmp_path / "data.csv"
    data.write_text("1", encoding="utf-8")
    with RayExecutor(nodes.address, data=[data]) as executor:
        with pytest.raises(MissingPart, match=r"No node .* torch 9\.0 instead of"):
            executor.run([Trial(program)])
        nodes.add_node(num_cpus=1)
        found = executor.run([Trial(program, seed=seed) for seed in range(3)])
        assert [one.trained for one in found] == [True] * 3
        (note,) = executor.notes
        assert "torch" in note
        data.write_text("2", encoding="utf-8")
        other = program_in(tmp_path / "q", HEALTHY)
        executor.ship(other)
        data.write_text("3", encoding="utf-8")
        with pytest.raises(MissingPart, match=f"other data at {data}"):
            executor.run([Trial(other)])


@needs_ray
@pytest.mark.slow
def test_the_commands_of_the_tutorial_repair_on_two_nodes(nodes: Any, tmp_path: Path) -> None:
    for _ in range(2):
        nodes.add_node(num_cpus=1)
    root = Path(__file__).parents[2]
    (tmp_path / "p").mkdir()
    shutil.copy(root / "examples" / "broken" / "torch_gestures.py", tmp_path / "p" / "train.py")
    lines = (root / "docs" / "tutorials" / "run-on-ray.md").read_text(encoding="utf-8").splitlines()
    listed = [line.removeprefix("$ ").partition("#")[0] for line in lines if line.startswith("$ reenact")]
    (data,) = {line.split("--data ")[1].split()[0] for line in listed if "--data" in line}
    (tmp_path / "birds").mkdir()
    assert len(listed) == 4
    for line in listed:
        line = line.replace("ray://head.example:10001", nodes.address).replace(data, str(tmp_path / "birds"))
        words = [*line.split()[1:-1], "--budget", "12t", line.split()[-1]]
        ended = subprocess.run(
            [sys.executable, "-m", "reenact", *words], cwd=tmp_path / "p", capture_output=True, text=True
        )
        assert ended.returncode == (1 if words[0] == "diagnose" else 0), ended.stdout + ended.stderr
