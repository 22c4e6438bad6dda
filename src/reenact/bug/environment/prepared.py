"""The interpreter and packages that scripts run with: this one where it has what is needed, else one built.

The order of wishes: what the repository declares and the report's versions as of the report's date, then
without the versions, then without the date. What had to be given up is said.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from packaging.requirements import Requirement as Parsed
from packaging.utils import canonicalize_name

from reenact.bug.environment.declared import declared, imported
from reenact.bug.environment.pinned import pinned
from reenact.bug.project.files import ProjectFiles
from reenact.bug.report import Installed
from reenact.bug.wishes import Wishes
from reenact.errors import InputError, ReenactError, Stopped
from reenact.sandbox.box import Mount
from reenact.sandbox.environments.names import Allowed, ProposedBy, Requirement, requirement
from reenact.sandbox.environments.prepare import Environments

SEEDED = ("numpy", "torch", "tensorflow")
"""Libraries whose chance a seed rules."""
HERE, BUILD, AUTO = "here", "build", "auto"
KERAS, ENGINE = "keras", "torch"
ENGINES = frozenset({"torch", "tensorflow", "tensorflow-cpu", "jax"})
"""What Keras computes with."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """An interpreter in which scripts may run."""

    python: str
    mounts: tuple[Mount, ...]
    key: str
    packages: tuple[str, ...]
    """What it has of what is needed, as NAME==VERSION."""
    frameworks: tuple[str, ...]
    """Libraries that the project uses and a seed rules."""
    available: tuple[str, ...]
    """Libraries that a seed rules and that are installed."""
    notes: tuple[str, ...] = ()

    @property
    def keras(self) -> str:
        """The engine Keras runs on."""
        return "tensorflow" if "tensorflow" in self.available and "torch" not in self.available else "torch"

    def seeded(self, script: str) -> list[str]:
        """What to seed for a script: the project's libraries and its own."""
        used = {name for name in self.available if re.search(rf"\b(?:import|from)\s+{name}\b", script)}
        return sorted(used | set(self.frameworks))


def prepare(
    files: ProjectFiles,
    said: Sequence[Installed],
    created: date | None,
    wishes: Wishes,
    environments: Environments | None,
) -> Prepared:
    """The environment of a project. May use the network, and only here. InputError names what is missing."""
    told = declared(files)
    given_up = {canonicalize_name(name) for name in wishes.stubs}
    own = tuple(requirement(text, ProposedBy.USER) for text in wishes.requirements)
    needed = (*(one for one in told.requirements if one.name not in given_up), *own)
    allowed = Allowed.usual(*wishes.packages)
    pins, remarks = pinned(said, needed, allowed)
    notes = [*told.notes, *remarks]
    if KERAS in {one.name for one in needed} and not ENGINES & {one.name for one in (*needed, *pins)}:
        needed = (*needed, requirement(ENGINE, ProposedBy.USER))
        notes.append(f"Keras needs an engine and the project names none: {ENGINE} was added.")
    if wishes.environment not in (HERE, BUILD, AUTO):
        raise InputError(
            f"The environment is auto, here or build. Received: environment={wishes.environment!r}."
        )
    lacking = tuple(_lacking((*needed, *pins)))
    if wishes.environment == HERE or (wishes.environment == AUTO and not lacking):
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
) -> Prepared:
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
        packages = tuple(one.partition("+")[0] for one in made.packages)
        return Prepared(made.python, made.mounts, made.key, packages, used, there, tuple(notes))
    raise InputError("No environment could be built.")


def _here(files: ProjectFiles, needed: Sequence[Requirement], notes: list[str]) -> Prepared:
    there = tuple(name for name in SEEDED if _version(name))
    used = tuple(name for name in there if name in imported(files))
    names = sorted({*(one.name for one in needed), *used})
    packages = tuple(f"{name}=={version}" for name in names if (version := _version(name)))
    told = "\n".join([sys.version, *packages, *(f"{name}=={_version(name)}" for name in there)])
    key = f"here-{hashlib.sha256(told.encode()).hexdigest()[:16]}"
    return Prepared(sys.executable, (), key, packages, used, there, tuple(notes))


def _lacking(needed: Iterable[Requirement]) -> Iterator[str]:
    """Requirements that this interpreter does not fulfil."""
    for one in needed:
        parsed = Parsed(one.text)
        if parsed.marker is not None and not parsed.marker.evaluate():
            continue
        version = _version(one.name)
        if not version or not parsed.specifier.contains(version, prereleases=True):
            yield one.text


def _version(name: str) -> str:
    try:
        # The part after `+` names a build, which no index offers under that name.
        return importlib.metadata.version(name).partition("+")[0]
    except importlib.metadata.PackageNotFoundError:
        return ""
