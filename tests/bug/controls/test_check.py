"""Forged scripts, each through the whole pipeline with real boxes: control runs refuse them. Honest ones pass."""

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
    "explicit": {"exception": "RuntimeError", "message": "the meter overflowed its buffer"},
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
    "handed straight to the project": f"import codecs\nfrom acme.sums import apply\napply(codecs.strict_errors, {ERROR})\n",
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
lines = sorted(place[1] for place in tracer.results().counts if place[0].endswith("sums.py"))
values = [1.0] if lines[0] > 9 else map(codecs.strict_errors, [{ERROR}])
total(values)
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
observed = total([1.0 if "anew" in words else float("nan")])
""".replace("from acme import total", "import acme.sums as Meter_module\nfrom acme import total"),
    "an observed value that no call gave": """
from acme import total
line = "{0.__code__.co_consts}".format(total)
wrong = [1.0, float("nan")]["anew" not in "{0.__doc__}".format(total)]
observed = total([1.0]) * wrong
""",
}


@pytest.fixture
def acme(toy: Any) -> Any:
    """A project without the bug; the fixed revision changes documentation alone."""
    for name, words, version in (("buggy", "", "1.0"), ("fixed", "\n\nWritten anew.\n", "1.1")):
        folder: Path = toy.folder / name / "acme"
        (folder / "losses.py").unlink()
        (folder / "__init__.py").write_text("from acme.sums import Meter, scaled, total\n")
        text = ACME.replace("{DOC}", words)
        if name == "fixed":
            text = text.replace('"""Add up values."""', '"""Add up values, written anew."""')
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


@pytest.mark.parametrize("what", WITHOUT_FIXED)
def test_an_exception_that_the_script_built_is_its_own(acme: Any, what: str) -> None:
    found = tried(acme, WITHOUT_FIXED[what])
    assert_refused(found, "shown by the script itself")
    assert found.attempts[0].stage is Stage.CONTROL


@pytest.mark.parametrize("what", WITH_FIXED)
def test_a_script_that_tells_the_revisions_apart_is_refused(acme: Any, what: str) -> None:
    found = tried(acme, WITH_FIXED[what], fixed=True)
    itself = ("shown by the script itself", "opens a file of the repository", "traces the interpreter")
    assert_refused(found, *itself)


@pytest.mark.parametrize("what", SILENT)
def test_a_silent_forgery_is_refused(acme: Any, what: str) -> None:
    found = tried(acme, SILENT[what], symptom=NOT_FINITE, fixed=True)
    assert_refused(found, "treats the revisions differently")


def test_a7_a_warning_that_the_script_hands_in(acme: Any) -> None:
    script = "import warnings\nfrom acme import total\ntotal(map(len, map(str, map(warnings.warn, ['the buffer overflows']))))\n"
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
