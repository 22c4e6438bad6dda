"""A foreign program in a folder of its own, ready to be started: checked, copied, edited, with
its data.

A repository is a folder that is checked out, or, where a commit is named, a mirror `owner+name`.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from difflib import SequenceMatcher
from pathlib import Path

from benchmarks.dataset import standin_games, standins
from benchmarks.dataset.foreign import Data, Edit, Fixed, Foreign
from benchmarks.dataset.standin_files import FILES
from benchmarks.dataset.training import Training
from reenact.errors import InputError
from reenact.intake.repository import open_repository

BESIDE = "field_data.py"
"""The name under which a program imports `standins.py`."""
GAMES = "field_games.py"
"""The name under which a program imports `standin_games.py`."""
LARGEST = 8 * 1024 * 1024
"""Bytes of a file that is copied with its program."""


def why_not_there(training: Training, foreign: Foreign, checkouts: Path | None) -> str:
    """Why a program cannot be prepared here; empty when it can."""
    if foreign.data is Data.STAND_IN:
        return "data"
    if checkouts is None:
        return "no checkout"
    if foreign.commit:
        return "" if _mirror(foreign, checkouts) is not None else "no mirror"
    repository = checkouts / foreign.repository
    there = all((repository / name).exists() for name in (training.path, *foreign.beside))
    return "" if there else "no checkout"


def materialise(training: Training, foreign: Foreign, checkouts: Path, into: Path) -> Path:
    """Copy the program's folder, put its data and the author's fix there, edit both; the path
    of the copy.
    """
    with _repository(foreign, checkouts, foreign.commit) as repository:
        source = repository / training.path
        entry = _copied(source, foreign.sha256, foreign, repository, into)
        if foreign.fixed is not None and not foreign.fixed.commit:
            _copy_fixed(source, foreign.fixed, foreign.edits, repository, into)
    for edit in foreign.edits:
        _edit(_edited(edit, entry), edit)
    return entry


def materialise_fix(
    training: Training, foreign: Foreign, fixed: Fixed, checkouts: Path, into: Path
) -> Path:
    """The same of the commit that fixes it: edits hold for the lines that it left as they are."""
    with (
        tempfile.TemporaryDirectory(prefix="reenact-before-") as scratch,
        _repository(foreign, checkouts, foreign.commit) as before,
        _repository(foreign, checkouts, fixed.commit) as after,
    ):
        unfixed = Path(scratch) / "program"
        old = _copied(before / training.path, foreign.sha256, foreign, before, unfixed)
        entry = _copied(after / fixed.path, fixed.sha256, foreign, after, into)
        moved = [_moved(edit, _edited(edit, old), _edited(edit, entry)) for edit in foreign.edits]
    for edit in (*moved, *fixed.edits):
        if edit is not None:
            _edit(_edited(edit, entry), edit)
    return entry


@contextmanager
def _repository(foreign: Foreign, checkouts: Path, commit: str) -> Iterator[Path]:
    """The folder of a repository, at a commit where one is named."""
    mirror = _mirror(foreign, checkouts) if commit else None
    if not commit:
        yield checkouts / foreign.repository
    elif mirror is None:
        raise InputError(f"There is no mirror of this repository. Received: {foreign.source}.")
    else:
        with tempfile.TemporaryDirectory(prefix="reenact-commit-") as scratch:
            yield open_repository(str(mirror), commit, into=Path(scratch)).folder


def _mirror(foreign: Foreign, checkouts: Path) -> Path | None:
    folder = checkouts / foreign.source.replace("/", "+")
    places = (folder / inner for inner in ("", "repo", ".git", "repo/.git"))
    return next((place for place in places if (place / "HEAD").is_file()), None)


def _copied(source: Path, sha256: str, foreign: Foreign, repository: Path, into: Path) -> Path:
    """A program with all that it needs, not edited yet."""
    _check(source, sha256)
    shutil.copytree(source.parent, into, ignore=_too_large)
    for name in foreign.beside:
        beside, copy = repository / name, into / Path(name).name
        if beside.is_file():
            shutil.copy(beside, copy)
        else:
            shutil.copytree(beside, copy, ignore=_too_large, dirs_exist_ok=True)
    if foreign.data is Data.BESIDE:
        shutil.copy(Path(standins.__file__), into / BESIDE)
        shutil.copy(Path(standin_games.__file__), into / GAMES)
    for name, maker in foreign.files.items():
        (into / name).parent.mkdir(parents=True, exist_ok=True)
        FILES[maker](into / name)
    return into / source.name


def _edited(edit: Edit, entry: Path) -> Path:
    return entry.parent / edit.file if edit.file else entry


def _moved(edit: Edit, old: Path, new: Path) -> Edit | None:
    """The edit at the same line of the fixed file; none where the fix changed that line."""
    before = old.read_text(encoding="utf-8").splitlines()
    after = new.read_text(encoding="utf-8").splitlines()
    for block in SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks():
        if block.a < edit.line <= block.a + block.size:
            return replace(edit, line=edit.line - block.a + block.b)
    return None


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
