"""Whether the project can be imported with what was prepared, proven in the sandbox before a model is
asked anything.

What keeps it from being imported and is not a fault of its Python code is repaired, or reported: a package
that nothing declares, a module that only a build makes, a library that is broken. What the report
itself speaks of is left to the search.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePosixPath

from packaging.utils import canonicalize_name

from reenact.bug.beyond import not_imported
from reenact.bug.declared import TESTS, distribution, project_name
from reenact.bug.project_files import ProjectFiles
from reenact.bug.script_runner import Revision, RunObservation, ScriptRunner
from reenact.journal import Scope

MOST_PACKAGES = 3
"""Packages of one project that are imported to find one that can be."""


@dataclass(frozen=True, slots=True)
class Imported:
    """What came of importing the project."""

    why: str = ""
    """Why it cannot be imported on this machine; empty where it can, or where its own code is at
    fault.
    """
    needs_build: bool = False
    """What is missing is made by a build."""


def prove_import(
    runner: ScriptRunner, revision: Revision, run: Scope, report: str, say: Callable[[str], None]
) -> Imported:
    """Import the project; a package that is missing is installed, as often as a runner repairs."""
    packages = main_packages(revision.files)
    if not packages:
        return Imported()
    for count in range(MOST_PACKAGES + 1):
        place = run.under("import", attempt=count)
        seen = [_imported(runner, revision, place, name) for name in packages]
        if any(one.ended == "returned" for one in seen):
            return Imported()
        missing = _missing(seen[0], revision.files)
        if not missing or not runner.repair(missing):
            return _judged(seen[0], revision.files, report)
        say(f"importing {packages[0]} needs {missing}: it was installed")
    return Imported()


def main_packages(files: ProjectFiles) -> tuple[str, ...]:
    """The packages by which the project is used: the one that has its name, else all that lie at
    the top; none of a folder of programs.
    """
    named = {
        name: path
        for name, path in files.modules.items()
        if path.name == "__init__.py" and "." not in name and not _is_aside(path)
    }
    own = canonicalize_name(project_name(files.folder) or "-")
    same = [name for name in named if canonicalize_name(name) == own]
    return tuple(same or sorted(named))[:MOST_PACKAGES]


def _is_aside(path: PurePosixPath) -> bool:
    return bool(TESTS & set(path.parts))


def _imported(runner: ScriptRunner, revision: Revision, run: Scope, name: str) -> RunObservation:
    return runner.observe(run, name, f"import {name}\n", None, (0,), revision)[0]


def _missing(seen: RunObservation, files: ProjectFiles) -> str:
    """The module of somebody else that an import did not find."""
    if seen.ended != "raised" or seen.missing.partition(".")[0] in files.packages:
        return ""
    return seen.missing


def _judged(seen: RunObservation, files: ProjectFiles, report: str) -> Imported:
    """Whose fault it is. What the report itself shows may be the bug: that is looked at later."""
    if seen.ended != "raised" or not seen.classes:
        return Imported()
    is_reported = seen.classes[0] in report and (
        not seen.missing or seen.missing.partition(".")[0] in report
    )
    if is_reported:
        return Imported()
    missing = _missing(seen, files)
    if missing:
        option = f"--requirement {distribution(missing)}"
        why = f"the project cannot be imported: the module {missing} is not installed; {option} "
        return Imported(f"{why}installs it")
    why = not_imported(seen, files)
    return Imported(why, needs_build=bool(why) and seen.blamed == "project")
