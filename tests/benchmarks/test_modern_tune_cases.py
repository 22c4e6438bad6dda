"""The truth of benchmarks/modern/tune: every place it names is code that exists."""

from __future__ import annotations

import ast
import json
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

TUNE = Path(__file__).parents[2] / "benchmarks" / "modern" / "tune"
PROGRAMS: list[dict[str, Any]] = tomllib.loads((TUNE / "truth.toml").read_text(encoding="utf-8"))["program"]
EACH = pytest.mark.parametrize("program", PROGRAMS, ids=[program["id"] for program in PROGRAMS])


def sources(program: dict[str, Any]) -> list[Path]:
    """The files of a program that a reader reads."""
    path = TUNE / program["path"]
    return sorted(path.glob("*.py")) if path.is_dir() else [path]


def cells(path: Path) -> list[list[str]]:
    """The lines of each cell of a notebook, markdown too."""
    found = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]).splitlines() for cell in found]


def lines_of(path: Path) -> list[str]:
    """All lines of a file; those of a notebook cell after cell."""
    if path.suffix == ".ipynb":
        return [line for cell in cells(path) for line in cell]
    return path.read_text(encoding="utf-8").splitlines()


def place(program: dict[str, Any], fault: dict[str, Any]) -> list[str]:
    """The lines among which the lines of a fault are counted."""
    path = TUNE / program["path"]
    if "cell" in fault:
        return cells(path)[fault["cell"]]
    if path.is_dir():
        return lines_of(path / fault["file"])
    return lines_of(TUNE / fault.get("file", program["path"]))


@EACH
def test_program_exists_and_is_of_a_readable_length(program: dict[str, Any]) -> None:
    files = sources(program)
    assert files
    assert all(file.is_file() for file in files)
    assert 60 <= sum(len(lines_of(file)) for file in files) <= 300


@EACH
def test_program_is_python(program: dict[str, Any]) -> None:
    for file in sources(program):
        if file.suffix == ".ipynb":
            found = json.loads(file.read_text(encoding="utf-8"))["cells"]
            for cell in found:
                if cell["cell_type"] == "code":
                    ast.parse("".join(cell["source"]))
        else:
            ast.parse(file.read_text(encoding="utf-8"))


@EACH
def test_lines_of_a_fault_are_code(program: dict[str, Any]) -> None:
    for fault in program.get("fault", []):
        lines = place(program, fault)
        assert fault["lines"]
        for number in fault["lines"]:
            assert 1 <= number <= len(lines)
            assert lines[number - 1].strip()
            assert not lines[number - 1].strip().startswith("#")


@EACH
def test_faulty_programs_alone_have_faults(program: dict[str, Any]) -> None:
    assert program["kind"] in ("faulty", "sound")
    assert (program["kind"] == "faulty") == bool(program.get("fault"))
    assert program["what"]
    assert bool(program["module"]) == (TUNE / program["path"]).is_dir()


def test_every_program_is_in_the_truth_once() -> None:
    ids = [program["id"] for program in PROGRAMS]
    assert len(ids) == len(set(ids))
    programs = {path.name for path in TUNE.iterdir() if path.suffix in (".py", ".ipynb") or _is_package(path)}
    assert programs == {program["path"] for program in PROGRAMS}


def test_a_twin_is_sound_and_its_model_faulty() -> None:
    kinds = {program["id"]: program["kind"] for program in PROGRAMS}
    twins = [program for program in PROGRAMS if program["twin"]]
    assert len(twins) <= 6
    for program in twins:
        assert program["kind"] == "sound"
        assert kinds[program["twin"]] == "faulty"


def test_counts() -> None:
    kinds = Counter(program["kind"] for program in PROGRAMS)
    assert kinds["faulty"] >= 31
    assert kinds["sound"] >= 20
    assert len({program["style"] for program in PROGRAMS}) >= 12
    assert len({fault["category"] for program in PROGRAMS for fault in program.get("fault", [])}) >= 20


def _is_package(path: Path) -> bool:
    return (path / "__init__.py").is_file()
