"""Which looks count, and which files are a program's own."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from reenact.probe.looks.noted import NAME, Noted, full_path


def lines(noted: Noted, folder: Path) -> list[dict[str, object]]:
    noted.write(folder)
    return [json.loads(line) for line in (folder / NAME).read_text().splitlines()][1:]


def test_what_is_made_without_a_look_is_the_programs_own(tmp_path: Path) -> None:
    noted, path = Noted(), str(tmp_path / "model.pt")
    noted.opened(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    noted.opened(path, os.O_RDONLY)
    noted.status(path)
    noted.opened(str(tmp_path), os.O_RDONLY)
    assert lines(noted, tmp_path) == [{"folder": str(tmp_path), "own": ["model.pt"]}]


def test_what_is_looked_for_first_counts_though_the_program_makes_it(tmp_path: Path) -> None:
    noted, path = Noted(), str(tmp_path / "checkpoint.pt")
    noted.status(path)
    noted.opened(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    assert lines(noted, tmp_path) == [{"status": path}]


@pytest.mark.parametrize("name", ["Nov18_17-24-41_host", "run-20261118"])
def test_what_is_named_after_the_moment_is_its_own(tmp_path: Path, name: str) -> None:
    noted, folder = Noted(), str(tmp_path / name)
    noted.status(folder)
    noted.made_folder(folder)
    noted.status(f"{folder}/events")
    assert lines(noted, tmp_path) == []


def test_a_temporary_file_is_its_own(tmp_path: Path) -> None:
    noted = Noted()
    noted.link("/tmp/no-such-perf-1.map")
    noted.made("/tmp/no-such-perf-1.map")
    assert lines(noted, tmp_path) == []


def test_an_appended_file_is_not_its_own(tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    log.write_text("1")
    noted = Noted()
    noted.opened(str(log), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    noted.opened(str(log), os.O_RDONLY)
    assert lines(noted, tmp_path) == [{"file": str(log)}]


@pytest.mark.parametrize(
    "path",
    [
        "/proc/meminfo",
        "/sys/devices/system/cpu",
        "/dev/urandom",
        "/usr/lib/python3/dist-packages/a.py",
        "/ours/x",
    ],
)
def test_machine_installed_packages_and_ours_do_not_count(tmp_path: Path, path: str) -> None:
    noted = Noted(["/ours"])
    noted.opened(path, os.O_RDONLY)
    noted.status(path)
    assert lines(noted, tmp_path) == []


def test_shared_memory_counts(tmp_path: Path) -> None:
    noted = Noted()
    noted.status("/dev/shm/data.bin")
    assert lines(noted, tmp_path) == [{"status": "/dev/shm/data.bin"}]


def test_a_compiled_module_is_its_source(tmp_path: Path) -> None:
    noted = Noted()
    noted.opened(str(tmp_path / "__pycache__" / "helper.cpython-311.pyc"), os.O_RDONLY)
    assert lines(noted, tmp_path) == [{"file": str(tmp_path / "helper.py")}]


def test_paths_are_joined_as_the_kernel_joins_them(tmp_path: Path) -> None:
    (tmp_path / "far" / "deep").mkdir(parents=True)
    (tmp_path / "near").symlink_to(tmp_path / "far" / "deep")
    assert full_path("near/../data", str(tmp_path), 1) == str(tmp_path / "far" / "data")
    assert full_path("./a//b", str(tmp_path), 1) == str(tmp_path / "a" / "b")
    assert full_path("/proc/self/cwd/data", "/", os.getpid()) == str(Path.cwd() / "data")
