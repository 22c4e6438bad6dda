"""A patch: changes that together turn one program into another. Applying it never touches a
file on disk.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache

from reenact.errors import PatchRefused
from reenact.program.edit.carry_out import carry_out
from reenact.program.edit.change import (
    Change,
    Replace,
    Rewrite,
    Set,
    change_from_json,
    change_to_json,
)
from reenact.program.hyperparameter import Hyperparameter, Kind
from reenact.program.program import Program
from reenact.types import JsonValue


@dataclass(frozen=True, slots=True)
class Patch:
    """A tuple of changes, all meant for one and the same program.

    Their order does not matter, except for two layers that are put in at one and the same place.
    """

    changes: tuple[Change, ...] = ()

    @property
    def complexity(self) -> int:
        """How many changes it makes."""
        return len(self.changes)

    @property
    def is_code(self) -> bool:
        """Whether it puts in text that a model or a person wrote."""
        return any(
            isinstance(change, Rewrite) and not change.by_template for change in self.changes
        )

    def __bool__(self) -> bool:
        return bool(self.changes)

    def __add__(self, other: Patch) -> Patch:
        """Both together, for the same program; a change that is in both counts once."""
        new = [change for change in other.changes if change not in self.changes]
        return Patch((*self.changes, *new))

    def subset(self, kept: Iterable[int]) -> Patch:
        """The changes at these positions: what delta debugging tries."""
        wanted = set(kept)
        return Patch(
            tuple(change for number, change in enumerate(self.changes) if number in wanted)
        )

    def without(self, number: int) -> Patch:
        return self.subset(set(range(len(self.changes))) - {number})

    def apply(self, program: Program) -> Program:
        """The changed program; raises UnknownHyperparameter, NotChangeable, PatchConflict or
        PatchRefused.
        """
        return (
            _applied(
                program,
                json.dumps(self.to_json()),
            )
            if self.changes
            else program
        )

    def diff(self, program: Program) -> str:
        """A unified diff that `git apply` takes, empty when nothing changes."""
        return unified_diff(program, self.apply(program))

    def to_json(self) -> JsonValue:
        return {"changes": [change_to_json(change) for change in self.changes]}

    def to_text(self) -> str:
        """One line of JSON: equal patches have equal texts."""
        return json.dumps(self.to_json(), sort_keys=True)

    @classmethod
    def from_json(cls, data: object) -> Patch:
        """The patch that `to_json` wrote; raises PatchRefused for anything else."""
        changes = data.get("changes") if isinstance(data, dict) else None
        kind = type(data).__name__
        if not isinstance(changes, list):
            raise PatchRefused(f"A patch is an object with a list of changes. Received: {kind}.")
        try:
            return cls(tuple(change_from_json(change) for change in changes))
        except ValueError as error:
            raise PatchRefused(f"This is not a change of a program: {error}") from error

    def __str__(self) -> str:
        return "; ".join(map(str, self.changes)) or "no change"


@lru_cache(maxsize=128)
def _applied(program: Program, patch: str) -> Program:
    """By the text of a patch: `1`, `1.0` and `True` are equal, but are written differently."""
    return carry_out(
        program,
        Patch.from_json(json.loads(patch)).changes,
    )


def change_for(param: Hyperparameter, value: JsonValue) -> Change:
    """The change that a search makes to try a value: exchanges bring along what they demand."""
    if param.kind in (Kind.LOSS, Kind.OPTIMIZER) and isinstance(value, str):
        return Replace(param.id, value)
    return Set(param.id, value)


NO_NEWLINE = "\\ No newline at end of file\n"
_NOTEBOOK = re.compile(r"--- a/.*\.ipynb\t?\n")
_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? ")
_SOURCE = re.compile(r'\s*(?:"source":\s*\[?\s*)?(".*")\s*\]?,?\s*$')


def unified_diff(before: Program, after: Program, context: int = 3) -> str:
    """All files that differ, paths relative to the program's folder with `a/` and `b/` in front."""
    pieces: list[str] = []
    for old in before.files:
        new = after.file(old.path)
        if new is not None and new.raw != old.raw:
            pieces += file_diff(
                str(old.path),
                old.raw,
                new.raw,
                context,
            )
    return "".join(pieces)


def file_diff(
    path: str,
    old: str,
    new: str,
    context: int = 3,
) -> list[str]:
    """The diff of one text; lines end at line feeds only, as git sees them."""
    before = _text_lines(old)
    after = _text_lines(new)
    name = path + ("\t" if " " in path else "")
    lines = difflib.unified_diff(
        before,
        after,
        f"a/{name}",
        f"b/{name}",
        n=context,
    )
    return [line if line.endswith("\n") else f"{line}\n{NO_NEWLINE}" for line in lines]


@dataclass(frozen=True, slots=True)
class Replacement:
    """Lines of a file, and what comes in their place."""

    line: int
    """The first of them, from 1."""
    removed: int
    """How many; 0 puts the text in front of that line."""
    text: str


def replacements_in(diff: str) -> dict[str, list[Replacement]]:
    """What a diff of ours changes, file by file, in terms of the lines before it."""
    found: dict[str, list[Replacement]] = {}
    own: list[Replacement] = []
    line = 0
    before = ""
    for text in _text_lines(diff):
        head = _HUNK.match(text)
        if head:
            # A hunk without old lines names the line before it.
            line = int(head[1]) + (head[2] == "0")
        elif text.startswith("--- a/"):
            own = found.setdefault(text[6:].rstrip("\r\n\t"), [])
        elif text.startswith(("-", "+")) and not text.startswith("+++ b/"):
            _replace_line(own, text, line)
            line += text.startswith("-")
        elif text.startswith(" "):
            line += 1
        elif text == NO_NEWLINE and before.startswith("+"):
            own[-1] = replace(own[-1], text=own[-1].text.removesuffix("\n"))
        before = text
    return found


def _replace_line(own: list[Replacement], text: str, line: int) -> None:
    """One more line of a diff, into the replacement that it continues or a new one."""
    last = own[-1] if own else Replacement(0, 0, "")
    if not own or last.line + last.removed != line:
        last = Replacement(line, 0, "")
        own.append(last)
    if text.startswith("-"):
        own[-1] = replace(last, removed=last.removed + 1)
    else:
        own[-1] = replace(last, text=last.text + text[1:])


def readable_diff(diff: str) -> str:
    """A diff as a person reads it: of a notebook the lines of its cells, without the JSON
    around them.
    """
    files = re.split(r"^(?=--- )", diff, flags=re.MULTILINE)
    return "".join(_cells_diff(one) if _NOTEBOOK.match(one) else one for one in files)


def _cells_diff(diff: str) -> str:
    """The diff itself where no line of a cell is found, as in a notebook that is one line of
    JSON.
    """
    head, *hunks = re.split(r"^@@.*\n", diff, flags=re.MULTILINE)
    found: list[str] = []
    for hunk in hunks:
        lines = [(line[:1], text) for line in hunk.splitlines() for text in _cell_text(line[1:])]
        old, new = ([text for sign, text in lines if sign != other] for other in "+-")
        found += list(difflib.unified_diff(old, new, lineterm=""))[2:]
    return head + "\n".join(found) + "\n" if found else diff


def _cell_text(line: str) -> list[str]:
    """The source lines that a line of a notebook's JSON holds; none for brackets and keys."""
    found = _SOURCE.match(line)
    try:
        if not found:
            return []
        return "".join(json.loads(f"[{found.group(1)}]")).splitlines()
    except (ValueError, TypeError):
        return []


def _text_lines(text: str) -> list[str]:
    *lines, last = text.split("\n")
    return [
        *(f"{line}\n" for line in lines),
        *filter(None, [last]),
    ]
