"""repro.py is a plain script: imports, a few lines, an assert or the raising call."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from reenact.bug.classify import RunOutcome, SeedRun
from reenact.bug.project_files import project_files
from reenact.bug.repro.as_test import test_name as name_of
from reenact.bug.repro.as_test import test_text as as_test
from reenact.bug.repro.script import indented, parts_of, script_text
from reenact.bug.script_runner import RunObservation
from reenact.bug.symptom import Explicit, Symptom
from reenact.claims.check import Check, Relation
from reenact.sandbox.box import Ending

PROJECT = """import warnings
LIMIT = 0

def divide(a, b):
    return a / b

def warn():
    warnings.warn("this will be slow indeed", stacklevel=2)

def spin():
    total = 0
    for number in range(2_000_000):
        total += number
    return total
"""
CRASH = Symptom(
    kind="explicit",
    sign="crash",
    words="w",
    explicit=Explicit(exception="ZeroDivisionError", message="by zero"),
)
SHOWN = SeedRun(
    3,
    RunObservation(Ending.OK, ended="returned", kinds={"observed": "builtins.float"}),
    RunOutcome.SYMPTOM,
    "",
)


def silent(relation: Relation, **more: Any) -> Symptom:
    return Symptom(kind="silent", sign="crash", words="w", check=Check(relation=relation, **more))


def run(folder: Path, text: str, *words: str) -> int:
    """Its exit code, run as a maintainer would."""
    (folder / "proj").mkdir(exist_ok=True)
    (folder / "proj" / "tool.py").write_text(PROJECT)
    (folder / "test_it.py").write_text(text)
    clean = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    done = subprocess.run(
        [sys.executable, *words, "test_it.py"],
        cwd=folder,
        env={**clean, "PYTHONPATH": str(folder / "proj")},
        capture_output=True,
        check=False,
    )
    return done.returncode


CASES = [
    (CRASH, "from __future__ import annotations\nfrom tool import divide\ndivide(1, 0)", 1),
    (CRASH, "from tool import divide\ndivide(1, 2)", 0),
    (CRASH, "import nobody_has_this", 1),
    (silent(Relation.ABOVE, number=1), "import tool\nobserved = tool.divide(4, 2)", 1),
    (silent(Relation.ABOVE, number=3), "import tool\nobserved = tool.divide(4, 2)", 0),
    (silent(Relation.WARNS, text="slow indeed"), "import tool\n\ntool.warn()", 1),
    (silent(Relation.WARNS, text="fast indeed"), "import tool\n\ntool.warn()", 0),
    (silent(Relation.SLOWER, number=60), "import tool\ntool.spin()", 0),
    (silent(Relation.SLOWER, number=0.01), "import tool\ntool.spin()", 1),
    (silent(Relation.MEMORY, number=1), "import tool", 1),
    (silent(Relation.MEMORY, number=100_000), "import tool", 0),
]


@pytest.mark.parametrize(("symptom", "script", "code"), CASES)
def test_it_fails_while_the_bug_is_there(
    tmp_path: Path, symptom: Symptom, script: str, code: int
) -> None:
    text = script_text(parts_of(script, symptom, SHOWN), 'A """title"""\\', ["Seen."])
    assert run(tmp_path, text) == code, text
    assert len(text.splitlines()) < 20, "a plain script"


@pytest.mark.sample(7)
@pytest.mark.parametrize(("symptom", "script", "code"), CASES)
@pytest.mark.parametrize("style", ["function", "case"])
def test_the_test_fails_too(
    tmp_path: Path, symptom: Symptom, script: str, code: int, style: str
) -> None:
    own = "def test_it():\n    assert 1\n"
    if style == "case":
        own = "import unittest\n\n\nclass ToolTest(unittest.TestCase):\n  def test_it(self):\n    pass\n"
    (tmp_path / "style").mkdir()
    (tmp_path / "style" / "test_tool.py").write_text(own)
    text = as_test(
        parts_of(script, symptom, SHOWN), project_files(tmp_path / "style"), "It fails", "a/b#12"
    )
    assert (run(tmp_path, text, "-m", "pytest", "-q") != 0) == (code != 0), text
    assert '"""Issue 12: It fails."""' in text
    if style == "case":
        assert "class ItFailsTest(unittest.TestCase):\n  def test_it_fails(self):\n    " in text
    else:
        assert "def test_it_fails():\n    " in text


def test_the_number_of_the_issue_is_in_the_name() -> None:
    assert name_of("owner/name#123") == "test_issue_123.py"
    assert name_of("report.md") == "test_reported_bug.py"


def test_a_seed_is_set_where_chance_has_a_part() -> None:
    script = "import torch\n\nobserved = torch.rand(1)\n"
    symptom = silent(Relation.ABOVE, number=0.5)
    without = parts_of(script, symptom, SHOWN)
    assert "seed" not in without.body
    seeded = parts_of(script, symptom, SHOWN, ["numpy", "torch"])
    assert seeded.imports.splitlines() == ["import random", "import numpy", "import torch"]
    assert seeded.body.startswith("random.seed(3)\nnumpy.random.seed(3)\ntorch.manual_seed(3)\n")


def test_a_literal_of_several_lines_stays_as_it_is() -> None:
    text = 'words = """one\ntwo\n"""\nif words:\n    one = 1'
    moved = f"if True:\n{indented(text, '    ')}\n"
    names: dict[str, Any] = {}
    exec(compile(ast.parse(moved), "moved", "exec"), names)
    assert names["words"] == "one\ntwo\n"
