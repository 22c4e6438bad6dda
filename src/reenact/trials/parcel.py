"""A program on its way to another machine: its folder as bytes, and what must be equal there.

Shipped is what a trial would copy: files up to 16 MiB, 256 MiB in all. What is larger or crowded, and what
the user names with --data, is a link to the same path on every machine; data named so are compared by their
content. Variables that the program or its frameworks read go along; those of the machine itself stay.
"""

import hashlib
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from reenact.errors import InputError
from reenact.probe.injected import default_python
from reenact.probe.surroundings import named_variables, packages_of
from reenact.program.program import Program
from reenact.program.read.index import FileIndex, index_of
from reenact.program.source import word_set
from reenact.trials.folder import MOST_BYTES, MOST_FILE_BYTES, anchor_of, place
from reenact.version import __version__

MIB = 1 << 20
WHOLE = 64 * MIB
"""Of larger data files the size and sixteen MiB, evenly spread, are compared."""
BLOCKS = 16
MACHINE = word_set(
    "CONDA_PREFIX CUDA_VISIBLE_DEVICES HOME HOSTNAME LOGNAME PATH PWD PYTHONEXECUTABLE PYTHONHOME "
    "PYTHONPATH SHELL TEMP TMP TMPDIR USER VIRTUAL_ENV"
)
MACHINE_PREFIXES, MACHINE_ENDS = ("LD_", "NVIDIA_", "RAY_", "REENACT_", "XDG_"), ("_HOME", "_CACHE")
"""Variables that each machine keeps."""
PACKAGES = {"sklearn": "scikit_learn", "PIL": "pillow", "cv2": "opencv_python", "yaml": "pyyaml",
            "skimage": "scikit_image", "pytorch_lightning": "pytorch_lightning"}  # fmt: skip
"""Distributions of modules with another name."""
FRAMEWORKS = ("torch", "keras", "tensorflow", "numpy", "jax", "lightning")


@dataclass(frozen=True, slots=True)
class Needs:
    """What must be equal wherever a program trains."""

    reenact: str
    python: str
    packages: Mapping[str, str]
    """Versions of what the program imports, without the part that names a build (+cpu)."""
    data: Mapping[str, str]
    """Of each path that the user names, a mark of all that lies there."""

    def differences(self, there: "Needs") -> list[str]:
        """In sentences, what another machine has instead."""
        pairs = [("reenact", self.reenact, there.reenact), ("Python", self.python, there.python)]
        pairs += [(name, mine, there.packages.get(name, "")) for name, mine in self.packages.items()]
        found = [
            f"{name} {theirs or 'missing'} instead of {mine}"
            for name, mine, theirs in pairs
            if mine != theirs
        ]
        for path, mark in self.data.items():
            if there.data.get(path) != mark:
                found.append(f"other data at {path}" if there.data.get(path) else f"no data at {path}")
        return found


@dataclass(frozen=True)
class Parcel:
    """The folder of a program, without its place."""

    files: tuple[tuple[str, int, bytes], ...]
    """Path below the root, mode, content."""
    links: tuple[tuple[str, str], ...]
    """Path below the root, and where it leads."""
    folder: str
    working: str
    """Below the root."""
    home: str
    """The user's folder."""
    variables: Mapping[str, str]
    modules: tuple[str, ...]
    needs: Needs
    left_out: tuple[str, ...]
    """Paths of the user that were not sent: too large, and not named as data."""

    @cached_property
    def mark(self) -> str:
        """Equal for parcels that leave the same folder."""
        digest = hashlib.sha256(
            repr((self.links, self.folder, self.working, self.home)).encode("utf-8", "replace")
        )
        for path, mode, body in self.files:
            digest.update(f"{path}\0{mode}\0{len(body)}\0".encode("utf-8", "surrogatepass") + body)
        return digest.hexdigest()


def pack(program: Program, data: Sequence[Path] = (), python: str = "") -> Parcel:
    """A program as it stands; raises InputError for data that are not there, and StorageError."""
    named = [Path(os.path.abspath(path)) for path in data]  # noqa: PTH100 - must not follow links
    for path in named:
        if not path.exists():
            raise InputError(f"There are no data at this path. Received: --data {path}.")
    modules = tuple(sorted(_modules(program)))
    texts = [file.text for file in program.files]
    variables = {
        name: value for name, value in named_variables(texts, os.environ).items() if not _stays(name)
    }
    needs = needs_of(modules, named, python)
    if not program.folder.is_absolute():
        return Parcel((), (), "", "", "", variables, modules, needs, ())
    with tempfile.TemporaryDirectory(prefix="reenact-parcel-") as within:
        placed = place(program, Path(within) / "tree")
        root, anchor = placed.root, anchor_of(program)
        files, links, left = _contents(root, anchor, named)
        folder, working = (os.path.relpath(path, root) for path in (placed.folder, placed.working))
    return Parcel(files, links, folder, working, str(program.folder), variables, modules, needs, left)


def _contents(
    root: Path, anchor: Path, named: Sequence[Path]
) -> tuple[tuple[tuple[str, int, bytes], ...], tuple[tuple[str, str], ...], tuple[str, ...]]:
    files, links, left, total = [], [], [], 0
    for path in _below(root):
        name = str(path.relative_to(root))
        own = Path(os.path.normpath(anchor / name))
        leads = path.readlink() if path.is_symlink() else None
        if any(own == data or own.is_relative_to(data) for data in named):
            links.append((name, str(own)))
        elif leads is not None and not leads.is_absolute():
            links.append((name, str(leads)))
        elif path.is_file() and path.stat().st_size <= min(MOST_FILE_BYTES, MOST_BYTES - total):
            body = path.read_bytes()
            total += len(body)
            files.append((name, path.stat().st_mode & 0o777, body))
        elif leads is not None:
            links.append((name, str(leads)))
            if not any(leads == data or leads.is_relative_to(data) for data in named):
                left.append(str(leads))
        elif path.is_dir():
            files.append((f"{name}/", 0o755, b""))
    return tuple(files), tuple(links), tuple(left)


def _below(folder: Path) -> Iterator[Path]:
    for here, folders, names in os.walk(folder):
        for name in sorted((*folders, *names)):
            yield Path(here, name)


def unpack(parcel: Parcel, root: Path) -> None:
    """Lay the folder out below `root`."""
    for path, mode, body in parcel.files:
        target = root / path
        if path.endswith("/"):
            target.mkdir(parents=True, exist_ok=True)
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(body)
        target.chmod(mode | 0o600)
    for path, leads in parcel.links:
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if not os.path.lexists(target):
            target.symlink_to(leads)


def arrived(program: Program, parcel: Parcel, root: Path) -> Program:
    """The program where it was unpacked."""
    if not parcel.home:
        return program
    folder, working = ((root / path).resolve() for path in (parcel.folder, parcel.working))
    below = parcel.home + os.sep
    words = [
        str(folder / word[len(below) :]) if word.startswith(below) else word for word in program.arguments
    ]
    return replace(program.with_arguments(words), folder=folder, working=working)


def take_variables(parcel: Parcel, texts: Iterable[str]) -> None:
    """Give this process the user's variables, and none of its own that the program would read instead."""
    for name in named_variables(texts, os.environ):
        if not _stays(name) and name not in parcel.variables:
            del os.environ[name]
    os.environ.update(parcel.variables)


def _stays(name: str) -> bool:
    return name in MACHINE or name.startswith(MACHINE_PREFIXES) or name.endswith(MACHINE_ENDS)


def _modules(program: Program) -> set[str]:
    found = set(FRAMEWORKS)
    for file in program.files:
        index = index_of(file) if file.path.suffix in (".py", ".ipynb") else ""
        if isinstance(index, FileIndex):
            found |= {one.dotted.partition(".")[0] for one in index.imports if not one.level}
    return found


def needs_of(modules: Iterable[str], data: Iterable[Path], python: str = "") -> Needs:
    """What this machine has of it. Raises InputError for an interpreter that cannot be started."""
    chosen = default_python(python)
    packages = packages_of(chosen)
    if not packages:
        raise InputError(f"The interpreter for the trials could not be started. Received: {chosen}.")
    known = {PACKAGES.get(name, name).lower() for name in modules}
    versions = {name: text.partition("+")[0] for name, text in packages.items() if name in known}
    version = ".".join(packages["python"].split(".")[:2])
    return Needs(__version__, version, versions, {str(path): data_mark(path) for path in data})


def data_mark(path: Path) -> str:
    """Mark of a file, or of all below a folder; empty when there is nothing."""
    if not path.exists():
        return ""
    digest = hashlib.sha256()
    for file in [path] if path.is_file() else sorted(_below(path)):
        if file.is_file():
            digest.update(
                f"{file.relative_to(path)}\0{file.stat().st_size}\0".encode("utf-8", "surrogatepass")
            )
            digest.update(_sampled(file))
    return digest.hexdigest()


def _sampled(file: Path) -> bytes:
    with file.open("rb") as source:
        size = file.stat().st_size
        if size <= WHOLE:
            return hashlib.file_digest(source, "sha256").digest()
        digest = hashlib.sha256()
        for block in range(BLOCKS):
            source.seek((size - MIB) * block // (BLOCKS - 1))
            digest.update(source.read(MIB))
        return digest.digest()
