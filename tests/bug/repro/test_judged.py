"""`reenact judge`: 1 when the bug shows, 0 when not, 125 when it could not be run or ran another copy."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reenact.bug.project_files import project_files
from reenact.bug.repro.facts import ReproFacts, read_facts
from reenact.bug.repro.judged import JudgedRevision, Judgement, judge_environment, judged
from reenact.bug.reproduction import CallForm, Reproduction
from reenact.bug.script_runner import Revision, ScriptRunner
from reenact.codegen.runner import ProjectRunner
from reenact.errors import InputError

CRASHES = "from acme import Meter\n\nmeter = Meter(3)\nmeter.mean()\n"
SUMMED = "from acme import focal\n\nobserved = focal([0.5] * 4, [1] * 4)\nreference = focal([0.5], [1])\n"
RELEASE = "class Meter:\n    def __init__(self, n): ...\n    def mean(self): ...\n"
WRONG = "Focal loss grows with the batch\n\nThe loss of four is four times that of one.\n"
WRONG_SYMPTOM = {
    "kind": "silent",
    "sign": "wrong-value",
    "words": "The focal loss is summed, not averaged.",
    "check": {"relation": "differs"},
}


def judge(toy: Any, out: Path, folder: Path) -> JudgedRevision:
    facts = read_facts(out / "repro.py")
    files = project_files(folder)
    at = Revision("it", files)
    boxes = ProjectRunner(toy.sandbox, 30.0)
    runner = ScriptRunner(boxes, judge_environment(facts, files, None), facts.stubs)
    return judged((out / "repro.py").read_text(), facts, at, runner)


@pytest.fixture(scope="module")
def reproduced(shared_toy: Any, in_turn: Any) -> Path:
    out: Path = shared_toy.folder / "out"
    found = shared_toy.reproduce(in_turn([CRASHES]), out=out, fixed=True)
    assert found.exits == {"buggy": 1, "fixed": 0}
    return out


@pytest.fixture
def crash(reproduced: Path, tmp_path: Path) -> Path:
    return shutil.copytree(reproduced, tmp_path / "out")


def edit(folder: Path, old: str, new: str) -> None:
    losses = folder / "acme" / "losses.py"
    text = losses.read_text()
    assert old in text
    losses.write_text(text.replace(old, new))


def test_it_shows_where_the_bug_is(toy: Any, crash: Path) -> None:
    buggy = judge(toy, crash, toy.folder / "buggy")
    assert buggy.judgement is Judgement.SHOWS
    assert "The bug shows: ZeroDivisionError" in buggy.sentence
    assert f"acme from {toy.folder / 'buggy' / 'acme' / '__init__.py'}" in buggy.sentence
    fixed = judge(toy, crash, toy.folder / "fixed")
    assert fixed.judgement is Judgement.DOES_NOT_SHOW
    assert "The bug does not show" in fixed.sentence


@pytest.mark.parametrize(
    ("old", "new"),
    [
        # Another class, another function, another message at a raise, and none of the project.
        ("return sum(self.values) / len", "return self.gone / len"),
        (
            "return sum(self.values) / len(self.values)",
            "return self._mean()\n\n    def _mean(self):\n        return 1 / 0",
        ),
        (
            "return sum(self.values) / len(self.values)",
            'raise ZeroDivisionError("no mean of nothing")',
        ),
        ("self.window = window", "self.window = window.missing"),
    ],
)
def test_another_failure_says_nothing(toy: Any, crash: Path, old: str, new: str) -> None:
    edit(toy.folder / "buggy", old, new)
    found = judge(toy, crash, toy.folder / "buggy")
    assert found.judgement is Judgement.CANNOT_BE_RUN, found.sentence
    assert "another failure" in found.reason


def test_the_same_line_with_another_message_shows_it(toy: Any, crash: Path) -> None:
    """Another interpreter words it otherwise: here another operator on the same line does."""
    facts = read_facts(crash / "repro.py")
    assert facts.seen is not None
    worded = replace(facts, seen=replace(facts.seen, message="other words of another version"))
    (crash / "repro.json").write_text(worded.text())
    assert judge(toy, crash, toy.folder / "buggy").judgement is Judgement.SHOWS
    moved = replace(facts, seen=replace(worded.seen, text="return 1 / nothing"))  # type: ignore[type-var]
    (crash / "repro.json").write_text(moved.text())
    assert judge(toy, crash, toy.folder / "buggy").judgement is Judgement.CANNOT_BE_RUN


def test_another_copy_of_the_project_says_nothing(toy: Any, crash: Path, tmp_path: Path) -> None:
    """A folder without the package, and a release of it that is installed."""
    empty = tmp_path / "empty"
    empty.mkdir()
    (empty / "setup.py").write_text("")
    found = judge(toy, crash, empty)
    assert found.judgement is Judgement.CANNOT_BE_RUN
    assert "no module of the project was imported (acme)" in found.reason
    release = (
        "import sys\nfrom pathlib import Path\n\nPath('lib/acme').mkdir(parents=True)\n"
        f"Path('lib/acme/__init__.py').write_text({RELEASE!r})\nsys.path.append('lib')\n"
    )
    (crash / "repro.py").write_text(f"{release}{CRASHES}")
    found = judge(toy, crash, empty)
    assert found.judgement is Judgement.CANNOT_BE_RUN
    assert f"acme was not imported from {empty}" in found.reason
    assert "lib/acme/__init__.py" in found.sentence


def test_an_edited_script_of_a_crash_is_run_as_it_is(toy: Any, crash: Path) -> None:
    text = (crash / "repro.py").read_text()
    (crash / "repro.py").write_text(
        text.replace("meter = Meter(3)", "meter = Meter(3); meter.update(1)")
    )
    assert judge(toy, crash, toy.folder / "buggy").judgement is Judgement.DOES_NOT_SHOW
    (crash / "repro.py").write_text("def\n")
    assert "repro.py is not Python" in judge(toy, crash, toy.folder / "buggy").reason


def test_a_silent_bug_is_judged_by_its_values(toy: Any, in_turn: Any, tmp_path: Path) -> None:
    out = tmp_path / "out"
    found: Reproduction = toy.reproduce(
        in_turn([SUMMED]), report=WRONG, symptom=WRONG_SYMPTOM, fixed=True, out=out
    )
    assert found.exits == {"buggy": 1, "fixed": 0}, found.notes
    assert judge(toy, out, toy.folder / "buggy").judgement is Judgement.SHOWS
    assert judge(toy, out, toy.folder / "fixed").judgement is Judgement.DOES_NOT_SHOW
    edit(toy.folder / "fixed", "total / max", "gone / max")
    assert judge(toy, out, toy.folder / "fixed").judgement is Judgement.CANNOT_BE_RUN
    (out / "repro.py").write_text((out / "repro.py").read_text() + "\n")
    changed = judge(toy, out, toy.folder / "buggy")
    assert changed.judgement is Judgement.CANNOT_BE_RUN
    assert "repro.py was changed since it was written" in changed.reason


def test_a_call_is_written_as_the_revision_takes_it(toy: Any, crash: Path) -> None:
    facts = read_facts(crash / "repro.py")
    form = CallForm(call="Meter(3)", fixed="Meter(3, empty=0.0)")
    (crash / "repro.json").write_text(replace(facts, forms=(form,)).text())
    assert judge(toy, crash, toy.folder / "buggy").judgement is Judgement.SHOWS
    edit(toy.folder / "buggy", "window=10", "window=10, empty=None")
    edit(
        toy.folder / "buggy",
        "self.window = window",
        "self.window = window\n        self.empty = empty",
    )
    edit(toy.folder / "buggy", "return sum", "return self.empty if self.empty is not None else sum")
    assert judge(toy, crash, toy.folder / "buggy").judgement is Judgement.DOES_NOT_SHOW


def test_facts_that_are_none_are_refused(crash: Path) -> None:
    facts = json.loads((crash / "repro.json").read_text())
    for wrong in ({"format": "other"}, {"seeds": "all"}, {"more": 1}):
        (crash / "repro.json").write_text(json.dumps({**facts, **wrong}))
        with pytest.raises(InputError, match=next(iter(wrong))):
            read_facts(crash / "repro.py")
    (crash / "repro.json").unlink()
    with pytest.raises(InputError, match="cannot be read"):
        read_facts(crash / "repro.py")


def test_facts_come_back_as_they_went(crash: Path) -> None:
    facts = read_facts(crash / "repro.py")
    assert isinstance(facts, ReproFacts)
    assert facts.seen is not None
    assert (facts.seen.function, facts.seen.phase) == ("mean", "call")
    assert facts.seen.text == "return sum(self.values) / len(self.values)"
    assert facts.modules == ("acme",)
    assert facts.text() == (crash / "repro.json").read_text()
