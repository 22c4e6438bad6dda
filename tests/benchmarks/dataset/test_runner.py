"""What one training is started with, and what it is not: its truth."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.dataset.asked import Asked
from benchmarks.dataset.foreign import Foreign
from benchmarks.dataset.own import copy_of
from benchmarks.dataset.ran import Ran, read_answer
from benchmarks.dataset.result import TrainingDiagnosis
from benchmarks.dataset.runner import (
    MODULES,
    blank_diagnosis,
    diagnose_all,
    start_of,
    why_not,
)
from benchmarks.dataset.splits import published, split_named, splits, trainings_of
from benchmarks.dataset.training import TRAININGS, Training
from reenact.errors import InputError

OWN = Training("own", "train.py", sound=True, what="for tests", seconds=10.0)
STRANGE = Training(
    "strange",
    "train.py",
    sound=True,
    what="for tests",
    foreign=Foreign("owner/name", "0" * 64),
)
BLANK = TrainingDiagnosis("own", "quick", "code", "start")


def training_named(split: str, name: str) -> Training:
    return next(one for one in trainings_of(split_named(split)) if one.id == name)


@pytest.mark.parametrize(
    ("split", "name", "files"),
    [
        ("tuning", "segment_conf", {"segment_conf.py", "segment_conf.yaml"}),
        ("tuning", "clickrate", {"clickrate"}),
        ("blind-5", "ring_gan-3", {"ring_gan.py"}),
    ],
)
def test_a_copy_has_the_program_and_not_its_truth(
    tmp_path: Path, split: str, name: str, files: set[str]
) -> None:
    training = training_named(split, name)
    folder = copy_of(training, tmp_path)
    assert folder.name == training.shown
    assert {path.name for path in folder.iterdir()} == files
    assert (TRAININGS / name / "truth.toml").is_file()


def test_names_that_recur_are_ids_once() -> None:
    trainings = [one for split in published("modern").values() for one in trainings_of(split)]
    assert len({one.id for one in trainings}) == len(trainings)
    assert len({one.shown for one in trainings}) < len(trainings)
    for split in published("modern").values():
        shown = [one.shown for one in trainings_of(split)]
        assert len(set(shown)) == len(shown)


@pytest.mark.parametrize(
    ("asked", "training", "expected_s", "limit_s"),
    [
        (Asked(), OWN, 35, 300),
        (Asked(), STRANGE, 180, 360),
        (Asked(depth="normal"), STRANGE, 1200, 2400),
        (Asked(minutes=1), STRANGE, 60, 60),
        (Asked(repair=True), OWN, 480, 1440),
        (Asked(repair=True, minutes=2), OWN, 120, 120),
    ],
)
def test_time_that_one_training_gets(
    asked: Asked, training: Training, expected_s: float, limit_s: float
) -> None:
    assert asked.expected_s(training) == expected_s
    assert asked.limit_s(training) == limit_s


def test_recorded_answers_are_one_file_or_one_for_each_training(tmp_path: Path) -> None:
    file = tmp_path / "own.jsonl"
    file.write_text("", encoding="utf-8")
    assert Asked(model=f"replay:{tmp_path}").recording(OWN) == file
    assert Asked(model=f"replay:{file}").recording(STRANGE) == file
    assert Asked(model="anthropic:name").recording(OWN) is None
    with pytest.raises(InputError, match="no recording"):
        Asked(model=f"replay:{tmp_path}").recording(STRANGE)


def test_other_recorded_answers_are_another_measurement(tmp_path: Path) -> None:
    asked, starts = Asked(model=f"replay:{tmp_path}"), set()
    for text in ("", "one answer"):
        (tmp_path / "own.jsonl").write_text(text, encoding="utf-8")
        starts.add(start_of(OWN, asked, with_fix=False))
    assert len({*starts, start_of(OWN, Asked(), with_fix=False)}) == 3
    assert blank_diagnosis(OWN, asked).how != blank_diagnosis(OWN, Asked()).how


def test_a_training_that_lacks_a_package_is_not_started(tmp_path: Path) -> None:
    lacking = Training("own", "train.py", sound=True, what="for tests", needs=("no_such_package",))
    (result,) = diagnose_all([lacking], Asked(), tmp_path)
    assert result.could_not_run == why_not(lacking, Asked()) == "packages: no_such_package"
    assert not result.started
    assert list(tmp_path.iterdir()) == []


def test_an_answer_is_read_or_why_there_is_none() -> None:
    answered = read_answer(Ran(b'{"judgement": "sound", "seconds": 2.0}', seconds=9.0), BLANK)
    assert (answered.judgement, answered.seconds, answered.could_not_run) == (
        "sound",
        2.0,
        "",
    )
    nothing = read_answer(Ran(why="no answer within its time", output="..."), BLANK)
    assert (nothing.could_not_run, nothing.output) == (
        "no answer within its time",
        "...",
    )
    for refused in (b'{"findings": 3}', b'{"unknown": 1}', b"not JSON"):
        assert read_answer(Ran(refused), BLANK).could_not_run.startswith("answer: ")


@pytest.mark.slow
def test_a_training_of_the_data_set_is_diagnosed_without_its_truth(
    tmp_path: Path,
) -> None:
    training = training_named("kinds-2", "friedman_logcosh")
    (result,) = diagnose_all([training], Asked(), tmp_path)
    assert result.could_not_run == ""
    assert result.judgement
    assert diagnose_all([training], Asked(), tmp_path) == [result]


def test_what_any_training_needs_can_be_looked_for_as_a_module() -> None:
    needed = {
        name for split in splits().values() for one in trainings_of(split) for name in one.needs
    }
    modules = {MODULES.get(name, name) for name in needed}
    assert [name for name in sorted(modules) if not name.isidentifier()] == []
