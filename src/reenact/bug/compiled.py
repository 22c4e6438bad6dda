"""A project that must be built before it can be imported: its checkout with what the build made.

The wheel is built in the sandbox. Of it only what the checkout does not have is laid into a copy of
the checkout, so that the code that is looked at stays that of the revision.
"""

import tempfile
from dataclasses import replace
from pathlib import Path, PurePosixPath

from reenact.bug.controls.relaid import all_files, copy_file
from reenact.bug.declared import build_system
from reenact.bug.project_files import ProjectFiles, project_files
from reenact.bug.script_runner import Revision
from reenact.codegen.environment import Environment, is_fulfilled
from reenact.intake.archive import Bounds, unpack
from reenact.sandbox.box import MIB
from reenact.sandbox.environments.names import Allowed, ProposedBy, requirement
from reenact.sandbox.environments.prepare import Environments
from reenact.sandbox.environments.project import build_project
from reenact.types import Stop

MOST_BYTES = 1024 * MIB
"""Bytes of a build that are laid next to the code."""


def built(
    revision: Revision,
    environment: Environment,
    environments: Environments,
    allowed: Allowed,
    folder: Path,
    stop: Stop | None,
) -> Revision:
    """The revision with what its build makes, below a new folder. InputError where it cannot be
    built.
    """
    files = revision.files
    system = build_system(files.folder)
    needed = [requirement(text, ProposedBy.REPOSITORY) for text in system.requires]
    tools = environment
    if not all(is_fulfilled(one) for one in needed) or environment.mounts:
        pins = [requirement(text, ProposedBy.REPOSITORY) for text in environment.packages]
        named = {one.name for one in needed}
        both = (*needed, *(one for one in pins if one.name not in named))
        made = environments.prepare(both, allowed)
        tools = replace(environment, python=made.python, mounts=made.mounts, key=made.key)
    paths = sorted(all_files(files.folder))
    wheel = build_project(
        files.folder,
        paths,
        system=system.words,
        python=tools.python,
        mounts=tools.mounts,
        box=environments.box,
        cache=environments.cache,
        key=f"{revision.identity} {tools.key} {tools.python}",
        stop=stop,
    )
    for path in paths:
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if (files.folder / path).is_symlink():
            target.symlink_to((files.folder / path).readlink())
        else:
            copy_file(files.folder / path, target)
    _lay_in(wheel, files, folder)
    return replace(revision, identity=f"{revision.identity} built", files=project_files(folder))


def _lay_in(wheel: bytes, files: ProjectFiles, folder: Path) -> None:
    """What the wheel has of the project's packages and the checkout has not."""
    with tempfile.TemporaryDirectory(prefix="reenact-built-") as at:
        packed = Path(at) / "built.whl"
        packed.write_bytes(wheel)
        made = Path(at) / "unpacked"
        made.mkdir()
        unpack(packed, made, Bounds(most_bytes=MOST_BYTES))
        for file in sorted(one for one in made.rglob("*") if one.is_file()):
            path = PurePosixPath(file.relative_to(made))
            if _is_of(path, files):
                _lay_one(file, folder / _root_of(path, files) / path, folder)


def _lay_one(file: Path, target: Path, folder: Path) -> None:
    """One file, where the checkout has none."""
    if target.exists() or target.is_symlink():
        return
    # Below a folder of the checkout that is a link, something else would be written.
    if target.parent.resolve() != folder.resolve() / target.parent.relative_to(folder):
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(file.read_bytes())


def _is_of(path: PurePosixPath, files: ProjectFiles) -> bool:
    """Whether an entry is of a package of the project, or a module next to them."""
    if path.is_absolute() or ".." in path.parts:
        return False
    first = path.parts[0]
    return first in files.packages or (len(path.parts) == 1 and path.suffix in (".so", ".py"))


def _root_of(path: PurePosixPath, files: ProjectFiles) -> PurePosixPath:
    """The folder of the checkout in which the package of an entry lies."""
    lies = files.modules.get(path.parts[0])
    for root in files.roots:
        if lies is not None and lies.is_relative_to(root):
            return root
    return files.roots[0]
