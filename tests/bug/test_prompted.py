"""What a model may answer besides a script: another symptom, a call for the fix, that it is not
here.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reenact.bug.reproduction import CallForm, Stage, Verdict, on_fixed
from reenact.bug.validate.stages import refused_form
from reenact.journal import Journal
from reenact.llm.scripted import Scripted

ORDERED = {"title": "t", "observed": "o", "expected": "e", "steps": []}
PLAN = {"idea": "i", "steps": ["s"], "closing": "c"}
SILENT = {
    "kind": "silent",
    "sign": "wrong-value",
    "words": "w",
    "check": {"relation": "above", "number": 9},
}
CRASH = {
    "kind": "explicit",
    "sign": "crash",
    "words": "It divides by zero.",
    "explicit": {"exception": "ZeroDivisionError", "message": "division by zero"},
}
SCRIPT = "bug/context[0]/attempt[0]/script"


def model(script: Any, plan: Any = PLAN, symptom: Any = CRASH) -> Scripted:
    return Scripted(
        {
            "bug/restructure": ORDERED,
            "bug/symptom": symptom,
            "bug/context[0]/plan": plan,
            SCRIPT: script,
        }
    )


def test_the_plan_may_restate_a_symptom_that_the_report_does_not_spell(
    toy: Any,
) -> None:
    script = {"script": "from acme import Meter\n\nMeter(3).mean()\n"}
    report = "Meter is broken\n\nSee the picture.\n"
    asked = model(script, PLAN | {"raises": CRASH["explicit"]}, SILENT)
    found = toy.reproduce({}, model=asked, report=report)
    assert found.symptom.explicit.name == "ZeroDivisionError"
    assert found.verdict is Verdict.SHOWN, found.reason
    spelled = model(
        script,
        PLAN | {"raises": {"exception": "OSError", "message": "no such file"}},
        CRASH,
    )
    toy.journal = Journal.in_memory()
    kept = toy.reproduce({}, model=spelled)
    assert kept.symptom.explicit.name == "ZeroDivisionError", "what the report spells stays"


REVISE = "bug/context[0]/attempt[1]/revise"
OTHER = CRASH | {"explicit": {"exception": "KeyError", "message": "no such name here"}}


@pytest.mark.sample(2)
@pytest.mark.parametrize("fixed", [False, True])
def test_the_symptom_is_asked_again_after_a_failure_of_the_project(toy: Any, fixed: bool) -> None:
    """Nobody knew which exception it is; the run shows one, and the model finds that this is
    the bug.
    """
    script = "from acme import Meter\n\nMeter(3).mean()\n"
    asked = Scripted(
        {
            "bug/restructure": ORDERED,
            "bug/symptom": OTHER,
            "bug/context[0]/plan": PLAN,
            SCRIPT: {"script": script},
            REVISE: {"is_it": "mean divides by the number of updates, which is zero"},
        }
    )
    found = toy.reproduce(
        {}, model=asked, report="Meter is broken\n\nSee it.\n", attempts=2, fixed=fixed
    )
    assert found.symptom.explicit.name == "ZeroDivisionError"
    assert found.script == script
    assert len(found.attempts) == (1 if fixed else 2), "with a fix the runs tell by themselves"
    assert found.verdict is (Verdict.REPRODUCED if fixed else Verdict.SHOWN), found.reason
    assert found.verdict.exit_code == (0 if fixed else 3)
    revised = [call.as_text() for call in asked.calls if call.step == REVISE]
    assert all("leave the script alone" in text for text in revised)


def test_an_exception_that_the_report_spells_is_not_asked_again(toy: Any) -> None:
    asked = Scripted(
        {
            "bug/restructure": ORDERED,
            "bug/symptom": CRASH,
            "bug/context[0]/plan": PLAN,
            SCRIPT: {"script": "from acme import Meter\n\nMeter(0).mean()\n"},
            REVISE: {"is_it": "it fails, does it not"},
        }
    )
    found = toy.reproduce({}, model=asked, attempts=2)
    assert found.symptom.explicit.name == "ZeroDivisionError"
    assert found.verdict is Verdict.INCONCLUSIVE, found.reason
    assert not any("leave the script alone" in call.as_text() for call in asked.calls)


def test_a_step_that_the_script_leaves_out_may_explain_the_failure(toy: Any) -> None:
    report = (
        "Meter fails after an update\n\nMeter(3), update(1.0), mean: ZeroDivisionError: division "
        "by zero\n"
    )
    found = toy.reproduce(
        {},
        model=model({"script": "from acme import Meter\n\nMeter(3).mean()\n"}),
        report=report,
    )
    assert found.verdict is Verdict.SHOWN
    assert "without a step that the report names (update)" in found.reason
    assert found.verdict.exit_code == 3


def test_the_model_may_say_that_the_bug_is_not_here(toy: Any) -> None:
    script = "from acme import Meter\n\nmeter = Meter(3)\nmeter.update(1.0)\nmeter.mean()\n"
    found = toy.reproduce(
        {}, model=model({"script": script, "not_here": "mean has a guard"}), attempts=5
    )
    assert len(found.attempts) == 1, "nothing more is asked"
    assert found.verdict is Verdict.NOT_REPRODUCED
    assert "mean has a guard" in found.reason


def test_saying_so_without_a_run_is_no_verdict(toy: Any) -> None:
    found = toy.reproduce(
        {}, model=model({"script": "import os\n", "not_here": "I am sure"}), attempts=5
    )
    assert found.verdict is Verdict.INCONCLUSIVE


def test_a_second_call_form_for_a_fix_that_adds_a_parameter(toy: Any, tmp_path: Path) -> None:
    losses = toy.folder / "fixed" / "acme" / "losses.py"
    text = (
        losses.read_text()
        .replace("def mean(self):", "def mean(self, default):")
        .replace("return 0.0", "return default")
    )
    losses.write_text(text)
    script = "from acme import Meter\n\nmeter = Meter(3)\nmeter.mean()\n"
    forms = [{"call": "meter.mean()", "fixed": "meter.mean(default=0.0)"}]
    found = toy.reproduce(
        {},
        model=model({"script": script, "on_fixed": forms}),
        fixed=True,
        out=tmp_path / "o",
    )
    assert found.verdict is Verdict.REPRODUCED, found.reason
    assert found.exits == {"buggy": 1, "fixed": 0}
    assert (
        "On the fixed revision `meter.mean()` is called as `meter.mean(default=0.0)`."
        in found.notes
    )
    assert found.script == script


@pytest.mark.parametrize(
    ("call", "fixed"),
    [
        ("Meter(3)", "Meter(4, size=1)"),
        ("Meter(3)", "Meter(3)"),
        ("Meter(3)", "Meter(3, window=1)"),
        ("Meter(3)", "Meter(3, size=len('a'))"),
        ("Meter(3)", "focal(3, size=1)"),
        ("Meter(9)", "Meter(9, size=1)"),
        ("Meter(3).mean()", "__import__('os')"),
    ],
)
def test_a_form_may_add_new_keywords_alone(toy: Any, call: str, fixed: str) -> None:
    script = "from acme import Meter\n\nMeter(3).mean()\n"
    assert refused_form(script, [CallForm(call=call, fixed=fixed)], toy.project())
    honest = [CallForm(call="Meter(3)", fixed="Meter(3, size=1)")]
    assert refused_form(script, honest, toy.project()) == ""
    assert on_fixed(script, honest) == "from acme import Meter\n\nMeter(3, size=1).mean()\n"
    assert "(Meter(3, size=1) if _FIXED else Meter(3)).mean()" in on_fixed(
        script, honest, both=True
    )


def test_a_refused_form_stops_the_script(toy: Any) -> None:
    forms = [{"call": "Meter(3)", "fixed": "Meter(3, window=1)"}]
    found = toy.reproduce(
        {},
        model=model({"script": "from acme import Meter\n\nMeter(3).mean()\n", "on_fixed": forms}),
    )
    assert found.attempts[0].stage is Stage.RELEVANCE
    assert found.attempts[0].runs == ()


def test_entry_points_versions_and_pictures_stand_in_the_prompt(toy: Any) -> None:
    asked = model({"script": "from acme import Meter\n\nMeter(3).mean()\n"})
    toy.reproduce(
        {},
        model=asked,
        report="It fails\n\n![shot](https://host.example/a.png) Nothing is named.\n",
    )
    plan = next(call for call in asked.calls if call.step.endswith("plan")).as_text()
    assert "acme.focal" in plan
    assert "acme.Meter" in plan
    assert "Public entry points" in plan
    assert "Installed:" in plan
    assert "a picture, which was not read" in plan
    symptom = next(call for call in asked.calls if call.step.endswith("symptom")).as_text()
    assert "a picture, which was not read" in symptom


def test_examples_of_the_readme_stand_in_the_prompt(toy: Any) -> None:
    fence = "`" * 3
    other = f"{fence}bash\npip install acme\n{fence}\n\n{fence}python\nimport numpy\n{fence}\n"
    text = (
        f"# Acme\n\n{other}\n{fence}python\nfrom acme import Meter\nMeter(5).update(2)\n{fence}\n"
    )
    (toy.folder / "buggy" / "README.md").write_text(text)
    asked = model({"script": "from acme import Meter\n\nMeter(3).mean()\n"})
    toy.reproduce({}, model=asked)
    plan = next(call for call in asked.calls if call.step.endswith("plan")).as_text()
    assert "Meter(5).update(2)" in plan
    assert "import numpy" not in plan
    assert "pip install" not in plan
