"""What a project says of itself: its name, what it needs, what it imports. Its files are read; nothing
of it is run.
"""

import ast
import configparser
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
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
from reenact.sandbox.environments.project import OLD_WAY

METADATA = ".reenact/metadata"
"""Folder in a box that says that the project is installed."""
_IMPORT = re.compile(r"^(?:import|from)[ \t]+([A-Za-z_]\w*)", re.MULTILINE)
_NAME = re.compile(r"""\bname\s*=\s*['"]?([\w.-]+)""")
_SUPPORTED = re.compile(r"""\bpython_requires\s*=\s*['"]?\s*([<>=!~][^'"\n#]*)""")
TESTS = frozenset({"tests", "test", "docs", "examples", "benchmarks", "scripts"})


def imports_of(files: ProjectFiles, paths: Iterable[PurePosixPath]) -> set[str]:
    """First parts of the modules that these files import at their top."""
    return {name for path in paths for name in _IMPORT.findall(files.texts[path])}


def declared(
    files: ProjectFiles, notes: list[str], extras: Sequence[str] = ()
) -> list[Requirement]:
    """The packages a project needs, also for these of its extras; `notes` gets what could not be
    taken over, and why.
    """
    stated = [listed for read in _SOURCES if (listed := read(files.folder)) is not None]
    # What a package says of itself counts; requirements.txt often lists what its developers need.
    named = [] if stated else _lines_of(files.folder, "requirements.txt")
    lines = [line for listed in stated for line in listed] if stated else named
    found: list[Requirement] = []
    for module in sorted(imported(files)) if not lines and not stated else ():
        if (name := distribution(module)) in WELL_KNOWN:
            found.append(requirement(name, ProposedBy.REPOSITORY))
        else:
            unknown = (
                f"no one knows the package of `{module}`; if scripts need it: --requirement NAME."
            )
            notes.append(f"The repository names no requirements, and {unknown}")
    lines += [line for extra in extras for line in _extra(files.folder, extra)]
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
    name = project_name(folder)
    version = project.get("version", "0")
    if not re.fullmatch(r"[\w.-]+", name) or not isinstance(version, str):
        return {}
    text = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    return {
        f"{METADATA}/{name.replace('-', '_')}-{version}.dist-info/METADATA": text.encode(),
    }


def project_name(folder: Path) -> str:
    """What a project calls itself; empty where it does not say."""
    table = _toml(folder)
    project = _table(table, "project") or _table(table, "tool", "poetry")
    stated = (_NAME.search(_text(folder / file)) for file in ("setup.cfg", "setup.py"))
    name = project.get("name") or next((found[1] for found in stated if found), "")
    return name if isinstance(name, str) else ""


def python_requires(folder: Path) -> str:
    """The versions of Python that a project says it supports; empty where it does not say."""
    stated = _table(_toml(folder), "project").get("requires-python")
    if isinstance(stated, str):
        return stated
    texts = (_text(folder / file) for file in ("setup.cfg", "setup.py"))
    found = (_SUPPORTED.search(text) for text in texts)
    return next((one[1] for one in found if one), "")


def own_names(files: ProjectFiles) -> frozenset[str]:
    """The names by which a release of the project itself would be installed: its own, and those of
    the packages that it holds.
    """
    name = project_name(files.folder)
    packages = {
        path.parts[-2]
        for path in files.paths
        if path.name == "__init__.py"
        and len(path.parts) > 1
        and files.module_names.get(path, ".").count(".") == 0
    }
    stated = {name} if name else set[str]()
    return frozenset(canonicalize_name(one) for one in stated | packages - TESTS)


@dataclass(frozen=True, slots=True)
class BuildSystem:
    """How a project says that it is built."""

    words: Mapping[str, object]
    """Its own table, or the old way."""

    @property
    def requires(self) -> list[str]:
        listed = self.words.get("requires")
        return [one for one in listed if isinstance(one, str)] if isinstance(listed, list) else []


def build_system(folder: Path) -> BuildSystem:
    """How the project at a folder is built; the old way where it does not say."""
    stated = _table(_toml(folder), "build-system")
    return BuildSystem(stated if "build-backend" in stated else OLD_WAY | stated)


def imported(files: ProjectFiles) -> frozenset[str]:
    """First parts of every module that the project imports at the top of a file, itself left
    out.
    """
    names = imports_of(
        files, (path for path in files.texts if not TESTS.intersection(path.parts[:1]))
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
        path for path in files.paths if path.name == "__init__.py" and not TESTS & set(path.parts)
    ]
    tops = [path for path in first if "." not in files.module_names.get(path, ".")]
    reached = dict.fromkeys(tops or (path for path in files.paths if not TESTS & set(path.parts)))
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


_INCLUDED = re.compile(r"(?:-r|--requirement)[ =]*(\S+)")
_EXTRAS = re.compile(r"\b([A-Za-z][\w.-]*)\[([A-Za-z][\w, .-]*)\]")
MOST_INCLUDED = 3
"""Files of requirements that include each other, in a row."""
_REQUIREMENTS = re.compile(r"(?:[\w-]+/)*[\w.-]+\.(?:txt|in)")
_ASIDE = re.compile(r"(?i)test|dev|doc|example|build|lint|notebook|extra|optional")
"""Files of requirements that importing a package does not need."""


def _required(folder: Path, name: str) -> list[str]:
    """The lines of a file of requirements below the project; none of those for its developers."""
    if _ASIDE.search(name):
        return []
    beside = [folder / name, folder / "requirements" / name]
    file = next((one for one in beside if _text(one)), None)
    if file is None:
        return []
    return _lines_of(folder, file.relative_to(folder).as_posix())


def _lines_of(folder: Path, name: str, depth: int = 0) -> list[str]:
    """The requirements of a file, and of those that it includes (`-r base.txt`), which lie below
    the project.
    """
    text = _text(folder / name).replace("\\\n", " ")
    bare = (re.sub(r"(^|\s)#.*$", "", line).strip() for line in text.splitlines())
    found: list[str] = []
    for line in filter(None, bare):
        other = _INCLUDED.fullmatch(line)
        path = PurePosixPath(name).parent / other[1] if other else PurePosixPath()
        if other and depth < MOST_INCLUDED and ".." not in path.parts and not path.is_absolute():
            found += _lines_of(folder, path.as_posix(), depth + 1)
        elif not line.startswith("-"):
            found.append(line)
    return found


def _extra(folder: Path, extra: str) -> list[str]:
    """What an extra of the project needs, in the words of its metadata."""
    table = _toml(folder)
    stated = _table(table, "project", "optional-dependencies").get(extra)
    if isinstance(stated, list):
        return [line for line in stated if isinstance(line, str)]
    poetry = _table(table, "tool", "poetry", "extras").get(extra)
    if isinstance(poetry, list):
        return [line for line in poetry if isinstance(line, str)]
    read = configparser.ConfigParser(interpolation=None)
    with suppress(configparser.Error):
        read.read_string(_text(folder / "setup.cfg"))
        lines = read.get("options.extras_require", extra, fallback="").splitlines()
        if any(lines):
            return [line.strip() for line in lines if line.strip()]
    return _extra_of_setup_py(folder, extra)


def _extra_of_setup_py(folder: Path, extra: str) -> list[str]:
    """The list literal of an extra in the dictionary after `extras_require`."""
    tree = parsed(_text(folder / "setup.py")) or ast.Module([], [])
    given = (
        one.value
        for one in ast.walk(tree)
        if isinstance(one, ast.keyword) and one.arg == "extras_require"
    )
    for table in (one for one in given if isinstance(one, ast.Dict)):
        for key, listed in zip(table.keys, table.values, strict=True):
            named = isinstance(key, ast.Constant) and key.value == extra
            if named and isinstance(listed, ast.List | ast.Tuple):
                values = (one.value for one in listed.elts if isinstance(one, ast.Constant))
                return [value for value in values if isinstance(value, str)]
    return []


def named_extras(files: ProjectFiles, report: str) -> tuple[str, ...]:
    """The extras of the project that a report installs: those of `pip install acme[train,viz]`."""
    own = own_names(files)
    found = (
        match[2].split(",")
        for match in _EXTRAS.finditer(report)
        if canonicalize_name(match[1]) in own
    )
    return tuple(dict.fromkeys(one.strip() for listed in found for one in listed if one.strip()))


_SOURCES = (_pyproject, _setup_cfg, _setup_py)
