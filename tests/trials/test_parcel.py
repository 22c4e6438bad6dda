"""Programs on their way to another machine."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from contracts.executor import fingerprint, program_in
from reenact.errors import InputError
from reenact.probe.crash import Crash
from reenact.probe.outcome import OutcomeKind
from reenact.program.program import read_program
from reenact.trials.folder import MOST_FILE_BYTES
from reenact.trials.parcel import (
    Needs,
    arrived,
    data_mark,
    needs_of,
    pack,
    take_variables,
    unpack,
)
from reenact.trials.reading import at_home
from reenact.trials.trial import Outcome

TEXT = "import os, torch\nopen('data/small.csv')\nprint(os.environ['MY_SCALE'])\n"


def test_a_folder_arrives_as_it_was_without_what_no_training_reads(
    tmp_path: Path,
) -> None:
    home = tmp_path / "home"
    (home / "data").mkdir(parents=True)
    (home / "data" / "small.csv").write_text("1,2\n", encoding="utf-8")
    (home / ".git").mkdir()
    (home / ".git" / "config").write_text("secret", encoding="utf-8")
    (home / "empty").mkdir()
    (home / "alias.csv").symlink_to("data/small.csv")
    program = program_in(home, TEXT, "--file", f"{home}/data/small.csv")
    parcel = pack(program)
    before = fingerprint(home)
    shutil.rmtree(home)
    unpack(parcel, tmp_path / "there")
    moved = arrived(program, parcel, tmp_path / "there")
    assert moved.folder == moved.working == tmp_path / "there"
    assert moved.arguments == ("--file", str(tmp_path / "there" / "data" / "small.csv"))
    assert fingerprint(tmp_path / "there") == {
        name: mark for name, mark in before.items() if ".git" not in name
    }
    assert (tmp_path / "there" / "alias.csv").is_symlink()
    assert (tmp_path / "there" / "empty").is_dir()
    assert read_program(["train.py"], moved.folder).files == program.files


def test_large_files_stay_and_are_named_unless_every_node_has_them(
    tmp_path: Path,
) -> None:
    program = program_in(tmp_path, TEXT)
    large, small = tmp_path / "large.bin", tmp_path / "small.bin"
    with large.open("wb") as file:
        file.truncate(MOST_FILE_BYTES + 1)
    small.write_bytes(b"1")
    parcel = pack(program)
    assert parcel.left_out == (str(large),)
    assert ("large.bin", str(large)) in parcel.links
    named = pack(program, [large, small])
    assert named.left_out == ()
    assert ("small.bin", str(small)) in named.links, (
        "data that are named are not sent, however small"
    )
    assert set(named.needs.data) == {str(large), str(small)}
    with pytest.raises(InputError, match=r"--data .*nowhere"):
        pack(program, [tmp_path / "nowhere"])


def test_the_users_variables_go_along_and_those_of_the_machine_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_SCALE", "2")
    monkeypatch.setenv("TORCH_HOME", "/cache")
    monkeypatch.setenv("SECRET_OF_ANOTHER_PROGRAM", "x")
    program = program_in(tmp_path, TEXT)
    parcel = pack(program)
    assert parcel.variables["MY_SCALE"] == "2"
    assert not {"TORCH_HOME", "SECRET_OF_ANOTHER_PROGRAM", "PATH"} & set(parcel.variables)
    monkeypatch.setenv("MY_SCALE", "3")
    monkeypatch.setenv("KERAS_BACKEND_OF_THE_NODE", "jax")
    take_variables(parcel, [TEXT])
    assert os.environ["MY_SCALE"] == "2"
    assert "KERAS_BACKEND_OF_THE_NODE" not in os.environ, "the user has no such variable"
    assert os.environ["TORCH_HOME"] == "/cache"


def test_what_differs_on_a_node_is_named(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "a").write_text("1", encoding="utf-8")
    here = needs_of(["torch", "numpy"], [tmp_path / "d"])
    assert here.packages["torch"]
    assert here.differences(here) == []
    (tmp_path / "d" / "a").write_text("2", encoding="utf-8")
    there = Needs(
        here.reenact,
        "3.7",
        {"torch": "1.0"},
        {str(tmp_path / "d"): data_mark(tmp_path / "d")},
    )
    assert here.differences(there) == [
        f"Python 3.7 instead of {here.python}",
        f"numpy missing instead of {here.packages['numpy']}",
        f"torch 1.0 instead of {here.packages['torch']}",
        f"other data at {tmp_path / 'd'}",
    ]
    assert here.differences(replace(here, data={})) == [f"no data at {tmp_path / 'd'}"]
    with pytest.raises(InputError, match="/no/python"):
        needs_of([], [], "/no/python")


def test_large_data_count_by_size_and_samples(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reenact.trials.parcel.WHOLE", 1 << 20)
    file = tmp_path / "x"
    file.write_bytes(bytes(3 << 20))
    first = data_mark(file)
    file.touch()
    assert data_mark(file) == first, "the time of change says nothing on another machine"
    file.write_bytes(bytes(3 << 20) + b"1")
    assert data_mark(file) != first
    assert data_mark(tmp_path / "nowhere") == ""


def test_an_outcome_speaks_of_the_users_folder() -> None:
    crash = Crash(
        "OSError",
        "no /n/1/x",
        None,
        "",
        ("/n/1/train.py:3 in main",),
        missing_file="/n/1/x",
    )
    outcome = at_home(Outcome(OutcomeKind.CRASHED, crash=crash, note="at /n/1"), "/n/1", "/home/me")
    assert outcome.crash is not None
    assert outcome.crash.message == "no /home/me/x"
    assert outcome.crash.frames == ("/home/me/train.py:3 in main",)
    assert (outcome.crash.missing_file, outcome.note) == ("/home/me/x", "at /home/me")
