"""repro.py runs by itself: 1 when the bug shows, 0 when not, 125 when it could not be run."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from reenact.bug.classify import RunOutcome, SeedRun
from reenact.bug.repro_file import judge_text, repro_text
from reenact.bug.script_runner import Frame, RunObservation
from reenact.bug.symptom import Check, Explicit, Relation, Symptom
from reenact.sandbox.box import Ending

PROJECT = """import warnings
LIMIT = 0

def divide(a, b):
    return a / b

def warn():
    warnings.warn("this will be slow indeed", stacklevel=2)

def shape(n):
    return [[0.0] * n]

def spin():
    total = 0
    for number in range(2_000_000):
        total += number
    return total
"""


def silent(relation: Relation, **more: Any) -> Symptom:
    return Symptom(kind="silent", sign="crash", words="w", check=Check(relation=relation, **more))


EXPLICIT = Symptom(
    kind="explicit",
    sign="crash",
    words='It """divides""" by zero \\',
    explicit=Explicit(exception="ZeroDivisionError", message="by zero"),
)


def run(folder: Path, text: str) -> int:
    """Its exit code, run as a user would, in the project's folder."""
    (folder / "proj").mkdir(exist_ok=True)
    (folder / "proj" / "tool.py").write_text(PROJECT)
    (folder / "repro.py").write_text(text)
    clean = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    done = subprocess.run(
        [sys.executable, folder / "repro.py"],
        cwd=folder / "proj",
        env=clean,
        capture_output=True,
        check=False,
    )
    return done.returncode


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("symptom", "script", "code"),
    [
        (
            EXPLICIT,
            "from __future__ import annotations\nfrom tool import divide\ndivide(1, 0)",
            1,
        ),
        (EXPLICIT, "from tool import divide\ndivide(1, 2)", 0),
        (EXPLICIT, "from tool import divide\ndivide(1, 2) / 0", 125),
        (EXPLICIT, "from tool import divide\ndivide(1, 'x')", 125),
        (EXPLICIT, "import nobody_has_this", 125),
        (
            silent(Relation.ABOVE, number=1),
            "import tool\nobserved = tool.divide(4, 2)",
            1,
        ),
        (
            silent(Relation.ABOVE, number=3),
            "import tool\nobserved = tool.divide(4, 2)",
            0,
        ),
        (
            silent(Relation.ABOVE, number=3),
            "import tool\nobserved = tool.divide(4, 0)",
            125,
        ),
        (
            silent(Relation.DIFFERS),
            "import tool\nobserved = tool.shape(2)\nreference = [[0.0, 0.0]]",
            0,
        ),
        (
            silent(Relation.SHAPE, text="2,1"),
            "import tool\nsame = flat = 1\nobserved = tool.shape(2)",
            1,
        ),
        (silent(Relation.WARNS, text="slow indeed"), "import tool\ntool.warn()", 1),
        (
            silent(Relation.WARNS, text="slow indeed"),
            "import warnings\nimport tool\nwarnings.warn('this will be slow indeed')",
            0,
        ),
        (silent(Relation.MEMORY, number=1), "import tool", 1),
        (silent(Relation.MEMORY, number=100_000), "import tool", 0),
        (silent(Relation.SLOWER, number=60), "import tool", 0),
        (silent(Relation.SLOWER, number=0.01), "import tool\ntool.spin()", 1),
    ],
)
def test_exit_code(tmp_path: Path, symptom: Symptom, script: str, code: int) -> None:
    assert run(tmp_path, repro_text(script, symptom, title="T")) == code


@pytest.mark.parametrize(
    ("exception", "message", "functions", "code"),
    [
        ("ZeroDivisionError", "division by zero", ["divide"], 1),
        ("ZeroDivisionError", "division by zero", ["other"], 125),
        ("ZeroDivisionError", "division by zero", ["<module>", "divide"], 125),
        ("ArithmeticError", "division by zero", ["divide"], 1),
        ("OverflowError", "division by zero", ["divide"], 125),
        ("ZeroDivisionError", "modulo by zero", ["divide"], 125),
    ],
)
def test_the_judge_asks_for_the_failure_that_was_seen(
    tmp_path: Path, exception: str, message: str, functions: list[str], code: int
) -> None:
    script = "from tool import divide\ndivide(1, 0)"
    frames = tuple(Frame("project", "tool.py", 1, name, name) for name in functions)
    seen = RunObservation(
        Ending.EXIT,
        ended="raised",
        classes=(exception,),
        message=message,
        frames=frames,
    )
    shown = SeedRun(0, seen, RunOutcome.SYMPTOM, "")
    assert run(tmp_path, repro_text(script, EXPLICIT, title="T", shown=shown)) == code


def test_a_missing_module_is_the_bug_only_where_the_report_names_it(
    tmp_path: Path,
) -> None:
    """Also where the bug is an import error in project code: `git bisect` must skip such a
    commit.
    """
    reported = Explicit(exception="ImportError", message="No module named *", phase="import")
    symptom = Symptom(
        kind="explicit", sign="crash", words="It cannot be imported.", explicit=reported
    )
    lazy = "def load():\n    import nobody_has_this\n"
    moved = "def load():\n    import tool.gone\n"
    for text, code in ((lazy, 125), (moved, 1)):
        (tmp_path / "proj").mkdir(exist_ok=True)
        (tmp_path / "proj" / "lazy.py").write_text(text)
        assert run(tmp_path, repro_text("import lazy\nlazy.load()\n", symptom, title="T")) == code
    named = reported.model_copy(update={"message": "No module named 'nobody_has_this'"})
    about = symptom.model_copy(update={"explicit": named})
    (tmp_path / "proj" / "lazy.py").write_text(lazy)
    script = repro_text("import lazy\nlazy.load()\n", about, title="T")
    assert run(tmp_path, script) == 1, "the report is about the absence of this very module"


def test_every_relation_of_a_value_can_be_written() -> None:
    for relation in Relation:
        symptom = silent(relation, number=1.0, text="some words")
        ast.parse(
            repro_text("import tool\nobserved = tool.LIMIT\n", symptom, title='a """ title\\')
        )


def test_judge_keeps_only_what_is_needed() -> None:
    text = judge_text("in_order")
    assert "_judge_in_order" in text
    assert "_judge_flat" not in text
