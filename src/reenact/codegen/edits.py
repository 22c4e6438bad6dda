"""What a model changes in a project: whole files, or edits that quote what they replace.

What does not fit is refused in words for the model, and nothing is changed. A model that miscounts
lines destroys a file quietly: so an edit by lines quotes the first and the last line that it
replaces, and one by text names what is there exactly once.
"""

from collections.abc import Iterable, Sequence
from itertools import combinations, pairwise

from pydantic import BaseModel, Field

from reenact.codegen.project import LONGEST_FILE, MOST_FILES, Project, check_name
from reenact.llm.ask import bounded

LONGEST_LINE = 2000
LONGEST_SCRIPT = 40_000
"""Characters of a script of one file."""


class FileText(BaseModel):
    """One whole file."""

    path: str = Field(
        max_length=200, description="Name relative to the project, such as `model.py`."
    )
    text: str = Field(max_length=LONGEST_FILE, description="The whole text, without a code fence.")


class Edit(BaseModel):
    """New text for a range of lines."""

    first: int = Field(ge=1, description="First line that is replaced, counted from 1.")
    last: int = Field(
        ge=0,
        description="Last line that is replaced; first - 1 inserts before the first.",
    )
    text: str = Field(
        max_length=LONGEST_SCRIPT,
        description="The new lines; empty removes the old ones.",
    )


class LineEdit(BaseModel):
    """New text for a range of lines of one file, as they are numbered in what was shown."""

    path: str = Field(max_length=200)
    first: int = Field(ge=1, description="First line that is replaced, counted from 1.")
    last: int = Field(
        ge=0,
        description="Last line that is replaced; first - 1 inserts before the first.",
    )
    old_first: str = bounded(
        LONGEST_LINE,
        "The first replaced line as it stands, without its number; empty when inserting.",
    )
    old_last: str = bounded(
        LONGEST_LINE,
        "The last replaced line as it stands, without its number; empty when inserting.",
    )
    text: str = Field(
        max_length=LONGEST_FILE,
        description="The new lines; empty removes the old ones.",
    )


class Swap(BaseModel):
    """Text that stands exactly once in one file, and what takes its place."""

    path: str = Field(max_length=200)
    search: str = Field(min_length=1, max_length=LONGEST_FILE)
    replace: str = Field(max_length=LONGEST_FILE)


class Edited(BaseModel):
    """Changes of the project."""

    lines: list[LineEdit] = Field(default_factory=list, max_length=60)
    swaps: list[Swap] = Field(default_factory=list, max_length=60)
    files: list[FileText] = bounded(
        MOST_FILES, "New files, or files written anew as a whole.", default_factory=list
    )
    removed: list[str] = Field(default_factory=list, max_length=MOST_FILES)
    assumptions: list[str] = Field(default_factory=list, max_length=40)

    @property
    def is_empty(self) -> bool:
        """Whether it changes no file."""
        return not (self.lines or self.swaps or self.files or self.removed)


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
        raise ValueError(
            f"A project has at most {MOST_FILES} files; this one would have {len(made.files)}."
        )
    return made


def edited(project: Project, change: Edited) -> Project:
    """The project after all edits. Raises ValueError in words for the model."""
    if change.is_empty:
        raise ValueError("Nothing is changed. Give line edits, swaps or whole files.")
    # A file written whole, removed or edited by lines is changed in that way alone: numbers would
    # shift.
    ways = [{one.path for one in way} for way in (change.lines, change.swaps, change.files)]
    for one, other in combinations(
        [*ways, set(change.removed)],
        2,
    ):
        if both := sorted(one & other):
            raise ValueError(f"{both[0]} is changed in two ways. Choose one way for each file.")
    made = dict(project.files)
    for name in sorted({edit.path for edit in change.lines}):
        edits = [one for one in change.lines if one.path == name]
        made[name] = with_lines(_there(project, name), edits, name)
    for swap in change.swaps:
        old = made.get(swap.path) or _there(project, swap.path)
        if (count := old.count(swap.search)) != 1:
            found = "is not" if count == 0 else f"is {count} times"
            why = (
                f"This text {found} in {swap.path}; it must be there exactly once: {swap.search!r}."
            )
            raise ValueError(why)
        made[swap.path] = old.replace(swap.search, swap.replace)
    for name in change.removed:
        _there(project, name)
        del made[name]
    result = with_files(Project(made), change.files)
    if result.identity == project.identity:
        raise ValueError("The edits change nothing: the files are the same before and after.")
    return result


def with_lines(
    old: str,
    edits: Sequence[Edit | LineEdit],
    name: str,
) -> str:
    """A text after edits by lines that do not touch one another. Raises ValueError in words for
    the model.
    """
    lines = old.splitlines()
    ordered = sorted(
        edits,
        key=lambda edit: (edit.first, edit.last),
    )
    for before, after in pairwise(ordered):
        if after.first <= before.last or (after.first, after.last) == (
            before.first,
            before.last,
        ):
            raise ValueError(f"Two edits of {name} touch line {after.first}. Give one edit for it.")
    for edit in reversed(ordered):
        if not edit.first - 1 <= edit.last <= len(lines) or edit.first > len(lines) + 1:
            where = f"{name} lines {edit.first} to {edit.last}"
            raise ValueError(f"There are no such lines: {where}; the file has {len(lines)} lines.")
        if isinstance(edit, LineEdit) and edit.last >= edit.first:
            for number, quoted in (
                (edit.first, edit.old_first),
                (edit.last, edit.old_last),
            ):
                if lines[number - 1].strip() != quoted.strip():
                    other = (
                        f"{name} line {number} is {lines[number - 1].strip()!r}, not "
                        f"{quoted.strip()!r}."
                    )
                    again = "Look at the line numbers again, or give a swap that quotes the text."
                    raise ValueError(f"{other} {again}")
    for edit in reversed(ordered):
        lines[edit.first - 1 : edit.last] = edit.text.splitlines()
    return "\n".join(lines) + "\n"


def unfenced(text: str) -> str:
    """A file without the code fence that models like to put around it, ending in one line end."""
    lines = text.strip("\n").splitlines()
    if len(lines) > 2 and lines[0].strip().startswith("```") and lines[-1].strip() == "```":
        lines = lines[1:-1]
    return "\n".join(lines) + "\n"


def _there(project: Project, name: str) -> str:
    if name not in project.files:
        known = ", ".join(sorted(project.files))
        raise ValueError(
            f"There is no file {name!r}. The project has: {known}. Write new files whole."
        )
    return project.files[name]
