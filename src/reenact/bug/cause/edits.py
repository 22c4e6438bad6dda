"""Edits to the text of a revision: single changes that can be made alone, and copies with some of them."""

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from reenact.bug.controls.relaid import all_files, copy_file
from reenact.bug.declared import TESTS
from reenact.bug.script_runner import Revision
from reenact.sandbox.environments.stored import hash_of


@dataclass(frozen=True, slots=True)
class Change:
    """Lines of one file that are replaced by others."""

    path: PurePosixPath
    first: int
    """From 0."""
    last: int
    """The one after the last line; that of `first` where lines are added alone."""
    lines: tuple[str, ...]
    """What comes in their place, with the ends of lines."""

    def place(self) -> str:
        return f"{self.path}:{self.first + 1}"


def changes_between(
    old: Mapping[PurePosixPath, str], new: Mapping[PurePosixPath, str]
) -> tuple[Change, ...]:
    """The single changes that make the new texts of the old ones, those of tests left out."""
    found: list[Change] = []
    for path in sorted(old.keys() | new.keys()):
        if TESTS & set(path.parts[:-1]) or path.name.startswith("test_"):
            continue
        before, after = (_lines(texts.get(path, "")) for texts in (old, new))
        matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
        for tag, first, last, start, end in matcher.get_opcodes():
            if tag != "equal":
                found += _single(path, first, last, after[start:end])
    return tuple(found)


def _single(path: PurePosixPath, first: int, last: int, lines: Sequence[str]) -> Iterable[Change]:
    """One line each, where as many lines take the place of others."""
    if last - first == len(lines):
        for offset, line in enumerate(lines):
            yield Change(path, first + offset, first + offset + 1, (line,))
        return
    yield Change(path, first, last, tuple(lines))


def changed(
    texts: Mapping[PurePosixPath, str], changes: Sequence[Change]
) -> dict[PurePosixPath, str]:
    """The texts of the files that these changes touch, after them."""
    found: dict[PurePosixPath, str] = {}
    for path in dict.fromkeys(one.path for one in changes):
        lines = _lines(texts.get(path, ""))
        of_file = sorted((one for one in changes if one.path == path), key=lambda one: one.first)
        for one in reversed(of_file):
            lines[one.first : one.last] = one.lines
        found[path] = "".join(lines)
    return found


def diff_of(texts: Mapping[PurePosixPath, str], after: Mapping[PurePosixPath, str]) -> str:
    """A diff in the form that `git apply` reads."""
    parts: list[str] = []
    for path, text in after.items():
        before = texts.get(path)
        source = f"a/{path}" if before is not None else "/dev/null"
        lines = difflib.unified_diff(_lines(before or ""), _lines(text), source, f"b/{path}")
        parts += [
            line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
            for line in lines
        ]
    return "".join(parts)


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


class WorkingCopy:
    """A copy of a revision of which single files are written again and again."""

    def __init__(self, revision: Revision, folder: Path) -> None:
        self._revision = revision
        self._folder = folder
        self._changed: dict[PurePosixPath, str] = {}
        for path in all_files(revision.files.folder):
            source = revision.files.folder / path
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.is_symlink():
                target.symlink_to(source.readlink())
            else:
                copy_file(source, target)

    def with_texts(self, texts: Mapping[PurePosixPath, str]) -> Revision:
        """The revision with these files changed and all others as they were."""
        known = self._revision.files.texts
        for path in self._changed.keys() - texts.keys():
            if path in known:
                self._write(path, known[path])
            else:
                (self._folder / path).unlink()
        for path, text in texts.items():
            self._write(path, text)
        self._changed = dict(texts)
        files = replace(
            self._revision.files, folder=self._folder, texts={**known, **texts}, _trees={}
        )
        name = hash_of(
            self._revision.identity, *(f"{path}\0{texts[path]}" for path in sorted(texts))
        )
        return replace(self._revision, identity=f"edited {name[:32]}", files=files)

    def _write(self, path: PurePosixPath, text: str) -> None:
        target = self._folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        # A large file of a copy is a link to the original.
        target.unlink(missing_ok=True)
        target.write_text(text, encoding="utf-8", errors="replace", newline="")
