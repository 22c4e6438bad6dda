"""What generated code may import: this interpreter's packages, or an environment built for the missing ones.

A module that is missing becomes a proposed requirement. It is installed only by the environment builder, only
where there is one, and only when its name is known or the user vouches for it.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.metadata
import importlib.util
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from packaging.requirements import Requirement as Parsed
from packaging.utils import canonicalize_name

from reenact.errors import InputError, ReenactError, Stopped
from reenact.paper.project import Project
from reenact.sandbox.box import Mount
from reenact.sandbox.environments.names import Allowed, ProposedBy, Requirement, requirement, requirements_in
from reenact.sandbox.environments.prepare import Environments

DISTRIBUTIONS = {
    "PIL": "pillow",
    "bs4": "beautifulsoup4",
    "cv2": "opencv-python-headless",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "torch_geometric": "torch-geometric",
    "yaml": "pyyaml",
}
"""Modules whose package has another name."""
OURS = "reenact"
"""A project stands by itself: this package is not there for it."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """An interpreter in which one version of the code may run."""

    python: str
    mounts: tuple[Mount, ...]
    key: str
    packages: tuple[str, ...]
    """What it uses, as NAME==VERSION."""
    lacking: tuple[str, ...] = ()
    """Modules that the code imports and that are not there."""
    proposed: tuple[str, ...] = ()
    """Requirements that would bring the missing modules, or did."""
    notes: tuple[str, ...] = ()


def imported(project: Project) -> tuple[str, ...]:
    """Top-level modules from outside that the project imports; not those of Python itself."""
    found = set()
    for tree in project.trees().values():
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                found |= {one.name.partition(".")[0] for one in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found.add(node.module.partition(".")[0])
    return tuple(sorted(found - set(sys.stdlib_module_names) - project.modules))


def prepared_for(
    project: Project,
    wished: Sequence[str],
    vouched: Sequence[str] = (),
    environments: Environments | None = None,
) -> Prepared:
    """The environment of one version of the code. May use the network where a builder is given."""
    modules = imported(project)
    own = tuple(requirement(text, ProposedBy.USER) for text in wished)
    lacking = tuple(name for name in modules if name == OURS or not _here(name))
    unmet = tuple(one for one in own if not _fulfilled(one))
    proposed = tuple(_proposals(lacking, project, own))
    texts = tuple(one.text for one in (*unmet, *proposed))
    if not texts and not lacking:
        return _this(modules)
    if environments is None:
        return _this(modules, lacking, texts, ("No environment is built here: packages cannot be added.",))
    needed = (*own, *_pinned(modules, own, lacking), *proposed)
    try:
        made = environments.prepare(needed, Allowed.usual(*vouched))
    except Stopped:
        raise
    except ReenactError as error:
        return _this(modules, lacking, texts, (f"{error.sentence} {error.next_step}".strip(),))
    packages = tuple(one.partition("+")[0] for one in made.packages)
    ours = tuple(name for name in lacking if name == OURS)
    return Prepared(made.python, made.mounts, made.key, packages, ours, texts)


def _this(
    modules: Sequence[str],
    lacking: tuple[str, ...] = (),
    proposed: tuple[str, ...] = (),
    notes: tuple[str, ...] = (),
) -> Prepared:
    packages = tuple(sorted({text for name in modules if (text := _pin(name))}))
    told = "\n".join([sys.version, *packages])
    key = f"here-{hashlib.sha256(told.encode()).hexdigest()[:16]}"
    return Prepared(sys.executable, (), key, packages, lacking, proposed, notes)


def _proposals(lacking: Sequence[str], project: Project, own: Sequence[Requirement]) -> Iterator[Requirement]:
    """A requirement for each missing module: the line of requirements.txt that names it, else its name."""
    named = {one.name: one for one in written_requirements(project)}
    known = {one.name for one in own}
    for module in lacking:
        name = canonicalize_name(DISTRIBUTIONS.get(module, module))
        if module == OURS or name in known:
            continue
        try:
            yield named.get(name) or requirement(name, ProposedBy.MODEL)
        except InputError:
            continue


def written_requirements(project: Project) -> tuple[Requirement, ...]:
    """The lines of the project's requirements.txt that can be read."""
    found: list[Requirement] = []
    for line in project.files.get("requirements.txt", "").splitlines():
        try:
            found += requirements_in(line, ProposedBy.MODEL)
        except InputError:
            continue
    return tuple(found)


def _pinned(
    modules: Sequence[str], own: Sequence[Requirement], lacking: Sequence[str]
) -> Iterator[Requirement]:
    """What the project uses of this interpreter, in the same versions."""
    known = {one.name for one in own}
    for module in modules:
        text = "" if module in lacking else _pin(module)
        if text and canonicalize_name(text.partition("==")[0]) not in known:
            yield requirement(text, ProposedBy.REPOSITORY)


def _pin(module: str) -> str:
    name = DISTRIBUTIONS.get(module, module)
    try:
        # The part after `+` names a build, which no index offers under that name.
        return f"{canonicalize_name(name)}=={importlib.metadata.version(name).partition('+')[0]}"
    except importlib.metadata.PackageNotFoundError:
        return ""


def _here(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False


def _fulfilled(one: Requirement) -> bool:
    parsed = Parsed(one.text)
    if parsed.marker is not None and not parsed.marker.evaluate():
        return True
    try:
        version = importlib.metadata.version(one.name)
    except importlib.metadata.PackageNotFoundError:
        return False
    return parsed.specifier.contains(version, prereleases=True)
