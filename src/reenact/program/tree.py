"""Write a program, patched or not, into another folder: its whole tree, within limits, no link followed."""

from __future__ import annotations

import os
import shutil
from pathlib import Path, PurePosixPath

from reenact.errors import StorageError, UnreadableProgram
from reenact.program.program import Program
from reenact.program.words import words

MAX_BYTES = 256 * 2**20
MAX_FILES = 5_000
LEFT_OUT = frozenset(
    words(
        ".git .hg .svn __pycache__ .venv venv env node_modules .tox .nox .mypy_cache .ruff_cache "
        ".pytest_cache .ipynb_checkpoints .reenact .idea .vscode wandb mlruns lightning_logs"
    )
)
"""Folders that no training reads, or that an earlier one wrote."""


def write_to(
    program: Program, folder: Path, *, max_bytes: int = MAX_BYTES, max_files: int = MAX_FILES
) -> Path:
    """Copy the program's tree with the changed texts into `folder`; returns the path of the entry there.

    Links are made anew, pointing where they pointed, and never followed. Raises UnreadableProgram when the
    tree is larger than the limits: nobody copies a home directory by accident.
    """
    folder.mkdir(parents=True, exist_ok=True)
    target = folder.resolve()
    size = 0
    for copied, path in enumerate(_tree(program.folder, target), 1):
        relative = PurePosixPath(path.relative_to(program.folder))
        size += 0 if path.is_symlink() else path.stat().st_size
        if copied > max_files or size > max_bytes:
            raise UnreadableProgram(
                f"The program's folder holds more than {max_files} files or {max_bytes // 2**20} MiB. "
                f"Received: {program.folder}.",
                next_step="Keep the program in a folder of its own, its data elsewhere.",
            )
        _copy(path, target / relative)
    for file in program.files:
        # What could not be read has no text; its copy is what it was.
        if not file.unparsed:
            _write(target / file.path, file.encode())
    return target / program.entry


def _tree(root: Path, target: Path) -> list[Path]:
    if not root.is_dir():
        return []
    found: list[Path] = []
    for here, folders, names in os.walk(root, followlinks=False):
        at = Path(here)
        links = [at / name for name in folders if (at / name).is_symlink()]
        folders[:] = sorted(
            name
            for name in folders
            if name not in LEFT_OUT and not (at / name).is_symlink() and (at / name).resolve() != target
        )
        found += links + [at / name for name in sorted(names) if _may_copy(at / name)]
        if len(found) > 50_000:
            break
    return found


def _may_copy(path: Path) -> bool:
    """Regular files and links; no sockets, pipes or devices."""
    return path.is_symlink() or path.is_file()


def _copy(path: Path, target: Path) -> None:
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.is_symlink():
            if not target.is_symlink():
                target.symlink_to(_pointing(path))
        else:
            shutil.copy2(path, target, follow_symlinks=False)
    except OSError as error:
        raise StorageError(
            f"A file could not be copied: {error.strerror or error}. Received: {path}."
        ) from error


def _pointing(path: Path) -> Path:
    """Where a link points, absolute, so that it points there from the copy too."""
    return Path(os.path.normpath(path.parent / path.readlink()))


def _write(path: Path, body: bytes) -> None:
    """Write a text of the program in the copy; a link in its place is replaced, not written through."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_symlink():
            path.unlink()
        path.write_bytes(body)
    except OSError as error:
        raise StorageError(
            f"A file could not be written: {error.strerror or error}. Received: {path}."
        ) from error
