"""What a run of a program depends on beside its text: folder, environment, interpreter, packages, files.

Of the environment those variables count that a word of the program's text names, whose name begins with such
a word and an underscore, and those that torch, Keras, CUDA and the interpreter read. Their values may be
secret: a mark of them is kept, never the values.

The probe leaves the names of opened files (`inject/reenact_probe/opened.py`); they are looked at after the
run. A file up to 64 MiB counts by the hash of its content, as long as all of them together are below 1 GiB; a
larger one, and those after that, count by size, time of change, first and last MiB. A folder counts by the
names in it.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import shutil
import stat
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from reenact.host_program import ask_users_interpreter
from reenact.probe import injected
from reenact.program.program import Program
from reenact.types import JsonValue

PREFIXES = (
    "ACCELERATE_", "CUBLAS", "CUDA", "CUDNN", "DATASETS_", "GOMP_", "HF_", "HSA_", "JAX_", "KERAS",
    "KMP_", "LD_", "LIGHTNING_", "MASTER_", "MIOPEN_", "MKL_", "NCCL", "NUMEXPR_", "NVIDIA_", "OMP_",
    "OPENBLAS", "PL_", "PYTHON", "PYTORCH", "ROCM_", "TF_", "TORCH", "TRANSFORMERS_", "TRITON", "XLA_",
)  # fmt: skip
NAMES = frozenset({"RANK", "LOCAL_RANK", "WORLD_SIZE", "NODE_RANK", "VIRTUAL_ENV", "CONDA_PREFIX"})
PASSING = frozenset({"_", "PWD", "OLDPWD", "SHLVL", "COLUMNS", "LINES"})
"""What a shell changes by itself; the folder counts on its own."""
LEAST_PREFIX = 3
"""Letters of a word that may begin the name of a variable."""
STARTING_S = 60.0
_ASK = """
import sys
sys.path = [folder for folder in sys.path if folder]
import json, os
names = {name for folder in sys.path if os.path.isdir(folder) for name in os.listdir(folder)}
packages = sorted(name for name in names if name.endswith((".dist-info", ".egg-info", ".egg-link")))
json.dump({"version": sys.version, "prefix": sys.prefix, "packages": packages}, sys.stdout)
"""
"""Which interpreter this is and which packages it sees: only the names of folders are read. What the current
folder holds is never imported."""
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
MIB = 1024 * 1024
WHOLE = 64 * MIB
TOGETHER = 1024 * MIB
_THIS_PROCESS = secrets.token_hex(16)
NOT_LISTED = "the probe did not say which files it opened"


@dataclass(frozen=True, slots=True)
class OpenedFile:
    """A file or folder as it was after the run."""

    path: str
    size: int
    """-1 when there was none."""
    mtime_ns: int
    sha256: str
    """Of the content, or of what counts in its place; empty when there was none."""
    whole: bool = True
    """Whether all of the content counts."""

    @property
    def was_there(self) -> bool:
        return self.size >= 0

    def is_unchanged(self) -> bool:
        """Looks at it now; the content is read only where the time of change is another."""
        now = _status(self.path)
        if now is None or not self.was_there:
            return (now is None) is not self.was_there
        if not stat.S_ISDIR(now.st_mode) and (now.st_size != self.size or now.st_mtime_ns == self.mtime_ns):
            return now.st_size == self.size
        return _looked_at(self.path, whole=self.whole).sha256 == self.sha256


@dataclass(frozen=True, slots=True)
class Opened:
    """What a watched run opened; `blind` says why the list does not tell everything."""

    files: tuple[OpenedFile, ...] = ()
    blind: tuple[str, ...] = (NOT_LISTED,)

    def is_unchanged(self) -> bool:
        """Whether the same run would read the same now, as far as files decide that."""
        return not self.blind and all(file.is_unchanged() for file in self.files)

    @property
    def digest(self) -> str:
        """One mark for all that was there to be read; none where that is not known. Files that were not
        there leave it as it is: the run that finds one has it in its own list."""
        contents = [[file.path, file.sha256] for file in self.files if file.was_there]
        return "" if self.blind else hashlib.sha256(json.dumps(contents).encode()).hexdigest()


def read_opened(folder: Path, program: Iterable[Path] = (), aside: Path | None = None) -> Opened:
    """The list that a run left in the folder of its trace. `program` are files that count otherwise; what
    lies in or below `aside`, where we write ourselves, does not count."""
    file = folder / str(injected.part("opened").NAME)
    try:
        lines = file.read_text(encoding="ascii").splitlines()
    except OSError:
        return Opened()
    noted: dict[str, dict[str, None]] = {"process": {}, "blind": {}, "folder": {}, "file": {}}
    try:
        for kind, value in (item for line in lines for item in json.loads(line).items()):
            noted[kind][str(value)] = None
    except (ValueError, TypeError, AttributeError, KeyError):
        return Opened()
    if not noted["process"]:
        return Opened()
    blind, listed = tuple(noted["blind"]), set(noted["folder"])
    names = (listed | set(noted["file"])) - {str(path) for path in program}
    if aside is not None:
        ours = str(aside.resolve())
        names = {name for name in names if name != ours and not name.startswith(ours + os.sep)}
    return Opened((), blind) if blind else Opened(tuple(_all(sorted(names), listed)), ())


def _all(names: Iterable[str], listed: set[str]) -> Iterator[OpenedFile]:
    left = TOGETHER
    for name in names:
        now = _status(name)
        if now is not None and stat.S_ISDIR(now.st_mode) and name not in listed:
            continue
        file = _looked_at(name, whole=now is None or now.st_size <= min(WHOLE, left))
        left -= file.size if file.whole and file.was_there else 0
        yield file


def _looked_at(name: str, *, whole: bool) -> OpenedFile:
    now = _status(name)
    if now is None:
        return OpenedFile(name, -1, 0, "")
    try:
        digest = _content(name, now, whole=whole)
    except OSError as error:
        digest = hashlib.sha256(f"unreadable {error.errno}".encode())
    size = 0 if stat.S_ISDIR(now.st_mode) else now.st_size
    return OpenedFile(name, size, now.st_mtime_ns, digest.hexdigest(), whole)


def _content(name: str, now: os.stat_result, *, whole: bool) -> hashlib._Hash:
    """The hash of what counts. A pipe or a device is never read: it would wait."""
    if stat.S_ISDIR(now.st_mode):
        inside = "\0".join(sorted(path.name for path in Path(name).iterdir()))
        return hashlib.sha256(inside.encode("utf-8", "surrogatepass"))
    if not stat.S_ISREG(now.st_mode):
        return hashlib.sha256(f"special {now.st_rdev}".encode())
    with Path(name).open("rb") as file:
        if whole:
            return hashlib.file_digest(file, "sha256")
        digest = hashlib.sha256(f"{now.st_size} {now.st_mtime_ns}".encode())
        digest.update(file.read(MIB))
        file.seek(max(0, now.st_size - MIB))
        digest.update(file.read(MIB))
        return digest


def _status(name: str) -> os.stat_result | None:
    try:
        return Path(name).stat()
    except (OSError, ValueError):
        return None


def surroundings(program: Program, python: str = "") -> dict[str, JsonValue]:
    """All of it, as inputs of a step."""
    chosen = named_variables((file.text for file in program.files), os.environ)
    names: list[JsonValue] = list(chosen)
    return {
        "folder": str(program.folder.resolve()),
        "working": str(program.working.resolve()),
        "variables": names,
        "environment": hashlib.sha256(json.dumps(chosen).encode()).hexdigest(),
        "interpreter": interpreter(injected.default_python(python)),
    }


def training_mark(program: Program, python: str, opened: Opened | None) -> str:
    """Mark of what a training depends on beside its text, seed and limits: the surroundings, and the files
    that the watched run opened, as they are. Where that run did not show which, it is another mark in every
    process, so that nothing is reused."""
    read = (opened.digest if opened is not None else "") or _THIS_PROCESS
    text = json.dumps([surroundings(program, python), read], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def named_variables(texts: Iterable[str], environment: Mapping[str, str]) -> dict[str, str]:
    """Those variables of the environment that a program with these texts may read."""
    words = {word for text in texts for word in _WORD.findall(text)}

    def counts(name: str) -> bool:
        if name in words or name in NAMES or name.startswith(PREFIXES):
            return True
        breaks = [match.start() for match in re.finditer("_", name) if match.start() >= LEAST_PREFIX]
        return any(name[:at].isupper() and not words.isdisjoint((name[:at], name[: at + 1])) for at in breaks)

    return {name: environment[name] for name in sorted(environment) if name not in PASSING and counts(name)}


def interpreter(python: str) -> str:
    """Mark of an interpreter and the packages that it sees."""
    path = shutil.which(python) or python
    return hashlib.sha256(os.fsencode(path) + b"\0" + _asked(path)).hexdigest()


def packages_of(python: str) -> dict[str, str]:
    """Names and versions of the packages that an interpreter sees, its own version as `python`; empty where
    it cannot be started."""
    try:
        answer = json.loads(_asked(shutil.which(python) or python))
    except ValueError:
        return {}
    listed = (name.rpartition(".")[0].split("-") for name in answer["packages"])
    known = {parts[0].lower(): parts[1] for parts in listed if len(parts) > 1}
    return {"python": answer["version"].split()[0], **known}


@cache
def _asked(path: str) -> bytes:
    """What an interpreter says of itself; asked once a process, by starting it."""
    try:
        finished = ask_users_interpreter([path, "-c", _ASK], STARTING_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        # A program of this interpreter will not run either, and its run says why.
        return type(error).__name__.encode()
    return finished.stdout
