from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from reenact.sandbox.box import MIB, Limits
from reenact.sandbox.cgroup import Place, find_place, group_of, make_group, remove_group
from waiting import LONGEST_S


def tree(root: Path, own: str, files: dict[str, str]) -> Path:
    """A file tree laid out like the kernel's, with `own` as /proc/self/cgroup."""
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    (root / "own").write_text(own)
    return root / "own"


def test_v1_is_found_below_our_own_group(tmp_path: Path) -> None:
    (tmp_path / "memory" / "app").mkdir(parents=True)
    (tmp_path / "pids").mkdir()
    own = tree(tmp_path, "4:memory:/app\n8:pids:/\n3:cpuset:/\n0::/\n", {})
    place = find_place(tmp_path, own)
    assert place == Place(1, tmp_path / "memory" / "app", tmp_path / "pids")
    assert str(place) == "cgroup v1: memory, pids"
    assert list((tmp_path / "memory" / "app").iterdir()) == []


def test_v2_needs_an_ancestor_that_hands_controllers_down(tmp_path: Path) -> None:
    own = tree(
        tmp_path,
        "0::/user.slice/app.scope\n",
        {
            "cgroup.controllers": "cpu memory pids",
            "cgroup.subtree_control": "cpu",
            "user.slice/cgroup.subtree_control": "memory",
            "user.slice/app.scope/cgroup.subtree_control": "",
        },
    )
    # A plain folder takes the number of a process as the kernel's would, and keeps the file: not
    # removable.
    assert find_place(tmp_path, own) == Place(2, tmp_path / "user.slice", None)


def test_nowhere_is_none(tmp_path: Path) -> None:
    assert find_place(tmp_path, tmp_path / "absent") is None
    own = tree(
        tmp_path,
        "0::/\n",
        {"cgroup.controllers": "cpu", "cgroup.subtree_control": "cpu"},
    )
    assert find_place(tmp_path, own) is None


def test_limits_are_written_and_refusals_read_v2(tmp_path: Path) -> None:
    place = Place(2, tmp_path, tmp_path)
    folder = tmp_path / "reenact-box"
    group = make_group(place, "box", Limits(memory_bytes=64 * MIB, processes=10))
    assert group.own == (folder,)
    assert (folder / "pids.max").read_text() == "11"
    assert not group.out_of_memory()
    assert not group.task_refused()
    (folder / "memory.events").write_text("low 0\nmax 7\noom_kill 1\n")
    (folder / "pids.events").write_text("max 2\n")
    (folder / "pids.current").write_text("5\n")
    (folder / "memory.stat").write_text("anon 100\nfile 9999\nshmem 20\n")
    assert (
        group.out_of_memory(),
        group.task_refused(),
        group.tasks(),
        group.memory_used(),
    ) == (
        True,
        True,
        5,
        120,
    )


def test_v1_is_read_in_its_own_words(tmp_path: Path) -> None:
    (tmp_path / "memory").mkdir()
    (tmp_path / "pids").mkdir()
    group = make_group(Place(1, tmp_path / "memory", tmp_path / "pids"), "box", Limits())
    folder = tmp_path / "memory" / "reenact-box"
    (folder / "memory.oom_control").write_text("oom_kill_disable 0\nunder_oom 0\noom_kill 3\n")
    (folder / "memory.stat").write_text(
        "cache 5\nrss 1\ntotal_cache 9\ntotal_rss 70\ntotal_shmem 7\n"
    )
    assert (group.out_of_memory(), group.task_refused(), group.memory_used()) == (
        True,
        False,
        77,
    )


def test_only_groups_of_ours_are_removed(tmp_path: Path) -> None:
    other = tmp_path / "system.slice"
    other.mkdir()
    remove_group(other)
    remove_group(tmp_path / "reenact-absent")
    assert other.is_dir()


def test_the_kernels_own(tmp_path: Path) -> None:
    place = find_place()
    if place is None:
        pytest.skip("no control group may be made here")
    name = f"test-{os.getpid()}"
    group = make_group(place, name, Limits(memory_bytes=64 * MIB, processes=10))
    try:
        with subprocess.Popen(["sleep", "600"]) as sleeper:
            group.add(sleeper.pid)
            if group.pids is not None:
                assert group.tasks() == 1
            if group.memory is not None:
                assert group.memory_used() is not None
            group.close()
            assert sleeper.wait(LONGEST_S) == -9
    finally:
        group.close()
    assert not any(folder.exists() for folder in group.own)


def test_the_group_that_we_are_in_is_not_that_of_a_program() -> None:
    with subprocess.Popen(["sleep", "600"]) as sleeper:
        assert group_of(sleeper.pid) is None
        sleeper.kill()
