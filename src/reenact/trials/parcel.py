"""A program on its way to a node of a Ray cluster: its folder as bytes, and what must be equal
there; and the worker that trains it there, one trial at a time, with a warm pool of its own.

Shipped is what a trial would copy: files up to 16 MiB, 256 MiB in all. What is larger or crowded,
and what the user names with --data, is a link to the same path on every machine; data named so are
compared by their content. Variables that the program or its frameworks read go along; those of the
machine itself stay.
"""

import hashlib
import os
import platform
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from reenact.errors import InputError
from reenact.probe.injected import default_python
from reenact.probe.outcome import OutcomeKind
from reenact.probe.surroundings import named_variables, packages_of
from reenact.program.program import Program
from reenact.trials.boxed import Boxed
from reenact.trials.folder import MOST_BYTES, MOST_FILE_BYTES, Scratch, anchor_of, place
from reenact.trials.job import TREE, imported
from reenact.trials.pool import ProcessPool
from reenact.trials.reading import at_home
from reenact.trials.trial import Outcome, Trial, Weights
from reenact.types import Stop
from reenact.version import __version__

MIB = 1 << 20
WHOLE = 64 * MIB
"""Of larger data files the size and sixteen MiB, evenly spread, are compared."""
BLOCKS = 16
MACHINE = frozenset(
    {
        "CONDA_PREFIX",
        "CUDA_VISIBLE_DEVICES",
        "HOME",
        "HOSTNAME",
        "LOGNAME",
        "PATH",
        "PWD",
        "PYTHONEXECUTABLE",
        "PYTHONHOME",
        "PYTHONPATH",
        "SHELL",
        "TEMP",
        "TMP",
        "TMPDIR",
        "USER",
        "VIRTUAL_ENV",
    }
)
MACHINE_PREFIXES, MACHINE_ENDS = (
    ("LD_", "NVIDIA_", "RAY_", "REENACT_", "XDG_"),
    ("_HOME", "_CACHE"),
)
"""Variables that each machine keeps."""
PACKAGES = {
    "sklearn": "scikit_learn",
    "PIL": "pillow",
    "cv2": "opencv_python",
    "yaml": "pyyaml",
    "skimage": "scikit_image",
}
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
        mine = {
            "reenact": self.reenact,
            "Python": self.python,
            **self.packages,
        }
        theirs = {
            "reenact": there.reenact,
            "Python": there.python,
            **there.packages,
        }
        differing = [name for name in mine if mine[name] != theirs.get(name, "")]
        other = [path for path, mark in self.data.items() if there.data.get(path) != mark]
        return [
            *(
                f"{name} {theirs.get(name) or 'missing'} instead of {mine[name]}"
                for name in differing
            ),
            *(f"{'other' if there.data.get(path) else 'no'} data at {path}" for path in other),
        ]


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
        places = repr(
            (
                self.links,
                self.folder,
                self.working,
                self.home,
            )
        )
        digest = hashlib.sha256(places.encode("utf-8", "replace"))
        for path, mode, body in self.files:
            digest.update(
                f"{path}\0{mode}\0{len(body)}\0".encode(
                    "utf-8",
                    "surrogatepass",
                )
                + body
            )
        return digest.hexdigest()


def pack(
    program: Program,
    data: Sequence[Path] = (),
    python: str = "",
) -> Parcel:
    """An unchanged program; raises InputError for data that are not there, and StorageError."""
    named = [Path(os.path.abspath(path)) for path in data]  # noqa: PTH100 - must not follow links
    for path in named:
        if not path.exists():
            raise InputError(f"There are no data at this path. Received: --data {path}.")
    modules = tuple(
        sorted(
            {
                *FRAMEWORKS,
                *(name.partition(".")[0] for name in imported(program)),
            }
        )
    )
    read = named_variables(
        [file.text for file in program.files],
        os.environ,
    )
    variables = {name: value for name, value in read.items() if not _stays(name)}
    needs = needs_of(modules, named, python)
    if not program.folder.is_absolute():
        return Parcel(
            (),
            (),
            "",
            "",
            "",
            variables,
            modules,
            needs,
            (),
        )
    with tempfile.TemporaryDirectory(prefix="reenact-parcel-") as within:
        placed = place(program, Path(within) / "tree")
        root = placed.root
        anchor = anchor_of(program)
        files, links, left = _contents(root, anchor, named)
        folder, working = (os.path.relpath(path, root) for path in (placed.folder, placed.working))
    return Parcel(
        files,
        links,
        folder,
        working,
        str(program.folder),
        variables,
        modules,
        needs,
        left,
    )


def _contents(
    root: Path, anchor: Path, named: Sequence[Path]
) -> tuple[tuple[tuple[str, int, bytes], ...], tuple[tuple[str, str], ...], tuple[str, ...]]:
    files = []
    links = []
    left = []
    total = 0
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
            files.append(
                (
                    name,
                    path.stat().st_mode & 0o777,
                    body,
                )
            )
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
        (target if path.endswith("/") else target.parent).mkdir(
            parents=True,
            exist_ok=True,
        )
        if not path.endswith("/"):
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
    pairs = [(word, word.removeprefix(below)) for word in program.arguments]
    words = [word if rest == word else str(folder / rest) for word, rest in pairs]
    return replace(program.with_arguments(words), folder=folder, working=working)


def take_variables(parcel: Parcel, texts: Iterable[str]) -> None:
    """Give this process the user's variables, and none of its own that the program would read
    instead.
    """
    for name in named_variables(texts, os.environ):
        if not _stays(name) and name not in parcel.variables:
            del os.environ[name]
    os.environ.update(parcel.variables)


def _stays(name: str) -> bool:
    return name in MACHINE or name.startswith(MACHINE_PREFIXES) or name.endswith(MACHINE_ENDS)


def needs_of(
    modules: Iterable[str],
    data: Iterable[Path],
    python: str = "",
) -> Needs:
    """What this machine has of it. Raises InputError for an interpreter that cannot be started."""
    chosen = default_python(python)
    packages = packages_of(chosen)
    if not packages:
        raise InputError(
            f"The interpreter for the trials could not be started. Received: {chosen}."
        )
    known = {PACKAGES.get(name, name).lower() for name in modules}
    versions = {name: text.partition("+")[0] for name, text in packages.items() if name in known}
    version = ".".join(packages["python"].split(".")[:2])
    return Needs(
        __version__,
        version,
        versions,
        {str(path): data_mark(path) for path in data},
    )


def data_mark(path: Path) -> str:
    """Mark of a file, or of all below a folder; empty when there is nothing."""
    if not path.exists():
        return ""
    digest = hashlib.sha256()
    for file in [path] if path.is_file() else sorted(_below(path)):
        if file.is_file():
            head = f"{file.relative_to(path)}\0{file.stat().st_size}\0"
            digest.update(head.encode("utf-8", "surrogatepass") + _sampled(file))
    return digest.hexdigest()


def _sampled(file: Path) -> bytes:
    size = file.stat().st_size
    digest = hashlib.sha256()
    with file.open("rb") as source:
        if size <= WHOLE:
            return hashlib.file_digest(source, "sha256").digest()
        for block in range(BLOCKS):
            source.seek((size - MIB) * block // (BLOCKS - 1))
            digest.update(source.read(MIB))
    return digest.digest()


@dataclass(frozen=True, slots=True)
class Returned:
    """An outcome on its way back."""

    outcome: Outcome
    refused: tuple[str, ...] = ()
    """Why this node cannot train the program; then there is no outcome."""
    trace: tuple[tuple[str, bytes], ...] = ()
    tree: str = ""
    """Where the program stood when the trace was written."""
    weights: bytes | None = None


class Worker:
    """An actor, with more threads than one to hear `stop`."""

    def __init__(self, python: str, boxed: bool) -> None:
        import ray

        self._report = (
            str(ray.get_runtime_context().get_node_id()),
            platform.node(),
        )
        self._python = python
        self._scratch = Scratch.make()
        self._executor = Boxed(python=python) if boxed else ProcessPool(1, python=python)
        self._refusals: dict[str, tuple[str, ...]] = {}
        self._stops: dict[int, Stop] = {}
        """By the number of the call of `train`."""

    def report(self) -> tuple[str, str]:
        """Ray's id of its node, and the node's name; answers when the worker is there."""
        return self._report

    def train(
        self,
        call: int,
        trial: Trial,
        weights: bytes | None,
        parcel: Parcel,
    ) -> Returned:
        """One trial, unless this node differs in what matters to its program. `call` is another
        number each time; `weights` are those that the trial continues from.
        """
        if parcel.mark not in self._refusals:
            here = needs_of(
                parcel.modules,
                map(Path, parcel.needs.data),
                self._python,
            )
            self._refusals[parcel.mark] = tuple(parcel.needs.differences(here))
        if refused := self._refusals[parcel.mark]:
            return Returned(Outcome(OutcomeKind.NOT_STARTED), refused)
        root = self._scratch.path / parcel.mark
        if parcel.home and not root.exists():
            unpack(parcel, root)
        take_variables(parcel, [file.text for file in trial.program.files])
        trial, end = self._with_weights(trial, weights)
        trial = replace(
            trial,
            program=arrived(trial.program, parcel, root),
        )
        (outcome,) = self._executor.run(
            [trial],
            stop=self._stops.setdefault(call, Stop()),
        )
        kept = outcome.trace
        files = (
            sorted(path for path in kept.rglob("*") if path.is_file()) if kept is not None else []
        )
        return Returned(
            at_home(
                replace(outcome, trace=None),
                str(trial.program.folder),
                parcel.home,
            ),
            trace=tuple(
                (
                    str(path.relative_to(kept)),
                    path.read_bytes(),
                )
                for path in files
                if kept
            ),
            tree=str(kept.parent / TREE) if kept is not None else "",
            weights=end.read_bytes() if end is not None and end.is_file() else None,
        )

    def _with_weights(
        self,
        trial: Trial,
        weights: bytes | None,
    ) -> tuple[Trial, Path | None]:
        """The trial with files of this node, and where it leaves its last weights."""
        given = trial.weights
        if given is None:
            return trial, None
        folder = self._scratch.trial_folder()
        start = folder / given.start.name if given.start is not None else None
        end = folder / f"end-{given.end.name}" if given.end is not None else None
        if start is not None and weights is not None:
            start.write_bytes(weights)
        return replace(trial, weights=Weights(start, end)), end

    def stop(self, call: int) -> None:
        """End a trial, also one that has not begun yet."""
        self._stops.setdefault(call, Stop()).ask()

    def close(self) -> None:
        """Leave nothing behind."""
        for stop in list(self._stops.values()):
            stop.ask()
        self._executor.close()
        self._scratch.close()
