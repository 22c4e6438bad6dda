"""What stops a script before it runs: names, arguments, reach, relevance, where its values come
from.
"""

from __future__ import annotations

import ast
from typing import Any

import pytest

from reenact.bug.options import BugAblations
from reenact.bug.reproduction import Stage
from reenact.bug.symptom import Symptom
from reenact.bug.validate.bindings import bindings_of, flowing
from reenact.bug.validate.stages import objections

CRASH = Symptom.model_validate(
    {
        "kind": "explicit",
        "sign": "crash",
        "words": "w",
        "explicit": {"exception": "ZeroDivisionError"},
    }
)
WRONG = Symptom.model_validate(
    {
        "kind": "silent",
        "sign": "wrong-value",
        "words": "w",
        "check": {"relation": "differs"},
    }
)
NAN = Symptom.model_validate(
    {
        "kind": "silent",
        "sign": "not-finite",
        "words": "w",
        "check": {"relation": "not-finite"},
    }
)


@pytest.mark.parametrize(
    ("script", "sentence"),
    [
        ("def (", "does not parse"),
        ("", "empty"),
        ("x = 1\n" * 20_000, "more than"),
        (
            "from acme import Meter\nMeter().mean()\nprint(nothing)",
            "Undefined name `nothing`",
        ),
        (
            "from acme import Metre\nMetre().mean()",
            "no `Metre` in `acme`. It has: Meter",
        ),
        ("from acme.loses import focal\nfocal([], [])", "no `loses` in `acme`"),
        ("import acme\nacme.losses.local([], [])", "no `local` in `acme.losses`"),
        (
            "from acme import Meter\nmeter = Meter()\nmeter.average()",
            "`Meter` has no attribute `average`",
        ),
        ("from acme import Meter\nMeter(1, 2)", "at most 1 positional"),
        ("from acme import Meter\nmeter = Meter()\nmeter.update()", "without `value`"),
        ("from acme import focal\nfocal([0.5], [1], alpha=2)", "no parameter `alpha`"),
    ],
)
def test_objection(toy: Any, script: str, sentence: str) -> None:
    found = objections(script, toy.project(), CRASH)
    assert sentence in " ".join(map(str, found))
    assert found[0].where in (Stage.PARSE, Stage.STATIC)


@pytest.mark.parametrize(
    "script",
    [
        "from acme import Meter\nmeter = Meter(window=3)\nmeter.window = 4\nmeter.mean()",
        "import acme\nfor size in (1, 2):\n    acme.Meter(size).mean()",
        "from acme.losses import Meter as M\nM(*[3]).mean()",
        (
            "import numpy as np\nnp.seterr()\nfrom acme import focal\nfocal(np.ones(3), [1], "
            "**{'gamma': 1})"
        ),
        (
            "import torch\ntorch.backends.cudnn.deterministic = True\nfrom acme import "
            "Meter\nMeter().mean()"
        ),
        (
            "from types import SimpleNamespace\nfrom acme import "
            "Meter\nMeter(SimpleNamespace(n=1).n).mean()"
        ),
        "from acme import Meter\nclass Own(Meter):\n    pass\nOwn().mean()",
        "import acme\ndef main():\n    return acme.Meter().mean()\nmain()",
    ],
)
def test_honest_scripts_pass(toy: Any, script: str) -> None:
    assert objections(script, toy.project(), CRASH) == ()


@pytest.mark.parametrize(
    "line",
    [
        "import inspect",
        "from importlib import reload",
        "import sys; sys.modules['acme'] = None",
        "import sys; sys.settrace(print)",
        "import sys; sys._getframe()",
        "from sys import modules",
        "import os; os._exit(1)",
        "Meter.mean.__code__ = None",
        "Meter.__init__ = print",
        "acme.losses.math = None",
        "import math; math.log = print",
        "del Meter.mean",
        "getattr(Meter, 'mean').__globals__",
        "print(acme.__version__)",
        "ValueError('x').with_traceback(None)",
        "eval('1')",
        "from pathlib import Path; Path('repository/acme').iterdir()",
        "raise ZeroDivisionError",
    ],
)
def test_reach(toy: Any, line: str) -> None:
    script = f"import acme\nimport acme.losses\nfrom acme import Meter\nMeter().mean()\n{line}\n"
    found = objections(script, toy.project(), CRASH)
    assert found, line
    assert {one.where for one in found} == {Stage.RELEVANCE}
    assert found[0].line == 5


@pytest.mark.parametrize(
    ("script", "names"),
    [
        ("observed = focal([1], [1])", "observed"),
        ("x = focal([1], [1])\nobserved = x * 2 + 1", "observed x"),
        ("meter = Meter()\nobserved = meter.values", "meter observed"),
        (
            "seen = []\nfor n in (1, 2):\n    seen.append(focal([n], [1]))\nobserved = seen",
            "seen observed",
        ),
        (
            "def loss(n):\n    return focal([n], [1])\nobserved = loss(1)",
            "loss observed",
        ),
        ("focal([1], [1])\nobserved = 4.0", ""),
        ("x = 4.0\nfocal(x, x)\nobserved = x", ""),
        ("data = list(range(3))\nfocal(data, data)\nobserved = data", "data observed"),
        ("observed = focal([1], [1])\nobserved = 3", ""),
        (
            "seen = {}\nseen['x'] = focal([1], [1])\nobserved = seen['x']",
            "seen observed",
        ),
        ("with open('x') as observed:\n    focal([1], [1])", ""),
    ],
)
def test_flow(toy: Any, script: str, names: str) -> None:
    tree = ast.parse(f"from acme import Meter, focal\n{script}\n")
    assert flowing(tree, bindings_of(tree, toy.project())) == set(names.split())


@pytest.mark.parametrize(
    ("symptom", "script", "sentence"),
    [
        (WRONG, "print(focal([1], [1]))", "named `observed`"),
        (WRONG, "observed = focal([1], [1])", "named `reference`"),
        (
            WRONG,
            "focal([1], [1])\nobserved = 4.0\nreference = 3.0",
            "does not come out of a call",
        ),
        (WRONG, "observed = focal([1], [1])\nreference = 3.0", ""),
        (NAN, "observed = focal([1], [1])", ""),
        (NAN, "def f():\n    observed = focal([1], [1])\nf()", "named `observed`"),
    ],
)
def test_closing_check(toy: Any, symptom: Symptom, script: str, sentence: str) -> None:
    found = objections(f"from acme import focal\n{script}\n", toy.project(), symptom)
    assert (sentence in " ".join(map(str, found))) if sentence else found == ()


def test_parts_can_be_left_out(toy: Any) -> None:
    script = "from acme import Metre\nraise ZeroDivisionError\n"
    project = toy.project()
    assert objections(script, project, CRASH)[0].where is Stage.STATIC
    assert (
        objections(script, project, CRASH, BugAblations.without("static"))[0].where
        is Stage.RELEVANCE
    )
    assert objections(script, project, CRASH, BugAblations.without("static", "relevance")) == ()
