"""Which files a watched program opened, and whether they are still what they were."""

from __future__ import annotations

import os
import sys
import textwrap
from pathlib import Path

import pytest

from reenact.probe import injected
from reenact.probe import surroundings as measured
from reenact.probe.options import WatchOptions
from reenact.probe.surroundings import (
    Opened,
    OpenedFile,
    named_variables,
    read_opened,
    surroundings,
    training_mark,
)
from reenact.probe.watch import watch
from reenact.program.program import read_program


def opened_by(tmp_path: Path, text: str, **others: str) -> Opened:
    """What is known of a program that ran in a folder with these other files."""
    work = tmp_path / "work"
    work.mkdir(exist_ok=True)
    for name, content in {"train.py": textwrap.dedent(text), **others}.items():
        (work / name.replace("__", ".")).write_text(content)
    trace = tmp_path / f"trace{len(list(tmp_path.iterdir()))}"
    watch(read_program(("train.py",), work), WatchOptions(trace, note_opened=True))
    return read_opened(trace, [work / "train.py"])


def names(found: Opened, folder: Path) -> set[str]:
    return {
        os.path.relpath(file.path, folder)
        for file in found.files
        if file.was_there and file.path.startswith(str(folder))
    }


def test_read_files_are_listed_and_written_ones_are_not(tmp_path: Path) -> None:
    found = opened_by(
        tmp_path,
        """
        import helper
        open("data.csv").read()
        open("out.txt", "w").write("x")
        open("out.txt").read()
        open("data.csv").read()
        """,
        helper__py="",
        data__csv="1",
    )
    assert found.blind == ()
    assert names(found, tmp_path / "work") == {"data.csv", "helper.py"}
    assert found.is_unchanged()


def test_a_compiled_module_counts_by_its_source(tmp_path: Path) -> None:
    text, module = "import helper\n", {"helper__py": "x = 1\n"}
    opened_by(tmp_path, text, **module)
    again = opened_by(tmp_path, text)
    assert names(again, tmp_path / "work") == {"helper.py"}


def test_what_forked_workers_open_is_listed(tmp_path: Path) -> None:
    found = opened_by(
        tmp_path,
        """
        import os
        child = os.fork()
        if child == 0:
            open("part.txt").read()
            os._exit(0)
        os.waitpid(child, 0)
        """,
        part__txt="1",
    )
    assert found.blind == ()
    assert names(found, tmp_path / "work") == {"part.txt"}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("import subprocess; subprocess.run(['true'])", "it starts another program"),
        ("import os; os.system('true')", "it starts another program"),
        ("import os; os.waitpid(os.posix_spawn('/bin/true', ['true'], {}), 0)", "it starts another program"),
        (
            "import socket\ntry:\n    socket.create_connection(('127.0.0.1', 1))\nexcept OSError:\n    pass",
            "it uses the network",
        ),
        ("try:\n    import lmdb\nexcept ImportError:\n    pass", "lmdb opens files that cannot be seen"),
        (
            f"for i in range({injected.part('opened').MOST + 1}):\n    try:\n        open(str(i))\n"
            "    except OSError:\n        pass",
            f"it opens more than {injected.part('opened').MOST} files",
        ),
    ],
)
def test_what_cannot_be_seen_is_named(tmp_path: Path, text: str, why: str) -> None:
    found = opened_by(tmp_path, text)
    assert found.blind == (why,)
    assert found.digest == ""
    assert not found.is_unchanged()


def test_asking_what_machine_this_is_blinds_nobody(tmp_path: Path) -> None:
    found = opened_by(tmp_path, "import platform; platform.processor(); platform.uname().processor")
    assert found.blind == ()


def test_a_run_without_the_probe_lists_nothing(tmp_path: Path) -> None:
    assert read_opened(tmp_path) == Opened()
    assert Opened().blind
    assert not Opened().is_unchanged()


def test_hdf5_files_are_seen(tmp_path: Path) -> None:
    pytest.importorskip("h5py")
    found = opened_by(
        tmp_path,
        """
        import h5py
        with h5py.File("made.h5", "w") as file:
            file["x"] = 1
        h5py.File("made.h5", "r").close()
        try:
            h5py.File("given.h5", "r")
        except OSError:
            pass
        """,
        given__h5="no HDF5",
    )
    assert found.blind == ()
    assert names(found, tmp_path / "work") == {"given.h5"}


def test_a_missing_file_that_appears_is_a_change(tmp_path: Path) -> None:
    found = opened_by(tmp_path, "try:\n    open('config.yaml')\nexcept OSError:\n    pass\n")
    assert found.is_unchanged()
    (tmp_path / "work" / "config.yaml").write_text("lr: 8")
    assert not found.is_unchanged()


def test_a_large_file_counts_by_its_ends_and_its_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measured, "WHOLE", 10)
    large = tmp_path / "large.bin"
    large.write_bytes(bytes(100))
    (trace := tmp_path / "trace").mkdir()
    (trace / "opened.jsonl").write_text(f'{{"process": 1}}\n{{"file": "{large}"}}\n')
    found = read_opened(trace)
    assert [file.whole for file in found.files] == [False]
    assert found.is_unchanged()
    os.utime(large, ns=(1, 1))
    assert not found.is_unchanged()


def test_a_pipe_in_place_of_a_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    file = OpenedFile(str(tmp_path / "pipe"), 0, 0, "x")
    assert not file.is_unchanged()


def test_variables_of_the_text_and_of_the_frameworks_count() -> None:
    environment = {
        "MY_RATE": "1", "APP_LR": "2", "CUDA_VISIBLE_DEVICES": "0", "OMP_NUM_THREADS": "1", "EDITOR": "vi",
        "PWD": "/here", "lower": "3",
    }  # fmt: skip
    text = 'os.environ["MY_RATE"]; settings(env_prefix="APP_"); os.getenv("lower"); "PWD"'
    assert list(named_variables([text], environment)) == [
        "APP_LR", "CUDA_VISIBLE_DEVICES", "MY_RATE", "OMP_NUM_THREADS", "lower",
    ]  # fmt: skip


def test_folder_environment_interpreter_and_files_make_the_mark(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    marks = set()
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "train.py").write_text('import os; os.environ.get("MY_RATE")')
        program = read_program(("train.py",), tmp_path / name)
        for rate in ("1", "2"):
            monkeypatch.setenv("MY_RATE", rate)
            for python in (sys.executable, "/nowhere/python"):
                for files in ((), (OpenedFile("data", 1, 1, "x"),)):
                    marks.add(training_mark(program, python, Opened(files, ())))
                    assert training_mark(program, python, Opened(files, ())) in marks
    assert len(marks) == 16
    assert "1" not in str(surroundings(program)["variables"])


def test_where_nothing_is_known_of_the_files_the_mark_is_of_this_process(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("")
    program = read_program(("train.py",), tmp_path)
    known = training_mark(program, sys.executable, Opened((), ()))
    assert training_mark(program, sys.executable, Opened()) != known
