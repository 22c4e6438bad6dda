"""The truth of benchmarks/modern/confirm fits its programs: files, lines, sizes, counts, styles and twins."""

from __future__ import annotations

import json
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks" / "modern" / "confirm"
PROGRAMS: list[dict[str, Any]] = tomllib.loads((FOLDER / "truth.toml").read_text("utf-8"))["program"]
KEYS = {"id", "path", "module", "args", "style", "kind", "needs", "seconds", "twin", "what"}
FAULTS = [(program, fault) for program in PROGRAMS for fault in program.get("fault", [])]
IDS = [program["id"] for program in PROGRAMS]


def cells(path: Path) -> list[dict[str, Any]]:
    return json.loads(path.read_text("utf-8"))["cells"]


def source(cell: dict[str, Any]) -> list[str]:
    return "".join(cell["source"]).splitlines()


def lines_of(program: dict[str, Any]) -> list[str]:
    """All code of a program, whichever form it has."""
    path = FOLDER / program["path"]
    if path.is_dir():
        return [line for file in sorted(path.rglob("*.py")) for line in file.read_text("utf-8").splitlines()]
    if path.suffix == ".ipynb":
        return [line for cell in cells(path) if cell["cell_type"] == "code" for line in source(cell)]
    return path.read_text("utf-8").splitlines()


def place_of(program: dict[str, Any], fault: dict[str, Any]) -> list[str]:
    """The text in which the lines of a fault count."""
    path = FOLDER / program["path"]
    if path.suffix == ".ipynb":
        cell = cells(path)[fault["cell"]]
        assert cell["cell_type"] == "code"
        return source(cell)
    if path.is_dir():
        return (path / fault["file"]).read_text("utf-8").splitlines()
    return (FOLDER / fault.get("file", program["path"])).read_text("utf-8").splitlines()


@pytest.mark.parametrize("program", PROGRAMS, ids=IDS)
def test_a_program_has_its_files_and_a_usual_size(program: dict[str, Any]) -> None:
    assert set(program) - {"fault"} == KEYS
    path = FOLDER / program["path"]
    assert path.exists()
    assert path.name.removesuffix(path.suffix) == program["id"]
    assert bool(program["module"]) == path.is_dir()
    if program["module"]:
        assert (FOLDER / (program["module"].replace(".", "/") + ".py")).is_file()
    assert 60 <= len(lines_of(program)) <= 300
    assert program["what"].strip()
    assert program["seconds"] > 0


@pytest.mark.parametrize("program", PROGRAMS, ids=IDS)
def test_only_faulty_programs_have_faults(program: dict[str, Any]) -> None:
    assert program["kind"] in {"faulty", "sound"}
    assert bool(program.get("fault")) == (program["kind"] == "faulty")


@pytest.mark.parametrize(("program", "fault"), FAULTS, ids=[f"{p['id']}-{f['category']}" for p, f in FAULTS])
def test_the_lines_of_a_fault_are_code(program: dict[str, Any], fault: dict[str, Any]) -> None:
    text = place_of(program, fault)
    assert fault["lines"]
    assert set(fault) <= {"category", "lines", "file", "cell"}
    for number in fault["lines"]:
        assert 1 <= number <= len(text)
        line = text[number - 1].strip()
        assert line
        assert not line.startswith("#")


def test_ids_are_unique_and_every_file_has_its_entry() -> None:
    assert [name for name, count in Counter(IDS).items() if count > 1] == []
    there = {
        path.name
        for path in FOLDER.iterdir()
        if path.suffix in {".py", ".ipynb"} or (path / "train.py").is_file()
    }
    assert there == {program["path"] for program in PROGRAMS}


def test_there_are_enough_programs_styles_and_categories() -> None:
    kinds = Counter(program["kind"] for program in PROGRAMS)
    assert kinds["faulty"] >= 31
    assert kinds["sound"] >= 20
    assert len({program["style"] for program in PROGRAMS}) >= 12
    assert len({fault["category"] for _, fault in FAULTS}) >= 20


def test_every_twin_is_sound_and_names_a_faulty_program_of_its_style() -> None:
    by_id = {program["id"]: program for program in PROGRAMS}
    twins = [program for program in PROGRAMS if program["twin"]]
    assert len(twins) <= 6
    for program in twins:
        assert program["kind"] == "sound"
        assert by_id[program["twin"]]["kind"] == "faulty"
        assert by_id[program["twin"]]["style"] == program["style"]
