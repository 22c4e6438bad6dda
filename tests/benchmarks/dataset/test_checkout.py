"""A foreign program is checked, copied, edited and given its data; what is missing is named."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.dataset.asked import Asked
from benchmarks.dataset.checkout import BESIDE
from benchmarks.dataset.checkout import materialise as prepare
from benchmarks.dataset.foreign import Data, Edit, Fixed, Foreign
from benchmarks.dataset.runner import why_not
from benchmarks.dataset.splits import published, trainings_of
from benchmarks.dataset.standin_files import FILES
from benchmarks.dataset.standins import (
    OldMnist,
    digits,
    flat_digits,
    pictures,
    reviews,
    two_views,
)
from benchmarks.dataset.training import Training
from reenact.errors import InputError

PROGRAM = "epochs = 500\nprint(epochs)\n"


def program(folder: Path, **more: object) -> Training:
    """A program of our own in a checkout."""
    file = folder / "repository" / "mine" / "train.py"
    file.parent.mkdir(parents=True)
    file.write_text(PROGRAM, encoding="utf-8")
    foreign = Foreign("owner/repository", hashlib.sha256(PROGRAM.encode()).hexdigest())
    changed = replace(foreign, **more)  # type: ignore[arg-type]
    return Training("own", "mine/train.py", sound=True, what="for tests", foreign=changed)


def materialise(training: Training, checkouts: Path, into: Path) -> Path:
    assert training.foreign is not None
    return prepare(training, training.foreign, checkouts, into)


def without(training: Training, **more: object) -> Training:
    assert training.foreign is not None
    return replace(training, foreign=replace(training.foreign, **more))  # type: ignore[arg-type]


def test_files_and_folders_of_the_repository_are_laid_beside(tmp_path: Path) -> None:
    case = program(tmp_path, beside=("models.py", "tools"))
    (tmp_path / "repository" / "models.py").write_text("", encoding="utf-8")
    (tmp_path / "repository" / "tools" / "inner").mkdir(parents=True)
    entry = materialise(case, tmp_path, tmp_path / "copy")
    assert (entry.parent / "models.py").is_file()
    assert (entry.parent / "tools" / "inner").is_dir()


def test_a_program_is_copied_checked_edited_and_given_its_data(tmp_path: Path) -> None:
    case = program(
        tmp_path,
        edits=(Edit(1, "500", "2"),),
        data=Data.BESIDE,
        files={"corpus/text.txt": "short prose"},
    )
    assert not why_not(case, Asked(checkouts=tmp_path))
    entry = materialise(case, tmp_path, tmp_path / "copy")
    assert entry.read_text(encoding="utf-8") == "epochs = 2\nprint(epochs)\n"
    assert (entry.parent / BESIDE).is_file()
    assert "O God" in (entry.parent / "corpus" / "text.txt").read_text(encoding="utf-8")
    assert (tmp_path / "repository" / "mine" / "train.py").read_text(encoding="utf-8") == PROGRAM


def test_the_fixed_side_gets_the_edits_of_equal_lines(tmp_path: Path) -> None:
    text = "import math\nepochs = 500\nprint(epochs + math.pi)\n"
    sha256 = hashlib.sha256(text.encode()).hexdigest()
    case = program(tmp_path, edits=(Edit(1, "500", "2"),), fixed=Fixed("mine/fixed.py", sha256))
    (tmp_path / "repository" / "mine" / "fixed.py").write_text(text, encoding="utf-8")
    entry = materialise(case, tmp_path, tmp_path / "copy")
    assert (entry.parent / "fixed.py").read_text(encoding="utf-8") == text.replace("500", "2")


def test_a_line_that_is_not_as_described_is_not_edited(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="Nothing to edit"):
        materialise(program(tmp_path, edits=(Edit(2, "500", "2"),)), tmp_path, tmp_path / "copy")


def test_another_program_under_that_name_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not the one"):
        materialise(program(tmp_path, sha256="0" * 64), tmp_path, tmp_path / "copy")


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    training, asked = program(tmp_path), Asked(checkouts=tmp_path)
    assert (
        why_not(replace(training, needs=("no_such_package",)), asked) == "packages: no_such_package"
    )
    assert why_not(without(training, data=Data.STAND_IN), asked) == "data"
    assert why_not(training, Asked(checkouts=tmp_path / "elsewhere")) == "no checkout"
    assert why_not(training, Asked()) == "no checkout"
    assert why_not(without(training, beside=("tools",)), asked) == "no checkout"


def test_a_box_without_network_is_given_no_model_but_a_recording(
    tmp_path: Path,
) -> None:
    with pytest.raises(InputError, match="no network"):
        why_not(program(tmp_path), Asked(checkouts=tmp_path, model="anthropic:name"))


def test_every_file_that_a_foreign_program_reads_can_be_made() -> None:
    trainings = [one for split in published("field").values() for one in trainings_of(split)]
    makers = {
        maker
        for one in trainings
        if one.foreign is not None
        for maker in one.foreign.files.values()
    }
    assert makers
    assert makers <= FILES.keys()


def test_stand_ins_have_the_shapes_of_what_they_stand_for() -> None:
    (x, y), (x_test, _) = digits(50, 20)
    assert (x.shape, y.shape, x_test.shape, x.dtype) == (
        (50, 28, 28),
        (50,),
        (20, 28, 28),
        "uint8",
    )
    (x, y), _ = pictures(50, 20, classes=100)
    assert (x.shape, y.shape) == ((50, 32, 32, 3), (50, 1))
    assert y.max() > 9
    (words, labels), _ = reviews(1000, 30, 10)
    assert max(max(row) for row in words) < 1000
    assert set(labels) == {0, 1}


def test_digits_are_had_flat_in_pairs_of_views_and_by_their_old_names() -> None:
    (x, y), validation, (x_test, _) = flat_digits()
    assert (x.shape, y.dtype, validation[0].shape, len(x_test)) == (
        (1000, 784),
        "int64",
        (300, 784),
        300,
    )
    assert (x.min(), x.max()) == (0, 1)
    (one, other), label = two_views(20)[3]
    assert one.shape == other.shape == (3, 32, 32)
    assert not one.equal(other)
    assert label in range(10)
    assert two_views(20)[3][1] == label
    test = OldMnist("data", train=False, target_transform=bool)
    assert len(test) == len(test.test_labels) == len(test.test_data) == 300


def test_series_have_a_day_and_an_index_is_made_of_its_shares(tmp_path: Path) -> None:
    for name in ("sensors", "shares"):
        FILES[name](tmp_path / name)
    sensors = np.loadtxt(tmp_path / "sensors", delimiter=",")
    assert sensors.shape == (500, 6)
    assert (np.abs(sensors[24:] - sensors[:-24]) < 1.5).all()
    shares = np.loadtxt(tmp_path / "shares", delimiter=",", skiprows=1)
    assert np.allclose(shares[:, :10] @ np.linspace(0.5, 1.5, 10), shares[:, 10], atol=1e-2)
    assert (tmp_path / "shares").read_text(encoding="utf-8").splitlines()[0].endswith("S9,NDX")
