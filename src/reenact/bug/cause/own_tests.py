"""The project's own tests: which of them touch some code, and what becomes of them on a revision."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from reenact.bug.declared import TESTS
from reenact.bug.project_files import ProjectFiles
from reenact.bug.script_runner import REPOSITORY, Revision, ScriptRunner

MOST_FILES = 8
"""Files of tests that are run, those that name most of the code first."""
TIMES = 10
"""How many runs of a script the tests together may take as long as."""
_PROGRAM = "own_tests.py"
_RESULT = "tests.json"


@dataclass(frozen=True, slots=True)
class TestsRun:
    """What became of tests on one revision."""

    __test__ = False

    passed: Mapping[str, bool] = field(default_factory=dict)
    """By the name that pytest gives each."""
    why: str = ""
    """Why nothing is known; empty where they were run."""

    def broken_by(self, other: "TestsRun") -> list[str]:
        """The tests that pass here and do not there."""
        return sorted(name for name, ok in self.passed.items() if ok and not other.passed.get(name))


def tests_that_touch(
    files: ProjectFiles, paths: Iterable[PurePosixPath], names: Iterable[str]
) -> tuple[PurePosixPath, ...]:
    """The files of tests that import these files or use these names, the most telling first."""
    modules = {files.module_names.get(path, "").rpartition(".")[2] for path in paths} - {""}
    wanted = {*modules, *names}
    scored = [
        (-sum(name in text for name in wanted), len(path.parts), path)
        for path, text in files.texts.items()
        if _is_test(path)
    ]
    return tuple(path for score, _, path in sorted(scored) if score < 0)[:MOST_FILES]


def _is_test(path: PurePosixPath) -> bool:
    return path.name.startswith("test_") or path.name.endswith("_test.py")


def tests_folder(files: ProjectFiles) -> PurePosixPath:
    """Where most of the project's own tests lie; its top where it has none."""
    counted: dict[PurePosixPath, int] = {}
    for path in filter(_is_test, files.paths):
        counted[path.parent] = counted.get(path.parent, 0) + 1
    usual = [one for one in counted if TESTS & set(one.parts)] or list(counted)
    return max(usual, key=lambda one: (counted[one], -len(one.parts)), default=PurePosixPath())


def run_tests(runner: ScriptRunner, revision: Revision, paths: Sequence[PurePosixPath]) -> TestsRun:
    """Run them in the sandbox, where they lie in the project."""
    if not paths:
        return TestsRun(why="no test of the project touches it")
    task = {
        "project": REPOSITORY,
        "roots": runner.roots(revision),
        "files": [path.as_posix() for path in paths],
        "first": False,
    }
    program = Path(__file__).parents[1].joinpath("inside", _PROGRAM).read_bytes()
    given = {f".reenact/{_PROGRAM}": program}
    ran = runner.execute_program(
        f".reenact/{_PROGRAM}",
        given,
        revision,
        TIMES,
        stdin=json.dumps(task).encode(),
        collect={_RESULT: _RESULT},
    )
    try:
        result = json.loads(ran.results.get(_RESULT, ""))
        passed = {str(name): bool(ok) for name, ok in result["passed"].items()}
        why = str(result["why"])
    except (ValueError, KeyError, TypeError, AttributeError):
        return TestsRun(why=f"the tests did not end: {ran.sentence}")
    if not passed and not why:
        why = "no test was run"
    return TestsRun(passed, why)
