"""The programs of the suite: all there, each with its head, none ever imported."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.hostile.case import benign_cases, hostile_cases, read_case
from reenact.sandbox.box import MIB, Ending


def test_every_number_of_the_list_is_there() -> None:
    assert {case.number for case in hostile_cases()} == {
        f"H{number:02}" for number in range(1, 45)
    } - {
        "H12",
        "H13",
        "H40",
    }
    assert {case.number for case in benign_cases()} == {f"B{number:02}" for number in range(1, 10)}


def test_every_hostile_program_says_what_it_does_unconfined() -> None:
    for case in hostile_cases():
        assert case.unconfined == "escapes" or case.unconfined.startswith("not run: "), case.id
        assert case.proof, case.id


def test_every_program_is_python_and_small() -> None:
    for case in (*hostile_cases(), *benign_cases()):
        text = case.path.read_text()
        compile(text, case.path.name, "exec")
        assert len(text.splitlines()) < 80, case.id


def test_the_head_gives_limits_and_endings() -> None:
    case = next(case for case in hostile_cases() if case.id == "H03")
    assert case.limits.memory_bytes == 256 * MIB
    assert case.endings == (Ending.MEMORY_LIMIT,)


HEAD = {"id": "'X1'", "title": "''", "does": "''", "limits": "{}", "endings": "['ok']"}


def head(**changes: str) -> str:
    lines = [f"# {name} = {value}" for name, value in {**HEAD, **changes}.items() if value]
    return "\n".join(("# /// case", *lines, "# ///", ""))


def test_a_small_head_is_read(tmp_path: Path) -> None:
    path = tmp_path / "X1_a.py"
    path.write_text(head())
    assert not read_case(path).hostile


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("print(1)\n", "does not begin with a block"),
        (head().removesuffix("# ///\n"), "does not begin with a block"),
        (head(id="'X1"), "line"),
        (head(does=""), "does"),
        (head(endings="[]"), "endings"),
        (head(endings="['no']"), "'no'"),
        (head(id="'X2'"), "its id X2"),
        (head(odd="1"), "odd"),
        (head(limits="{ odd = 1 }"), "odd"),
        (head(does="", tries="'x'"), "proves its escape"),
    ],
)
def test_a_wrong_head_names_the_file(text: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "X1_a.py"
    path.write_text(text)
    with pytest.raises(ValueError, match=words) as caught:
        read_case(path)
    assert "X1_a.py" in str(caught.value)


def test_reading_the_suite_imports_none_of_it() -> None:
    script = (
        "import sys, benchmarks.hostile.judge, benchmarks.hostile.measure; "
        "import benchmarks.hostile.case as c; "
        "c.hostile_cases(); c.benign_cases(); "
        "print([m for m in sys.modules.values() if '/cases/' in str(getattr(m, '__file__', ''))], "
        "'torch' in sys.modules, 'numpy' in sys.modules)"
    )
    environment = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    ).stdout
    assert environment == "[] False False\n"
