"""A foreign program in a folder of its own, ready to be started: checked, copied, edited, with its data."""

from __future__ import annotations

import hashlib
import shutil
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

from benchmarks.field import standins
from benchmarks.field.case import Data, Edit, FieldCase, Fixed
from benchmarks.field.standin_files import FILES
from reenact.errors import InputError

BESIDE = "field_data.py"
"""The name under which a program imports `standins.py`."""
LARGEST = 8 * 1024 * 1024
"""Bytes of a file that is copied with its program."""


def why_not(case: FieldCase, checkouts: Path) -> str:
    """Why a program cannot be started here; empty when it can."""
    missing = [name for name in case.requires if find_spec(name) is None]
    if missing:
        return f"packages: {', '.join(missing)}"
    if case.data is Data.STAND_IN:
        return "data"
    repository = checkouts / case.repository
    return "" if all((repository / name).exists() for name in (case.path, *case.beside)) else "no checkout"


def materialise(case: FieldCase, checkouts: Path, into: Path) -> Path:
    """Copy the program's folder, lay its data and the author's fix beside it, edit both; the path of the
    copy."""
    repository = checkouts / case.repository
    source = repository / case.path
    _check(source, case.sha256)
    shutil.copytree(source.parent, into, ignore=_too_large)
    for name in case.beside:
        beside, copy = repository / name, into / Path(name).name
        if beside.is_file():
            shutil.copy(beside, copy)
        else:
            shutil.copytree(beside, copy, ignore=_too_large, dirs_exist_ok=True)
    if case.data is Data.BESIDE:
        shutil.copy(Path(standins.__file__), into / BESIDE)
    for name, maker in case.files.items():
        (into / name).parent.mkdir(parents=True, exist_ok=True)
        FILES[maker](into / name)
    entry = into / source.name
    if case.fixed is not None:
        _lay_fixed(case, case.fixed, repository, into)
    for edit in case.edits:
        _edit(into / edit.file if edit.file else entry, edit)
    return entry


def _check(file: Path, sha256: str) -> None:
    if hashlib.sha256(file.read_bytes()).hexdigest() != sha256:
        raise InputError(f"The program is not the one that is described. Received: {file}.")


def _lay_fixed(case: FieldCase, fixed: Fixed, repository: Path, into: Path) -> None:
    """The author's fix beside the program, made as short as that where it has the same line."""
    source = repository / fixed.path
    _check(source, fixed.sha256)
    copy = into / source.name
    shutil.copy(source, copy)
    old = (repository / case.path).read_text(encoding="utf-8").splitlines()
    lines = source.read_text(encoding="utf-8").splitlines()
    for edit in case.edits:
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
    skipped = (path for path in entries if path.is_symlink() or path.name in (".git", "md", "ipynb", "img"))
    large = (path for path in entries if path.is_file() and path.stat().st_size > LARGEST)
    return [path.name for path in (*skipped, *large)]
