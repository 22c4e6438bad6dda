"""The truth of benchmarks/modern/fresh fits its programs, and neither has changed since they were written."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from benchmarks.modern.case import HERE, Half, ModernCase, Truth, catalogue, identity

FROZEN = "e951f462f6d2ba01d9f091676ea7729e323506bab3564d9640ec527dcfc2c749"
"""Over programs and truth, when the last program was added: neither is edited after the tool was run."""
FOLDER = HERE / Half.FRESH
CASES = catalogue(Half.FRESH)
FAULTS = [(case, fault) for case in CASES for fault in case.fault]


def _cells(path: Path) -> list[list[str]]:
    """The lines of each cell; none of a cell that is text."""
    found = json.loads(path.read_text("utf-8"))["cells"]
    return ["".join(cell["source"]).splitlines() if cell["cell_type"] == "code" else [] for cell in found]


def _lines(case: ModernCase) -> list[str]:
    """All code of a program, whichever form it has."""
    path = FOLDER / case.path
    if path.is_dir():
        return [line for file in sorted(path.rglob("*.py")) for line in file.read_text("utf-8").splitlines()]
    if path.suffix == ".ipynb":
        return [line for cell in _cells(path) for line in cell]
    return path.read_text("utf-8").splitlines()


def _place(case: ModernCase, fault: Truth) -> list[str]:
    """The text in which the lines of a fault count."""
    path = FOLDER / case.path
    if fault.cell is not None:
        return _cells(path)[fault.cell]
    if path.is_dir():
        assert fault.file
        return (path / fault.file).read_text("utf-8").splitlines()
    return (FOLDER / (fault.file or case.path)).read_text("utf-8").splitlines()


@pytest.mark.parametrize("case", CASES, ids=[case.id for case in CASES])
def test_a_program_has_its_files_and_a_usual_size(case: ModernCase) -> None:
    path = FOLDER / case.path

    assert path.exists()
    assert path.name.removesuffix(path.suffix) == case.id
    assert bool(case.module) == path.is_dir()
    assert 60 <= len(_lines(case)) <= 300
    assert 0 < case.seconds <= 40


@pytest.mark.parametrize(
    ("case", "fault"), FAULTS, ids=[f"{case.id}-{'-'.join(map(str, fault.lines))}" for case, fault in FAULTS]
)
def test_the_lines_of_a_fault_are_code(case: ModernCase, fault: Truth) -> None:
    text = _place(case, fault)

    for number in fault.lines:
        assert 1 <= number <= len(text)
        assert text[number - 1].strip()
        assert not text[number - 1].strip().startswith("#")


def test_ids_are_unique_and_every_file_has_its_entry() -> None:
    assert [name for name, count in Counter(case.id for case in CASES).items() if count > 1] == []
    there = {
        path.name
        for path in FOLDER.iterdir()
        if path.suffix in {".py", ".ipynb"} or (path / "train.py").is_file()
    }
    assert there == {case.path for case in CASES}


def test_there_are_enough_programs_styles_and_categories() -> None:
    kinds = Counter(case.kind for case in CASES)

    assert kinds["faulty"] >= 40
    assert kinds["sound"] >= 40
    assert len({case.style for case in CASES}) >= 14
    assert len({fault.category for _, fault in FAULTS}) >= 30


def test_programs_and_truth_are_as_they_were_written() -> None:
    assert identity(Half.FRESH) == FROZEN
