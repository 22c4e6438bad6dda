"""Which looks count, and which files are a program's own."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from reenact.probe.looks.noted import NAME, Noted, full_path

APPEND = os.O_WRONLY | os.O_CREAT | os.O_APPEND


def is_other_device(path: str) -> bool:
    mode = Path(path).lstat().st_mode
    silent = (
        "null",
        "zero",
        "full",
        "random",
        "tty",
        "console",
        "ptmx",
        "nvidia",
        "kfd",
        "accel",
        "dxg",
    )
    return (stat.S_ISCHR(mode) or stat.S_ISBLK(mode)) and not any(name in path for name in silent)


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


def test_what_is_looked_for_first_counts_though_the_program_makes_it(
    tmp_path: Path,
) -> None:
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


def test_of_an_appended_file_counts_whether_there_is_anything_in_it(
    tmp_path: Path,
) -> None:
    log = tmp_path / "log.csv"
    log.write_text("1")
    noted = Noted()
    noted.opened(str(log), APPEND)
    assert lines(noted, tmp_path) == [{"begun": str(log)}]
    noted.opened(str(log), os.O_RDONLY)
    assert lines(noted, tmp_path) == [{"begun": str(log)}, {"file": str(log)}]


def test_a_log_that_the_program_begins_is_the_one_that_it_finds_next_time(
    tmp_path: Path,
) -> None:
    noted, log = Noted(), str(tmp_path / "log.csv")
    noted.opened(log, APPEND)
    noted.opened(log, os.O_RDONLY)
    noted.opened(str(tmp_path / "events.1763495000"), APPEND)
    assert lines(noted, tmp_path) == [{"begun": log}]


def test_what_was_moved_is_its_own_only_if_it_was_that_before(tmp_path: Path) -> None:
    noted, target = Noted(), str(tmp_path / "data")
    noted.moved(str(tmp_path / "missing"), target)
    noted.opened(target, os.O_RDONLY)
    assert lines(noted, tmp_path) == [
        {"status": str(tmp_path / "missing")},
        {"file": target},
    ]
    came = tmp_path / "incoming"
    came.write_text("1")
    noted = Noted()
    noted.opened(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    noted.moved(str(came), target)
    noted.opened(target, os.O_RDONLY)
    assert lines(noted, tmp_path) == [{"file": target}]
    noted, part = Noted(), str(tmp_path / "model.part")
    noted.opened(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    Path(part).write_text("1")
    noted.moved(part, target)
    noted.opened(target, os.O_RDONLY)
    assert lines(noted, tmp_path) == []


def test_a_move_that_fails_makes_nothing(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    noted, file = Noted(), tmp_path / "file"
    noted.opened(str(file), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    file.write_text("1")
    noted.moved(str(file), str(tmp_path / "data"))
    noted.moved(str(file), str(tmp_path / "nowhere" / "file"))
    looks = [
        {"status": str(tmp_path / "data")},
        {"status": str(tmp_path / "nowhere" / "file")},
    ]
    assert lines(noted, tmp_path) == looks


def test_what_its_own_link_leads_to_counts(tmp_path: Path) -> None:
    data, link = tmp_path / "data", tmp_path / "current"
    data.write_text("1")
    noted = Noted()
    noted.made_where_nothing_is(str(link))
    link.symlink_to(data)
    noted.opened(str(link), os.O_RDONLY)
    assert lines(noted, tmp_path) == [{"there": str(link)}, {"file": str(data)}]


def test_a_second_name_of_a_file_is_that_file(tmp_path: Path) -> None:
    data, other = tmp_path / "data", tmp_path / "other"
    data.write_text("1")
    noted = Noted()
    noted.linked(str(data), str(other))
    other.hardlink_to(data)
    noted.opened(str(other), os.O_RDONLY)
    noted.linked(str(tmp_path / "missing"), str(tmp_path / "third"))
    looks = [
        {"file": str(data)},
        {"there": str(other)},
        {"status": str(tmp_path / "missing")},
    ]
    assert lines(noted, tmp_path) == looks


def test_what_is_made_only_where_nothing_is_tells_that_something_is(
    tmp_path: Path,
) -> None:
    lock = tmp_path / "lock"
    noted, exclusive = Noted(), os.O_WRONLY | os.O_CREAT | os.O_EXCL
    noted.opened(str(lock), exclusive)
    noted.opened(str(tmp_path / "lock-1763495000"), exclusive)
    assert lines(noted, tmp_path) == [{"there": str(lock)}]
    lock.touch()
    noted.opened(str(lock), os.O_RDONLY)
    assert lines(noted, tmp_path) == [{"there": str(lock)}], "its own"
    noted = Noted()
    noted.opened(str(lock), exclusive)
    noted.opened(str(lock), os.O_RDONLY)
    assert lines(noted, tmp_path) == [{"there": str(lock)}, {"file": str(lock)}]


def test_what_others_put_into_a_folder_that_it_makes_sure_of_counts(
    tmp_path: Path,
) -> None:
    noted, runs = Noted(), tmp_path / "runs"
    noted.made_folder(str(runs))
    noted.status(str(runs))
    runs.mkdir()
    noted.opened(str(runs), os.O_RDONLY)
    noted.opened(str(runs / "model.pt"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    assert lines(noted, tmp_path) == [{"own folder": str(runs), "own": ["model.pt"]}]


def test_a_file_without_a_name_leaves_its_folder_to_be_listed(tmp_path: Path) -> None:
    noted = Noted()
    noted.opened(str(tmp_path), os.O_RDWR | os.O_EXCL | os.O_TMPFILE)
    assert lines(noted, tmp_path) == []
    noted.opened(str(tmp_path), os.O_RDONLY)
    assert lines(noted, tmp_path) == [{"folder": str(tmp_path), "own": []}]


def test_what_may_not_be_written_is_not_made(tmp_path: Path) -> None:
    missing = str(tmp_path / "no-folder" / "data")
    noted = Noted()
    noted.opened(missing, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    assert lines(noted, tmp_path) == [{"status": missing}]


@pytest.mark.parametrize(
    ("flags", "why"), [(os.O_RDONLY, True), (os.O_RDWR, True), (os.O_WRONLY, False)]
)
def test_what_comes_from_a_pipe_cannot_be_compared_later(
    tmp_path: Path, flags: int, why: bool
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    noted = Noted()
    noted.opened(str(pipe), flags)
    blind = [{"blind": f"it reads the pipe {pipe}"}]
    assert [line for line in lines(noted, tmp_path) if "blind" in line] == (blind if why else [])
    noted = Noted()
    pipe.unlink()
    noted.made_where_nothing_is(str(pipe))
    os.mkfifo(pipe)
    noted.opened(str(pipe), flags)
    assert lines(noted, tmp_path) == [{"there": str(pipe)}], "its own"


@pytest.mark.parametrize("name", ["null", "zero", "urandom", "tty"])
def test_devices_without_data_do_not_count(tmp_path: Path, name: str) -> None:
    noted = Noted()
    noted.opened(f"/dev/{name}", os.O_RDWR)
    assert lines(noted, tmp_path) == []


def test_what_comes_from_another_device_cannot_be_compared_later(
    tmp_path: Path,
) -> None:
    others = [path for path in map(str, Path("/dev").iterdir()) if is_other_device(path)]
    if not others:
        pytest.skip("this machine has no other device")
    noted = Noted()
    noted.opened(others[0], os.O_WRONLY)
    noted.status(others[0])
    assert lines(noted, tmp_path) == []
    noted.opened(others[0], os.O_RDONLY)
    assert lines(noted, tmp_path) == [{"blind": f"it reads the device {others[0]}"}]


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
