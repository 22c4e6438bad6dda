"""After a revision the judge is asked for what the change may have touched, where there are
many criteria.
"""

from __future__ import annotations

from typing import Any

import pytest

from reenact.codegen.project import Project
from reenact.codegen.runner import ProjectRunner
from reenact.intake.papers.paper import Paper
from reenact.llm.ask import Call
from reenact.llm.scripted import Scripted
from reenact.paper.criterion import Category, CodeLine, Criterion, Judged, Level, Value
from reenact.paper.verify.mechanical import STANDS, Earlier, carried
from reenact.paper.verify.verify import FEW, verify
from reenact.sandbox.choose import choose

FILES = {
    "config.py": "RATE = 0.1\nEPOCHS = 40\nSIZES = (8, 8)\n",
    "data.py": "def batch(seed):\n    return [seed]\n",
    "layers.py": "import config\n\n\ndef widths():\n    return config.SIZES\n",
    "model.py": "from layers import widths\n\n\ndef build():\n    return widths()\n",
    "train.py": "import config\nfrom data import batch\n\nprint(config.RATE, batch(0))\n",
    "README.md": "# A line\n",
}
BEFORE = Project(FILES)


def passed(name: str, *files: str, value: Value = Value.PASS, by: str = "judge") -> Judged:
    return Judged(name, value, by, "It is there.", tuple(CodeLine(file, 1, "x") for file in files))


JUDGED = (
    passed("F1", "data.py"),
    passed("F2", "layers.py"),
    passed("F3", "model.py"),
    passed("F4", "train.py"),
    passed("F5", "data.py", "config.py"),
    passed("F6", "data.py", value=Value.FAIL),
    passed("F7", "data.py", by="check"),
    passed("F8", "README.md"),
)


@pytest.mark.parametrize(
    ("changes", "stand"),
    [
        ({"README.md": "# Another\n"}, "F1 F2 F3 F4 F5"),
        ({"config.py": FILES["config.py"].replace("40", "50")}, "F1 F2 F3 F4 F8"),
        ({"config.py": FILES["config.py"].replace("0.1", "0.2")}, "F1 F2 F3 F8"),
        # What is made with the sizes is changed with them, in every file that uses it.
        ({"config.py": FILES["config.py"].replace("(8, 8)", "(9, 8)")}, "F1 F4 F8"),
        ({"data.py": FILES["data.py"].replace("[seed]", "[seed, 1]")}, "F2 F3 F8"),
        ({"train.py": FILES["train.py"] + "print(1)\n"}, "F1 F2 F3 F5 F8"),
        ({"more.yaml": "lr: 1\n"}, ""),
    ],
    ids=["prose", "unused", "setting", "chain", "function", "script", "settings-file"],
)
def test_a_pass_stands_where_nothing_that_it_rests_on_changed(
    changes: dict[str, str], stand: str
) -> None:
    found = carried(Earlier(BEFORE, JUDGED), BEFORE.changed(changes))
    assert " ".join(sorted(found)) == stand


def test_it_is_stated_once_that_a_verdict_stands() -> None:
    once = carried(Earlier(BEFORE, JUDGED), BEFORE)
    twice = carried(Earlier(BEFORE, tuple(once.values())), BEFORE)
    assert twice["F1"].reason == once["F1"].reason == f"It is there. {STANDS}"


def asked_in(text: str) -> list[str]:
    inside = text.split("<<<criteria ")[1].split(">>>")[0]
    return [line.split(":")[0] for line in inside.splitlines() if line.startswith("F")]


def answer(call: Call) -> Any:
    """A judge who passes each by a line of data.py when its number is even, else of config.py."""
    lines = {0: ("data.py", 2, "return [seed]"), 1: ("config.py", 1, "RATE = 0.1")}
    verdicts = []
    for name in asked_in(call.as_text()):
        file, number, text = lines[int(name[1:]) % 2]
        line = {"file": file, "line": number, "text": text}
        verdicts.append({"id": name, "seen": "So.", "verdict": "pass", "lines": [line]})
    return {"verdicts": verdicts}


@pytest.mark.parametrize(
    ("many", "again"), [(FEW, FEW), (FEW + 2, FEW // 2 + 1)], ids=["few", "many"]
)
def test_many_criteria_are_judged_again_only_where_the_code_changed(
    paper: Paper, run: Any, many: int, again: int
) -> None:
    criteria = [
        Criterion(
            f"F{number}",
            "It holds.",
            "training",
            "The mixed target is",
            ("1:1.2",),
            Level.FRAMEWORK,
            Category.SETUP,
            1,
        )
        for number in range(many)
    ]
    model, runner = Scripted(answer), ProjectRunner(choose(trust_code=True), 60.0)
    first = verify(criteria, BEFORE, paper, model, run.under("first"), runner)
    assert {one.value for one in first} == {Value.PASS}
    after = BEFORE.changed({"config.py": FILES["config.py"] + "SEEDS = 5\n"})
    earlier = Earlier(BEFORE, first)
    second = verify(criteria, after, paper, model, run.under("second"), runner, earlier=earlier)
    asked = [
        name for call in model.calls if "second" in call.step for name in asked_in(call.as_text())
    ]
    assert len(asked) == again
    assert [one.criterion for one in second] == [one.id for one in criteria]
    assert {one.value for one in second} == {Value.PASS}
    assert sum(STANDS in one.reason for one in second) == many - again
