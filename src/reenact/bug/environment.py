"""The interpreter and packages that scripts run with: this one where it has what is needed, else
one built.

What a project needs is read from its own metadata, or from its imports where there is none; nothing
of it is run. The order of attempts: with the report's versions as of the report's date, then
without the versions, then without the date. What had to be given up is noted.
"""

import ast
import configparser
import re
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date
from pathlib import Path, PurePosixPath
from typing import Any, TypeAlias

from packaging.utils import canonicalize_name

from reenact.bug.options import BugOptions
from reenact.bug.project_files import ProjectFiles, decode, read_plain
from reenact.bug.report import Installed
from reenact.codegen.environment import (
    DISTRIBUTIONS,
    SEEDED,
    Environment,
    is_fulfilled,
    this_key,
    version_of,
)
from reenact.codegen.syntax import imported_names, parsed
from reenact.errors import InputError, ReenactError, Stopped, UnreadableToml
from reenact.files import parse_toml
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
METADATA = ".reenact/metadata"
"""Folder in a box that says that the project is installed."""
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
_IMPORT = re.compile(r"^(?:import|from)[ \t]+([A-Za-z_]\w*)", re.MULTILINE)
_NAME = re.compile(r"""\bname\s*=\s*['"]?([\w.-]+)""")
_TESTS = frozenset({"tests", "test", "docs", "examples", "benchmarks", "scripts"})
Try: TypeAlias = tuple[list[Requirement], date | None, str]
"""What to install, as of which day, and what is given up where that fails."""


def prepare(
    files: ProjectFiles,
    reported: Sequence[Installed],
    created: date | None,
    options: BugOptions,
    environments: Environments | None,
    *,
    missing: str = "",
    absent: str = "",
) -> Environment:
    """The environment of a project as of a day. `missing` is a module that a first run did not
    find, `absent` one that the reporter did not have: that it is not there is the bug. May use the
    network, and only here. InputError names what is missing.
    """
    if options.environment not in (HERE, BUILD, AUTO):
        why = (
            f"The environment is auto, here or build. Received: "
            f"environment={options.environment!r}."
        )
        raise InputError(why)
    notes: list[str] = []
    given_up = {canonicalize_name(name) for name in options.stubs}
    needed = [one for one in declared(files, notes) if one.name not in given_up]
    if absent and distribution(absent) not in {one.name for one in needed}:
        given_up.add(canonicalize_name(distribution(absent)))
        notes.append(f"{absent} is not installed: the report is about its absence.")
    needed += [requirement(text, ProposedBy.USER) for text in options.requirements]
    if environments is not None:
        # Well-known packages that importing the project needs and that nothing declares.
        modules = _imports(files, _loaded(files)) - files.packages - sys.stdlib_module_names
        known = {one.name for one in needed} | given_up
        undeclared = sorted(({distribution(one) for one in modules} - known) & WELL_KNOWN)
        notes += [
            f"{name} is imported and not declared; it is installed too." for name in undeclared
        ]
        needed += [requirement(name, ProposedBy.REPOSITORY) for name in undeclared]
    if missing:
        needed.append(requirement(distribution(missing), ProposedBy.DOCUMENT))
        notes.append(
            f"{missing} was missing in the first run; the environment was built again with it."
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
    )


def _built(
    files: ProjectFiles,
    tries: Iterable[Try],
    allowed: Allowed,
    environments: Environments,
    notes: list[str],
) -> Environment:
    # Boxes have no GPU, and the builds of torch for one are many times as large.
    builder = (
        replace(environments, backend="cpu")
        if isinstance(environments, Environments)
        else environments
    )
    for wanted, before, given_up in tries:
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
    return _with_frameworks(
        Environment(sys.executable, (), key, packages, available=there), files, notes
    )


def _with_frameworks(made: Environment, files: ProjectFiles, notes: list[str]) -> Environment:
    """The environment with those of its libraries that the project loads: of files that nothing
    loads none, for two frameworks in one process may not get along.
    """
    loaded = _imports(files, _loaded(files))
    used = tuple(name for name in made.available if name in loaded)
    return replace(made, notes=tuple(notes), frameworks=used)


def _imports(files: ProjectFiles, paths: Iterable[PurePosixPath]) -> set[str]:
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
    names = _imports(
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


def _loaded(files: ProjectFiles) -> list[PurePosixPath]:
    """The files that importing the project's packages loads; of a project without one, all."""
    first = [
        path for path in files.paths if path.name == "__init__.py" and not _TESTS & set(path.parts)
    ]
    tops = [path for path in first if "." not in files.module_names.get(path, ".")]
    loaded = dict.fromkeys(tops or (path for path in files.paths if not _TESTS & set(path.parts)))
    waiting = list(loaded)
    for path in waiting:
        package = files.package(path)
        tree = files.tree(path)
        for node in tree.body if tree is not None else ():
            dotted = {
                word for one in imported_names(node, package) for word in (one.module, one.target)
            }
            new = {files.modules[word] for word in dotted if word in files.modules} - loaded.keys()
            loaded |= dict.fromkeys(sorted(new))
            waiting += sorted(new)
    return list(loaded)


def pinned(
    reported: Iterable[Installed], names: set[str], notes: list[str]
) -> Iterator[Requirement]:
    """The versions of the report; `notes` gets what of it was left aside."""
    for one in reported:
        plain = canonicalize_name(one.package.strip() or "-")
        name = NAMES.get(plain, plain)
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
            notes.append(
                f"The report's version of {name} is none that can be installed: {version!r}."
            )


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
    """The list literal after `install_requires`; one that is computed cannot be read."""
    nodes = ast.walk(parsed(_text(folder / "setup.py")) or ast.Module([], []))
    stated = (
        one.value for one in nodes if isinstance(one, ast.keyword) and one.arg == "install_requires"
    )
    for listed in (one for one in stated if isinstance(one, ast.List)):
        values = (one.value for one in listed.elts if isinstance(one, ast.Constant))
        return [value for value in values if isinstance(value, str)]
    return None


_SOURCES = (_pyproject, _setup_cfg, _setup_py)
