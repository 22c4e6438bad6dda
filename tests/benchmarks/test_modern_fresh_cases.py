"""The truth of the late sets of modern programs fits them, and neither has changed since it was written."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from benchmarks.modern.case import HERE, Half, ModernCase, Truth, catalogue, identity

FROZEN = {
    Half.FRESH: "e951f462f6d2ba01d9f091676ea7729e323506bab3564d9640ec527dcfc2c749",
    Half.LATER: "3402864a1b5fa87d429210b73133c1a9d98ee5ad3313b49506333824cba38e41",
    Half.FIFTH: "2d69ef52d15270c9e352f9f38fd6ed8a5e7ffff7ab29116e28bed332376e9f6b",
    Half.SIXTH: "b0503443d5982f5a8d4d2687e284f97518655f664494920c5528f33d661c61e6",
    Half.SEVENTH: "dcefcfb681c511d8fc505f4b010de5b8462225a459f96d7f3e86449e8e316995",
    Half.TENTH: "20193c55425385a84b5a53594adc9f5877532c909f833a8ed5b5af20a2e1a20b",
    Half.NINTH: "0dae522397bbb206f63a14ac16dd93c102be580a91fb128b65ad06c99ddec660",
    Half.EIGHTH: "222d3c611e99838972c8c68a414c237e9f2301505c67992dd3ce094b5039f516",
}
"""Over programs and truth, when the last program was added: neither is edited after the tool was run."""
LEAST = {
    Half.FRESH: (40, 40, 14, 30),
    Half.LATER: (28, 26, 14, 28),
    Half.FIFTH: (28, 25, 14, 22),
    Half.SIXTH: (27, 27, 14, 22),
    Half.SEVENTH: (24, 24, 14, 24),
    Half.TENTH: (28, 22, 25, 28),
    Half.NINTH: (29, 25, 20, 29),
    Half.EIGHTH: (30, 26, 20, 30),
}
"""Faulty and sound programs, styles, categories."""
CASES = [(HERE / half, case) for half in FROZEN for case in catalogue(half)]
FAULTS = [(folder, case, fault) for folder, case in CASES for fault in case.fault]


def _cells(path: Path) -> list[list[str]]:
    """The lines of each cell; none of a cell that is text."""
    found = json.loads(path.read_text("utf-8"))["cells"]
    return ["".join(cell["source"]).splitlines() if cell["cell_type"] == "code" else [] for cell in found]


def _lines(path: Path) -> list[str]:
    """All code of a program, whichever form it has."""
    if path.is_dir():
        return [line for file in sorted(path.rglob("*.py")) for line in file.read_text("utf-8").splitlines()]
    if path.suffix == ".ipynb":
        return [line for cell in _cells(path) for line in cell]
    return path.read_text("utf-8").splitlines()


def _place(path: Path, fault: Truth) -> list[str]:
    """The text in which the lines of a fault count."""
    if fault.cell is not None:
        return _cells(path)[fault.cell]
    if path.is_dir():
        assert fault.file
        return (path / fault.file).read_text("utf-8").splitlines()
    beside = [folder / fault.file for folder in path.parents[:2]] if fault.file else [path]
    return next(file for file in beside if file.is_file()).read_text("utf-8").splitlines()


@pytest.mark.parametrize(("folder", "case"), CASES, ids=[case.id for _, case in CASES])
def test_a_program_has_its_files_and_a_usual_size(folder: Path, case: ModernCase) -> None:
    path = folder / case.folder / case.path

    assert path.exists()
    assert (case.folder or path.name.removesuffix(path.suffix)) == case.id
    assert case.module or path.is_file()
    assert 50 <= len(_lines(folder / case.folder if case.folder and path.suffix == ".py" else path)) <= 330
    assert 0 < case.seconds <= 60


@pytest.mark.parametrize(
    ("folder", "case", "fault"),
    FAULTS,
    ids=[f"{case.id}-{'-'.join(map(str, fault.lines))}" for _, case, fault in FAULTS],
)
def test_the_lines_of_a_fault_are_code(folder: Path, case: ModernCase, fault: Truth) -> None:
    text = _place(folder / case.folder / case.path, fault)

    for number in fault.lines:
        assert 1 <= number <= len(text)
        assert text[number - 1].strip()
        assert not text[number - 1].strip().startswith("#")


@pytest.mark.parametrize("half", FROZEN)
def test_ids_are_unique_and_every_file_has_its_entry(half: Half) -> None:
    cases, folder = catalogue(half), HERE / half
    assert [name for name, count in Counter(case.id for case in cases).items() if count > 1] == []
    there = {path.name for path in folder.iterdir() if path.suffix in {".py", ".ipynb"} or _is_package(path)}
    assert there == {case.folder or case.path for case in cases}


def _is_package(path: Path) -> bool:
    return path.is_dir() and path.name != "__pycache__"


@pytest.mark.parametrize("half", FROZEN)
def test_there_are_enough_programs_styles_and_categories(half: Half) -> None:
    cases = catalogue(half)
    kinds = Counter(case.kind for case in cases)
    there = (
        kinds["faulty"],
        kinds["sound"],
        len({case.style for case in cases}),
        len({fault.category for case in cases for fault in case.fault}),
    )
    assert all(found >= least for found, least in zip(there, LEAST[half], strict=True))


@pytest.mark.parametrize("half", FROZEN)
def test_programs_and_truth_are_as_they_were_written(half: Half) -> None:
    assert identity(half) == FROZEN[half]
