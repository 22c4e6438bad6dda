"""What was handed over, run as its user would.

Untrusted like all that a model wrote: it runs in a box without network, the project read-only
beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.bugs.case_result import CaseResult
from benchmarks.bugs.cases import BugCase
from benchmarks.bugs.oracle import COULD_NOT_RUN
from reenact.bug.cause.edits import WorkingCopy
from reenact.bug.cause.own_tests import run_tests, tests_folder
from reenact.bug.cause.patch import with_pytest
from reenact.bug.project_files import project_files
from reenact.bug.repro.facts import ReproFacts, facts_from
from reenact.bug.repro.judged import judge_environment, judged
from reenact.bug.script_runner import OUTPUT_MIB, Revision, ScriptRunner
from reenact.codegen.runner import ProjectRunner
from reenact.errors import SandboxFailed, Stopped
from reenact.sandbox.box import Command, Ending, Limits, Mount, Sandbox
from reenact.types import Stop

PROJECT = "repository"
TEST_FILE = "test_reported_bug.py"
"""No file of a project has this name."""
_START_S = 60.0
"""Beside the run itself: starting the box and importing packages."""


def judged_code(result: CaseResult, at: Revision, runner: ScriptRunner) -> int | None:
    """What `reenact judge` says of it on one revision; none: it could not be run."""
    code = int(judged(result.script, facts_from(result.facts), at, runner).judgement)
    return None if code == COULD_NOT_RUN else code


def in_own_suite(test: str, revisions: Sequence[Revision], runner: ScriptRunner) -> str:
    """What becomes of a test among the project's own, with its conftest files and settings: `red`,
    `green` or why nothing is known, for each revision.
    """
    runner = with_pytest(runner)
    found: list[str] = []
    for revision in revisions:
        path = tests_folder(revision.files) / TEST_FILE
        with TemporaryDirectory(prefix="reenact-suite-") as folder:
            laid = WorkingCopy(revision, Path(folder)).with_texts({path: test})
            ran = run_tests(runner, laid, [path])
        found.append(ran.why or ("green" if all(ran.passed.values()) else "red"))
    return ", ".join(found)


def code_here(
    result: CaseResult, case: BugCase, folder: Path, sandbox: Sandbox, stop: Stop
) -> int | None:
    """The same with the packages of this interpreter; a script without facts is run alone."""
    if not result.facts:
        return exit_code(result.script, case, folder, sandbox, stop)
    facts: ReproFacts = facts_from(result.facts)
    files = project_files(folder)
    boxes = ProjectRunner(sandbox, case.seconds, output_mib=OUTPUT_MIB, stop=stop)
    runner = ScriptRunner(boxes, judge_environment(facts, files, None), facts.stubs)
    return judged_code(result, Revision(folder.name, files), runner)


def exit_code(script: str, case: BugCase, folder: Path, sandbox: Sandbox, stop: Stop) -> int | None:
    """What it exits with on one revision; none: it could not be run, and says nothing."""
    command = Command(
        argv=("python3", "-s", "script.py"),
        files={"script.py": script.encode("utf-8", "replace")},
        mounts=(Mount(folder.absolute(), f"/box/work/{PROJECT}"),),
        environment={
            "OMP_NUM_THREADS": "1",
            "KERAS_BACKEND": "torch",
            "PYTHONHASHSEED": "0",
            "REENACT_PROJECT": PROJECT,
            "PYTHONPATH": f"{PROJECT}/{case.imports_from}",
        },
    )
    result = sandbox.run(command, Limits(wall_s=_START_S + case.seconds), stop=stop)
    if result.ending is Ending.CANCELLED:
        raise Stopped("Stopped while a script was judged.")
    if result.ending is Ending.SANDBOX_FAILED:
        raise SandboxFailed(f"A script could not be judged: {result.why}.")
    ended = result.ending in (Ending.OK, Ending.EXIT)
    return result.exit_code if ended and result.exit_code != COULD_NOT_RUN else None
