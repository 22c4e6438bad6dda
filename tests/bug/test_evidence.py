"""What counts as proof: what was seen, compared with what the fixed revision does, run as often
as needed.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reenact.bug.classify import RunOutcome, failure_of
from reenact.bug.reproduction import Verdict
from reenact.bug.script_runner import Frame, RunObservation
from reenact.claims.inside import relations
from reenact.journal import Journal
from reenact.sandbox.box import BoxResult, Command, Ending, Limits

CRASHES = "from acme import Meter\n\nmeter = Meter(3)\nprint(meter.mean())\n"
SUMMED = (
    "from acme import focal\n\nobserved = focal([0.5] * 4, [1] * 4)\nreference = focal([0.5], "
    "[1])\n"
)
FRAME = Frame("project", "acme/losses.py", 33, "mean", "Meter.mean")


def raised(message: str, frame: Frame = FRAME, *classes: str) -> RunObservation:
    return RunObservation(
        Ending.OK,
        ended="raised",
        classes=classes or ("ValueError",),
        message=message,
        frames=(frame,),
    )


def test_numbers_addresses_and_paths_of_a_message_may_vary() -> None:
    one = failure_of(raised("got 3 of 1.5e-3 in <Meter at 0x7f01> from /tmp/a/b.bin"))
    two = failure_of(raised("got 14 of 7 in <Meter at 0xbeef> from /home/me/c.bin"))
    assert one == two
    assert one is not None
    assert one.fragments == ("got", "of", "in <meter at", "> from")
    assert one != failure_of(raised("got 14 of 7 in <Meter at 0xbeef> to /home/me/c.bin"))
    assert one != failure_of(
        raised(
            "got 3 of 1.5e-3 in <Meter at 0x7f01> from /tmp/a/b.bin",
            replace(FRAME, function="update"),
        )
    )
    assert failure_of(raised("x", replace(FRAME, function="<module>"))).phase == "import"


@pytest.mark.parametrize(
    ("check", "observed", "reference", "words"),
    [
        (
            {"relation": "not-finite"},
            [[1.0, 2.0], [3.0, float("nan")]],
            None,
            "1 of 4 values, first observed[1][1] = nan",
        ),
        (
            {"relation": "not-finite"},
            {"a": 1.0, "b": [float("inf")]},
            None,
            "observed['b'][0] = inf",
        ),
        (
            {"relation": "differs"},
            [1.0, 2.0, 3.0],
            [1.0, 2.5, 3.0],
            "1 of 3 values, first observed[1] = 2.0, not 2.5",
        ),
        ({"relation": "differs"}, [1.0], [1.0, 2.0], "1 values against 2"),
        ({"relation": "above", "number": 2.0}, [1.0, 5.0], None, "observed[1] = 5.0"),
        ({"relation": "shape"}, [[1, 2]], [1, 2], "the shape is (1,2), expected (2)"),
        (
            {"relation": "no-gradient"},
            {"first": 0.0, "last": 1.0},
            None,
            "without gradient: first (1 of 2)",
        ),
        (
            {"relation": "no-gradient"},
            [("w", 1.0), ("b", 0.0)],
            None,
            "without gradient: b (1 of 2)",
        ),
    ],
)
def test_the_values_that_show_a_silent_bug_stand_first(
    check: Any, observed: Any, reference: Any, words: str
) -> None:
    check = {"number": None, "text": "", "tolerance": 1e-4, **check}
    assert getattr(relations, "holds_" + check["relation"].replace("-", "_"))(
        check, observed, reference
    )
    assert words in relations.saw(check, observed, reference, True)
    assert words not in relations.saw(check, observed, reference, False)


@pytest.mark.release
def test_evidence_of_both_revisions_stands_in_the_report(
    toy: Any, in_turn: Any, tmp_path: Path
) -> None:
    symptom = {
        "kind": "silent",
        "sign": "wrong-value",
        "words": "Summed.",
        "check": {"relation": "above", "number": 0.5},
    }
    script = "from acme import focal\n\nobserved = [focal([0.5], [1]), focal([0.5] * 4, [1] * 4)]\n"
    found = toy.reproduce(
        in_turn([script]),
        report="Focal grows\n\nIt does.\n",
        symptom=symptom,
        fixed=True,
        out=tmp_path / "o",
    )
    assert found.verdict is Verdict.REPRODUCED, found.reason
    written = (tmp_path / "o" / "REPORT.md").read_text()
    assert "1 of 2 values, first observed[1] = 0.69" in written
    assert "On the fixed revision" in written


def test_another_failure_on_the_fixed_revision_is_not_the_same(toy: Any, in_turn: Any) -> None:
    """Both revisions raise what the report spells, in two places: the fix only moved it."""
    losses = toy.folder / "fixed" / "acme" / "losses.py"
    text = losses.read_text()
    losses.write_text(
        text.replace(
            "    def mean(self):\n", "    def mean(self):\n        self._check()\n"
        ).replace(
            "    def update(",
            "    def _check(self):\n        return 1 / len(self.values)\n\n    def update(",
        )
    )
    found = toy.reproduce(in_turn([CRASHES]), fixed=True)
    assert found.attempts[0].fixed_runs[0].outcome is RunOutcome.SYMPTOM
    assert found.verdict is Verdict.INCOMPLETE, found.reason
    assert found.verdict.exit_code == 3
    assert "the same call (line 4 of the script) now raises ZeroDivisionError" in found.reason
    assert "Meter._check" in found.reason
    assert found.script == CRASHES, "it is handed over"
    assert found.exits == {"buggy": 1}
    losses.write_text((toy.folder / "buggy" / "acme" / "losses.py").read_text())
    same = toy.reproduce(in_turn([CRASHES + "\n"]), fixed=True)
    assert same.verdict is Verdict.NOT_REPRODUCED, same.reason


def test_a_deterministic_crash_is_run_twice_on_each_revision(toy: Any, in_turn: Any) -> None:
    found = toy.reproduce(in_turn([CRASHES]), fixed=True, seeds=5)
    assert found.verdict is Verdict.REPRODUCED
    assert (
        [run.seed for run in found.showing.runs],
        [run.seed for run in found.showing.fixed_runs],
    ) == (
        [0, 1],
        [0, 1],
    )
    chance = (
        "import random\nfrom acme import Meter\n\nif random.random() > 0.8:\n    Meter(3).mean()\n"
    )
    toy.journal = Journal.in_memory()
    flaky = toy.reproduce(in_turn([chance]), seeds=4)
    assert [run.shows for run in flaky.showing.runs] == [True, False, True, False]
    silent = {
        "kind": "silent",
        "sign": "wrong-value",
        "words": "Summed.",
        "check": {"relation": "differs"},
    }
    toy.journal = Journal.in_memory()
    summed = toy.reproduce(
        in_turn([SUMMED]), report="Focal grows\n\nIt does.\n", symptom=silent, seeds=4
    )
    assert len(summed.showing.runs) == 4


class Stops:
    """A sandbox that stops the first runs of repro.py."""

    def __init__(self, sandbox: Any, times: int) -> None:
        self.name, self._sandbox, self._times = sandbox.name, sandbox, times
        self.limits: list[Limits] = []

    def run(self, command: Command, limits: Limits, **more: Any) -> BoxResult:
        self.limits.append(limits)
        if command.argv[-1] == ".reenact/handed.py" and self._times:
            self._times -= 1
            return BoxResult(Ending.TIMEOUT, self.name, exit_code=137, why="wall time")
        return self._sandbox.run(command, limits, **more)


@pytest.mark.parametrize(("times", "verdict"), [(1, Verdict.REPRODUCED), (2, Verdict.SHOWN)])
def test_a_stopped_proof_is_tried_again_and_no_exit_code(
    toy: Any, in_turn: Any, times: int, verdict: Verdict
) -> None:
    toy.sandbox = Stops(toy.sandbox, times)
    found = toy.reproduce(in_turn([CRASHES]), seeds=1)
    assert found.verdict is verdict, found.reason
    assert found.exits == ({"buggy": 1} if times == 1 else {})
    assert ("did not end" in found.reason) == (times == 2)
    assert all(one.cpu_s is not None and one.wall_s >= 4 * one.cpu_s for one in toy.sandbox.limits)


def test_time_is_split(toy: Any, in_turn: Any) -> None:
    found = toy.reproduce(in_turn([CRASHES]))
    assert found.waited_s >= 0
    assert found.model_s > 0
    assert found.own_s == pytest.approx(found.seconds - found.model_s - found.waited_s)


INPUT = (
    "Meter fails\n\nmean says IndexError: list index out of range when I ask for value {} of the "
    "Meter\n"
)
INDEX = {
    "kind": "explicit",
    "sign": "crash",
    "words": "An index is out of range.",
    "explicit": {"exception": "IndexError", "message": "list index out of range"},
}


@pytest.mark.release
@pytest.mark.parametrize(("given", "verdict"), [(7, Verdict.REPRODUCED), (3, Verdict.SHOWN)])
def test_values_that_the_script_chose_itself_may_force_it(
    toy: Any, in_turn: Any, given: int, verdict: Verdict
) -> None:
    losses = toy.folder / "buggy" / "acme" / "losses.py"
    losses.write_text(
        losses.read_text() + "\n    def value(self, place):\n        return self.values[place]\n"
    )
    script = "from acme import Meter\n\nMeter().value(7)\n"
    found = toy.reproduce(in_turn([script]), report=INPUT.format(given), symptom=INDEX)
    assert found.verdict is verdict, found.reason
    assert ("does not give 7" in found.reason) == (verdict is Verdict.SHOWN)
    assert found.verdict.exit_code == (0 if verdict is Verdict.REPRODUCED else 3)


def test_a_check_of_a_library_below_the_project_is_only_shown(toy: Any, in_turn: Any) -> None:
    """json refuses what the script handed in, two frames below the project's own code."""
    losses = toy.folder / "buggy" / "acme" / "losses.py"
    losses.write_text(
        losses.read_text()
        + "\n    def dump(self):\n        import json\n        return json.dumps(self.values[0])\n"
    )
    script = "from acme import Meter\n\nmeter = Meter()\nmeter.update({1, 2})\nmeter.dump()\n"
    report = "Meter cannot be dumped\n\nTypeError: Object of type set is not JSON serializable\n"
    explicit = {
        "exception": "TypeError",
        "message": "Object of type set is not JSON serializable",
    }
    symptom = {
        "kind": "explicit",
        "sign": "crash",
        "words": "It cannot be dumped.",
        "explicit": explicit,
    }
    found = toy.reproduce(in_turn([script]), report=report, symptom=symptom)
    assert found.verdict is Verdict.SHOWN, found.reason
    assert "on purpose" in found.reason
    assert "--fixed" in found.reason


SUMS = {
    "kind": "silent",
    "sign": "wrong-value",
    "words": "A wrong mean.",
    "check": {"relation": "above", "number": 9},
}


@pytest.mark.release
def test_an_exception_that_only_the_fix_takes_away_is_evidence_by_itself(
    toy: Any, in_turn: Any, tmp_path: Path
) -> None:
    """The report showed a picture; the guess was a wrong value, the truth a crash."""
    report = "Meter is broken\n\n![screenshot](https://host.example/a.png)\n"
    script = "from acme import Meter\n\nobserved = Meter(3).mean()\n"
    found = toy.reproduce(
        in_turn([script]), report=report, symptom=SUMS, fixed=True, out=tmp_path / "out"
    )
    assert found.verdict is Verdict.REPRODUCED, found.reason
    assert "expected was another symptom" in found.reason
    assert found.exits == {"buggy": 1, "fixed": 0}
    assert found.symptom.explicit.name == "ZeroDivisionError"
    assert "The report has a picture, which was not read." in found.notes
    toy.journal = Journal.in_memory()
    alone = toy.reproduce(in_turn([script]), report=report, symptom=SUMS)
    assert alone.verdict is Verdict.INCONCLUSIVE, "without the fix nothing confirms it"
    toy.journal = Journal.in_memory()
    refused = "from acme import Meter\n\nobserved = Meter(0).mean()\n"
    both = toy.reproduce(in_turn([refused]), report=report, symptom=SUMS, fixed=True)
    assert both.verdict is Verdict.INCONCLUSIVE, "the fixed revision raises it too"
