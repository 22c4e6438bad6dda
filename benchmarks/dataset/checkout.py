"""A foreign program in a folder of its own, ready to be started: checked, copied, edited, with
its data.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.dataset import standins
from benchmarks.dataset.foreign import Data, Edit, Fixed, Foreign
from benchmarks.dataset.standin_files import FILES
from benchmarks.dataset.training import Training
from reenact.errors import InputError

BESIDE = "field_data.py"
"""The name under which a program imports `standins.py`."""
LARGEST = 8 * 1024 * 1024
"""Bytes of a file that is copied with its program."""


def why_not_there(training: Training, foreign: Foreign, checkouts: Path | None) -> str:
    """Why a program cannot be prepared here; empty when it can."""
    if foreign.data is Data.STAND_IN:
        return "data"
    if checkouts is None:
        return "no checkout"
    repository = checkouts / foreign.repository
    there = all((repository / name).exists() for name in (training.path, *foreign.beside))
    return "" if there else "no checkout"


def materialise(training: Training, foreign: Foreign, checkouts: Path, into: Path) -> Path:
    """Copy the program's folder, put its data and the author's fix there, edit both; the path
    of the copy.
    """
    repository = checkouts / foreign.repository
    source = repository / training.path
    _check(source, foreign.sha256)
    shutil.copytree(source.parent, into, ignore=_too_large)
    for name in foreign.beside:
        beside, copy = repository / name, into / Path(name).name
        if beside.is_file():
            shutil.copy(beside, copy)
        else:
            shutil.copytree(beside, copy, ignore=_too_large, dirs_exist_ok=True)
    if foreign.data is Data.BESIDE:
        shutil.copy(Path(standins.__file__), into / BESIDE)
    for name, maker in foreign.files.items():
        (into / name).parent.mkdir(parents=True, exist_ok=True)
        FILES[maker](into / name)
    entry = into / source.name
    if foreign.fixed is not None:
        _copy_fixed(source, foreign.fixed, foreign.edits, repository, into)
    for edit in foreign.edits:
        _edit(into / edit.file if edit.file else entry, edit)
    return entry


def _check(file: Path, sha256: str) -> None:
    if hashlib.sha256(file.read_bytes()).hexdigest() != sha256:
        raise InputError(f"The program is not the one that is described. Received: {file}.")


def _copy_fixed(
    program: Path, fixed: Fixed, edits: Sequence[Edit], repository: Path, into: Path
) -> None:
    """The author's fix next to the program, made as short as that where it has the same line."""
    source = repository / fixed.path
    _check(source, fixed.sha256)
    copy = into / source.name
    shutil.copy(source, copy)
    old = program.read_text(encoding="utf-8").splitlines()
    lines = source.read_text(encoding="utf-8").splitlines()
    for edit in edits:
        same = [number for number, line in enumerate(lines, 1) if line == old[edit.line - 1]]
        if edit.file is None and len(same) == 1:
            _edit(copy, replace(edit, line=same[0]))


def _edit(file: Path, edit: Edit) -> None:
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    if edit.line > len(lines) or edit.old not in lines[edit.line - 1]:
        raise InputError(f"Nothing to edit. Expected: {edit.old!r} at {file.name}:{edit.line}.")
    lines[edit.line - 1] = lines[edit.line - 1].replace(edit.old, edit.new)
    file.write_text("".join(lines), encoding="utf-8")


def _too_large(folder: str, names: list[str]) -> list[str]:
    entries = [Path(folder) / name for name in names]
    skipped = (
        path for path in entries if path.is_symlink() or path.name in (".git", "md", "ipynb", "img")
    )
    large = (path for path in entries if path.is_file() and path.stat().st_size > LARGEST)
    return [path.name for path in (*skipped, *large)]
