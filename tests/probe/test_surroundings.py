"""What a run depends on beside the program's text."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from reenact.probe.opened import Opened, OpenedFile
from reenact.probe.surroundings import (
    counted_variables,
    differing,
    named_variables,
    standard_library,
    surroundings,
    training_mark,
)
from reenact.program.program import Program, read_program


def program_in(folder: Path) -> Program:
    folder.mkdir(exist_ok=True)
    (folder / "train.py").write_text("pass\n")
    return read_program(("train.py",), folder)


def test_every_variable_counts_but_those_of_the_session() -> None:
    environment = {
        "learning_rate": "1",
        "X": "2",
        "TMUX": "3",
        "SSH_TTY": "4",
        "REENACT_MODEL": "5",
        "_": "6",
    }
    assert counted_variables(environment) == {"X": "2", "learning_rate": "1"}


@pytest.mark.parametrize("name", ["LR", "my_lr", "a.b"])
def test_a_changed_variable_makes_another_mark_and_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    program, seen = program_in(tmp_path), Opened((), ())
    marks, around = [], []
    for value in ("secret-1", "secret-1", "secret-2"):
        monkeypatch.setenv(name, value)
        marks.append(training_mark(program, sys.executable, seen))
        around.append(surroundings(program, sys.executable))
    assert marks[0] == marks[1] != marks[2]
    assert differing(around[0], around[1]) == []
    assert differing(around[0], around[2]) == [f"the environment variable {name}"]
    assert "secret" not in str(around)


def test_variables_of_the_session_leave_the_mark(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program, marks = program_in(tmp_path), set()
    for value in ("1", "2"):
        monkeypatch.setenv("SHLVL", value)
        marks.add(training_mark(program, sys.executable, Opened((), ())))
    assert len(marks) == 1


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two cores")
def test_the_number_of_cores_counts(tmp_path: Path) -> None:
    program, all_cores = program_in(tmp_path), os.sched_getaffinity(0)
    before, mark = surroundings(program), training_mark(program, "", Opened((), ()))
    os.sched_setaffinity(0, {min(all_cores)})
    try:
        assert training_mark(program, "", Opened((), ())) != mark
        assert differing(before, surroundings(program)) == ["the number of cores or the devices"]
    finally:
        os.sched_setaffinity(0, all_cores)
    assert training_mark(program, "", Opened((), ())) == mark


def test_a_package_counts_by_its_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An interpreter is asked once a process, so that each version has an interpreter of its
    own here.
    """
    program, marks = program_in(tmp_path / "work"), []
    for place, version in (("a", "1.0"), ("a", "1.0"), ("b", "2.0")):
        installed = tmp_path / place
        (installed / f"plotting-{version}.dist-info").mkdir(parents=True, exist_ok=True)
        python = installed / "python"
        python.write_text(f'#!/bin/sh\nPYTHONPATH={installed} exec {sys.executable} "$@"\n')
        python.chmod(0o700)
        marks.append(training_mark(program, str(python), Opened((), ())))
    assert marks[0] == marks[1] != marks[2]


def test_folder_interpreter_and_files_make_the_mark(tmp_path: Path) -> None:
    marks = set()
    for name in ("a", "b"):
        program = program_in(tmp_path / name)
        for python in (sys.executable, "/nowhere/python"):
            for files in ((), (OpenedFile("data", 1, 1, "x"),)):
                marks.add(training_mark(program, python, Opened(files, ())))
                assert training_mark(program, python, Opened(files, ())) in marks
    assert len(marks) == 8


def test_where_nothing_is_known_of_the_files_the_mark_is_of_this_process(
    tmp_path: Path,
) -> None:
    program = program_in(tmp_path)
    known = training_mark(program, sys.executable, Opened((), ()))
    assert training_mark(program, sys.executable, Opened()) != known


def test_the_standard_library_is_where_its_modules_are() -> None:
    assert str(Path(os.__file__).parent) in standard_library(sys.executable)
    assert standard_library("/nowhere/python") == ()


def test_variables_of_the_text_and_of_the_frameworks_go_to_another_machine() -> None:
    environment = {
        "MY_RATE": "1",
        "APP_LR": "2",
        "CUDA_VISIBLE_DEVICES": "0",
        "OMP_NUM_THREADS": "1",
        "EDITOR": "vi",
        "PWD": "/here",
        "lower": "3",
    }
    text = 'os.environ["MY_RATE"]; settings(env_prefix="APP_"); os.getenv("lower"); "PWD"'
    assert list(named_variables([text], environment)) == [
        "APP_LR",
        "CUDA_VISIBLE_DEVICES",
        "MY_RATE",
        "OMP_NUM_THREADS",
        "lower",
    ]
