"""The whole pipeline with a scripted model and real boxes: shown, confirmed, refined,
minimised, written.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from reenact.bug.classify import RunOutcome
from reenact.bug.options import BugAblations
from reenact.bug.reproduction import Stage, Verdict
from reenact.errors import BudgetSpent, Stopped
from reenact.journal import Journal
from reenact.llm.budget import Budget
from reenact.llm.scripted import Scripted
from reenact.sandbox.environments.names import Allowed
from reenact.sandbox.environments.stored import Environment
from reenact.types import Stop

CRASHES = "from acme import Meter\n\nmeter = Meter(3)\nprint(meter.mean())\n"
SUMMED = """from acme import focal

values = [0.5, 0.5, 0.5, 0.5]
print("loss", focal(values, [1, 1, 1, 1]))
observed = focal(values, [1, 1, 1, 1])
reference = focal(values[:1], [1])
"""
HARMLESS = "from acme import Meter\n\nmeter = Meter(3)\nmeter.update(1.0)\nprint(meter.mean())\n"
WRONG = (
    "Focal loss grows with the batch\n\nThe loss of four equal samples is four times that of one.\n"
)
CRASH_SYMPTOM = {
    "kind": "explicit",
    "sign": "crash",
    "words": "It divides by zero.",
    "explicit": {"exception": "ZeroDivisionError", "message": "division by zero"},
}
ORDERED = {"title": "t", "observed": "o", "expected": "e", "steps": []}
PLAN = {"idea": "i", "steps": ["s"], "closing": "c"}
WRONG_SYMPTOM = {
    "kind": "silent",
    "sign": "wrong-value",
    "words": "The focal loss is summed, not averaged.",
    "check": {"relation": "differs"},
}


def test_crash_that_the_report_names_is_reproduced_in_project_frames(
    toy: Any, in_turn: Any
) -> None:
    found = toy.reproduce(in_turn([CRASHES]), seeds=3)
    assert found.verdict is Verdict.REPRODUCED, found.reason
    assert (found.seeds_shown, found.seeds_run) == (2, 2), (
        "the second seed crashes at the same line"
    )
    shown = found.showing.runs[0].observation
    assert [str(frame) for frame in shown.project_frames] == ["acme/losses.py:33 in Meter.mean"]
    assert shown.classes[0] == "ZeroDivisionError"


def test_silent_bug_is_only_shown_without_a_fixed_revision(
    toy: Any, in_turn: Any, tmp_path: Path
) -> None:
    found = toy.reproduce(
        in_turn([SUMMED]),
        report=WRONG,
        symptom=WRONG_SYMPTOM,
        minimise=True,
        out=tmp_path / "out",
    )
    assert found.verdict is Verdict.SHOWN
    assert found.verdict.exit_code == 3
    assert "--fixed" in found.reason
    assert found.script == SUMMED, "what nothing confirms is not made shorter"


def test_silent_bug_fails_before_and_passes_after(toy: Any, in_turn: Any, tmp_path: Path) -> None:
    out = tmp_path / "out"
    found = toy.reproduce(
        in_turn([SUMMED]),
        report=WRONG,
        symptom=WRONG_SYMPTOM,
        fixed=True,
        minimise=True,
        out=out,
        pytest=True,
    )
    assert found.verdict is Verdict.REPRODUCED, found.reason
    assert found.notes == (), "repro.py exits as it says, on both revisions"
    assert "print" not in found.script
    assert len(found.script.splitlines()) < len(SUMMED.splitlines())
    assert {path.name for path in out.iterdir()} == {
        ".reenact-files.json",
        "repro.py",
        "repro.json",
        "requirements.txt",
        "REPORT.md",
        "test_reported_bug.py",
    }
    for name in ("repro.py", "test_reported_bug.py"):
        for revision, code in (("buggy", 1), ("fixed", 0)):
            runs = (
                [name]
                if name == "repro.py"
                else ["-m", "pytest", "-q", "-p", "no:cacheprovider", name]
            )
            done = subprocess.run(
                [sys.executable, *runs],
                cwd=out,
                env={**os.environ, "PYTHONPATH": str(toy.folder / revision)},
                check=False,
            )
            assert done.returncode == code, name
    shown = (out / "repro.py").read_text()
    assert len(shown.splitlines()) < 20
    assert shown.rstrip().splitlines()[-1].startswith("assert math.isclose(observed, reference")
    written = (out / "REPORT.md").read_text()
    assert "**Reproduced: " in written
    assert "| 0 | symptom | no failure |" in written


@pytest.mark.release
def test_each_stage_speaks_to_the_next_attempt(toy: Any) -> None:
    answers = {
        "0/0": "from acme import Meter\n\nmeter = Meter(size=3)\nmeter.mean(\n",
        "0/1": {"edits": [{"first": 4, "last": 4, "text": "meter.mean()"}]},
        "0/2": {"edits": [{"first": 3, "last": 3, "text": "meter = Meter(3)\nmeter.update(1.0)"}]},
        "0/3": {"edits": [{"first": 4, "last": 4, "text": ""}]},
    }
    found = toy.reproduce(answers, attempts=5, minimise=True)
    assert found.verdict is Verdict.REPRODUCED
    stages = [one.stage for one in found.attempts]
    assert stages == [Stage.PARSE, Stage.STATIC, Stage.EXECUTION, None]
    asked = [call.as_text() for call in toy.models[0].calls if "revise" in call.step]
    assert "It does not parse" in asked[0]
    assert "has no parameter `size`" in asked[1]
    assert "no exception came out" in asked[2]
    assert found.script == "from acme import Meter\n\nmeter = Meter(3)\nmeter.mean()\n"


def test_next_context_after_the_last_attempt(toy: Any) -> None:
    other = toy.folder / "buggy" / "meters" / "means.py"
    other.parent.mkdir()
    other.write_text(
        'def running_mean(values):\n    """A running mean before the update."""\n    return '
        "sum(values)\n"
    )
    found = toy.reproduce({"0/0": HARMLESS, "1/0": CRASHES}, views=2, seeds=1, context_tokens=400)
    assert [one.context for one in found.attempts] == [0, 1]
    assert found.verdict is Verdict.REPRODUCED


def test_not_reproduced_when_the_project_ran_without_it(
    toy: Any, in_turn: Any, tmp_path: Path
) -> None:
    found = toy.reproduce(in_turn([HARMLESS]), out=tmp_path / "out")
    assert found.verdict is Verdict.NOT_REPRODUCED
    assert found.verdict.exit_code == 1
    out = tmp_path / "out"
    assert {path.name for path in out.iterdir()} == {
        ".reenact-files.json",
        "REPORT.md",
        "REPLY.md",
        "tried_1.py",
    }
    assert (out / "tried_1.py").read_text() == HARMLESS
    reply = (out / "REPLY.md").read_text()
    assert HARMLESS.strip() in reply
    assert "- the whole traceback" in reply
    assert reply in found.reply
    assert "A reply to the reporter" in (out / "REPORT.md").read_text()


def test_inconclusive_when_nothing_ran_as_it_should(toy: Any, in_turn: Any) -> None:
    found = toy.reproduce(in_turn(["from acme import Meter\nMeter()\nundefined_name\n"]))
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "static analysis" in found.reason


def test_fixed_revision_that_shows_the_same_refutes(toy: Any, in_turn: Any) -> None:
    misuse = "from acme import focal\n\nobserved = focal([0.5], [1]) + 1\nreference = 0.0\n"
    found = toy.reproduce(in_turn([misuse]), report=WRONG, symptom=WRONG_SYMPTOM, fixed=True)
    assert found.verdict is Verdict.NOT_REPRODUCED
    assert found.attempts[0].stage is Stage.FIXED
    assert "fixed revision" in str(found.attempts[0].objections[0])


def test_refusal_on_purpose_needs_a_fixed_revision(toy: Any, in_turn: Any) -> None:
    report = "Meter fails\n\nValueError: a window has at least one place, not 0\n"
    symptom = {
        "kind": "explicit",
        "sign": "crash",
        "words": "Meter refuses its window.",
        "explicit": {
            "exception": "ValueError",
            "message": "a window has at least one place, not *",
        },
    }
    found = toy.reproduce(
        in_turn(["from acme import Meter\n\nMeter(0)\n"]),
        report=report,
        symptom=symptom,
    )
    assert found.verdict is Verdict.SHOWN
    assert "on purpose" in found.reason


def test_exception_that_the_report_does_not_name_is_only_shown(toy: Any, in_turn: Any) -> None:
    found = toy.reproduce(
        in_turn([CRASHES]), report="Meter\n\nIt crashes when I ask for the mean.\n"
    )
    assert found.verdict is Verdict.SHOWN


def test_without_execution_nothing_is_claimed(toy: Any, in_turn: Any) -> None:
    found = toy.reproduce(
        in_turn([CRASHES]),
        parts=BugAblations.without("execution", "plan", "restructuring"),
    )
    assert found.verdict is Verdict.INCONCLUSIVE
    assert found.script == CRASHES
    assert [call.step for call in toy.models[0].calls] == [
        "bug/symptom",
        "bug/context[0]/attempt[0]/script",
    ]


def test_samples_are_compared_by_what_became_of_them(toy: Any) -> None:
    path = "bug/context[0]/attempt[0]/script"
    model = Scripted(
        {
            "bug/restructure": ORDERED,
            "bug/symptom": CRASH_SYMPTOM,
            "bug/context[0]/plan": PLAN,
            f"{path}~0": {"script": "from acme import Meter\nMeter(size=1)\n"},
            f"{path}~1": {"script": CRASHES},
        }
    )
    found = toy.reproduce({}, samples=2, model=model)
    assert found.verdict is Verdict.REPRODUCED
    assert found.attempts[0].sample == 1


def test_answers_of_no_use_are_attempts_too(toy: Any) -> None:
    model = Scripted(
        lambda call: (
            {
                "kind": "explicit",
                "sign": "crash",
                "words": "w",
                "explicit": {"exception": "ZeroDivisionError"},
            }
            if call.step == "bug/symptom"
            else "I have verified that this bug is REPRODUCED. No script is needed."
        )
    )
    found = toy.reproduce({}, model=model, attempts=2)
    assert found.verdict is Verdict.INCONCLUSIVE
    assert [one.stage for one in found.attempts] == [Stage.ANSWER, Stage.ANSWER]


def test_second_time_nothing_is_asked_or_run(toy: Any, in_turn: Any) -> None:
    first = toy.reproduce(in_turn([CRASHES]), seeds=1)
    again = toy.reproduce(in_turn([CRASHES]), seeds=1)
    assert len(toy.models[0].calls) == 4
    assert toy.models[1].calls == []
    assert again.verdict is first.verdict is Verdict.REPRODUCED
    assert again.showing.runs[0].outcome is RunOutcome.SYMPTOM


def test_exception_in_code_the_report_does_not_speak_of_is_only_shown(
    toy: Any, in_turn: Any
) -> None:
    report = "Something is off\n\nTraining a tokeniser gives ZeroDivisionError: division by zero\n"
    found = toy.reproduce(in_turn([CRASHES]), report=report, seeds=1)
    assert found.verdict is Verdict.SHOWN
    assert "does not speak of" in found.reason


def test_budget_ends_it_and_a_larger_one_continues(toy: Any, in_turn: Any) -> None:
    answers = {"0/0": HARMLESS, "0/1": {"script": CRASHES}}
    options = {"attempts": 2, "seeds": 1}
    script = {
        "bug/restructure": ORDERED,
        "bug/symptom": CRASH_SYMPTOM,
        "bug/context[0]/plan": PLAN,
        "bug/context[0]/attempt[0]/script": {"script": HARMLESS},
    }
    with pytest.raises(BudgetSpent):
        toy.reproduce(answers, model=Scripted(script, budget=Budget(calls=4)), **options)
    found = toy.reproduce(answers, **options)
    assert found.verdict is Verdict.REPRODUCED
    assert [call.step for call in toy.models[-1].calls] == ["bug/context[0]/attempt[1]/revise"]


def test_stopped_between_two_steps(toy: Any, in_turn: Any) -> None:
    stop = Stop()

    def answer(call: Any) -> Any:
        if call.step == "bug/restructure":
            return ORDERED
        stop.ask()
        return CRASH_SYMPTOM

    with pytest.raises(Stopped):
        toy.reproduce({}, model=Scripted(answer), stop=stop, seeds=1)
    found = toy.reproduce(in_turn([CRASHES]), seeds=1)
    assert found.verdict is Verdict.REPRODUCED
    assert "bug/symptom" not in [call.step for call in toy.models[-1].calls], (
        "paid for before the stop"
    )


def test_fixed_revision_that_cannot_run_confirms_nothing(toy: Any, in_turn: Any) -> None:
    (toy.folder / "fixed" / "acme" / "__init__.py").write_text("from acme.losses import gone\n")
    found = toy.reproduce(in_turn([SUMMED]), report=WRONG, symptom=WRONG_SYMPTOM, fixed=True)
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "nothing confirms it" in found.reason


@pytest.mark.parametrize(
    ("number", "verdict"), [(0.7, Verdict.SHOWN), (0.8, Verdict.NOT_REPRODUCED)]
)
def test_reported_number_within_five_per_cent(
    toy: Any, in_turn: Any, number: float, verdict: Verdict
) -> None:
    symptom = WRONG_SYMPTOM | {"check": {"relation": "near", "number": number}}
    script = "from acme import focal\n\nobserved = focal([0.5] * 4, [1] * 4)\n"
    assert toy.reproduce(in_turn([script]), report=WRONG, symptom=symptom).verdict is verdict


@pytest.mark.release
def test_plan_makes_the_closing_check_concrete(toy: Any) -> None:
    model = Scripted(
        {
            "bug/restructure": ORDERED,
            "bug/symptom": WRONG_SYMPTOM,
            "bug/context[0]/plan": PLAN | {"check": {"relation": "above", "number": 0.5}},
            "bug/context[0]/attempt[0]/script": {
                "script": "from acme import focal\n\nobserved = focal([0.5] * 4, [1] * 4)\n"
            },
        }
    )
    found = toy.reproduce({}, report=WRONG, symptom=WRONG_SYMPTOM, fixed=True, model=model)
    assert found.verdict is Verdict.REPRODUCED
    assert found.symptom.check.words == "above 0.5"


@pytest.mark.sample(2)
@pytest.mark.parametrize(("fixed", "verdict"), [(False, Verdict.SHOWN), (True, Verdict.REPRODUCED)])
def test_library_that_chokes_on_what_the_project_gave(
    toy: Any, in_turn: Any, fixed: bool, verdict: Verdict, tmp_path: Path
) -> None:
    """As `loss.backward()` does: no project frame is left, so only the fixed revision can
    confirm it.
    """
    losses = toy.folder / "fixed" / "acme" / "__init__.py"
    losses.write_text("def focal(scores, targets):\n    return 1.0\n")
    (toy.folder / "buggy" / "acme" / "__init__.py").write_text(
        "def focal(scores, targets):\n    return float('nan')\n"
    )
    start = "import json\nfrom acme import focal\n\nvalue = focal([0.5], [1])\n"
    script = f"{start}json.dumps(value, allow_nan=False)\n"
    report = (
        "focal gives nothing usable\n\nValueError: Out of range float values are not JSON "
        "compliant\n"
    )
    symptom = {
        "kind": "explicit",
        "sign": "crash",
        "words": "The loss cannot be written.",
        "explicit": {
            "exception": "ValueError",
            "message": "Out of range float values are not JSON compliant",
        },
    }
    found = toy.reproduce(
        in_turn([script]),
        report=report,
        symptom=symptom,
        fixed=fixed,
        out=tmp_path / "out",
    )
    assert found.verdict is verdict, found.reason
    assert all("no one has seen it pass" in one for one in found.notes), "all is proven"
    own = f"{start}json.dumps(float('nan'), allow_nan=False)\n"
    toy.journal = Journal.in_memory()
    assert (
        toy.reproduce(in_turn([own]), report=report, symptom=symptom).verdict
        is Verdict.INCONCLUSIVE
    )


def test_mean_over_all_seeds_decides_on_a_reported_number(toy: Any, in_turn: Any) -> None:
    """Two of three seeds are near the number; their mean is not."""
    symptom = WRONG_SYMPTOM | {"check": {"relation": "near", "number": 0.6931}}
    script = (
        "import random\nfrom acme import focal\n\nlucky = random.random() > 0.8\n"
        "observed = focal([0.5] * (4 if lucky else 40), [1] * 40)\n"
    )
    found = toy.reproduce(in_turn([script]), report=WRONG, symptom=symptom, seeds=3)
    assert found.verdict is not Verdict.SHOWN
    assert "mean over the seeds" in str(found.attempts[0].objections[0])
    assert [run.shows for run in found.attempts[0].runs] == [True, False, True]


def test_what_is_not_installed_is_not_asked_for_again_and_again(toy: Any, in_turn: Any) -> None:
    lacking = "import tensorflow\nfrom acme import Meter\n\nMeter(3).mean()\n"
    other = lacking.replace("Meter(3)", "Meter(4)")
    found = toy.reproduce(in_turn([lacking, other, CRASHES]), attempts=5)
    assert [(one.stage, one.outcome) for one in found.attempts] == [
        (Stage.EXECUTION, RunOutcome.ENVIRONMENT)
    ] * 2
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "tensorflow" in found.reason


def test_a_report_as_long_as_is_kept_is_read(toy: Any, in_turn: Any) -> None:
    long = (
        "Meter crashes before the first update\n\nZeroDivisionError: division by zero\n"
        + "word " * 11_000
    )
    found = toy.reproduce(in_turn([CRASHES]), report=long)
    assert found.verdict is Verdict.REPRODUCED, found.reason


class Shop:
    """Builds this interpreter with one more module, for whoever asks for its package."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.asked: list[list[str]] = []
        self.empties_at = 0
        """The number of the environment in which the module holds nothing."""

    def prepare(self, wanted: Any, allowed: Allowed, **_: Any) -> Environment:
        allowed.check(wanted)
        self.asked.append([one.text for one in wanted])
        (self.folder / "bin").mkdir(parents=True, exist_ok=True)
        module = "SCORE = 3\n" if len(self.asked) != self.empties_at else ""
        (self.folder / "sacrebleu.py").write_text(module)
        python = self.folder / "bin" / "python"
        python.write_text(f'#!/bin/sh\nPYTHONPATH={self.folder} exec {sys.executable} "$@"\n')
        python.chmod(0o755)
        return Environment("a" * 32, self.folder, ("sacrebleu==2.0", "portalocker==3.0"), 1, "/usr")


def test_a_missing_module_rebuilds_once_without_asking_the_model(toy: Any, tmp_path: Path) -> None:
    script = "import sacrebleu\nfrom acme import Meter\n\nMeter(sacrebleu.SCORE).mean()\n"
    shop = Shop(tmp_path / "shop")
    found = toy.reproduce(
        {"0/0": script}, environments=shop, environment="auto", out=tmp_path / "out"
    )
    assert found.verdict is Verdict.REPRODUCED, found.reason
    assert shop.asked == [["sacrebleu"]]
    assert len(found.attempts) == 1, "the script was not asked for again"
    assert "sacrebleu was missing in the first run" in "\n".join(found.notes)
    assert found.test, "the test is proven as well"
    assert (tmp_path / "out" / "requirements.txt").read_text() == "sacrebleu==2.0\n", (
        "what is needed directly"
    )


def test_requirements_are_proven_in_a_fresh_environment(toy: Any, tmp_path: Path) -> None:
    script = "import sacrebleu\nfrom acme import Meter\n\nMeter(sacrebleu.SCORE).mean()\n"
    shop = Shop(tmp_path / "shop")
    asked = {"environments": shop, "environment": "auto", "prove_requirements": True}
    found = toy.reproduce({"0/0": script}, **asked, out=tmp_path / "out")
    assert shop.asked == [["sacrebleu"], ["sacrebleu==2.0"]]
    assert "installed in a fresh environment, and the bug shows" in found.notes[-1]
    shop.empties_at = 4
    toy.journal = Journal.in_memory()
    lacking = toy.reproduce({"0/0": script}, **asked)
    assert "requirements.txt does not suffice" in lacking.notes[-1]
    assert "It cannot be judged" in lacking.notes[-1]


def test_what_cannot_be_installed_is_named_with_its_option(toy: Any, tmp_path: Path) -> None:
    script = "import nobodyhasthis\nfrom acme import Meter\n\nMeter(3).mean()\n"
    shop = Shop(tmp_path / "shop")
    found = toy.reproduce({"0/0": script}, environments=shop, environment="auto")
    assert found.verdict is Verdict.INCONCLUSIVE
    assert shop.asked == [], "a name that is on no list is not looked up"
    assert "--requirement nobodyhasthis" in found.reason


@pytest.mark.release
def test_a_project_that_asks_for_its_own_version_is_as_good_as_installed(
    toy: Any, in_turn: Any
) -> None:
    for name in ("buggy", "fixed"):
        folder = toy.folder / name
        (folder / "pyproject.toml").write_text(
            '[project]\nname = "acme-tools"\nversion = "1.4"\ndependencies = []\n'
        )
        init = folder / "acme" / "__init__.py"
        asks = "import importlib.metadata\n__version__ = importlib.metadata.version('acme-tools')\n"
        init.write_text(asks + init.read_text())
    found = toy.reproduce(in_turn([CRASHES]), fixed=True)
    assert found.verdict is Verdict.REPRODUCED, found.reason
    assert found.exits == {"buggy": 1, "fixed": 0}


MADE = """import math

for _name in ("sum", "prod"):
    locals()[_name.title()] = getattr(math, _name, None)


def mean(values):
    return sum(values) / len(values)
"""


def test_a_name_that_is_made_when_the_project_is_imported_is_there(toy: Any) -> None:
    """Its text does not show it; static analysis refused the report's own line."""
    (toy.folder / "buggy" / "acme" / "made.py").write_text(MADE)
    script = "from acme import made\n\nmade.Prod([2.0])\nmade.mean([])\n"
    found = toy.reproduce({"0/0": script})
    assert found.attempts[0].stage is None, found.attempts[0].objections
    toy.journal = Journal.in_memory()
    gone = script.replace("Prod", "Median")
    refused = toy.reproduce({"0/0": gone})
    assert refused.attempts[0].stage is Stage.STATIC
    assert "There is no `Median` in `acme.made`" in str(refused.attempts[0].objections[0])
    toy.journal = Journal.in_memory()
    wrong = script.replace("mean([])", "mean([], 1)")
    other = toy.reproduce({"0/0": wrong})
    assert other.attempts[0].stage is Stage.STATIC, "something else is wrong too"
