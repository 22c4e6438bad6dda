"""What a watched program looked at, and whether it still is what it was."""

from __future__ import annotations

import json
import os
import textwrap
from pathlib import Path

import pytest

from reenact.probe import opened as measured
from reenact.probe.looks import noted
from reenact.probe.opened import Opened, OpenedFile, read_opened
from reenact.probe.options import WatchOptions
from reenact.probe.watch import watch
from reenact.program.program import read_program


def opened_by(tmp_path: Path, text: str, **others: str) -> Opened:
    """What is known of a program that ran in a folder with these other files."""
    work = tmp_path / "work"
    work.mkdir(exist_ok=True)
    for name, content in {"train.py": textwrap.dedent(text), **others}.items():
        (work / name.replace("__", ".")).write_text(content)
    traces = tmp_path / "traces"
    trace = traces / str(len(list(traces.iterdir())) if traces.exists() else 0)
    watch(read_program(("train.py",), work), WatchOptions(trace, note_opened=True))
    return read_opened(trace, [work / "train.py"])


def names(found: Opened, folder: Path) -> set[str]:
    return {
        os.path.relpath(file.path, folder)
        for file in found.files
        if file.was_there and file.kind == "file" and file.path.startswith(str(folder))
    }


def left_by_hand(trace: Path, *lines: dict[str, object]) -> Opened:
    trace.mkdir()
    text = "".join(json.dumps(line) + "\n" for line in ({"seen": True}, *lines))
    (trace / noted.NAME).write_text(text)
    return read_opened(trace)


def test_read_files_are_listed_and_own_ones_are_not(tmp_path: Path) -> None:
    text = """
        import os, tempfile
        import helper
        open("data.csv").read()
        open("out.txt", "w").write("x")
        open("out.txt").read()
        os.makedirs("runs", exist_ok=True)
        if not os.path.exists("cache"):
            open("cache", "w").write("x")
        open(os.path.join("runs", "model.pt"), "wb").close()
        os.listdir("runs")
        with tempfile.TemporaryDirectory() as folder:
            open(os.path.join(folder, "part"), "w").close()
            open(os.path.join(folder, "part")).read()
        os.makedirs(f"run-2026{os.getpid():08}")
        """
    first = opened_by(tmp_path, text, helper__py="", data__csv="1")
    assert first.blind == ()
    assert names(first, tmp_path / "work") == {"data.csv", "helper.py"}
    assert first.is_unchanged()
    again = opened_by(tmp_path, text)
    assert first.differing(again) == []
    assert names(again, tmp_path / "work") == {"data.csv", "helper.py"}, (
        "a compiled module is its source"
    )


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            (
                "import socket\ntry:\n    socket.create_connection(('127.0.0.1', 1))\nexcept "
                "OSError:\n    pass"
            ),
            "it uses the network",
        ),
        (
            (
                "import socket; s = socket.socket(type=socket.SOCK_DGRAM); s.sendto(b'x', "
                "('127.0.0.1', 9))"
            ),
            "it uses the network",
        ),
        (
            (
                "import socket\ntry:\n    socket.socket().bind(('127.0.0.1', 47123))\nexcept "
                "OSError:\n    pass"
            ),
            "it uses the network",
        ),
        (
            "import socket\ntry:\n    socket.socket(socket.AF_UNIX).connect('\\0nobody')\n"
            "except OSError:\n    pass",
            "it talks to another program (@nobody)",
        ),
        (
            "import os\nif os.fork() == 0:\n    os.chroot('/')\n    os._exit(0)\nos.wait()",
            "it works in a file",
        ),
        (
            f"import os\nfor number in range({noted.MOST + 1}):\n    os.path.exists(str(number))\n",
            noted.TOO_MANY,
        ),
    ],
)
def test_what_cannot_be_seen_is_named(tmp_path: Path, text: str, why: str) -> None:
    found = opened_by(tmp_path, text)
    assert [reason[: len(why)] for reason in found.blind] == [why]
    assert found.digest == ""
    assert not found.is_unchanged()


def test_sockets_and_pipes_of_its_own_blind_nobody(tmp_path: Path) -> None:
    text = """
        import os, socket
        socket.socket().bind(("127.0.0.1", 0))
        server = socket.socket(socket.AF_UNIX)
        server.bind(f"\\0reenact-{os.getpid()}")
        server.listen()
        socket.socket(socket.AF_UNIX).connect(server.getsockname())
        os.mkfifo("pipe")
        os.open("pipe", os.O_RDWR)
        os.unlink("pipe")
        """
    assert opened_by(tmp_path, text).blind == ()


def test_asking_what_machine_this_is_blinds_nobody(tmp_path: Path) -> None:
    text = (
        "import platform, os; platform.processor(); os.cpu_count(); open('/proc/meminfo'); "
        "os.urandom(8)"
    )
    found = opened_by(tmp_path, text)
    assert found.blind == ()


def test_a_run_without_the_list_shows_nothing(tmp_path: Path) -> None:
    assert read_opened(tmp_path) == Opened()
    assert Opened().blind
    assert not Opened().is_unchanged()
    (tmp_path / noted.NAME).write_text('{"file": "cut off')
    assert read_opened(tmp_path) == Opened()


def test_a_missing_file_that_appears_is_a_change(tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    found = left_by_hand(tmp_path / "trace", {"file": str(config)})
    assert found.is_unchanged()
    without = found.digest
    config.write_text("lr: 8")
    assert not found.is_unchanged()
    assert left_by_hand(tmp_path / "second", {"file": str(config)}).digest != without


def test_a_large_file_counts_by_its_ends_and_its_times(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measured, "WHOLE", 10)
    large = tmp_path / "large.bin"
    large.write_bytes(bytes(100))
    found = left_by_hand(tmp_path / "trace", {"file": str(large)})
    assert [file.whole for file in found.files] == [False]
    assert found.is_unchanged()
    os.utime(large, ns=(1, 1))
    assert not found.is_unchanged()


def test_a_copy_with_the_same_content_is_the_same_file(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.write_text("1")
    found = left_by_hand(tmp_path / "trace", {"file": str(data)})
    data.unlink()
    data.write_text("1")
    assert found.is_unchanged()
    data.write_text("2")
    assert not found.is_unchanged()


def test_a_listing_counts_without_own_names_and_caches(tmp_path: Path) -> None:
    parts = tmp_path / "parts"
    parts.mkdir()
    found = left_by_hand(tmp_path / "trace", {"folder": str(parts), "own": ["model.pt"]})
    for name in ("model.pt", "__pycache__"):
        (parts / name).touch()
        assert found.is_unchanged()
    (parts / "data.csv").touch()
    assert not found.is_unchanged()


def test_an_own_folder_counts_where_others_put_something_into_it(
    tmp_path: Path,
) -> None:
    runs = tmp_path / "runs"
    line: dict[str, object] = {"own folder": str(runs), "own": ["model.pt"]}
    (runs / "old").mkdir(parents=True)
    (runs / "model.pt").touch()
    with_old = left_by_hand(tmp_path / "1", line)
    (runs / "old").rmdir()
    assert not with_old.is_unchanged()
    alone = left_by_hand(tmp_path / "2", line)
    assert alone.digest == left_by_hand(tmp_path / "3").digest != with_old.digest
    (runs / "new").touch()
    assert not alone.is_unchanged()


def test_files_that_another_seed_may_draw_count(tmp_path: Path) -> None:
    parts = tmp_path / "parts"
    parts.mkdir()
    for name in ("a.png", "b.png", "own.png", "notes.txt", "helper.py", "other.py"):
        (parts / name).write_text("1")
    (parts / "folder.png").mkdir()
    looks: list[dict[str, object]] = [
        {"file": str(parts / name)} for name in ("a.png", "helper.py")
    ]
    listed = left_by_hand(tmp_path / "1", {"folder": str(parts), "own": ["own.png"]}, *looks)
    assert {Path(file.path).name for file in listed.files} == {
        "parts",
        "a.png",
        "b.png",
        "helper.py",
    }
    not_listed = left_by_hand(tmp_path / "2", *looks)
    assert {Path(file.path).name for file in not_listed.files} == {"a.png", "helper.py"}
    (parts / "b.png").write_text("2")
    assert not listed.is_unchanged()
    assert not_listed.is_unchanged()


def test_too_many_files_to_draw_from_are_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measured, "MOST", 1)
    for name in "abc":
        (tmp_path / f"{name}.png").touch()
    looks: list[dict[str, object]] = [
        {"folder": str(tmp_path), "own": []},
        {"file": str(tmp_path / "a.png")},
    ]
    assert left_by_hand(tmp_path / "1", *looks).blind == (noted.TOO_MANY,)
    (tmp_path / "c.png").unlink()
    assert left_by_hand(tmp_path / "2", *looks).blind == ()


def test_of_a_searched_folder_only_modules_count(tmp_path: Path) -> None:
    found = left_by_hand(tmp_path / "trace", {"modules": str(tmp_path)})
    (tmp_path / "model.pt").touch()
    assert found.is_unchanged()
    (tmp_path / "plugin.py").touch()
    assert not found.is_unchanged()


def test_a_pipe_in_place_of_a_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    file = OpenedFile(str(tmp_path / "pipe"), 0, 0, "x")
    assert not file.is_unchanged()
