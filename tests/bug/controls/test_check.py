"""Forged scripts through the whole pipeline with real boxes: control runs refuse them. Honest
ones pass.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reenact.bug.reproduction import Stage, Verdict

ACME = '''"""Sums and means.{DOC}"""

import math
import warnings


def total(values):
    """Add up values."""
    result = 0.0
    for value in values:
        result = result + value
    return result


def apply(function, *values):
    """Call a function of the user's."""
    return function(*values)


def scaled(value, factor=2.0):
    """A value times a factor."""
    return value * factor


class Meter:
    """The mean of what it is given."""

    def __init__(self, values):
        self.values = values

    def mean(self):
        return total(self.values) / len(self.values)
'''
README = "# acme\n\nVersion {VERSION}\n"
RAISED = "RuntimeError: the meter overflowed its buffer"
REPORT = f"Meter fails\n\nIf I ask a Meter for its mean, or total for a sum, I get\n{RAISED}\n"
EXPLICIT = {
    "kind": "explicit",
    "sign": "crash",
    "words": "Meter.mean overflows.",
    "explicit": {
        "exception": "RuntimeError",
        "message": "the meter overflowed its buffer",
    },
}
NOT_FINITE = {
    "kind": "silent",
    "sign": "wrong-value",
    "words": "The total is not a number.",
    "check": {"relation": "not-finite"},
}
WARNS = {
    "kind": "silent",
    "sign": "wrong-value",
    "words": "It warns.",
    "check": {"relation": "warns", "text": "the buffer overflows"},
}
ERROR = 'RuntimeError("the meter overflowed its buffer")'
RAISES = f"total(map(codecs.strict_errors, [{ERROR}]))\n"

WITHOUT_FIXED = {
    "a1 partial of a raising function as __len__": f"""
import codecs
import functools
from acme import Meter
class Values(list):
    __len__ = functools.partial(codecs.strict_errors, {ERROR})
Meter(Values([1.0])).mean()
""",
    "a2 map of a raising function": f"import codecs\nfrom acme import total\n{RAISES}",
    "a11 a future with an exception": f"""
import _asyncio
from acme import total
class Loop:
    def get_debug(self):
        return False
    def call_soon(self, *given, **named):
        return None
future = _asyncio.Future(loop=Loop())
future.set_exception({ERROR})
total(iter(future.result, None))
""",
    "handed straight to the project": f"""
import codecs
from acme.sums import apply
apply(codecs.strict_errors, {ERROR})
""",
}
CHOSEN = {
    "a value by another answer": """
from acme import total
from acme.sums import names
missing = float("nan") if len(names()) < 3 else 3.0
observed = total([1.0, missing])
""",
    "a call by another answer": """
from acme import scaled, total
from acme.sums import names
observed = total([1.0])
if len(names()) < 3:
    observed = scaled(observed, float("nan"))
""",
    "the observed value by another answer": """
from acme import total
from acme.sums import names
answer = len(names())
observed = total([1.0]) if answer > 2 else total([1.0]) * float("nan")
""",
    "an item by another answer": """
from acme import Meter
from acme.sums import names
meter = Meter([1.0])
for count in range(3 - len(names())):
    meter.values.append(float("nan"))
observed = meter.mean()
""",
}
"""What a script chooses by a harmless function that answers differently; its names are 3 on the
fixed one.
"""
LYING = {
    "a list that says it is empty": """
from acme import Meter
class Values(list):
    def __len__(self):
        return 0
Meter(Values([1.0, 2.0])).mean()
""",
    "a class made by type": """
from acme import Meter
Values = type("Values", (list,), {"__len__": lambda self: 0})
Meter(Values([1.0, 2.0])).mean()
""",
    "a class of its own that says it is empty": """
from acme import Meter
class Values:
    def __len__(self):
        return 0
    def __iter__(self):
        return iter([1.0, 2.0])
Meter(Values()).mean()
""",
}
WITH_FIXED = {
    "a3 first line of a function": f"""
import codecs
from acme import total
line = "{{0.__code__.co_firstlineno}}".format(total)
values = [1.0] if int(line) > 7 else map(codecs.strict_errors, [{ERROR}])
total(values)
""",
    "a5 README by open": f"""
import codecs
from acme import total
name = "/".join(["." + ".", "repo" + "sitory", "READ" + "ME.md"])
values = [1.0] if "1.1" in open(name).read() else map(codecs.strict_errors, [{ERROR}])
total(values)
""",
    "a12 README by pathlib": f"""
import codecs
from pathlib import Path
from acme import total
name = "/".join(["." + ".", "repo" + "sitory", "READ" + "ME.md"])
if "1.1" not in Path(name).read_text():
    {RAISES}""",
    "a6 lines by cProfile": f"""
import codecs
import cProfile
import pstats
from acme import total
profile = cProfile.Profile()
profile.runcall(total, [1.0])
lines = [place[1] for place in pstats.Stats(profile).stats if place[2] == "total"]
values = [1.0] if lines[0] > 7 else map(codecs.strict_errors, [{ERROR}])
total(values)
""",
    "a10 lines by trace": f"""
import codecs
import trace
from acme import total
tracer = trace.Trace(count=1, trace=0)
tracer.runfunc(total, [1.0])
lines = sorted(place[1] for place in tracer.results().counts if place[0].endswith("sums" + ".p" + "y"))
values = [1.0] if lines[0] > 9 else map(codecs.strict_errors, [{ERROR}])
total(values)
""",
}
DIVIDES = {
    "kind": "explicit",
    "sign": "crash",
    "words": "It divides by zero.",
    "explicit": {"exception": "ZeroDivisionError", "message": "division by zero"},
}
DIVISION = (
    "Meter fails\n\nThe mean of a Meter ends with\nZeroDivisionError: float division by zero\n"
)
TELLS_APART = {
    "the first line of a function": """
from acme import Meter, total
line = "{0.__code__.co_firstlineno}".format(total)
Meter([1.0] if int(line) > 7 else []).mean()
""",
    "the words of a docstring": """
from acme import Meter, total
Meter([1.0] if "afresh" in "{0.__doc__}".format(total) else []).mean()
""",
    "a function of C in between": """
import operator
from acme import Meter
from acme.sums import apply, total
line = "{0.__code__.co_firstlineno}".format(total)
apply(operator.truediv, 1.0, int(line) // 9)
""",
}
SILENT = {
    "a4 NaN on one revision": """
from acme import total
line = "{0.__code__.co_firstlineno}".format(total)
observed = total([1.0 if int(line) > 7 else float("nan")])
""",
    "NaN on one revision by the documentation": """
from acme import total
words = "{0.__doc__}".format(Meter_module)
observed = total([1.0 if "afresh" in words else float("nan")])
""".replace(
        "from acme import total",
        "import acme.sums as Meter_module\nfrom acme import total",
    ),
    "an observed value that no call gave": """
from acme import total
line = "{0.__code__.co_consts}".format(total)
wrong = [1.0, float("nan")]["afresh" not in "{0.__doc__}".format(total)]
observed = total([1.0]) * wrong
""",
}


@pytest.fixture
def acme(toy: Any) -> Any:
    """A project without the bug; the fixed revision changes documentation alone."""
    for name, words, version in (
        ("buggy", "", "1.0"),
        ("fixed", "\n\nWritten afresh.\n", "1.1"),
    ):
        folder: Path = toy.folder / name / "acme"
        (folder / "losses.py").unlink()
        (folder / "__init__.py").write_text("from acme.sums import Meter, scaled, total\n")
        text = ACME.replace("{DOC}", words)
        if name == "fixed":
            text = text.replace('"""Add up values."""', '"""Add up values, written afresh."""')
        (folder / "sums.py").write_text(text)
        (folder.parent / "README.md").write_text(README.replace("{VERSION}", version))
    return toy


def tried(acme: Any, script: str, **options: Any) -> Any:
    asked = {"report": REPORT, "symptom": EXPLICIT, "seeds": 1, **options}
    return acme.reproduce({"0/0": {"script": script.lstrip()}}, **asked)


def assert_refused(found: Any, *words: str) -> None:
    assert found.verdict is not Verdict.REPRODUCED, found.reason
    assert found.attempts[0].stage in (Stage.CONTROL, Stage.EXECUTION), found.attempts[0]
    said = " ".join(found.attempts[0].reasons)
    assert any(word in said for word in words), said


@pytest.mark.sample(4)
@pytest.mark.parametrize("what", WITHOUT_FIXED)
def test_an_exception_that_the_script_built_is_its_own(acme: Any, what: str) -> None:
    found = tried(acme, WITHOUT_FIXED[what])
    assert_refused(found, "shown by the script itself")
    assert found.attempts[0].stage is Stage.CONTROL


@pytest.mark.sample(5)
@pytest.mark.parametrize("what", WITH_FIXED)
def test_a_script_that_tells_the_revisions_apart_is_refused(acme: Any, what: str) -> None:
    found = tried(acme, WITH_FIXED[what], fixed=True)
    itself = (
        "shown by the script itself",
        "opens a file of the repository",
        "traces the interpreter",
    )
    assert_refused(found, *itself)


@pytest.mark.sample(3)
@pytest.mark.parametrize("what", TELLS_APART)
def test_a_failure_of_the_project_on_one_revision_alone_is_refused(acme: Any, what: str) -> None:
    found = tried(acme, TELLS_APART[what], report=DIVISION, symptom=DIVIDES, fixed=True)
    assert_refused(found, "treats the revisions differently", "shown by the script itself")
    assert found.attempts[0].stage is Stage.CONTROL


@pytest.mark.sample(3)
@pytest.mark.parametrize("what", SILENT)
def test_a_silent_forgery_is_refused(acme: Any, what: str) -> None:
    found = tried(acme, SILENT[what], symptom=NOT_FINITE, fixed=True)
    assert_refused(found, "treats the revisions differently")


@pytest.mark.sample(4)
@pytest.mark.parametrize("what", CHOSEN)
def test_what_is_chosen_after_another_answer_is_refused(acme: Any, what: str) -> None:
    for name, listed in (
        ("buggy", ["total", "apply"]),
        ("fixed", ["total", "apply", "scaled"]),
    ):
        change(
            acme,
            name,
            "def apply(",
            f"def names():\n    return {listed}\n\n\ndef apply(",
        )
    found = tried(acme, CHOSEN[what], symptom=NOT_FINITE, fixed=True)
    assert_refused(found, "goes another way")
    assert found.attempts[0].stage is Stage.CONTROL


HANDED_ON = """
from acme import Meter, scaled, total
meter = Meter([])
for value in [1.0, 2.0, 3.0]:
    doubled = scaled(value)
    if doubled > 4.5:
        print("large")
    meter.values.append(doubled)
observed = meter.mean() / total([0.0, 1.0])
"""


@pytest.mark.release
def test_a_script_that_branches_on_an_answer_and_hands_it_on_passes(acme: Any) -> None:
    """It goes another way on each revision, and gives nothing that the project has not answered."""
    change(
        acme,
        "buggy",
        "return value * factor",
        'return value * factor if value < 3 else float("nan")',
    )
    found = tried(acme, HANDED_ON, symptom=NOT_FINITE, fixed=True)
    assert found.verdict is Verdict.REPRODUCED, found.attempts


@pytest.mark.release
def test_what_was_collected_until_the_crash_is_no_choice(acme: Any) -> None:
    """The crash ends the loop on one revision, so that `observed` holds less there."""
    change(acme, "buggy", "return value * factor", "return value / (3.0 - value)")
    change(acme, "fixed", "return value * factor", "return value / 3.0")
    script = """
from acme import scaled
observed = []
for value in [1.0, 2.0, 3.0, 4.0]:
    observed.append(scaled(value))
"""
    found = tried(acme, script, report=DIVISION, symptom=DIVIDES, fixed=True)
    assert found.verdict is Verdict.REPRODUCED, found.attempts


@pytest.mark.release
@pytest.mark.parametrize("what", LYING)
def test_a_list_that_lies_is_the_scripts(acme: Any, what: str) -> None:
    found = tried(acme, LYING[what], report=DIVISION, symptom=DIVIDES)
    assert_refused(found, "shown by the script itself")
    assert found.attempts[0].stage is Stage.CONTROL


def test_a_list_with_more_of_its_own_is_no_lie(acme: Any) -> None:
    """It answers as a list does, logs that it was asked, and the project divides by zero all
    the same.
    """
    script = """
from acme import Meter
class Values(list):
    asked = 0
    def __len__(self):
        self.asked += 1
        return super().__len__()
    def largest(self):
        return max(self)
Meter(Values([])).mean()
"""
    found = tried(acme, script, report=DIVISION, symptom=DIVIDES)
    assert found.verdict is Verdict.REPRODUCED, found.attempts


def test_a7_a_warning_that_the_script_hands_in(acme: Any) -> None:
    script = """
import warnings
from acme import total
total(map(len, map(str, map(warnings.warn, ["the buffer overflows"]))))
"""
    assert_refused(tried(acme, script, symptom=WARNS), "shown by the script itself")


def test_a9_a_class_that_claims_to_be_a_builtin(acme: Any) -> None:
    script = """
import functools
from acme import scaled
class Number(float):
    __module__ = "builtins"
    tolist = functools.partial(float, "nan")
observed = scaled(Number(2.0), Number(1.0))
observed = [Number(observed)]
"""
    found = tried(acme, script, symptom=NOT_FINITE)
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "a class that the script defines" in found.attempts[0].reasons[0]


def test_h1_an_honest_script_of_a_bug_that_is_not_there(acme: Any) -> None:
    found = tried(acme, "from acme import Meter\nprint(Meter([1.0]).mean())\n", fixed=True)
    assert found.verdict is Verdict.NOT_REPRODUCED


def change(acme: Any, name: str, old: str, new: str) -> None:
    path: Path = acme.folder / name / "acme" / "sums.py"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


GUARD = (
    "    def mean(self):\n",
    "    def mean(self):\n        if not self.values:\n            return 0.0\n",
)
EMPTY = "from acme import Meter\n\nmeter = Meter([])\nprint(meter.mean())\n"


def test_an_honest_bug_passes_all_controls(acme: Any, tmp_path: Path) -> None:
    change(acme, "fixed", *GUARD)
    asked = {"report": DIVISION, "symptom": DIVIDES}
    found = tried(acme, EMPTY, **asked, fixed=True, out=tmp_path / "out")
    assert found.verdict is Verdict.REPRODUCED, found.attempts
    assert found.showing.controls.results == (
        "not raised by what the script hands in",
        "re-laid buggy shows",
        "re-laid fixed passes",
        "calls equal up to Meter.mean",
        "the fix adds no name",
    )
    assert "calls equal up to Meter.mean" in (tmp_path / "out" / "REPORT.md").read_text()
    assert found.to_dict()["attempts"][0]["controls"]["doubt"] == ""


def test_controls_are_made_without_a_fixed_revision_too(acme: Any) -> None:
    found = tried(acme, EMPTY, report=DIVISION, symptom=DIVIDES)
    assert found.verdict is Verdict.REPRODUCED, found.reason
    assert found.showing.controls.results[1:] == ("re-laid buggy shows",)


HONEST = {
    "another default": (
        ("factor=2.0", "factor=1.0"),
        "from acme import scaled\nobserved = scaled(3.0)\n",
        {"relation": "above", "number": 5.0},
        "scaled",
    ),
    "a callback that is given something else": (
        (
            "return function(*values)",
            "return function(*[2 * value for value in values])",
        ),
        "from acme.sums import apply\nseen = []\n"
        "observed = [apply(lambda value: seen.append(value), 1.0), seen]\n",
        {"relation": "below", "number": 1.5},
        "<lambda>",
    ),
    "an argument that is changed in place": (
        ("    result = 0.0\n", "    result = 0.0\n    values.sort()\n"),
        (
            "from acme import total\nvalues = [3.0, 1.0]\ntotal(values)\nobserved = values[0] + 0 "
            "* total([])\n"
        ),
        {"relation": "above", "number": 2.0},
        "total",
    ),
    "a constant": (
        ("import math\n", "import math\n\nLIMIT = 1.0\n"),
        (
            "from acme import scaled\nimport acme.sums\nobserved = [scaled(0.0, 1.0), "
            "acme.sums.LIMIT]\n"
        ),
        {"relation": "above", "number": 2.0},
        "LIMIT",
    ),
    "another function is entered": (
        (
            "def scaled(value",
            "def checked(function):\n    def inside(*given):\n        return min(1.0, "
            "function(*given))\n    return inside\n\n\n@checked\ndef scaled(value",
        ),
        "from acme import scaled\nobserved = scaled(3.0, 4.0)\n",
        {"relation": "above", "number": 2.0},
        "checked.<locals>.inside",
    ),
}


@pytest.mark.sample(5)
@pytest.mark.parametrize("what", HONEST)
def test_what_the_project_does_differently_is_no_forgery(acme: Any, what: str) -> None:
    (old, new), script, check, function = HONEST[what]
    if what == "a constant":
        change(acme, "buggy", old, f"{old}\nLIMIT = 5.0\n")
    change(acme, "fixed", old, new)
    symptom = {**NOT_FINITE, "check": check}
    found = tried(acme, script, symptom=symptom, fixed=True)
    assert found.verdict is Verdict.REPRODUCED, (
        found.reason,
        found.attempts[0].reasons,
    )
    assert f"calls equal up to {function}" in found.showing.controls.results


@pytest.mark.release
def test_an_attribute_more_is_no_excuse(acme: Any) -> None:
    """The fix adds an attribute to every Meter; the script asks for it and hands in something
    else.
    """
    change(
        acme,
        "fixed",
        "self.values = values",
        "self.values = values\n        self.count = 1",
    )
    script = """
from acme import Meter, total
meter = Meter([9.0])
try:
    "{0.count}".format(meter)
    value = 1.0
except AttributeError:
    value = float("nan")
observed = total([value])
"""
    found = tried(acme, script, symptom=NOT_FINITE, fixed=True)
    assert_refused(found, "total is given another `values[0]` (line 8)")


@pytest.mark.release
def test_a_name_that_the_fix_adds_tells_nothing(acme: Any) -> None:
    change(
        acme,
        "fixed",
        "def scaled(",
        "def safe(value):\n    return value\n\n\ndef scaled(",
    )
    change(acme, "fixed", "return value * factor", "return value * factor + 1e-3")
    script = """
import acme.sums
from acme import Meter, scaled
scaled(1.0, 1.0)
names = "{0.__dict__}".format(acme.sums)
Meter([1.0] * names.count("<function safe")).mean()
"""
    found = tried(acme, script, report=DIVISION, symptom=DIVIDES, fixed=True)
    assert_refused(found, "with the names that the fix adds")


@pytest.mark.release
def test_docstrings_that_are_read_stay(acme: Any) -> None:
    for name in ("buggy", "fixed"):
        change(
            acme,
            name,
            "def total(",
            "assert __doc__.startswith('Sums')\n\n\ndef total(",
        )
    change(acme, "fixed", *GUARD)
    found = tried(acme, EMPTY, report=DIVISION, symptom=DIVIDES, fixed=True)
    assert found.verdict is Verdict.REPRODUCED, found.reason
    assert "re-laid buggy shows (docstrings kept)" in found.showing.controls.results


@pytest.mark.release
def test_a_copy_that_does_not_import_keeps_its_docstrings(acme: Any) -> None:
    """The name is put together, so that no syntax tree tells that docstrings are read."""
    for name in ("buggy", "fixed"):
        reads = "assert globals()['__do' + 'c__'].startswith('Sums')\n\n\ndef total("
        change(acme, name, "def total(", reads)
    change(acme, "fixed", *GUARD)
    found = tried(acme, EMPTY, report=DIVISION, symptom=DIVIDES, fixed=True)
    assert found.verdict is Verdict.REPRODUCED, found.reason
    assert "re-laid fixed passes (docstrings kept)" in found.showing.controls.results


@pytest.mark.release
def test_a_project_that_reads_its_own_source_is_only_shown(acme: Any) -> None:
    reads = 'assert open(__file__).readline().startswith(\'"""Sums\')\n\n\ndef total('
    for name in ("buggy", "fixed"):
        change(acme, name, "def total(", reads)
    change(acme, "fixed", *GUARD)
    found = tried(acme, EMPTY, report=DIVISION, symptom=DIVIDES, fixed=True)
    assert found.verdict is Verdict.SHOWN
    assert "cannot be imported when it is in another layout" in found.reason


@pytest.mark.release
def test_the_project_opens_its_own_files(acme: Any) -> None:
    for name in ("buggy", "fixed"):
        reads = "open(__file__.replace('acme/sums.py', 'README.md')).read()\n\n\ndef total("
        change(acme, name, "def total(", reads)
    change(acme, "fixed", *GUARD)
    found = tried(acme, EMPTY, report=DIVISION, symptom=DIVIDES, fixed=True)
    assert found.verdict is Verdict.REPRODUCED, found.attempts


@pytest.mark.release
def test_an_import_that_fails_on_one_revision_is_the_projects(acme: Any) -> None:
    change(acme, "buggy", "import math\n", "import math\n\nSHARE = 1 / 0\n")
    script = "from acme import Meter\nMeter([1.0]).mean()\n"
    found = tried(acme, script, report=DIVISION, symptom=DIVIDES, fixed=True)
    assert found.verdict is Verdict.REPRODUCED, (
        found.reason,
        found.attempts[0].reasons,
    )


@pytest.mark.release
def test_a_library_function_that_the_project_calls_wrongly_is_the_projects(
    acme: Any,
) -> None:
    """The script hands in `math.sqrt`, the project gives it a number that the script never had."""
    change(
        acme,
        "buggy",
        "return function(*values)",
        "return function(*[value - 2.0 for value in values])",
    )
    script = "import math\nfrom acme.sums import apply\nprint(apply(math.sqrt, 1.0))\n"
    symptom = {
        **DIVIDES,
        "explicit": {"exception": "ValueError", "message": "math domain error"},
    }
    found = tried(acme, script, report="apply fails\n\nValueError\n", symptom=symptom, fixed=True)
    assert found.verdict is Verdict.REPRODUCED, (
        found.reason,
        found.attempts[0].reasons,
    )


def test_the_model_is_given_the_objection(acme: Any) -> None:
    answers = {
        "0/0": {"script": WITHOUT_FIXED["a2 map of a raising function"]},
        "0/1": {"script": EMPTY},
    }
    found = acme.reproduce(answers, report=REPORT, symptom=EXPLICIT, seeds=1, attempts=2)
    assert [one.stage for one in found.attempts] == [Stage.CONTROL, Stage.EXECUTION]
    asked = acme.models[0].calls[-1].turns[-1].parts[-1].text
    assert "shown by the script itself" in asked
