"""A command line that starts a training (script, `-m package`, notebook, or a launcher in front of
either), and the files it leads to: the entry, the local modules that it imports, the data files
that it names.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import dropwhile, takewhile
from pathlib import Path, PurePath, PurePosixPath

from reenact.errors import UnreadableProgram
from reenact.program.syntax.datafile import included
from reenact.program.syntax.index import DATA_SUFFIXES, index_of
from reenact.program.syntax.scope import Binding
from reenact.program.syntax.source import Language, SourceFile, read_source

INTERPRETERS = ("python", "python3", "pypy3", "ipython")
LAUNCHER_MODULES = (
    "torch.distributed.run",
    "torch.distributed.launch",
    "accelerate.commands.launch",
)
RUNNERS = (
    "torchrun",
    "accelerate",
    "deepspeed",
    "uv",
    "poetry",
    "pipenv",
    "time",
    "nohup",
    "env",
)

NO_VALUE = frozenset(
    {
        "standalone",
        "no_python",
        "run_path",
        "use_env",
        "virtual_local_rank",
        "h",
        "help",
        "cpu",
        "multi_gpu",
        "tpu",
        "ipex",
        "use_deepspeed",
        "use_fsdp",
        "use_megatron_lm",
        "use_xpu",
        "debug",
        "quiet",
        "q",
        "dynamo_use_dynamic",
        "tpu_use_cluster",
        "downcast_bf16",
        "no_local_rank",
        "force_multi",
        "no_ssh",
        "elastic_training",
    }
)
"""Options of torchrun, accelerate and deepspeed that take no value."""
PYTHON_FLAGS_WITH_VALUE = (
    "-W",
    "-X",
    "-c",
    "--check-hash-based-pycs",
)


@dataclass(frozen=True, slots=True)
class Launch:
    """How a program is started."""

    target: str
    """Path of the script or notebook, or the dotted name after `-m`."""
    module: bool = False
    """True when `target` is a module name."""
    arguments: tuple[str, ...] = ()
    """What the program itself is given."""
    launcher: tuple[str, ...] = ()
    """Words in front: `torchrun --nproc-per-node=2`; empty for a plain start."""

    @property
    def words(self) -> tuple[str, ...]:
        """The whole line, as a user would type it after the interpreter or the launcher."""
        return (*self.launcher, *self._program(self.target))

    def _program(self, target: str) -> tuple[str, ...]:
        return (
            *(("-m",) if self.module else ()),
            target,
            *self.arguments,
        )

    def command(
        self,
        python: str,
        target: str | None = None,
    ) -> tuple[str, ...]:
        """The argument vector that starts it with this interpreter, perhaps another copy of the
        script.
        """
        return (
            *_launcher_by(self.launcher, python),
            *self._program(target or self.target),
        )


def read_line(words: Sequence[str]) -> Launch:
    """Understand a command line; the first word that is a script, a notebook or `-m name` is
    the program.
    """
    rest = list(words)
    rest = list(
        dropwhile(
            _is_assignment,
            rest[1:] if rest[:1] == ["--"] else rest,
        )
    )
    if not rest:
        fix = "Name a script, a notebook, or `-m package` and its arguments."
        raise UnreadableProgram("No program was given.", next_step=fix)
    front: list[str] = []
    while rest and (taken := _launcher_words(rest)):
        front = front + rest[:taken]
        rest = rest[taken:]
    if len(front) == 1 and is_python(PurePath(front[0]).name):
        front = []
    module = rest[:1] in (["-m"], ["--module"])
    rest = rest[1:] if module else rest
    if not rest or rest[0].startswith("-"):
        says = f"There is no script in this line. Received: {' '.join((*front, *rest))!r}."
        raise UnreadableProgram(says, next_step="Name a .py file, a .ipynb file, or `-m package`.")
    return Launch(
        rest[0],
        module,
        tuple(rest[1:]),
        tuple(front),
    )


def _launcher_words(rest: list[str]) -> int:
    """How many words an interpreter or a launcher at the beginning takes with its own options."""
    name = PurePath(rest[0]).name
    second = rest[1:2]
    if is_python(name):
        index = 1
        while index < len(rest) and rest[index].startswith("-") and rest[index] != "-m":
            index += 2 if rest[index] in PYTHON_FLAGS_WITH_VALUE else 1
        started = (
            rest[index + 1] if rest[index : index + 1] == ["-m"] and len(rest) > index + 1 else ""
        )
        if started in LAUNCHER_MODULES:
            return _skip_options(rest, index + 2)
        return index
    if name in ("torchrun", "deepspeed") or (name == "accelerate" and second == ["launch"]):
        return _skip_options(rest, 2 if name == "accelerate" else 1)
    if name in ("uv", "poetry", "pipenv") and second == ["run"]:
        return 2
    if name == "env":
        return 1 + len(list(takewhile(_is_assignment, rest[1:])))
    return 1 if name in RUNNERS else 0


def _skip_options(rest: list[str], index: int) -> int:
    """Past options that take a value, those that take none and `--name=value`, up to the script."""
    while (
        index < len(rest) and rest[index].startswith("-") and rest[index] not in ("-m", "--module")
    ):
        alone = (
            "=" in rest[index]
            or rest[index]
            .lstrip("-")
            .replace(
                "-",
                "_",
            )
            in NO_VALUE
        )
        index += 1 if alone else 2
    return min(index, len(rest))


def _launcher_by(
    launcher: Sequence[str],
    python: str,
) -> tuple[str, ...]:
    """Launchers are started through the interpreter, so that they come from its environment."""
    first = PurePath(launcher[0]).name if launcher else "python"
    if is_python(first):
        return (python, *launcher[1:])
    if first == "torchrun":
        return (python, "-m", "torch.distributed.run", *launcher[1:])
    if first == "accelerate" and launcher[1:2] == ("launch",):
        return (python, "-m", "accelerate.commands.launch", *launcher[2:])
    return tuple(launcher)


def is_python(name: str) -> bool:
    """Whether a program of that name is an interpreter."""
    return name in INTERPRETERS or (name.startswith("python3.") and name[8:].isdigit())


def _is_assignment(word: str) -> bool:
    name, equals, _ = word.partition("=")
    return bool(equals) and name.isidentifier()


MAX_FILES = 150
MAX_TOTAL_CHARACTERS = 6_000_000


def locate(launch: Launch, working: Path) -> tuple[PurePosixPath, Path, tuple[Path, ...]]:
    """The entry's path, the program's folder, and the folders that imports are looked up in."""
    if launch.module:
        return _locate_module(launch.target, working)
    path = Path(os.path.abspath(working / launch.target))  # noqa: PTH100  # must not follow links
    if not path.exists():
        fix = "Check the name, or put `--` in front of a launcher line."
        raise UnreadableProgram(f"There is no such file. Received: {launch.target}.", next_step=fix)
    if not path.is_file():
        says = f"A program is a file, not a folder or a device. Received: {launch.target}."
        raise UnreadableProgram(
            says, next_step="Name the script inside it, or start the package with `-m`."
        )
    around = (working,) if working in path.parent.parents else ()
    return PurePosixPath(path.name), path.parent, (path.parent, *around)


def _locate_module(name: str, working: Path) -> tuple[PurePosixPath, Path, tuple[Path, ...]]:
    parts = name.split(".")
    for base in (working, working / "src"):
        stem = base.joinpath(*parts)
        for candidate in (stem / "__main__.py", stem.with_suffix(".py")):
            if candidate.is_file():
                return PurePosixPath(candidate.relative_to(base)), base, (base,)
    says = f"No package or module of that name lies below {working}. Received: -m {name}."
    raise UnreadableProgram(says, next_step="Start from the folder that holds the package.")


def gather(
    launch: Launch,
    working: Path,
    folder: Path,
    bases: tuple[Path, ...],
    entry: SourceFile,
) -> tuple[Path, tuple[SourceFile, ...], tuple[PurePosixPath, ...]]:
    """Follow imports and data file names from the entry: the folder that holds everything, the
    files, and the folders below it that imports are looked up in.
    """
    found: dict[Path, SourceFile] = {folder / entry.path: entry}
    todo = [folder / entry.path]
    total = len(entry.text)
    while todo and len(found) < MAX_FILES and total < MAX_TOTAL_CHARACTERS:
        path = todo.pop(0)
        for other in _references(found[path], path, bases, working, launch):
            if other in found or len(found) >= MAX_FILES:
                continue
            found[other] = read_source(other.parent, PurePosixPath(other.name))
            total += len(found[other].text)
            todo.append(other)
    root = bases[0] if all(bases[0] in path.parents for path in found) else bases[-1]
    inside = [
        (path.relative_to(root), source) for path, source in found.items() if root in path.parents
    ]
    files = [replace(source, path=PurePosixPath(path)) for path, source in inside]
    ordered = sorted(
        files[1:],
        key=lambda file: (
            file.path.suffix in DATA_SUFFIXES,
            str(file.path),
        ),
    )
    tops = tuple(
        PurePosixPath(base.relative_to(root)) for base in bases if base.is_relative_to(root)
    )
    return root, (files[0], *ordered), tops


def _references(
    source: SourceFile,
    path: Path,
    bases: tuple[Path, ...],
    working: Path,
    launch: Launch,
) -> Iterator[Path]:
    if path.suffix in DATA_SUFFIXES:
        yield from _options(source, path, bases)
        return
    index = index_of(source)
    if isinstance(index, str):
        return
    for binding in index.imports:
        yield from _modules(binding, path, bases)
    names = sorted(index.data_names) + [
        word for word in launch.arguments if word.endswith(DATA_SUFFIXES)
    ]
    for name in names:
        for base in (working, path.parent, bases[0]):
            candidate = Path(os.path.normpath(base / name.rpartition("=")[2]))
            if _inside(candidate, bases):
                yield candidate
                break


def _options(
    source: SourceFile,
    path: Path,
    bases: tuple[Path, ...],
) -> Iterator[Path]:
    """Files of a hydra configuration: what it includes, and the other options of these groups."""
    for relative in included(source) if source.language is Language.YAML else ():
        group = path.parent / relative.relative_to(source.path.parent).parent
        near = sorted(group.glob("*.y*ml")) if group != path.parent else [group / relative.name]
        for file in near:
            if _inside(file, bases):
                yield file


def _modules(
    binding: Binding,
    path: Path,
    bases: tuple[Path, ...],
) -> Iterator[Path]:
    parts = [part for part in binding.dotted.split(".") if part]
    # The name itself, or the package that `from . import name` looks into.
    sizes = range(1, len(parts) + 1)
    if not parts and binding.level:
        sizes = range(1)
    tops = bases
    if binding.level:
        tops = (path.parents[min(binding.level, len(path.parents)) - 1],)
    for top in tops:
        stems = [top.joinpath(*parts[:size]) for size in sizes]
        files = [
            (
                stem.parent / f"{stem.name}.py",
                stem / "__init__.py",
            )[not parts :]
            for stem in stems
        ]
        hits = [file for pair in files for file in pair if _inside(file, bases)]
        if hits:
            yield from hits
            return


def _inside(path: Path, bases: tuple[Path, ...]) -> bool:
    """A regular file below one of the folders, also after links are followed."""
    try:
        if not path.is_file():
            return False
        real = path.resolve()
    except (OSError, RuntimeError, ValueError):
        return False
    return any(base.resolve() in real.parents for base in bases)
