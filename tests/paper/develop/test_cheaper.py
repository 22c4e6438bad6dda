"""What takes too long is made cheaper by its writer, who reads how long it took; the report
says so.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reenact.errors import BudgetSpent
from reenact.intake.papers.paper import Paper
from reenact.journal import Journal
from reenact.llm.prompts import load_prompt
from reenact.llm.scripted import Scripted
from reenact.paper.criterion import Judged, Value
from reenact.paper.develop.checks import Stage
from reenact.paper.develop.develop import cheaper_design, develop
from reenact.paper.develop.development import RoundLog
from reenact.paper.develop.questions import Brief
from reenact.paper.measure.verdict import Verdict
from reenact.paper.options import PaperAblations, PaperOptions
from reenact.paper.pipeline import PaperServices, reproduce
from reenact.report.views.paper import paper_report
from reenact.sandbox.choose import choose

LOOP = "while True:\n    pass\n"
FULL_LOOP = "while not args.dry_run:\n    pass\n"
REST = ("evaluate.py", "reproduce.sh", "README.md", "requirements.txt")
CLAIM = {
    "metric": "accuracy",
    "value": 84.2,
    "unit": "%",
    "higher_is_better": True,
    "method": "Gentle targets",
    "dataset": "Rings",
    "place": "2.2:2",
    "quote": "84.2 ± 0.4",
    "asked": True,
}


def slow(given: Any, line: Any, loop: str) -> dict[str, Any]:
    """The files of the experiment, with a loop that never ends."""
    text = line.files["train.py"].replace("model = build", f"{loop}model = build")
    answer: dict[str, Any] = given("train.py", *REST, train_py=text)
    return answer


def without(loop: str) -> dict[str, Any]:
    """The edit that takes the loop away."""
    return {
        "swaps": [{"path": "train.py", "search": loop, "replace": ""}],
        "assumptions": ["Every tenth point stands for all of them."],
    }


@pytest.mark.release
def test_a_dry_run_that_takes_too_long_is_made_cheaper(
    bench: Any, answers: Any, given: Any, line: Any
) -> None:
    script = {
        **answers(),
        "experiment/write": slow(given, line, LOOP),
        "experiment/debug[0]/cheaper": without(LOOP),
    }
    made = bench.develop(script, rounds=0, wall_s=2.0, scale=0.5)
    assert made.runs
    assert bench.asked("analyse") == [], "nothing is wrong with it but the time it takes"
    (asked,) = bench.asked("cheaper")
    took = "dry run of the whole experiment at scale 0.5: ended after 2 s of CPU time and"
    assert took in asked
    assert "the limits are 2 s and 8 s." in asked
    assert "while True:" in asked
    assert any(
        note.startswith(f"Took too long, so a cheaper design was asked for: {took}")
        for note in made.notes
    )
    assert any(note.startswith("Assumed: Every tenth point stands") for note in made.notes)


@pytest.mark.release
def test_code_that_stays_too_slow_is_given_up(
    bench: Any, answers: Any, given: Any, line: Any
) -> None:
    script = {**answers(), "experiment/write": slow(given, line, LOOP)}
    for number in range(3):
        readme = {"files": [{"path": "README.md", "text": f"# Attempt {number}\n"}]}
        script[f"experiment/debug[{number}]/cheaper"] = readme
    made = bench.develop(script, rounds=0, wall_s=3.0, tries=9)
    assert not made.runs
    assert len(bench.asked("cheaper")) == 3
    assert "It was made cheaper." in bench.asked("cheaper")[1].partition("tried before")[2]


@pytest.mark.release
def test_a_cheaper_design_that_fails_otherwise_is_debugged_as_usual(
    bench: Any, answers: Any, given: Any, line: Any
) -> None:
    script = {**answers(), "experiment/write": slow(given, line, LOOP)}
    for number in range(2):
        readme = {"files": [{"path": "README.md", "text": f"# Attempt {number}\n"}]}
        script[f"experiment/debug[{number}]/cheaper"] = readme
    crash = {"swaps": [{"path": "train.py", "search": LOOP, "replace": "raise ValueError(3)\n"}]}
    script["experiment/debug[2]/cheaper"] = crash
    script["experiment/debug[3]/analyse"] = {"cause": "It raises.", "remedy": "Do not."}
    script["experiment/debug[3]/fix"] = {
        "swaps": [{"path": "train.py", "search": "raise ValueError(3)\n", "replace": ""}]
    }
    made = bench.develop(script, rounds=0, wall_s=3.0, tries=9)
    assert made.runs
    assert len(bench.asked("cheaper")) == 3


def test_a_recorded_answer_does_not_depend_on_the_time_it_took() -> None:
    assert (
        load_prompt("reenact.paper.develop", "prompts/cheaper.md").variables["time"].kind == "local"
    )


def developed(
    bench: Any, script: dict[str, Any], verify: Callable[..., tuple[Judged, ...]]
) -> tuple[Any, Any]:
    """A development and what a cheaper design makes of it."""
    context = bench.context(
        {f"paper/develop/{place}": answer for place, answer in script.items()}, rounds=0
    )
    brief = Brief("A line is fitted.", "Fit the line.", criteria=bench.criteria)
    logs: list[RoundLog] = []
    with bench.journal.run(pipeline="paper", request={}, argv=(), what="a line") as run:
        before = develop(brief, context, run, verify, logs.append)
        return before, cheaper_design(
            brief, context, run, verify, logs[0], "A full run: ended after 9 s."
        )


def test_a_cheaper_design_is_verified_and_replaces_the_best_version(
    bench: Any, answers: Any, verify: Any
) -> None:
    less = {"swaps": [{"path": "config.py", "search": "RATE = 0.1\n", "replace": "RATE = 0.2\n"}]}
    before, after = developed(bench, {**answers(), "cheaper/cheaper": less}, verify)
    assert {one.criterion: one.value for one in before.judged}["F1"] is Value.PASS
    assert {one.criterion: one.value for one in after.judged}["F1"] is Value.FAIL, (
        "it has to say what it costs"
    )
    assert after.project.files["config.py"].startswith("SIZE = 16\nRATE = 0.2")
    assert after.rounds[after.best].stage is Stage.CHEAPER


def test_a_cheaper_design_that_does_not_run_changes_nothing(
    bench: Any, answers: Any, verify: Any
) -> None:
    broken = {"swaps": [{"path": "data.py", "search": "import random\n", "replace": ""}]}
    script = {**answers(), "cheaper/cheaper": broken}
    for number in range(2):
        script[f"cheaper/debug[{number}]/analyse"] = {
            "cause": "Unknown.",
            "remedy": "None.",
        }
        script[f"cheaper/debug[{number}]/fix"] = {
            "files": [{"path": "notes.md", "text": f"{number}\n"}]
        }
    _, after = developed(bench, script, verify)
    assert after is None


def reproduced(
    paper: Paper, folder: Path, written: dict[str, Any], **more: Any
) -> tuple[Any, Scripted]:
    """A reproduction with so many answers to the questions of development."""
    model = Scripted(
        {
            "paper/review": {"overall": [], "method": [], "experiment": []},
            "paper/claims": {"claims": [CLAIM]},
            **{f"paper/develop/{place}": answer for place, answer in written.items()},
            **more,
        }
    )
    services = PaperServices(
        journal=Journal.in_memory(),
        model=model,
        sandbox=choose(trust_code=True),
        cache=folder,
        traces=folder,
        report=paper_report,
    )
    parts = PaperAblations(lineage=False, fingerprint=False)
    options = PaperOptions(parts=parts, run_wall_s=1.0, wall_s=60.0, seeds=2)
    return reproduce(paper, services, options=options, out=folder / "out"), model


def test_full_runs_that_all_take_too_long_lead_to_a_cheaper_design(
    paper: Paper, answers: Any, given: Any, line: Any, tmp_path: Path
) -> None:
    written = {
        **answers(),
        "experiment/write": slow(given, line, FULL_LOOP),
        "cheaper/cheaper": without(FULL_LOOP),
    }
    match = {"paper/cheaper/measure/match": {"matches": []}}
    found, model = reproduced(paper, tmp_path, written, **match)
    assert [(one.seed, one.scale, one.ok) for one in found.runs] == [
        (0, 1.0, False),
        (0, 0.25, False),
        (0, 0.0625, False),
        (0, 0.0625, True),
        (1, 0.0625, True),
    ]
    (asked,) = [call.as_text() for call in model.calls if call.step.endswith("cheaper/cheaper")]
    assert re.search(
        r"A full run at scale 0\.0625: ended after \d s of CPU time and \d+ s by the clock",
        asked,
    )
    assert "the limits are 1 s and 4 s. The dry run at scale 1 took 0." in asked
    report = (tmp_path / "out" / "REPORT.md").read_text()
    assert "Took too long, so a cheaper design was asked for: A full run at scale 0.0625" in report
    assert "Every tenth point stands for all of them." in report
    assert FULL_LOOP not in (tmp_path / "out" / "train.py").read_text()


@pytest.mark.release
def test_without_a_cheaper_design_the_report_says_so(
    paper: Paper, answers: Any, given: Any, line: Any, tmp_path: Path
) -> None:
    spent = BudgetSpent("The budget of 3 calls is spent.")
    written = {
        **answers(),
        "experiment/write": slow(given, line, FULL_LOOP),
        "cheaper/cheaper": spent,
    }
    found, _ = reproduced(paper, tmp_path, written)
    assert [one.scale for one in found.runs] == [1.0, 0.25, 0.0625]
    assert found.verdict is Verdict.INCONCLUSIVE
    said = (
        "Every full run took too long, and no cheaper design came of it. The budget of 3 calls is "
        "spent."
    )
    assert said in found.notes
    assert said in (tmp_path / "out" / "REPORT.md").read_text()
