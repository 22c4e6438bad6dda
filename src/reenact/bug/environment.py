"""The interpreter and packages that scripts run with: this one where it has what is needed, else
one built.

What a project needs is read from its own metadata, or from its imports where there is none; nothing
of it is run. The order of attempts: with the report's versions as of the report's date, then
without the versions, then without the date. What had to be given up is noted.
"""

import re
import site
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import TypeAlias

from packaging.utils import canonicalize_name

from reenact.bug.declared import (
    declared,
    distribution,
    imported,
    imports_of,
    loaded,
    own_names,
    python_requires,
)
from reenact.bug.interpreter import choose_python, wanted_series
from reenact.bug.options import BugOptions
from reenact.bug.project_files import ProjectFiles
from reenact.bug.report import Installed
from reenact.codegen.environment import (
    SEEDED,
    Environment,
    is_fulfilled,
    this_key,
    version_of,
)
from reenact.errors import InputError, ReenactError, Stopped
from reenact.sandbox.box import Mount
from reenact.sandbox.environments.interpreters import Minor, minor_of
from reenact.sandbox.environments.names import (
    WELL_KNOWN,
    Allowed,
    ProposedBy,
    Requirement,
    requirement,
)
from reenact.sandbox.environments.prepare import Environments
from reenact.sandbox.environments.stored import Environment as Built

HERE = "here"
BUILD = "build"
AUTO = "auto"
KERAS = "keras"
ENGINE = "torch"
ENGINES = frozenset({"torch", "tensorflow", "tensorflow-cpu", "jax"})
"""What Keras computes with."""
NO_PACKAGES = (
    "python",
    "cuda",
    "cudnn",
    "os",
    "ubuntu",
    "linux",
    "windows",
    "macos",
    "pip",
    "conda",
)
NAMES = {"pytorch": "torch", "tensorflow-gpu": "tensorflow", "sklearn": "scikit-learn"}
NAMES["opencv"] = "opencv-python"
"""How people call packages that are installed under another name."""
Try: TypeAlias = tuple[list[Requirement], date | None, str]
"""What to install, as of which day, and what is given up where that fails."""


def prepare(
    files: ProjectFiles,
    reported: Sequence[Installed],
    created: date | None,
    options: BugOptions,
    environments: Environments | None,
    *,
    missing: Sequence[str] = (),
    absent: str = "",
    extras: Sequence[str] = (),
) -> Environment:
    """The environment of a project as of a day. `missing` are modules that runs did not find,
    `absent` one that the reporter did not have: that it is not there is the bug; `extras` are those
    of the project that the report names. May use the network, and only here. InputError names what
    is missing.
    """
    if options.environment not in (HERE, BUILD, AUTO):
        why = (
            f"The environment is auto, here or build. Received: "
            f"environment={options.environment!r}."
        )
        raise InputError(why)
    notes: list[str] = []
    given_up = {canonicalize_name(name) for name in options.stubs}
    own = own_names(files)
    reported = [one for one in reported if _plain_name(one) not in own]
    here = minor_of(sys.executable)
    series = wanted_series(reported, created, python_requires(files.folder), here)
    # A release of the project next to its checkout would be imported in its place.
    needed = [one for one in declared(files, notes, extras) if one.name not in given_up | own]
    if absent and distribution(absent) not in {one.name for one in needed}:
        given_up.add(canonicalize_name(distribution(absent)))
        notes.append(f"{absent} is not installed: the report is about its absence.")
    needed += [requirement(text, ProposedBy.USER) for text in options.requirements]
    if environments is not None:
        # Well-known packages that importing the project needs and that nothing declares.
        modules = imports_of(files, loaded(files)) - files.packages - sys.stdlib_module_names
        known = {one.name for one in needed} | given_up
        undeclared = sorted(({distribution(one) for one in modules} - known) & WELL_KNOWN)
        notes += [
            f"{name} is imported and not declared; it is installed too." for name in undeclared
        ]
        needed += [requirement(name, ProposedBy.REPOSITORY) for name in undeclared]
    for module in missing:
        needed.append(requirement(distribution(module), ProposedBy.DOCUMENT))
        notes.append(
            f"{module} was missing in the first run; the environment was built again with it."
        )
    allowed = Allowed.usual(*options.packages)
    pins = list(
        pinned(
            reported,
            {one.name for one in needed} | allowed.names,
            notes,
        )
    )
    if KERAS in {one.name for one in needed} and not ENGINES & {
        one.name for one in (*needed, *pins)
    }:
        needed.append(requirement(ENGINE, ProposedBy.USER))
        notes.append(f"Keras needs an engine and the project names none: {ENGINE} was added.")
    lacking = [one.text for one in (*needed, *pins) if not is_fulfilled(one)]
    if options.environment == HERE or (options.environment == AUTO and not lacking and not missing):
        notes += [f"Not as asked for in this interpreter: {text}." for text in lacking]
        notes += _other_python(series, here)
        return _here(files, needed, notes)
    if environments is None:
        raise InputError(f"These packages are not in this interpreter: {', '.join(lacking)}.")
    pinned_first = []
    if pins:
        pinned_first = [([*needed, *pins], created, "the versions of the report")]
    dated = []
    if created is not None:
        dated = [(needed, created, f"the packages of {created}")]
    return _built(
        files,
        tries=[*pinned_first, *dated, (needed, None, "")],
        allowed=allowed,
        environments=environments,
        notes=notes,
        backend="" if options.gpu else "cpu",
        series=series,
    )


def _other_python(series: Minor, here: Minor) -> Iterator[str]:
    """What to say where another Python than that of the report runs."""
    named, ours = (".".join(map(str, one)) for one in (series, here))
    if named != ours:
        yield (
            f"Python {ours} runs; the report or its date speaks of {named}, which "
            f"--environment build takes."
        )


def _built(
    files: ProjectFiles,
    tries: Iterable[Try],
    allowed: Allowed,
    environments: Environments,
    notes: list[str],
    backend: str,
    series: Minor,
) -> Environment:
    # The builds of torch for a GPU are many times as large, and usual boxes have none.
    builders: list[Environments] = [environments]
    tries = list(tries)
    if isinstance(environments, Environments):
        usual = replace(environments, backend=backend)
        python = choose_python(series, usual.python, usual.cache, notes, usual.stop)
        other = replace(usual, python=python)
        builders = [usual] if python == usual.python else [other, usual]
    # Not every package has a version for an older Python: then this one's.
    *first, last = ((one, *each) for one in builders for each in tries)
    older = [
        (builder, wanted, before, given_up or "the Python of the report or its date")
        for builder, wanted, before, given_up in first
    ]
    for builder, wanted, before, given_up in (*older, last):
        try:
            made = builder.prepare(tuple(wanted), allowed, exclude_newer=before)
        except Stopped:
            raise
        except ReenactError as error:
            if not given_up:
                step = f"{error.next_step} A module that is optional: --allow-stub NAME.".strip()
                raise InputError(error.sentence, next_step=step) from error
            notes.append(f"Without {given_up}: {error.sentence}")
            continue
        return as_environment(made, files, {one.name for one in wanted}, notes)
    raise InputError("No environment could be built.")


def as_environment(
    made: Built, files: ProjectFiles, direct: Collection[str] = (), notes: Sequence[str] = ()
) -> Environment:
    """A built environment as scripts run with it; `direct` are the names that were asked for."""
    names = {canonicalize_name(one.partition("==")[0]) for one in made.packages}
    there = tuple(name for name in SEEDED if name in names or f"{name}-cpu" in names)
    packages = tuple(one.partition("+")[0] for one in made.packages)
    asked = tuple(one for one in packages if canonicalize_name(one.partition("==")[0]) in direct)
    built = Environment(made.python, made.mounts, made.key, packages, available=there, direct=asked)
    return _with_frameworks(built, files, list(notes))


def _here(
    files: ProjectFiles,
    needed: Sequence[Requirement],
    notes: list[str],
) -> Environment:
    there = tuple(name for name in SEEDED if version_of(name))
    names = sorted(
        {
            *(one.name for one in needed),
            *(set(there) & imported(files)),
        }
    )
    packages = tuple(f"{name}=={version}" for name in names if (version := version_of(name)))
    key = this_key(
        [
            *packages,
            *(f"{name}=={version_of(name)}" for name in there),
        ]
    )
    mounts = tuple(Mount(folder, str(folder)) for folder in pth_folders())
    return _with_frameworks(
        Environment(sys.executable, mounts, key, packages, available=there), files, notes
    )


def pth_folders(packages: Sequence[str] = ()) -> tuple[Path, ...]:
    """Folders from which this interpreter imports because a `.pth` file names them. Boxes see the
    packages of an installation, so these must be shown besides. Not the home of the user, nor what
    lies above it, nor the folder of this package.
    """
    home = Path.home()
    ours = Path(__file__).resolve().parents[2]
    found: dict[Path, None] = {}
    for place in map(Path, packages or site.getsitepackages()):
        for file in sorted(place.glob("*.pth")):
            lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
            named = (
                line.strip() for line in lines if not line.startswith(("#", "import ", "import\t"))
            )
            for folder in (place / name for name in named if name):
                is_known = folder.is_dir() and not folder.is_relative_to(sys.prefix)
                if is_known and not home.is_relative_to(folder) and folder.resolve() != ours:
                    found[folder] = None
    return tuple(found)


def _with_frameworks(made: Environment, files: ProjectFiles, notes: list[str]) -> Environment:
    """The environment with those of its libraries that the project loads: of files that nothing
    loads none, for two frameworks in one process may not get along.
    """
    names = imports_of(files, loaded(files))
    used = tuple(name for name in made.available if name in names)
    return replace(made, notes=tuple(notes), frameworks=used)


def pinned(
    reported: Iterable[Installed], names: set[str], notes: list[str]
) -> Iterator[Requirement]:
    """The versions of the report; `notes` gets what of it was left aside."""
    for one in reported:
        name = _plain_name(one)
        version = one.version.strip().lstrip("v=")
        if not version or name in NO_PACKAGES:
            continue
        if name not in names:
            allow = f"--allow-packages {name} allows it"
            notes.append(f"The report names {name} {version}, which is on no list; {allow}.")
            continue
        # Who writes `keras 3` or `torch 2.1` means any release of that series, not the one that is
        # called 3.
        series = ".*" if re.fullmatch(r"\d+(?:\.\d+)?", version) else ""
        try:
            yield requirement(
                f"{name}=={version}{series}",
                ProposedBy.DOCUMENT,
            )
        except InputError:
            notes.append(f"The report's version of {name} cannot be installed: {version!r}.")


def _plain_name(one: Installed) -> str:
    """The name by which a package of the report is installed."""
    plain = canonicalize_name(one.package.strip() or "-")
    return NAMES.get(plain, plain)
