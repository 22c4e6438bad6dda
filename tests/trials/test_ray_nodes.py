"""Trials on a real Ray cluster of two nodes that share no folder: one of them killed, different,
with a broken disk, cut off from the data, or with a card; through the client of Ray; and the
commands of the tutorial.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from contracts.executor import HEALTHY, LOOP, NET, program_in
from reenact.errors import MissingPart
from reenact.probe.outcome import OutcomeKind
from reenact.trials.folder import SCRATCH
from reenact.trials.pool import ProcessPool
from reenact.trials.ray import RayExecutor
from reenact.trials.trial import Trial
from waiting import LONGEST_S, wait_until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("ray"),
    pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed."),
]


@pytest.fixture
def nodes(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A head without cores; the tests add nodes."""
    import ray
    from ray._private import services
    from ray.cluster_utils import Cluster

    assert not ray.is_initialized(), "another test of this process is connected"
    once = services.get_node

    def get_node(*given: Any) -> Any:
        nodes: list[Any] = []

        def is_registered() -> bool:
            with suppress(RuntimeError):
                nodes.append(once(*given))
            return bool(nodes)

        wait_until(is_registered, "a node of Ray to start")
        return nodes[0]

    # Ray gives a node 30 s to start, which is too little where others use the machine.
    monkeypatch.setattr(services, "get_node", get_node)
    monkeypatch.setenv("RAY_agent_register_timeout_ms", str(round(1000 * LONGEST_S)))
    found = Cluster(
        initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False}
    )
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


def test_two_nodes_that_share_no_folder_train_what_is_sent_to_them(
    nodes: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(2):
        nodes.add_node(num_cpus=1)
    monkeypatch.setenv("MY_SCALE", "2")
    folder = tmp_path / "home"
    folder.mkdir()
    (folder / "scale.txt").write_text("0.5", encoding="utf-8")
    program = program_in(folder, SHIPPED)
    trials = [Trial(program, seed=seed) for seed in range(6)]
    python, asked = tmp_path / "python", tmp_path / "asked"
    python.write_text(
        f'#!/bin/sh\necho "$1" >> {asked}\nexec {sys.executable} "$@"\n',
        encoding="utf-8",
    )
    python.chmod(0o755)
    with ProcessPool(1) as pool:
        expected = pool.run(trials)
    with RayExecutor(nodes.address, python=str(python)) as executor:
        executor.ship(program)
        shutil.rmtree(folder)
        found = executor.run(trials)
        assert executor.notes == ()
    assert [one.metrics for one in found] == [one.metrics for one in expected]
    assert all(one.trained for one in found)
    assert "reenact_trials_server" in asked.read_text(encoding="utf-8"), (
        "by the interpreter that is named"
    )
    assert not list(Path(tempfile.gettempdir()).glob(f"{SCRATCH}*/*/scale.txt")), (
        "nothing is left on a node"
    )


def test_a_node_that_dies_costs_its_trainings_and_no_more(nodes: Any, tmp_path: Path) -> None:
    first, second = nodes.add_node(num_cpus=1), nodes.add_node(num_cpus=1)
    notes = tmp_path / "notes"
    notes.mkdir()
    program = program_in(tmp_path / "p", SEEN.format(wants="", notes=str(notes)))
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


def test_a_node_whose_disk_fails_is_not_used_any_more_and_named_with_the_cause(
    nodes: Any, tmp_path: Path
) -> None:
    with tempfile.TemporaryDirectory() as disk:
        nodes.add_node(num_cpus=1, env_vars={"TMPDIR": disk})
        with RayExecutor(nodes.address) as executor:
            (first,) = executor.run([Trial(program_in(tmp_path / "p", HEALTHY))])
            for scratch in Path(disk).glob(f"{SCRATCH}*"):
                shutil.rmtree(scratch)
                scratch.touch()
            nodes.add_node(num_cpus=1)
            other = program_in(tmp_path / "q", HEALTHY)
            found = executor.run([Trial(other, seed=seed) for seed in range(3)])
            (note,) = executor.notes
    assert [one.trained for one in (first, *found)] == [True] * 4
    assert "Not a directory" in note


def test_local_is_local_beside_a_cluster_that_stands(nodes: Any) -> None:
    nodes.add_node(num_cpus=7)
    code = """
import ray
from reenact.trials.choose import open_executor
with open_executor("ray", workers=1):
    print(len(ray.nodes()), ray.cluster_resources()["CPU"])
"""
    ended = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, "RAY_ADDRESS": nodes.address},
    )
    assert ended.stdout.split() == ["1", "1.0"], ended.stderr


SEEN = """\
import os, time, uuid
{wants}
begun = time.time()
time.sleep(1)
note = " ".join(map(str, (begun, time.time(), os.getppid(), os.environ.get("CUDA_VISIBLE_DEVICES"))))
open({notes!r} + "/" + uuid.uuid4().hex, "w").write(note)
"""


@pytest.mark.parametrize(
    ("wants", "workers"), [("device = 'cuda'", None), ("", 1)], ids=["card", "workers"]
)
def test_a_program_that_uses_a_card_gets_one_and_no_more_train_at_once_than_the_user_says(
    nodes: Any, tmp_path: Path, wants: str, workers: int | None
) -> None:
    nodes.add_node(num_cpus=3, num_gpus=1)
    notes = tmp_path / "notes"
    notes.mkdir()
    program = program_in(tmp_path / "p", SEEN.format(wants=wants, notes=str(notes)))
    with RayExecutor(nodes.address, workers=workers) as executor:
        executor.run([Trial(program, seed=seed) for seed in range(4)])
    seen = sorted(path.read_text(encoding="utf-8").split() for path in notes.iterdir())
    assert len(seen) == 4
    assert {parts[3:] == ["0"] for parts in seen} == {bool(wants)}
    assert all(float(one[1]) <= float(next_[0]) for one, next_ in pairwise(seen)), (
        "one after another"
    )
    assert len({parts[2] for parts in seen}) == 1, "by one worker"


def test_a_cluster_with_fewer_cores_than_workers_trains_with_what_it_has_and_leaves_no_worker(
    nodes: Any, tmp_path: Path
) -> None:
    import ray

    for _ in range(2):
        nodes.add_node(num_cpus=1)
    program = program_in(tmp_path / "p", HEALTHY)
    ray.init(address=nodes.address, log_to_driver=False)
    with RayExecutor(workers=16) as executor:
        found = executor.run([Trial(program, seed=seed) for seed in range(8)])
    assert [one.trained for one in found] == [True] * 8
    made = ray._private.state.actors().values()
    assert len(made) == 4, "two that train, and two for which the cluster may grow"
    assert {one["State"] for one in made} == {"DEAD"}
    assert sum(bool(one["Pid"]) for one in made) == 2, "nobody else began as those two ended"


TOKEN = "0123456789abcdef" * 2


@pytest.fixture
def head(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of a head with a client server that wants a token, started elsewhere by `ray
    start`.
    """
    monkeypatch.setenv("RAY_AUTH_TOKEN", TOKEN)
    monkeypatch.delenv("RAY_AUTH_MODE", raising=False)
    with socket.socket() as free, socket.socket() as other:
        for one in (free, other):
            one.bind(("127.0.0.1", 0))
        port, client = free.getsockname()[1], other.getsockname()[1]
    away = tmp_path / "away"
    away.mkdir()
    command = [
        str(Path(sys.executable).with_name("ray")),
        "start",
        "--head",
        "--block",
        f"--port={port}",
        f"--ray-client-server-port={client}",
        "--num-cpus=2",
        "--include-dashboard=false",
    ]
    with (tmp_path / "head.log").open("wb") as log:
        process = subprocess.Popen(
            command,
            cwd=away,
            stdout=log,
            stderr=log,
            env={**os.environ, "RAY_AUTH_MODE": "token"},
        )
    try:

        def answers() -> bool:
            assert process.poll() is None, (tmp_path / "head.log").read_text(encoding="utf-8")
            with suppress(OSError):
                socket.create_connection(("127.0.0.1", client), timeout=5).close()
                return True
            return False

        wait_until(answers, "the head of Ray to answer")
        yield f"ray://127.0.0.1:{client}"
    finally:
        process.terminate()
        process.wait()


def test_a_repair_through_the_client_of_ray_whose_head_wants_the_token_that_its_user_has(
    head: str, tmp_path: Path
) -> None:
    here = tmp_path / "here"
    here.mkdir()
    shutil.copy(
        Path(__file__).parents[2] / "examples" / "broken" / "torch_gestures.py",
        here / "train.py",
    )
    words = ["repair", "--executor", head, "--budget", "3t", "--seeds", "6", "train.py"]
    ended = subprocess.run(
        [sys.executable, "-m", "reenact", *words],
        cwd=here,
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "zero_grad" in ended.stdout


def test_the_commands_of_the_tutorial_repair_on_two_nodes(nodes: Any, tmp_path: Path) -> None:
    for _ in range(2):
        nodes.add_node(num_cpus=1)
    root = Path(__file__).parents[2]
    (tmp_path / "p").mkdir()
    shutil.copy(root / "examples" / "broken" / "torch_gestures.py", tmp_path / "p" / "train.py")
    lines = (root / "docs" / "tutorials" / "run-on-ray.md").read_text(encoding="utf-8").splitlines()
    listed = [
        line.removeprefix("$ ").partition("#")[0] for line in lines if line.startswith("$ reenact")
    ]
    (data,) = {line.split("--data ")[1].split()[0] for line in listed if "--data" in line}
    (tmp_path / "birds").mkdir()
    assert len(listed) == 4
    for line in listed:
        line = line.replace("ray://head.example:10001", nodes.address).replace(
            data, str(tmp_path / "birds")
        )
        words = [*line.split()[1:-1], "--budget", "12t", line.split()[-1]]
        ended = subprocess.run(
            [sys.executable, "-m", "reenact", *words],
            cwd=tmp_path / "p",
            capture_output=True,
            text=True,
        )
        assert ended.returncode == (1 if words[0] == "diagnose" else 0), ended.stdout + ended.stderr
