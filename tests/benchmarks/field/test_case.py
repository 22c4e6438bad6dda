"""The manifest of foreign programs, its halves, and the freezing of what is true of them."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks.field.case import Data, Edit, FieldCase, Fixed, Half, catalogue, drawn, half_of
from benchmarks.field.programs import BESIDE, materialise, why_not
from benchmarks.field.standin_files import FILES
from benchmarks.field.standins import digits, pictures, reviews
from reenact.errors import InputError
from reenact.program.fault import Fault

CASES = catalogue()
PROGRAM = "epochs = 500\nprint(epochs)\n"


def program(folder: Path, **more: object) -> FieldCase:
    """A program of our own in a checkout."""
    file = folder / "repository" / "mine" / "train.py"
    file.parent.mkdir(parents=True)
    file.write_text(PROGRAM, encoding="utf-8")
    sha256 = hashlib.sha256(PROGRAM.encode()).hexdigest()
    made = FieldCase("own", "owner/repository", "mine/train.py", sha256, "for tests", sound=True)
    return replace(made, **more)


def test_there_are_enough_programs_of_both_kinds() -> None:
    assert sum(not case.sound for case in CASES) >= 56
    assert sum(case.sound for case in CASES) >= 50


def test_the_halves_are_those_that_were_drawn() -> None:
    later = {case.id for half in (Half.FRESH, Half.LATER) for case in half_of(CASES, half)}
    halves = drawn([case for case in CASES if case.id not in later])
    for half, names in halves.items():
        assert tuple(sorted(case.id for case in half_of(CASES, half))) == names
    assert not set(halves[Half.TUNE]) & set(halves[Half.CONFIRM])
    faulty = {case.id for case in CASES if not case.sound}
    assert len(faulty & set(halves[Half.CONFIRM])) >= 25


def test_a_changed_truth_of_the_confirm_half_is_refused() -> None:
    name = next(case.id for case in half_of(CASES, Half.CONFIRM) if not case.sound)
    changed = [replace(one, faults=((Fault.HLR, 1),)) if one.id == name else one for one in CASES]
    with pytest.raises(InputError, match="frozen"):
        half_of(changed, Half.CONFIRM)
    half_of(changed, Half.TUNE)


@pytest.mark.parametrize(
    "change", [{"arguments": ("--epochs", "1")}, {"edits": (Edit(1, "500", "2"),)}, {"fixed": None}]
)
def test_how_a_program_is_started_is_frozen_too(change: dict[str, Any]) -> None:
    name = next(case.id for case in half_of(CASES, Half.CONFIRM) if case.fixed is not None)
    changed = [replace(one, **change) if one.id == name else one for one in CASES]
    with pytest.raises(InputError, match="frozen"):
        half_of(changed, Half.CONFIRM)
    half_of(changed, Half.TUNE)


@pytest.mark.parametrize(("half", "programs", "sources"), [(Half.FRESH, 40, 8), (Half.LATER, 15, 3)])
def test_programs_that_came_later_are_sound_frozen_and_of_several_sources(
    half: Half, programs: int, sources: int
) -> None:
    found = half_of(CASES, half)
    assert len(found) >= programs
    assert all(case.sound for case in found)
    assert len({case.source for case in found}) >= sources
    changed = [replace(one, arguments=("--epochs", "1")) if one == found[0] else one for one in CASES]
    with pytest.raises(InputError, match=f"{half} half is not what was frozen"):
        half_of(changed, half)


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
    assert not why_not(case, tmp_path)
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
    case = program(tmp_path)
    assert why_not(replace(case, requires=("no_such_package",)), tmp_path) == "packages: no_such_package"
    assert why_not(replace(case, data=Data.STAND_IN), tmp_path) == "data"
    assert why_not(case, tmp_path / "elsewhere") == "no checkout"
    assert why_not(replace(case, beside=("tools",)), tmp_path) == "no checkout"


def test_every_file_of_the_manifest_can_be_made() -> None:
    assert {maker for case in CASES for maker in case.files.values()} <= FILES.keys()


def test_stand_ins_have_the_shapes_of_what_they_stand_for() -> None:
    (x, y), (x_test, _) = digits(50, 20)
    assert (x.shape, y.shape, x_test.shape, x.dtype) == ((50, 28, 28), (50,), (20, 28, 28), "uint8")
    (x, y), _ = pictures(50, 20, classes=100)
    assert (x.shape, y.shape) == ((50, 32, 32, 3), (50, 1))
    assert y.max() > 9
    (words, labels), _ = reviews(1000, 30, 10)
    assert max(max(row) for row in words) < 1000
    assert set(labels) == {0, 1}
