"""The edit of a claim: a unified diff, or texts and what takes their place, as a patch.

An edit changes files of the program alone: at most three of them and twenty lines. What does not fit
is refused in words, and nothing is changed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from reenact.errors import PatchRefused
from reenact.program.edit.change import Rewrite
from reenact.program.patch import Patch, unified_diff
from reenact.program.program import Program
from reenact.program.syntax.source import Language

MOST_FILES = 3
MOST_LINES = 20
"""Lines that an edit may take out or put in."""
_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+\d+(?:,\d+)? @@")
_CODE = (Language.PYTHON, Language.NOTEBOOK)


@dataclass
class _Hunk:
    file: str
    line: int
    """Of the old text, from 1."""
    old: list[str] = field(default_factory=list)
    new: list[str] = field(default_factory=list)


def patch_of_diff(text: str, program: Program) -> Patch:
    """The patch that a unified diff stands for. Raises PatchRefused in words."""
    hunks = _hunks(text.splitlines())
    if not hunks:
        raise PatchRefused(
            "There is no change in this edit.",
            next_step="Give a unified diff, as `git diff` and `diff -u` print it.",
        )
    return checked(Patch(tuple(_rewrite(one, program) for one in hunks)), program)


def checked(patch: Patch, program: Program) -> Patch:
    """The patch, where it fits the program and is small enough. Raises PatchRefused."""
    diff = patch.diff(program)
    lines = [line for line in diff.splitlines() if not line.startswith(("---", "+++"))]
    changed = max(sum(line.startswith(sign) for line in lines) for sign in "+-")
    files = diff.count("\n+++ ") + diff.startswith("+++ ")
    if not changed:
        raise PatchRefused("This edit changes nothing.")
    if files > MOST_FILES or changed > MOST_LINES:
        raise PatchRefused(
            f"An edit changes at most {MOST_FILES} files and {MOST_LINES} lines. Received: "
            f"{files} files, {changed} lines.",
            next_step="Leave out of it what the claim does not need.",
        )
    return patch


def lines_between(one: Program, other: Program) -> dict[str, frozenset[int]]:
    """By file, which lines of the first program are not those of the other; where the other has
    more, the line that these stand in front of.
    """
    found: dict[str, set[int]] = {}
    for hunk in _hunks(unified_diff(one, other, context=0).splitlines()):
        last = hunk.line + max(1, len(hunk.old))
        found.setdefault(hunk.file, set()).update(range(hunk.line, last))
    return {file: frozenset(lines) for file, lines in found.items()}


def _hunks(lines: Iterable[str]) -> list[_Hunk]:
    """Each hunk of a diff; what is around them is passed over."""
    file = ""
    found: list[_Hunk] = []
    inside = False
    for line in lines:
        head = _HUNK.match(line)
        if line.startswith(("--- ", "+++ ")) and not (inside and line.startswith("+++ ")):
            file = _name(line[4:]) or file
            inside = False
        elif head is not None:
            found.append(_Hunk(file, int(head.group(1))))
            inside = True
        elif inside and line[:1] in (" ", "-", "+", ""):
            _take(found[-1], line)
    return found


def _take(hunk: _Hunk, line: str) -> None:
    """One line of a hunk: of the old text, of the new one, or of both."""
    if line[:1] != "+":
        hunk.old.append(line[1:])
    if line[:1] != "-":
        hunk.new.append(line[1:])


def _name(word: str) -> str:
    """A file's name without what is before and after it in a diff."""
    name = word.split("\t")[0].strip()
    if name == "/dev/null":
        return ""
    return re.sub(r"^[ab]/", "", name)


def _rewrite(hunk: _Hunk, program: Program) -> Rewrite:
    """One hunk as a change, with as many lines around it as make its text are there once."""
    file = program.file(hunk.file)
    if file is None:
        named = [one for one in program.files if str(one.path).endswith(f"/{hunk.file}")]
        file = named[0] if len(named) == 1 else None
    if file is None or file.language not in _CODE:
        known = ", ".join(str(one.path) for one in program.files)
        raise PatchRefused(
            f"This edit changes a file that is not one of the program's. Received: {hunk.file!r}.",
            next_step=f"Its files: {known}. Names count from the folder {program.folder}.",
        )
    text = program.script() if file is program.entry_file else file.text
    lines = text.splitlines()
    at = _where(hunk, lines)
    if at is None:
        shown = "\n".join(hunk.old)[:300]
        raise PatchRefused(
            f"This text is not in {file.path}, so the edit does not fit: {shown!r}.",
            next_step="Make the diff against the program as it is now.",
        )
    first, last = at, at + len(hunk.old)
    new = list(hunk.new)
    while _count("\n".join(lines[first:last]), text) != 1:
        if first == 0 and last == len(lines):
            raise PatchRefused(f"This edit fits several places in {file.path}.")
        if first > 0:
            first -= 1
            new.insert(0, lines[first])
        if last < len(lines):
            new.append(lines[last])
            last += 1
    return Rewrite(str(file.path), "\n".join(lines[first:last]), "\n".join(new))


def _count(old: str, text: str) -> int:
    return text.count(old) if old.strip() else 0


def _where(hunk: _Hunk, lines: list[str]) -> int | None:
    """At which line, from 0, the old lines are: where the hunk says, else the nearest place."""
    size = len(hunk.old)
    said = hunk.line - 1 if hunk.old else hunk.line
    fitting = [
        start
        for start in range(len(lines) - size + 1)
        if [one.rstrip() for one in lines[start : start + size]]
        == [one.rstrip() for one in hunk.old]
    ]
    return min(fitting, key=lambda start: abs(start - said), default=None)
