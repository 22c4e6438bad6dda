"""The folder that a trial runs in: a likeness of the user's, patched, and thrown away afterwards.

Small files are copies, large files and crowded folders are links that become copies when the
program writes to them (`inject/reenact_trials_links.py`). So relative data paths resolve, nothing
of the user's changes, and no trial sees what another wrote. Absolute paths mean what they say.

It lies in a scratch folder, locked while its process lives, removed by the next one when it is
gone. Covered: kill -9 at any moment, several processes that share one temporary folder. Not
covered: a file system without locks, where folders of a killed process stay.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import tempfile
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import ModuleType

from reenact.errors import StorageError
from reenact.files import lock_folder
from reenact.program.program import Program

INJECTED = Path(__file__).parent / "inject"
"""Files that run in the user's interpreter next to a trial."""


@cache
def injected(name: str) -> ModuleType:
    """A module of that folder, without the folder on the path."""
    spec = importlib.util.spec_from_file_location(
        name,
        INJECTED / f"{name}.py",
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SCRATCH = "reenact-trials-"
"""How the names of scratch folders begin; one that lies within the user's folder is left out."""
TRIES = 20


@dataclass
class Scratch:
    """The folder of one executor."""

    path: Path
    lock: int | None
    """Held while the process lives; none for a folder whose place was chosen by the caller: it
    stays.
    """

    @classmethod
    def make(cls, within: Path | None = None) -> Scratch:
        """A fresh folder below `within`, else in the temporary folder, where abandoned ones are
        removed.
        """
        if within is not None:
            within.mkdir(parents=True, exist_ok=True)
            return cls(
                Path(tempfile.mkdtemp(prefix=SCRATCH, dir=within)).resolve(),
                None,
            )
        root = Path(tempfile.gettempdir())
        sweep(root)
        for _ in range(TRIES):
            path = Path(tempfile.mkdtemp(prefix=SCRATCH, dir=root)).resolve()
            lock = lock_folder(path)
            if lock is not None:
                return cls(path, lock)
        raise StorageError(
            f"No scratch folder could be kept in {root}: another process removes them."
        )

    def trial_folder(self) -> Path:
        """An empty folder for one trial."""
        return Path(tempfile.mkdtemp(prefix="trial-", dir=self.path))

    def close(self) -> None:
        """Remove it, unless the caller chose its place."""
        if self.lock is not None:
            shutil.rmtree(self.path, ignore_errors=True)
            os.close(self.lock)
            self.lock = None


def sweep(root: Path) -> None:
    """Remove scratch folders of this user whose process is gone."""
    for path in root.glob(f"{SCRATCH}*"):
        with suppress(OSError):
            if path.lstat().st_uid != os.getuid():
                continue
        lock = lock_folder(path)
        if lock is not None:
            shutil.rmtree(path, ignore_errors=True)
            os.close(lock)


MOST_FILE_BYTES = 16 * 2**20
"""Files up to this size are copied."""
MOST_BYTES = 256 * 2**20
"""All copies together."""
MOST_ENTRIES = 5_000
"""Copies made for one trial; what is met after that is a link."""
CROWDED = 1_000
"""A folder with more entries than this is a link: it is data."""
CLIMBS = 2
"""Folders above that are shown, as links, to programs that look upwards."""
NOTEBOOK = "reenact_notebook.py"
LEFT_OUT = frozenset(
    {
        ".git",
        ".hg",
        ".svn",
        "__pycache__",
        ".venv",
        "venv",
        "env",
        "node_modules",
        ".tox",
        ".nox",
        ".mypy_cache",
        ".ruff_cache",
        ".pytest_cache",
        ".ipynb_checkpoints",
        ".reenact",
        ".idea",
        ".vscode",
        "wandb",
        "mlruns",
        "lightning_logs",
    }
)
"""Folders that no training reads, or that an earlier one wrote."""

_UPWARDS = re.compile(
    r"\.\.(?:[/\\\"']|$)|pardir|\.parent\.parent|\.parents\b|dirname\(.*dirname", re.M
)


@dataclass(frozen=True, slots=True)
class Placed:
    """A program in its folder of a trial."""

    root: Path
    """Everything lies below."""
    folder: Path
    """Counterpart of the program's folder."""
    working: Path
    """Counterpart of the folder it is started in."""
    entry: Path
    """The script to run."""
    moved: tuple[tuple[str, str], ...]
    """Folders of the user and their counterparts, the more exact first."""
    linked: bool
    """Some of it are links to the user's own files."""


@dataclass
class _Likeness:
    """What is being made."""

    root: Path
    anchor: Path
    """The user's folder whose counterpart is `root`."""
    entries: int = 0
    bytes: int = 0
    linked: bool = False
    done: set[Path] = field(default_factory=set)

    def at(self, path: Path) -> Path:
        return self.root / path.relative_to(self.anchor)

    def link(self, path: Path, target: Path) -> None:
        if not os.path.lexists(target):
            self.linked = True
            target.symlink_to(path)

    def fill(self, origin: Path) -> None:
        """A folder and all below it, nearest first."""
        self.at(origin).mkdir(parents=True, exist_ok=True)
        todo = deque([origin])
        while todo:
            here = todo.popleft()
            if here in self.done:
                continue
            self.done.add(here)
            target = self.at(here)
            if self.entries > MOST_ENTRIES and not target.exists():
                self.link(here, target)
                continue
            target.mkdir(exist_ok=True)
            for entry in sorted(
                _entries(here),
                key=lambda entry: entry.name,
            ):
                self.entries += 1
                path = Path(entry.path)
                if entry.is_dir(follow_symlinks=False) and len(_entries(path)) <= CROWDED:
                    todo.append(path)
                elif not os.path.lexists(target / entry.name):
                    self._add(entry, path, target / entry.name)

    def _add(
        self,
        entry: os.DirEntry[str],
        path: Path,
        target: Path,
    ) -> None:
        """One entry that is not gone through."""
        if entry.is_symlink():
            # A user's own link: as it is where it stays inside, else to where it leads.
            pointing = path.readlink()
            leads = Path(os.path.normpath(path.parent / pointing))
            if leads.is_relative_to(self.anchor) and not pointing.is_absolute():
                target.symlink_to(pointing)
            else:
                self.link(leads, target)
        elif entry.is_dir():
            self.link(path, target)
        elif entry.is_file():
            size = entry.stat().st_size
            fits = size <= MOST_FILE_BYTES and self.bytes + size <= MOST_BYTES
            if not fits or self.entries > MOST_ENTRIES or not os.access(path, os.R_OK):
                self.link(path, target)
                return
            self.bytes += size
            try:
                shutil.copy2(path, target)
            except FileNotFoundError:
                # Somebody else's passing file: it went away since the folder was listed.
                target.unlink(missing_ok=True)

    def show_above(self, program: Program) -> None:
        """Links to what lies next to the program, on the way up to the anchor."""
        around = {
            *program.folder.parents,
            *program.working.parents,
        } - self.done
        above = [
            one for one in around if one.is_relative_to(self.anchor) and one != Path(one.anchor)
        ]
        for folder in above:
            beside = _entries(folder)
            for path in [Path(entry.path) for entry in beside] if len(beside) <= CROWDED else ():
                self.link(path, self.at(path))


def place(program: Program, root: Path) -> Placed:
    """Make the folder of a trial for a program, patched already. Raises StorageError."""
    try:
        root.mkdir(parents=True)
        root = root.resolve()
        moved: tuple[tuple[str, str], ...] = ()
        folder = working = root
        linked = False
        # A program that was given as text stands in no folder: there is nothing to be like.
        if program.folder.is_absolute():
            likeness = _Likeness(root, anchor_of(program))
            folder = counterpart(program, root)
            working = likeness.at(program.working)
            for origin in (program.folder, program.working):
                likeness.fill(origin)
            likeness.show_above(program)
            pairs = {
                str(program.folder): str(folder),
                str(program.working): str(working),
            }
            moved = tuple(
                sorted(
                    pairs.items(),
                    key=lambda pair: -len(pair[0]),
                )
            )
            linked = likeness.linked
        for file in program.files:
            if not file.unparsed:
                _write(root, folder / file.path, file.encode())
        if program.is_notebook:
            _write(
                root,
                script_in(program, folder),
                program.script().encode("utf-8", "surrogatepass"),
            )
        return Placed(
            root,
            folder,
            working,
            script_in(program, folder),
            moved,
            linked,
        )
    except (OSError, shutil.Error) as error:
        why = f"The folder of a trial could not be made: {error}. Received: {root}."
        fix = "Look whether the disk is full, or name another scratch folder."
        raise StorageError(why, next_step=fix) from error


def counterpart(program: Program, root: Path) -> Path:
    """Where the program's folder is in a likeness."""
    if not program.folder.is_absolute():
        return root
    return root / program.folder.relative_to(anchor_of(program))


def script_in(program: Program, folder: Path) -> Path:
    """The script to run: the entry, or for a notebook the one made of its cells."""
    entry = folder / program.entry
    return entry.with_name(NOTEBOOK) if program.is_notebook else entry


def _write(root: Path, path: Path, body: bytes) -> None:
    injected("reenact_trials_links").own(
        str(root),
        str(path),
        False,
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    path.write_bytes(body)


def anchor_of(program: Program) -> Path:
    """The folder that the likeness begins with: around the program, higher for one that looks
    upwards.
    """
    around = Path(os.path.commonpath([program.folder, program.working]))
    texts = [file.text for file in program.files]
    if any(_UPWARDS.search(text) for text in (*texts, *program.arguments)):
        above = [around, *around.parents]
        return above[min(CLIMBS, len(above) - 1)]
    return around


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            return [
                one
                for one in found
                if one.name not in LEFT_OUT and not one.name.startswith(SCRATCH)
            ]
    except PermissionError:
        return []
