"""The catalogue of bug cases: one folder a case, read from `cases/bugs/` or from a folder of the
user's.

`cases/bugs/README.md` says what lies in a folder. The history is a bundle and the oracle a program:
neither is trusted, so git runs with settings of ours and the oracle in the sandbox.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from benchmarks.children import ROOT, demo_cases
from reenact.bug.report import taxonomy_classes
from reenact.bug.reproduction import Verdict
from reenact.errors import InputError
from reenact.intake.repository import is_bundle, open_repository

FACTS, REPORT, BUNDLE, ORACLE = "case.json", "report.md", "project.bundle", "oracle.py"
LARGEST = 1024 * 1024
"""Bytes of facts, report or oracle beyond which a file is refused."""
_DECIDED = (Verdict.REPRODUCED, Verdict.NOT_REPRODUCED)

Words = Annotated[str, Field(min_length=1, max_length=200)]
Hash = Annotated[str, Field(pattern=r"^([0-9a-f]{40}|[0-9a-f]{64})$")]
Module = Annotated[str, Field(pattern=r"^[A-Za-z_]\w*$")]
Dotted = Annotated[str, Field(pattern=r"^[A-Za-z_]\w*(\.\w+)*$")]


class Kind(StrEnum):
    """How a bug makes itself known."""

    EXPLICIT = "explicit"
    """By an exception."""
    SILENT = "silent"
    """By a wrong value, and nobody says so."""


@dataclass(frozen=True, slots=True)
class BugCase:
    """One report, the project it is about, and what is true of it."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    folder: Path
    """Where report, bundle and oracle lie."""
    id: Words
    """The name of the folder."""
    title: Words
    """What is wrong, for a reader of the table. Never shown to the pipeline under test."""
    project: Words
    kind: Kind
    bug: Words
    """The bug in a few words; for a report of a bug that is not there, why not."""
    fault: Words
    """A fault class of the taxonomy of `reenact bug`."""
    symptom: Words
    """A symptom class of that taxonomy."""
    buggy: Hash
    """The commit that the report is about."""
    fixed: Hash | None
    """The commit that fixes it; none where there is nothing to fix."""
    expected: Verdict
    """The true verdict: reproduced, or not reproduced."""
    packages: tuple[Module, ...]
    """Top-level modules from outside that the project imports."""
    imports_from: Annotated[str, Field(pattern=r"^(\.|\w+(/\w+)*)$")]
    """The folder of the checkout that goes on the import path: `.` or, for example, `src`."""
    seconds: Annotated[float, Field(gt=0, le=3600)]
    """What one run of the oracle may take."""
    preload: tuple[Dotted, ...] = ()
    """Further modules worth importing once for all runs of the oracle, for what torch loads
    late.
    """
    decoy: Hash | None = None
    """For a bug that is not there: a commit that is given as its fix, so that having one says
    nothing.
    """
    repository: str = ""
    """Where a history lies that is not ours to ship; empty: in the bundle."""
    words: str = ""
    """Where the report lies, where it is not ours to ship; empty: beside the facts."""

    @property
    def report(self) -> str:
        """The report in the user's words: all that the pipeline under test gets beside the
        repository.
        """
        return _text(self.folder / REPORT)

    @property
    def bundle(self) -> Path:
        """The history."""
        return self.folder / BUNDLE

    @property
    def oracle(self) -> bytes:
        """The program that exits 1 when the bug shows, 0 when not and 125 when it could not run."""
        return _text(self.folder / ORACLE).encode()

    @property
    def is_foreign(self) -> bool:
        return bool(self.repository)

    @property
    def source(self) -> str:
        """What `open_repository` opens."""
        return self.repository or str(self.bundle)

    @property
    def report_source(self) -> str:
        """What `read_report` reads."""
        return self.words or str(self.folder / REPORT)

    @property
    def given_fix(self) -> str | None:
        """The commit that is given as the fix: the true one, or a decoy."""
        return self.fixed or self.decoy

    @property
    def revisions(self) -> tuple[str, ...]:
        """The buggy commit and, where there is one, the fixed commit."""
        return (self.buggy,) if self.fixed is None else (self.buggy, self.fixed)


def load_cases(folder: Path | None = None) -> tuple[BugCase, ...]:
    """All cases of a folder, the shipped ones without one, in the order of their ids."""
    root = folder if folder is not None else ROOT / "benchmarks" / "cases" / "bugs"
    if not root.is_dir():
        raise InputError(f"There is no folder of bug cases at {root}.")
    entries = [*root.iterdir(), *(demo_cases("bugs") if folder is None else ())]
    read = (_read(entry) for entry in entries if (entry / FACTS).is_file())
    found = tuple(sorted(read, key=lambda case: case.id))
    if not found:
        raise InputError(
            f"The folder holds no bug case. Received: folder={root}",
            next_step=(
                f"Put each case into a folder of its own with {FACTS}, {REPORT}, {BUNDLE}, "
                f"{ORACLE}."
            ),
        )
    return found


def chosen_cases(folder: Path | None, names: Sequence[str]) -> tuple[BugCase, ...]:
    """The cases of these names, all of the folder without names."""
    cases = load_cases(folder)
    known = {case.id: case for case in cases}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise InputError(
            f"There is no bug case {unknown[0]!r}.",
            next_step=f"Name one of: {', '.join(known)}.",
        )
    return tuple(known[name] for name in dict.fromkeys(names)) or cases


def unpack(case: BugCase, revision: str, into: Path) -> Path:
    """The files of a commit in a folder below `into`; nothing of the repository runs, links
    become files.
    """
    return open_repository(str(case.bundle), revision, into=into).folder


def _read(folder: Path) -> BugCase:
    try:
        facts = json.loads(_text(folder / FACTS))
        if not isinstance(facts, dict):
            raise InputError(f"The facts of case {folder.name} must be one JSON object.")
        case = TypeAdapter(BugCase).validate_python({**facts, "folder": folder})
    except json.JSONDecodeError as error:
        raise InputError(f"The facts of case {folder.name} are no JSON: {error}.") from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise InputError(
            f"The facts of case {folder.name} are wrong at {where}: {first['msg']}."
        ) from error
    _check(case)
    return case


def _check(case: BugCase) -> None:
    """What the types cannot say."""
    wrong = ""
    if case.id != case.folder.name:
        wrong = f"the id {case.id!r} is not the name of the folder"
    elif case.expected not in _DECIDED:
        wrong = f"the true verdict is one of {', '.join(_DECIDED)}, not {case.expected}"
    elif (case.fixed is None) != (case.expected is Verdict.NOT_REPRODUCED) or (
        case.fixed and case.decoy
    ):
        wrong = "a fixed commit goes with a bug that is there, and with no other"
    elif case.fault not in taxonomy_classes("fault"):
        wrong = (
            f"there is no fault class {case.fault!r}; there are "
            f"{', '.join(taxonomy_classes('fault'))}"
        )
    elif case.symptom not in taxonomy_classes("symptom"):
        wrong = (
            f"there is no symptom class {case.symptom!r}; there are "
            f"{', '.join(taxonomy_classes('symptom'))}"
        )
    elif not case.report.strip():
        wrong = f"{REPORT} is empty"
    elif not case.oracle.strip():
        wrong = f"{ORACLE} is empty"
    elif not is_bundle(case.bundle):
        wrong = f"{BUNDLE} is missing or no git bundle"
    if wrong:
        raise InputError(f"The case {case.folder.name} cannot be used: {wrong}.")


def _text(file: Path) -> str:
    try:
        with file.open("rb") as source:
            content = source.read(LARGEST + 1)
        if len(content) > LARGEST:
            raise InputError(
                f"The case {file.parent.name} has a {file.name} of more than {LARGEST} bytes."
            )
        return content.decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"The case {file.parent.name} has no readable {file.name}: {error}."
        ) from error
