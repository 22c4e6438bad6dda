"""One run in a box: seeds, stubs, warnings, limits, and what the watcher says of values."""

from __future__ import annotations

from typing import Any

import pytest

from killed_boxes import KilledFromOutside
from reenact.bug.classify import RunOutcome, classified
from reenact.bug.environment import prepare
from reenact.bug.options import BugOptions
from reenact.bug.project_files import project_files
from reenact.bug.script_runner import Revision, RunObservation, ScriptRunner
from reenact.bug.symptom import Symptom
from reenact.claims.check import Check, Relation
from reenact.codegen.runner import ProjectRunner
from reenact.sandbox.again import MOST_BOXES
from reenact.sandbox.box import Ending


def runner_for(
    toy: Any, *, memory_mib: int = 1024, stubs: tuple[str, ...] = ()
) -> tuple[ScriptRunner, Revision]:
    files = project_files(toy.folder / "buggy")
    environment = prepare(files, (), None, BugOptions(environment="here"), None)
    runner = ProjectRunner(toy.sandbox, 30.0, memory_mib)
    return ScriptRunner(runner, environment, stubs), Revision("x", files)


def seen(
    toy: Any, script: str, check: Check | None = None, seed: int = 0, **changes: Any
) -> RunObservation:
    runner, revision = runner_for(toy, **changes)
    return runner.run(script, check, [seed], revision)[seed]


ABOVE = Check(relation=Relation.ABOVE, number=0.0)


def test_seed_rules_chance(toy: Any) -> None:
    script = (
        "import random\nimport numpy as np\nobserved = random.random() + float(np.random.rand())\n"
    )
    runner, revision = runner_for(toy)
    together = runner.run(script, ABOVE, [0, 1], revision)
    assert together[0].number == seen(toy, script, ABOVE, 0).number
    assert together[0].number != together[1].number


def test_stub_only_where_the_user_allows_it(toy: Any) -> None:
    script = "import nobody_has_this.deep as deep\nfrom acme import Meter\nMeter(deep.Size and 3)\n"
    missing = seen(toy, script)
    assert missing.missing == "nobody_has_this"
    stubbed = seen(toy, script, stubs=("nobody_has_this",))
    assert stubbed.ended == "returned"
    called = seen(
        toy,
        "import nobody_has_this\nnobody_has_this.Thing()()\n",
        stubs=("nobody_has_this",),
    )
    assert "stub" in called.message


def test_warning_counts_when_project_code_gives_it(toy: Any) -> None:
    losses = toy.folder / "buggy" / "acme" / "losses.py"
    losses.write_text(
        "import warnings\ndef f():\n    warnings.warn('gamma is ignored here', stacklevel=2)\n"
    )
    (toy.folder / "buggy" / "acme" / "__init__.py").write_text("")
    check = Check(relation=Relation.WARNS, text="gamma is ignored")
    assert seen(toy, "from acme.losses import f\nf()\n", check).holds is True
    own = "import warnings\nimport acme.losses\nwarnings.warn('gamma is ignored here')\n"
    assert seen(toy, own, check).holds is False


@pytest.mark.parametrize(
    ("script", "check", "problem"),
    [
        ("x = 1\n", ABOVE, "without a top-level value"),
        (
            "class F(float): ...\nobserved = F(3)\n",
            ABOVE,
            "class that the script defines",
        ),
        ("observed = 'words'\n", ABOVE, "holds no number"),
    ],
)
def test_check_that_cannot_be_computed(toy: Any, script: str, check: Check, problem: str) -> None:
    found = seen(toy, script, check)
    assert problem in found.problem
    assert found.holds is False


def test_limits_are_no_symptom_unless_they_are_the_symptom(toy: Any) -> None:
    hungry = (
        "observed = bytearray(600 * 2**20)\nfor i in range(0, len(observed), 4096):\n    "
        "observed[i] = 1\n"
    )
    check = Check(relation=Relation.MEMORY, number=50)
    found = seen(toy, hungry, check, memory_mib=300)
    assert found.ending is Ending.MEMORY_LIMIT
    files = project_files(toy.folder / "buggy")
    silent = Symptom(kind="silent", sign="memory", words="w", check=check)
    other = Symptom(
        kind="silent",
        sign="slow",
        words="w",
        check=Check(relation=Relation.ABOVE, number=1),
    )
    assert classified(0, found, silent, (), files).outcome is RunOutcome.SYMPTOM
    assert classified(0, found, other, (), files).outcome is RunOutcome.NO_RUN


@pytest.mark.parametrize("kills", [1, MOST_BOXES])
def test_a_killed_box_is_no_failed_script(toy: Any, kills: int) -> None:
    """What is killed is the child that runs the script, not the watcher around it."""
    toy.sandbox = KilledFromOutside(toy.sandbox, kills)
    found = seen(
        toy,
        "import time\nprint('begun', flush=True)\ntime.sleep(2)\nraise ValueError('x')\n",
    )
    symptom = Symptom(kind="silent", sign="memory", words="w", check=ABOVE)
    judged = classified(0, found, symptom, (), project_files(toy.folder / "buggy"))
    if kills < MOST_BOXES:
        assert (found.ended, found.classes[0]) == ("raised", "ValueError")
    else:
        assert (found.ending, found.was_run) == (Ending.KILLED, False)
        assert judged.outcome is RunOutcome.NO_RUN
        assert judged.sentence.startswith(
            f"It could not run: the box was killed {MOST_BOXES} times"
        )


def test_a_script_that_kills_itself_is_run_a_bounded_number_of_times(toy: Any) -> None:
    toy.sandbox = KilledFromOutside(toy.sandbox, 0)
    found = seen(toy, "import os\nos.kill(os.getpid(), 9)\n")
    assert (found.ending, toy.sandbox.boxes) == (Ending.KILLED, MOST_BOXES)


def test_project_is_read_only_and_output_is_kept_short(toy: Any) -> None:
    script = (
        "import acme, os\nfolder = os.path.dirname(acme.__file__)\nprint('x' * 100_000)\n"
        "with open(os.path.join(folder, 'new.txt'), 'w') as file:\n    file.write('x')\n"
    )
    found = seen(toy, script)
    assert found.classes[0] == "OSError"
    assert len(found.output) <= 3000
    assert not (toy.folder / "buggy" / "acme" / "new.txt").exists()


def test_message_that_no_json_takes(toy: Any) -> None:
    found = seen(toy, "raise ValueError('half \\ud800 a character' * 1000)\n")
    assert found.ended == "raised"
    assert found.message.startswith("half ? a character")
    assert len(found.message) <= 4000
