"""The whole development with a scripted model and real boxes: stages, debugging, revisions, the
best kept.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from reenact.errors import AnswerUnusable, BudgetSpent, ReplayMiss
from reenact.files import packaged_table
from reenact.paper.criterion import Value
from reenact.paper.develop.checks import Stage
from reenact.paper.options import PaperAblations

ANALYSIS = {"cause": "It is misspelt.", "remedy": "Spell it."}
PLAN = {"steps": ["config.py: 50 epochs (F2)"], "hopeless": []}
FIFTY = {
    "swaps": [{"path": "config.py", "search": "EPOCHS = 40", "replace": "EPOCHS = 50"}],
    "assumptions": ["An epoch is one batch."],
}


def broken_data(given: Any) -> Any:
    return given(
        "config.py",
        "data.py",
        data_py="def sample_batch(seed):\n    return lst[seed]\n",
    )


def line_edit(text: str, old: str = "    return lst[seed]", number: int = 2) -> dict[str, Any]:
    return {
        "lines": [
            {
                "path": "data.py",
                "first": number,
                "last": number,
                "old_first": old,
                "old_last": old,
                "text": text,
            }
        ]
    }


def log(out: Path) -> list[str]:
    done = subprocess.run(
        ["git", "log", "--reverse", "--format=%s"],
        cwd=out,
        capture_output=True,
        check=True,
    )
    return done.stdout.decode().splitlines()


def test_from_nothing_to_a_project_whose_criteria_hold(bench: Any, answers: Any) -> None:
    script = {**answers(), "revision[0]/plan": PLAN, "revision[0]/revise": FIFTY}
    made = bench.develop(script, out=True)
    assert made.runs
    assert [one.stage for one in made.rounds] == [
        Stage.DATA,
        Stage.METHOD,
        Stage.EXPERIMENT,
        Stage.REVISION,
    ]
    assert made.best == 3
    last = made.rounds[3]
    assert (last.passed, last.failed, last.turned, last.edits) == (
        ("F1", "F2"),
        (),
        ("F2",),
        2,
    )
    assert {one.value for one in made.judged} == {Value.PASS}
    assert {"Decided: One batch an epoch.", "Assumed: An epoch is one batch."} <= set(made.notes)
    out = bench.folder / "out"
    assert (out / "config.py").read_text() == made.project.files["config.py"]
    assert log(out) == [
        "Round 0, data",
        "Round 1, method",
        "Round 2, experiment: turns F1",
        "Round 3, revision: turns F2",
    ]
    assert (
        last.commit
        in subprocess.run(
            ["git", "rev-parse", "HEAD"],
            cwd=out,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
    )
    assert "batch['x']: float of shape (16,)" in bench.asked("method/write")[0], (
        "what was seen is known later"
    )
    assert "F2 fail: There are 50 epochs. Seen: config.py: False" in bench.asked("plan")[0]
    assert "F1" not in bench.asked("plan")[0].partition("without those that hold:")[2]


def test_the_same_call_again_asks_and_runs_nothing(bench: Any, answers: Any) -> None:
    script = {**answers(), "revision[0]/plan": PLAN, "revision[0]/revise": FIFTY}
    first = bench.develop(script, out=True)
    commits = log(bench.folder / "out")
    again = bench.develop({}, out=True)
    assert bench.models[-1].calls == []
    assert again.rounds == first.rounds
    assert log(bench.folder / "out") == commits


def test_an_interrupted_development_continues_where_it_stopped(bench: Any, answers: Any) -> None:
    script = answers()
    rest = {name: script.pop(name) for name in ("experiment/write", "refactor/refactor")}
    with pytest.raises(ReplayMiss):
        bench.develop(script, rounds=0)
    made = bench.develop(rest, rounds=0)
    assert made.runs
    assert [call.step for call in bench.models[-1].calls] == [
        f"paper/develop/{name}" for name in rest
    ]


def test_debugging_changes_its_tactics_when_the_same_failure_comes_back(
    bench: Any, answers: Any, given: Any
) -> None:
    place = "data/debug[{}]/{}"
    fixes = [
        line_edit("    return lst [seed]"),
        [
            line_edit("    return 1", "    wrong", 1),
            line_edit("    return  lst[seed]", "    return lst [seed]"),
        ],
        line_edit("    return lst[ seed]", "    return  lst[seed]"),
        given("data.py"),
    ]
    script = {**answers(), "data/write": broken_data(given)}
    for number, fix in enumerate(fixes):
        script[place.format(number, "analyse")] = ANALYSIS
        script[place.format(number, "fix")] = fix
    made = bench.develop(script, rounds=0)
    assert made.runs
    assert made.rounds[0].tries == 4
    asked = bench.asked("fix")
    tactics = packaged_table("reenact.paper.develop", "prompts/texts.toml")["tactics"]
    assert tactics["first"] in asked[0]
    assert "Undefined name `lst`" in asked[0]
    assert tactics["another"] in asked[1]
    assert "It is misspelt." in asked[1].partition("What was tried before")[2]
    assert "line 1 is 'def sample_batch(seed):', not 'wrong'" in asked[2], (
        "misnumbering is reported to the model"
    )
    assert tactics["rewrite"] in asked[4]


def test_a_revision_that_breaks_the_run_is_not_kept(bench: Any, answers: Any) -> None:
    breaks = {
        "swaps": [
            {
                "path": "config.py",
                "search": "RATE = 0.1\nEPOCHS = 40",
                "replace": "EPOCHS = 50",
            }
        ]
    }
    script = {
        **answers(),
        "revision[0]/plan": PLAN,
        "revision[0]/revise": breaks,
        "revision[0]/debug[0]/analyse": ANALYSIS,
        "revision[0]/debug[0]/fix": {"files": [{"path": "notes.md", "text": "No idea."}]},
    }
    made = bench.develop(script, out=True, rounds=1, tries=1)
    assert made.runs
    assert made.best == 2
    assert not made.rounds[3].runs
    assert made.rounds[3].passed == (), "what cannot become the best is not verified"
    assert made.project.files["config.py"].endswith("EPOCHS = 40\n")
    out = bench.folder / "out"
    assert (out / "config.py").read_text().endswith("EPOCHS = 40\n")
    assert not (out / "notes.md").exists()
    assert log(out)[-1] == "Keep round 2, the best version"


def test_no_further_round_is_paid_for_without_progress(bench: Any, answers: Any) -> None:
    script = dict(answers())
    for number in range(5):
        script[f"revision[{number}]/plan"] = PLAN
        script[f"revision[{number}]/revise"] = {
            "files": [{"path": "notes.md", "text": f"Round {number}."}]
        }
    made = bench.develop(script, rounds=5)
    assert [one.stage for one in made.rounds].count(Stage.REVISION) == 2
    assert made.best == 2


def test_what_the_plan_gives_up_is_not_revised_for(bench: Any, answers: Any) -> None:
    plan = {**PLAN, "hopeless": ["F2: the cited code is not at hand"]}
    made = bench.develop({**answers(), "revision[0]/plan": plan})
    assert [one.stage for one in made.rounds].count(Stage.REVISION) == 0
    assert "Given up: F2: the cited code is not at hand" in made.notes


def test_a_spent_budget_keeps_what_runs(bench: Any, answers: Any) -> None:
    made = bench.develop({**answers(), "revision[0]/plan": BudgetSpent("No money is left.")})
    assert made.runs
    assert made.best == 2
    assert made.notes[-1] == "The budget was used up in revision 1: No money is left."


def test_a_refactoring_that_runs_is_kept(bench: Any, answers: Any) -> None:
    tidy = {"swaps": [{"path": "README.md", "search": "# A line", "replace": "# A line, fitted"}]}
    made = bench.develop({**answers(), "refactor/refactor": tidy}, rounds=0)
    assert made.rounds[made.best].stage is Stage.REFACTOR
    assert made.project.files["README.md"] == "# A line, fitted\n"


def test_a_refactoring_that_breaks_the_run_is_forgotten(bench: Any, answers: Any) -> None:
    spoilt = {"removed": ["evaluate.py"]}
    debug = {
        f"refactor/debug[{n}]/{name}": "no answer" for n in (0, 1) for name in ("analyse", "fix")
    }
    script = {
        **answers(),
        "refactor/refactor": spoilt,
        **{name: [text] * 5 for name, text in debug.items()},
    }
    made = bench.develop(script, rounds=0, tries=3)
    assert made.rounds[made.best].stage is Stage.EXPERIMENT
    assert "evaluate.py" in made.project.files


def test_what_never_runs_is_reported_and_still_verified(
    bench: Any, answers: Any, given: Any
) -> None:
    bad = given(
        "train.py",
        "evaluate.py",
        "reproduce.sh",
        "README.md",
        "requirements.txt",
        evaluate_py="x = (\n",
    )
    made = bench.develop(
        {**answers(), "experiment/write": bad},
        parts=PaperAblations.without("debug", "refine"),
    )
    assert not made.runs
    assert made.rounds[-1].problems == ("evaluate.py:1: It does not parse: '(' was never closed.",)
    assert made.rounds[-1].passed == ("F1",)


def test_a_missing_module_becomes_a_proposed_requirement(
    bench: Any, answers: Any, given: Any
) -> None:
    wanting = given(
        "config.py",
        "data.py",
        data_py="import nosuchmodule\n" + given("data.py")["files"][0]["text"],
    )
    script = {
        **answers(),
        "data/write": wanting,
        "data/debug[0]/analyse": {**ANALYSIS, "requirement": "nosuchmodule>=2"},
        "data/debug[0]/fix": given("data.py"),
    }
    made = bench.develop(script, rounds=0)
    assert made.runs
    missing = [note for note in made.notes if "not installed" in note]
    assert [note.rpartition(" ")[2] for note in missing] == [
        "nosuchmodule",
        "nosuchmodule>=2",
    ]
    assert "The module `nosuchmodule` cannot be imported here." in bench.asked("analyse")[0]


def test_hostile_answers_change_nothing_outside(bench: Any, answers: Any) -> None:
    hostile = {
        "files": [
            {"path": "../../evil.py", "text": "x"},
            {"path": "data.py", "text": "y"},
        ]
    }
    with pytest.raises(AnswerUnusable, match="not a name of a project file"):
        bench.develop({**answers(), "data/write": [hostile] * 5}, out=True)
    assert not (bench.folder.parent / "evil.py").exists()
