"""A small data set of our own: what is read of it, what its lock notices, what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.dataset import kinds as kinds_of_faults
from benchmarks.dataset import splits as splits_of_folder
from benchmarks.dataset.lock import (
    add_new,
    changes,
    digest_of,
    read_lock,
    require_locked,
)
from benchmarks.dataset.problems import problems
from benchmarks.dataset.result import TrainingDiagnosis
from benchmarks.dataset.scoring import scored
from benchmarks.dataset.splits import split_named, trainings_of
from benchmarks.dataset.training import Training, Truth, accepted, read_training
from reenact.errors import InputError

SPLITS = """
[first]
written = 2026-01-01
authors = "us"
given = "nothing"
style = "short"
ids = ["faulty", "sound"]
"""
FAULTY = """
sound = false
path = "train.py"
seconds = 1
what = "the rate is too high"

[[fault]]
lines = [2]
"""
SOUND = 'sound = true\npath = "train.py"\nseconds = 1\nwhat = "nothing"\n'
CODE = {"cell_type": "code", "outputs": [], "execution_count": None, "metadata": {}}
NOTEBOOK = json.dumps(
    {
        "cells": [
            {"cell_type": "markdown", "source": "Text"},
            {**CODE, "source": ["import torch\n", "lr = 1"]},
            {**CODE, "source": ["# a comment\n", "lr = 10"]},
        ],
        "metadata": {"language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two trainings in one split, locked."""
    for name, truth in (("faulty", FAULTY), ("sound", SOUND)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "train.py").write_text("import torch\nlr = 10\n", encoding="utf-8")
        (tmp_path / name / "truth.toml").write_text(truth, encoding="utf-8")
    (tmp_path / "splits.toml").write_text(SPLITS, encoding="utf-8")
    (tmp_path / "kinds.toml").write_text('faulty = ["learning-rate-too-high"]\n', encoding="utf-8")
    assert add_new(tmp_path) == ["first", "the kinds of first"]
    return tmp_path


def edited(folder: Path, name: str, old: str, new: str) -> None:
    """A file of the data set with another text."""
    file = folder / name
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")
    kinds_of_faults.kinds.cache_clear()
    splits_of_folder.splits.cache_clear()


def changed(folder: Path) -> str:
    return " ".join(changes(split_named("first", folder), folder))


def test_a_locked_split_has_a_line_and_each_training_one(folder: Path) -> None:
    locked = read_lock(folder)
    assert list(locked.splits) == ["first"]
    assert list(locked.trainings) == ["faulty", "sound"]
    assert changed(folder) == ""
    require_locked(split_named("first", folder), folder)


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("faulty/train.py", "10", "9"),
        ("faulty/truth.toml", "too high", "high"),
        ("faulty/truth.toml", "[2]", "[1]"),
    ],
)
def test_an_edited_program_or_truth_is_noticed_by_its_name(
    folder: Path, name: str, old: str, new: str
) -> None:
    edited(folder, name, old, new)
    assert "faulty was changed" in changed(folder)
    assert "sound was changed" not in changed(folder)
    with pytest.raises(InputError, match="first is not what LOCK says"):
        require_locked(split_named("first", folder), folder)
    with pytest.raises(InputError, match="first is not what LOCK says"):
        add_new(folder)


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("splits.toml", '"faulty", "sound"', '"sound", "faulty"'),
        ("splits.toml", '"faulty", "sound"', '"faulty"'),
    ],
)
def test_another_order_or_another_training_is_another_split(
    folder: Path, name: str, old: str, new: str
) -> None:
    edited(folder, name, old, new)
    assert changed(folder).startswith("The split first was locked with other")


def test_kinds_are_chosen_after_the_first_run_and_then_locked(folder: Path) -> None:
    edited(folder, "kinds.toml", "learning-rate-too-high", "learning-rate-too-low")
    assert changed(folder) == "The kinds of the split first are not those that were locked."
    (folder / "LOCK").unlink()
    edited(folder, "kinds.toml", 'faulty = ["learning-rate-too-low"]', "")
    assert add_new(folder) == ["first"]
    split = split_named("first", folder)
    require_locked(split, folder)
    trainings = trainings_of(split, folder)
    results = [TrainingDiagnosis(training.id, "quick", "code", "start") for training in trainings]
    with pytest.raises(InputError, match=r"no kinds yet\. Received: faulty"):
        scored(split, trainings, results, depth="quick", whole=True)
    (folder / "kinds.toml").write_text('faulty = ["wrong-sign"]\n', encoding="utf-8")
    edited(folder, "kinds.toml", "sign", "sign")
    assert add_new(folder) == ["the kinds of first"]
    scored(split, trainings_of(split, folder), results, depth="quick", whole=True)


def test_when_it_was_opened_changes_no_split(folder: Path) -> None:
    assert split_named("first", folder).role == "held out"
    edited(folder, "splits.toml", "style", "opened = 2026-02-01\nstyle")
    assert split_named("first", folder).role == "training data since 2026-02-01"
    assert changed(folder) == ""


def test_a_new_split_is_locked_and_the_old_one_stays(folder: Path) -> None:
    before = read_lock(folder)
    (folder / "new").mkdir()
    (folder / "new" / "truth.toml").write_text(SOUND, encoding="utf-8")
    edited(
        folder,
        "splits.toml",
        "[first]",
        SPLITS.replace("first", "second").replace('"faulty", "sound"', '"new"') + "\n[first]",
    )
    assert add_new(folder) == ["second"]
    assert read_lock(folder).splits["first"] == before.splits["first"]
    assert read_lock(folder).trainings["new"] == digest_of("new", folder)


def test_truth_is_read_with_its_kind_and_refused_without(folder: Path) -> None:
    faulty, sound = trainings_of(split_named("first", folder), folder)
    assert faulty.fault == (Truth("learning-rate-too-high", (2,)),)
    assert sound.fault == ()
    with pytest.raises(InputError, match="1 faults have 2 kinds"):
        read_training("faulty", ("wrong-sign", "wrong-loss"), folder)
    edited(folder, "kinds.toml", "learning-rate-too-high", "bad-luck")
    with pytest.raises(InputError, match="Received: bad-luck"):
        trainings_of(split_named("first", folder), folder)


@pytest.mark.parametrize(
    ("name", "old", "new", "kinds"),
    [
        ("sound", "true", "false", ()),
        ("faulty", "false", "true", ("wrong-sign",)),
        ("sound", "path", "pth", ()),
        ("sound", '"train.py"', '"../train.py"', ()),
    ],
)
def test_a_truth_that_cannot_be_meant_is_refused(
    folder: Path, name: str, old: str, new: str, kinds: tuple[str, ...]
) -> None:
    edited(folder, f"{name}/truth.toml", old, new)
    with pytest.raises(InputError):
        read_training(name, kinds, folder)


def test_a_split_that_is_not_there_and_one_training_in_two_splits(folder: Path) -> None:
    with pytest.raises(InputError, match="one of first"):
        split_named("second", folder)
    edited(
        folder,
        "splits.toml",
        "[first]",
        SPLITS.replace("first", "second") + "\n[first]",
    )
    with pytest.raises(InputError, match="A training is in one split"):
        split_named("first", folder)


def faulty(**more: object) -> Training:
    facts = {"path": "train.py", "sound": False, "what": "x", "seconds": 1.0, **more}
    return Training("faulty", **facts)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("training", "sentence"),
    [
        (faulty(fault=(Truth("wrong-sign", (2,)),)), ""),
        (faulty(fault=(Truth("wrong-sign", (3,)),)), "line 3 of train.py is no code"),
        (
            faulty(fault=(Truth("wrong-sign", (1,), file="other.py"),)),
            "there is no other.py",
        ),
        (faulty(path="other.py"), "there is no other.py"),
        (faulty(seconds=61.0), "takes 61 s"),
    ],
)
def test_a_truth_that_does_not_fit_its_program(
    folder: Path, training: Training, sentence: str
) -> None:
    found = list(problems(training, folder))
    assert len(found) == bool(sentence)
    assert all(sentence in each for each in found)


def test_lines_of_a_notebook_count_in_their_cell(folder: Path) -> None:
    (folder / "faulty" / "nb.ipynb").write_text(NOTEBOOK, encoding="utf-8")
    fits = Truth("wrong-sign", (2,), cell=2)
    notebook = faulty(path="nb.ipynb", fault=(fits, Truth("wrong-sign", (1,), cell=2)))
    assert list(problems(notebook, folder)) == ["faulty: line 1 of nb.ipynb is no code."]
    file, (line,) = accepted(notebook, fits, folder)
    assert file == "nb.ipynb"
    assert read_script(folder).splitlines()[line - 1] == "lr = 10"
    with pytest.raises(InputError, match="No code cell"):
        accepted(notebook, Truth("wrong-sign", (1,), cell=0), folder)


def read_script(folder: Path) -> str:
    from reenact.program.syntax.notebook import read_notebook

    return read_notebook((folder / "faulty" / "nb.ipynb").read_text(encoding="utf-8")).script
