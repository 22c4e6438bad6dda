"""The interpreter and packages that scripts run with: this one where it has what is needed, else one built.

The order of attempts: what the repository declares and the report's versions as of the report's date, then
without the versions, then without the date. What had to be given up is said.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from datetime import date

from packaging.utils import canonicalize_name

from reenact.bug.options import BugOptions
from reenact.bug.project.files import ProjectFiles
from reenact.bug.report import Installed
from reenact.bug.requirements import declared, imported, pinned
from reenact.codegen.environment import (
    SEEDED,
    Environment,
    installed_version,
    is_fulfilled,
    this_key,
    without_builds,
)
from reenact.errors import InputError, ReenactError, Stopped
from reenact.sandbox.environments.names import Allowed, ProposedBy, Requirement, requirement
from reenact.sandbox.environments.prepare import Environments

HERE, BUILD, AUTO = "here", "build", "auto"
KERAS, ENGINE = "keras", "torch"
ENGINES = frozenset({"torch", "tensorflow", "tensorflow-cpu", "jax"})
"""What Keras computes with."""


def prepare(
    files: ProjectFiles,
    said: Sequence[Installed],
    created: date | None,
    options: BugOptions,
    environments: Environments | None,
) -> Environment:
    """The environment of a project. May use the network, and only here. InputError names what is missing."""
    told = declared(files)
    given_up = {canonicalize_name(name) for name in options.stubs}
    own = tuple(requirement(text, ProposedBy.USER) for text in options.requirements)
    needed = (*(one for one in told.requirements if one.name not in given_up), *own)
    allowed = Allowed.usual(*options.packages)
    pins, remarks = pinned(said, needed, allowed)
    notes = [*told.notes, *remarks]
    if KERAS in {one.name for one in needed} and not ENGINES & {one.name for one in (*needed, *pins)}:
        needed = (*needed, requirement(ENGINE, ProposedBy.USER))
        notes.append(f"Keras needs an engine and the project names none: {ENGINE} was added.")
    if options.environment not in (HERE, BUILD, AUTO):
        raise InputError(
            f"The environment is auto, here or build. Received: environment={options.environment!r}."
        )
    lacking = tuple(one.text for one in (*needed, *pins) if not is_fulfilled(one))
    if options.environment == HERE or (options.environment == AUTO and not lacking):
        notes += [f"Not as asked for in this interpreter: {text}." for text in lacking]
        return _here(files, needed, notes)
    if environments is None:
        raise InputError(f"These packages are not in this interpreter: {', '.join(lacking)}.")
    return _built(files, _tries(needed, pins, created), allowed, environments, notes)


def _tries(
    needed: tuple[Requirement, ...], pins: tuple[Requirement, ...], created: date | None
) -> Iterator[tuple[tuple[Requirement, ...], date | None, str]]:
    if pins:
        yield (*needed, *pins), created, "the versions of the report"
    if created is not None:
        yield needed, created, "the date of the report"
    yield needed, None, ""


def _built(
    files: ProjectFiles,
    tries: Iterable[tuple[tuple[Requirement, ...], date | None, str]],
    allowed: Allowed,
    environments: Environments,
    notes: list[str],
) -> Environment:
    for wanted, before, given_up in tries:
        try:
            made = environments.prepare(wanted, allowed, exclude_newer=before)
        except Stopped:
            raise
        except ReenactError as error:
            if not given_up:
                raise InputError(
                    error.sentence,
                    next_step=f"{error.next_step} A module that is optional: --allow-stub NAME.".strip(),
                ) from error
            notes.append(f"Without {given_up}: {error.sentence}")
            continue
        names = {canonicalize_name(one.partition("==")[0]) for one in made.packages}
        there = tuple(name for name in SEEDED if name in names or f"{name}-cpu" in names)
        used = tuple(name for name in there if name in imported(files))
        packages = without_builds(made.packages)
        return Environment(
            made.python,
            made.mounts,
            made.key,
            packages,
            notes=tuple(notes),
            frameworks=used,
            available=there,
        )
    raise InputError("No environment could be built.")


def _here(files: ProjectFiles, needed: Sequence[Requirement], notes: list[str]) -> Environment:
    there = tuple(name for name in SEEDED if installed_version(name))
    used = tuple(name for name in there if name in imported(files))
    names = sorted({*(one.name for one in needed), *used})
    packages = tuple(f"{name}=={version}" for name in names if (version := installed_version(name)))
    key = this_key([*packages, *(f"{name}=={installed_version(name)}" for name in there)])
    return Environment(
        sys.executable, (), key, packages, notes=tuple(notes), frameworks=used, available=there
    )
