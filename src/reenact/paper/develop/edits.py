"""Puts answers into a project. What does not fit is refused in words for the model, and nothing is changed.

A model that miscounts lines destroys a file quietly: so an edit by lines quotes the first and the last line
that it replaces, and one by text names what stands there exactly once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from reenact.paper.develop.answers import Edited, FileText, LineEdit, Swap
from reenact.paper.project import MOST_FILES, Project, check_name


def with_files(project: Project, files: Iterable[FileText]) -> Project:
    """The project with whole files written. Raises ValueError in words for the model."""
    new: dict[str, str] = {}
    for file in files:
        check_name(file.path)
        if file.path in new:
            raise ValueError(f"{file.path} is given twice. Give every file once.")
        new[file.path] = unfenced(file.text)
    made = project.changed(new)
    if len(made.files) > MOST_FILES:
        raise ValueError(f"A project has at most {MOST_FILES} files; this one would have {len(made.files)}.")
    return made


def edited(project: Project, change: Edited) -> Project:
    """The project after all edits. Raises ValueError in words for the model."""
    if not (change.lines or change.swaps or change.files or change.removed):
        raise ValueError("Nothing is changed. Give line edits, swaps or whole files.")
    _one_way_a_file(change)
    made = dict(project.files)
    for name in sorted({edit.path for edit in change.lines}):
        made[name] = _lines(_there(project, name), [one for one in change.lines if one.path == name])
    for swap in change.swaps:
        made[swap.path] = _swapped(made.get(swap.path) or _there(project, swap.path), swap)
    for name in change.removed:
        _there(project, name)
        del made[name]
    result = with_files(Project(made), change.files)
    if result.identity == project.identity:
        raise ValueError("The edits change nothing: the files are the same before and after.")
    return result


def _one_way_a_file(change: Edited) -> None:
    """A file written whole, removed or edited by lines is changed in that way alone: numbers would shift."""
    ways = (
        {one.path for one in change.lines},
        {one.path for one in change.swaps},
        {one.path for one in change.files},
        set(change.removed),
    )
    for number, paths in enumerate(ways):
        for others in ways[number + 1 :]:
            if both := sorted(paths & others):
                raise ValueError(f"{both[0]} is changed in two ways. Choose one way for each file.")


def _there(project: Project, name: str) -> str:
    if name not in project.files:
        known = ", ".join(sorted(project.files))
        raise ValueError(f"There is no file {name!r}. The project has: {known}. Write new files whole.")
    return project.files[name]


def _lines(old: str, edits: Sequence[LineEdit]) -> str:
    lines = old.splitlines()
    ordered = sorted(edits, key=lambda edit: (edit.first, edit.last))
    for before, after in pairwise(ordered):
        if after.first <= before.last or (after.first, after.last) == (before.first, before.last):
            raise ValueError(f"Two edits of {after.path} touch line {after.first}. Give one edit for it.")
    for edit in reversed(ordered):
        _check_range(edit, lines)
        lines[edit.first - 1 : edit.last] = edit.text.splitlines()
    return "\n".join(lines) + "\n"


def _check_range(edit: LineEdit, lines: Sequence[str]) -> None:
    where = f"{edit.path} lines {edit.first} to {edit.last}"
    if edit.last > len(lines) or edit.first > len(lines) + 1 or edit.last < edit.first - 1:
        raise ValueError(f"There are no such lines: {where}; the file has {len(lines)} lines.")
    if edit.last < edit.first:
        return
    for number, quoted in ((edit.first, edit.old_first), (edit.last, edit.old_last)):
        if lines[number - 1].strip() != quoted.strip():
            raise ValueError(
                f"{edit.path} line {number} is {lines[number - 1].strip()!r}, not {quoted.strip()!r}."
                " Look at the line numbers again, or give a swap that quotes the text."
            )


def _swapped(old: str, swap: Swap) -> str:
    count = old.count(swap.search)
    if count != 1:
        told = "does not stand" if count == 0 else f"stands {count} times"
        raise ValueError(
            f"This text {told} in {swap.path}; it must stand there exactly once: {swap.search!r}."
        )
    return old.replace(swap.search, swap.replace)


def unfenced(text: str) -> str:
    """A file without the code fence that models like to put around it, ending in one line end."""
    lines = text.strip("\n").splitlines()
    if len(lines) > 2 and lines[0].strip().startswith("```") and lines[-1].strip() == "```":
        lines = lines[1:-1]
    return "\n".join(lines) + "\n"
