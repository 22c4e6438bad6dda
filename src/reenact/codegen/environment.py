"""The interpreter and packages that generated code runs with: this one's, or an environment that
was built.

A module that a generated project imports and that is missing becomes a proposed requirement. It is
installed only by the environment builder, only where there is one, and only when its name is known
or the user vouches for it.
"""

import ast
import hashlib
import importlib.metadata
import importlib.util
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from packaging.requirements import Requirement as Parsed
from packaging.utils import canonicalize_name

from reenact.codegen.project import Project
from reenact.codegen.syntax import imported_names
from reenact.errors import InputError, ReenactError, Stopped
from reenact.sandbox.box import Mount
from reenact.sandbox.environments.names import (
    Allowed,
    ProposedBy,
    Requirement,
    requirement,
    requirements_in,
)
from reenact.sandbox.environments.prepare import Environments

_NAMED = """
    PIL=pillow attr=attrs bs4=beautifulsoup4 cv2=opencv-python-headless dateutil=python-dateutil
    hydra=hydra-core pkg_resources=setuptools skimage=scikit-image sklearn=scikit-learn yaml=pyyaml
"""
DISTRIBUTIONS = dict(pair.split("=") for pair in _NAMED.split())
"""Modules whose package has another name."""
OURS = "reenact"
"""A project stands by itself: this package is not there for it."""
SEEDED = ("numpy", "torch", "tensorflow")
"""Libraries whose chance a seed rules."""


@dataclass(frozen=True, slots=True)
class Environment:
    """An interpreter in which generated code may run."""

    python: str
    mounts: tuple[Mount, ...]
    key: str
    packages: tuple[str, ...]
    """What it has of what is needed, as NAME==VERSION."""
    lacking: tuple[str, ...] = ()
    """Modules that the code imports and that are not there."""
    proposed: tuple[str, ...] = ()
    """Requirements that would bring the missing modules, or did."""
    notes: tuple[str, ...] = ()
    frameworks: tuple[str, ...] = ()
    """Libraries that a project under test uses and a seed rules."""
    available: tuple[str, ...] = ()
    """Libraries that a seed rules and that are installed, as far as anybody asked."""
    direct: tuple[str, ...] = ()
    """Of the packages, what was asked for; the others came with it. Empty: all of them."""

    @property
    def keras(self) -> str:
        """The engine Keras runs on."""
        if "tensorflow" in self.available and "torch" not in self.available:
            return "tensorflow"
        return "torch"

    def seeded(self, script: str) -> list[str]:
        """What to seed for a script: the project's libraries and its own."""
        used = {
            name
            for name in self.available
            if re.search(
                rf"\b(?:import|from)\s+{name}\b",
                script,
            )
        }
        return sorted(used | set(self.frameworks))


def imported(project: Project) -> tuple[str, ...]:
    """Top-level modules from outside that the project imports; not those of Python itself."""
    nodes = (node for tree in project.trees().values() for node in ast.walk(tree))
    found = {one.module.partition(".")[0] for node in nodes for one in imported_names(node)}
    return tuple(sorted(found - set(sys.stdlib_module_names) - project.modules))


def environment_for(
    project: Project,
    wished: Sequence[str],
    vouched: Sequence[str],
    environments: Environments | None,
) -> Environment:
    """The environment of one version of the code. May use the network where a builder is given."""
    modules = imported(project)
    own = tuple(requirement(text, ProposedBy.USER) for text in wished)
    here: set[str] = set()
    for name in modules:
        with suppress(ImportError, ValueError):
            here |= {name} if name != OURS and importlib.util.find_spec(name) is not None else set()
    lacking = tuple(name for name in modules if name not in here)
    unmet = tuple(one for one in own if not is_fulfilled(one))
    proposed = tuple(_proposals(lacking, project, own))
    texts = tuple(one.text for one in (*unmet, *proposed))
    if not texts and not lacking:
        return _here(modules)
    if environments is None:
        return _here(
            modules,
            lacking,
            texts,
            ("No environment is built here: packages cannot be added.",),
        )
    # What the project uses of this interpreter, in the same versions.
    known = {one.name for one in own}
    pins = (_pin(name) for name in modules if name not in lacking)
    new = (pin for pin in pins if pin and canonicalize_name(pin.partition("==")[0]) not in known)
    needed = (
        *own,
        *(requirement(pin, ProposedBy.REPOSITORY) for pin in new),
        *proposed,
    )
    try:
        made = environments.prepare(
            needed,
            Allowed.usual(*vouched),
            any_version=True,
        )
    except Stopped:
        raise
    except ReenactError as error:
        return _here(
            modules,
            lacking,
            texts,
            (f"{error.sentence} {error.next_step}".strip(),),
        )
    ours = tuple(name for name in lacking if name == OURS)
    packages = tuple(one.partition("+")[0] for one in made.packages)
    pairs = (one.partition("==") for one in packages)
    installed = {str(canonicalize_name(name)): version for name, _, version in pairs}
    notes: list[str] = []
    for one, version in ((one, installed.get(one.name)) for one in needed):
        if version is not None and not Parsed(one.text).specifier.contains(
            version, prereleases=True
        ):
            why = "has no wheel here and cannot be built"
            notes.append(f"{one.text} {why}: {version} was installed in its place.")
    return Environment(
        made.python,
        mounts=made.mounts,
        key=made.key,
        packages=packages,
        lacking=ours,
        proposed=texts,
        notes=tuple(notes),
    )


def this_key(packages: Iterable[str]) -> str:
    """What a journal knows this interpreter with these packages by."""
    named = "\n".join([sys.version, *packages])
    return f"here-{hashlib.sha256(named.encode()).hexdigest()[:16]}"


def version_of(package: str) -> str:
    """The version of a package in this interpreter; empty when it is not there."""
    with suppress(importlib.metadata.PackageNotFoundError):
        # The part after `+` names a build, which no index offers under that name.
        return importlib.metadata.version(package).partition("+")[0]
    return ""


def is_fulfilled(one: Requirement) -> bool:
    """Whether this interpreter has what a requirement asks for."""
    parsed = Parsed(one.text)
    if parsed.marker is not None and not parsed.marker.evaluate():
        return True
    with suppress(importlib.metadata.PackageNotFoundError):
        return parsed.specifier.contains(
            importlib.metadata.version(one.name),
            prereleases=True,
        )
    return False


def _here(
    modules: Sequence[str],
    *more: tuple[str, ...],
) -> Environment:
    """This interpreter; `more` are the modules that are lacking, what would bring them, and
    notes.
    """
    packages = tuple(sorted({text for name in modules if (text := _pin(name))}))
    return Environment(
        sys.executable,
        (),
        this_key(packages),
        packages,
        *more,
    )


def _proposals(
    lacking: Sequence[str], project: Project, own: Sequence[Requirement]
) -> Iterator[Requirement]:
    """A requirement for each missing module: the line of requirements.txt that names it, else
    its name.
    """
    named: dict[str, Requirement] = {}
    for line in project.files.get("requirements.txt", "").splitlines():
        with suppress(InputError):
            named |= {one.name: one for one in requirements_in(line, ProposedBy.MODEL)}
    for module in lacking:
        name = canonicalize_name(DISTRIBUTIONS.get(module, module))
        if module != OURS and name not in {one.name for one in own}:
            with suppress(InputError):
                yield named.get(name) or requirement(name, ProposedBy.MODEL)


def _pin(module: str) -> str:
    name = DISTRIBUTIONS.get(module, module)
    version = version_of(name)
    if version:
        return f"{canonicalize_name(name)}=={version}"
    return ""
