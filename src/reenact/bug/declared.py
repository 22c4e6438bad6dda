"""What a project says of itself: its name, what it needs, what it imports. Its files are read; nothing
of it is run.
"""

import ast
import configparser
import re
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Any

from packaging.utils import canonicalize_name

from reenact.bug.project_files import ProjectFiles, decode, read_plain
from reenact.codegen.environment import DISTRIBUTIONS
from reenact.codegen.syntax import imported_names, parsed
from reenact.errors import InputError, UnreadableToml
from reenact.files import parse_toml
from reenact.sandbox.environments.names import (
    WELL_KNOWN,
    ProposedBy,
    Requirement,
    requirement,
)

METADATA = ".reenact/metadata"
"""Folder in a box that says that the project is installed."""
_IMPORT = re.compile(r"^(?:import|from)[ \t]+([A-Za-z_]\w*)", re.MULTILINE)
_NAME = re.compile(r"""\bname\s*=\s*['"]?([\w.-]+)""")
_TESTS = frozenset({"tests", "test", "docs", "examples", "benchmarks", "scripts"})


def imports_of(files: ProjectFiles, paths: Iterable[PurePosixPath]) -> set[str]:
    """First parts of the modules that these files import at their top."""
    return {name for path in paths for name in _IMPORT.findall(files.texts[path])}


def declared(files: ProjectFiles, notes: list[str]) -> list[Requirement]:
    """The packages a project needs; `notes` gets what could not be taken over, and why."""
    stated = [listed for read in _SOURCES if (listed := read(files.folder)) is not None]
    # What a package says of itself counts; requirements.txt often lists what its developers need.
    needed = _text(files.folder / "requirements.txt").replace("\\\n", " ").splitlines()
    bare = (re.sub(r"(^|\s)#.*$", "", line).strip() for line in needed)
    named = [line for line in bare if line and not line.startswith("-")]
    lines = [line for listed in stated for line in listed] if stated else named
    found: list[Requirement] = []
    for module in sorted(imported(files)) if not lines and not stated else ():
        if (name := distribution(module)) in WELL_KNOWN:
            found.append(requirement(name, ProposedBy.REPOSITORY))
        else:
            unknown = (
                f"nobody knows the package of `{module}`; if scripts need it: --requirement NAME."
            )
            notes.append(f"The repository names no requirements, and {unknown}")
    for line in dict.fromkeys(lines):
        try:
            found.append(requirement(line, ProposedBy.REPOSITORY))
        except InputError as error:
            notes.append(f"Not installed: {error.sentence}")
    return found


def metadata(folder: Path) -> dict[str, bytes]:
    """Files that make a checkout look installed, for projects that ask for their own version when
    they are imported; empty where the project has no name.
    """
    table = _toml(folder)
    project = _table(table, "project") or _table(table, "tool", "poetry")
    name = _own_name(folder)
    version = project.get("version", "0")
    if (
        not isinstance(name, str)
        or not re.fullmatch(r"[\w.-]+", name)
        or not isinstance(version, str)
    ):
        return {}
    text = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    return {
        f"{METADATA}/{name.replace('-', '_')}-{version}.dist-info/METADATA": text.encode(),
    }


def _own_name(folder: Path) -> object:
    """What a project calls itself; nothing good where it does not say."""
    table = _toml(folder)
    project = _table(table, "project") or _table(table, "tool", "poetry")
    stated = (_NAME.search(_text(folder / file)) for file in ("setup.cfg", "setup.py"))
    return project.get("name") or next((found[1] for found in stated if found), "")


def own_names(files: ProjectFiles) -> frozenset[str]:
    """The names by which a release of the project itself would be installed: its own, and those of
    the packages that it holds.
    """
    name = _own_name(files.folder)
    packages = {
        path.parts[-2]
        for path in files.paths
        if path.name == "__init__.py"
        and len(path.parts) > 1
        and files.module_names.get(path, ".").count(".") == 0
    }
    stated = {name} if isinstance(name, str) and name else set[str]()
    return frozenset(canonicalize_name(one) for one in stated | packages - _TESTS)


def imported(files: ProjectFiles) -> frozenset[str]:
    """First parts of every module that the project imports at the top of a file, itself left
    out.
    """
    names = imports_of(
        files, (path for path in files.texts if not _TESTS.intersection(path.parts[:1]))
    )
    return frozenset(names - files.packages - sys.stdlib_module_names)


def distribution(module: str) -> str:
    """The name to install a module by, as far as anybody knows."""
    return canonicalize_name(
        DISTRIBUTIONS.get(
            module.partition(".")[0],
            module.partition(".")[0],
        )
    )


def loaded(files: ProjectFiles) -> list[PurePosixPath]:
    """The files that importing the project's packages loads; of a project without one, all."""
    first = [
        path for path in files.paths if path.name == "__init__.py" and not _TESTS & set(path.parts)
    ]
    tops = [path for path in first if "." not in files.module_names.get(path, ".")]
    reached = dict.fromkeys(tops or (path for path in files.paths if not _TESTS & set(path.parts)))
    waiting = list(reached)
    for path in waiting:
        package = files.package(path)
        tree = files.tree(path)
        for node in tree.body if tree is not None else ():
            dotted = {
                word for one in imported_names(node, package) for word in (one.module, one.target)
            }
            new = {files.modules[word] for word in dotted if word in files.modules} - reached.keys()
            reached |= dict.fromkeys(sorted(new))
            waiting += sorted(new)
    return list(reached)


def _text(file: Path) -> str:
    data = read_plain(file)
    return decode(data) if isinstance(data, bytes) else ""


def _toml(folder: Path) -> dict[str, Any]:
    with suppress(UnreadableToml):
        return parse_toml(_text(folder / "pyproject.toml"))
    return {}


def _table(
    table: dict[str, Any],
    *names: str,
) -> dict[str, Any]:
    """The table of that name in another; an empty one where there is none, or something else."""
    for name in names:
        inner = table.get(name)
        table = inner if isinstance(inner, dict) else {}
    return table


def _pyproject(folder: Path) -> list[str] | None:
    table = _toml(folder)
    listed = _table(table, "project").get("dependencies")
    # Poetry's own version words (^1.2) mean nothing elsewhere; the name alone is taken.
    poetry = _table(table, "tool", "poetry").get("dependencies")
    if not isinstance(listed, list) and not isinstance(poetry, dict):
        return None
    named = [name for name in poetry or {} if name.lower() != "python"]
    return [
        *(line for line in listed or [] if isinstance(line, str)),
        *named,
    ]


def _setup_cfg(folder: Path) -> list[str] | None:
    read = configparser.ConfigParser(interpolation=None)
    try:
        read.read_string(_text(folder / "setup.cfg"))
    except configparser.Error:
        return None
    stated = read.get("options", "install_requires", fallback=None)
    lines = [line.strip() for line in (stated or "").splitlines()]
    if stated is None:
        return None
    return [line for line in lines if line and not line.startswith("#")]


def _setup_py(folder: Path) -> list[str] | None:
    """The list literal after `install_requires`, or the lines of the files that a computed one
    reads: those that setup.py names, and those in requirements/ that have the same name as one.
    """
    tree = parsed(_text(folder / "setup.py")) or ast.Module([], [])
    nodes = list(ast.walk(tree))
    stated = [
        one.value for one in nodes if isinstance(one, ast.keyword) and one.arg == "install_requires"
    ]
    for listed in (one for one in stated if isinstance(one, ast.List)):
        values = (one.value for one in listed.elts if isinstance(one, ast.Constant))
        return [value for value in values if isinstance(value, str)]
    if not stated:
        return None
    texts = [node.value for node in nodes if isinstance(node, ast.Constant)]
    named = [text for text in texts if isinstance(text, str) and _REQUIREMENTS.fullmatch(text)]
    lines = [line for name in dict.fromkeys(named) for line in _required(folder, name)]
    return lines or None


_REQUIREMENTS = re.compile(r"(?:[\w-]+/)*[\w.-]+\.(?:txt|in)")
_ASIDE = re.compile(r"(?i)test|dev|doc|example|build|lint|notebook|extra|optional")
"""Files of requirements that importing a package does not need."""


def _required(folder: Path, name: str) -> list[str]:
    """The lines of a file of requirements below the project; none of those for its developers."""
    if _ASIDE.search(name):
        return []
    beside = [folder / name, folder / "requirements" / name]
    text = next((text for text in map(_text, beside) if text), "")
    bare = (
        re.sub(r"(^|\s)#.*$", "", line).strip() for line in text.replace("\\\n", " ").splitlines()
    )
    return [line for line in bare if line and not line.startswith("-")]


_SOURCES = (_pyproject, _setup_cfg, _setup_py)
