"""What a project needs: by its own metadata or imports, and by what the report says was installed."""

from __future__ import annotations

import ast
import configparser
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from packaging.utils import canonicalize_name

from reenact.bug.project.files import MOST_BYTES, ProjectFiles
from reenact.bug.report import Installed
from reenact.codegen.environment import DISTRIBUTIONS
from reenact.codegen.project import parsed
from reenact.errors import InputError
from reenact.files import read_text
from reenact.sandbox.environments.names import WELL_KNOWN, Allowed, ProposedBy, Requirement, requirement

_IMPORT = re.compile(r"^(?:import|from)[ \t]+([A-Za-z_]\w*)", re.MULTILINE)
_TESTS = frozenset({"tests", "test", "docs", "examples", "benchmarks", "scripts"})


@dataclass(frozen=True, slots=True)
class Declared:
    """The packages a project needs."""

    requirements: tuple[Requirement, ...]
    notes: tuple[str, ...]
    """What could not be taken over, and why."""


def declared(files: ProjectFiles) -> Declared:
    """Read the repository's own metadata; nothing of it is run."""
    notes: list[str] = []
    lines = list(dict.fromkeys(line for read in _SOURCES for line in read(files.folder)))
    found = [one for line in lines if (one := _requirement(line, notes)) is not None]
    if not lines:
        found = list(_from_imports(files, notes))
    return Declared(tuple(found), tuple(notes))


def imported(files: ProjectFiles) -> frozenset[str]:
    """First parts of every module that the project imports at the top of a file, itself left out."""
    paths = [path for path in files.paths if not _TESTS.intersection(path.parts[:1])]
    names = {name for path in paths for name in _IMPORT.findall(files.text(path))}
    return frozenset(names - files.packages - sys.stdlib_module_names)


def _requirement(line: str, notes: list[str]) -> Requirement | None:
    try:
        return requirement(line, ProposedBy.REPOSITORY)
    except InputError as error:
        notes.append(f"Not installed: {error.sentence}")
        return None


def _from_imports(files: ProjectFiles, notes: list[str]) -> Iterator[Requirement]:
    for module in sorted(imported(files)):
        name = canonicalize_name(DISTRIBUTIONS.get(module, module))
        if name in WELL_KNOWN:
            yield requirement(name, ProposedBy.REPOSITORY)
        else:
            notes.append(f"The repository names no requirements, and nobody knows the package of `{module}`.")


def _text(file: Path) -> str:
    try:
        if file.is_symlink():
            return ""
        return read_text(file, MOST_BYTES, errors="replace")
    except OSError:
        return ""


def _pyproject(folder: Path) -> Iterator[str]:
    try:
        table = tomllib.loads(_text(folder / "pyproject.toml"))
    except tomllib.TOMLDecodeError:
        return
    listed = table.get("project", {}).get("dependencies", [])
    yield from (line for line in listed if isinstance(line, str))
    poetry = table.get("tool", {}).get("poetry", {}).get("dependencies", {})
    # Poetry's own version words (^1.2) mean nothing elsewhere; the name alone is taken.
    yield from (name for name in poetry if name.lower() != "python")


def _setup_cfg(folder: Path) -> Iterator[str]:
    read = configparser.ConfigParser(interpolation=None)
    try:
        read.read_string(_text(folder / "setup.cfg"))
    except configparser.Error:
        return
    lines = read.get("options", "install_requires", fallback="").splitlines()
    yield from (line.strip() for line in lines if line.strip() and not line.strip().startswith("#"))


def _setup_py(folder: Path) -> Iterator[str]:
    """The list literal after `install_requires`; one that is computed cannot be read."""
    for node in ast.walk(parsed(_text(folder / "setup.py")) or ast.Module([], [])):
        if (
            isinstance(node, ast.keyword)
            and node.arg == "install_requires"
            and isinstance(node.value, ast.List)
        ):
            yield from (one.value for one in node.value.elts if _is_text(one))  # type: ignore[attr-defined]


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _requirements_txt(folder: Path) -> Iterator[str]:
    text = _text(folder / "requirements.txt").replace("\\\n", " ")
    for line in text.splitlines():
        bare = re.sub(r"(^|\s)#.*$", "", line).strip()
        if bare and not bare.startswith("-"):
            yield bare


_SOURCES = (_pyproject, _setup_cfg, _setup_py, _requirements_txt)


NO_PACKAGES = frozenset(
    {"python", "cuda", "cudnn", "os", "ubuntu", "linux", "windows", "macos", "pip", "conda"}
)
NAMES = {
    "pytorch": "torch",
    "tensorflow-gpu": "tensorflow",
    "sklearn": "scikit-learn",
    "opencv": "opencv-python",
}
"""How people call packages that are installed under another name."""


def pinned(
    said: Iterable[Installed], needed: Iterable[Requirement], allowed: Allowed
) -> tuple[tuple[Requirement, ...], tuple[str, ...]]:
    """The versions of the report, and what of it was left aside."""
    names = {one.name for one in needed} | allowed.names
    found: list[Requirement] = []
    notes: list[str] = []
    for one in said:
        plain = canonicalize_name(one.package.strip() or "-")
        name = NAMES.get(plain, plain)
        version = one.version.strip().lstrip("v=")
        if not version or name in NO_PACKAGES:
            continue
        if name not in names:
            notes.append(
                f"The report names {name} {version}, which is on no list; --allow-packages {name} allows it."
            )
            continue
        try:
            found.append(requirement(f"{name}=={_whole(version)}", ProposedBy.DOCUMENT))
        except InputError:
            notes.append(f"The report's version of {name} is none that can be installed: {version!r}.")
    return tuple(found), tuple(notes)


def _whole(version: str) -> str:
    """Who writes `keras 3` or `torch 2.1` means any release of that series, not the one that is called 3."""
    return f"{version}.*" if re.fullmatch(r"\d+(?:\.\d+)?", version) else version
