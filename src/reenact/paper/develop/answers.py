"""What a model answers when it writes code: whole files, or edits that quote what they replace."""

from __future__ import annotations

from pydantic import BaseModel, Field

from reenact.paper.project import LONGEST_FILE, MOST_FILES

LONGEST_LINE = 2000


class FileText(BaseModel):
    """One whole file."""

    path: str = Field(max_length=200, description="Name relative to the project, such as `model.py`.")
    text: str = Field(max_length=LONGEST_FILE, description="The whole text, without a code fence.")


class LineEdit(BaseModel):
    """New text for a range of lines of one file, as they are numbered in what was shown."""

    path: str = Field(max_length=200)
    first: int = Field(ge=1, description="First line that is replaced, counted from 1.")
    last: int = Field(ge=0, description="Last line that is replaced; first - 1 inserts before the first.")
    old_first: str = Field(
        max_length=LONGEST_LINE,
        description="The first replaced line as it stands, without its number; empty when inserting.",
    )
    old_last: str = Field(
        max_length=LONGEST_LINE,
        description="The last replaced line as it stands, without its number; empty when inserting.",
    )
    text: str = Field(max_length=LONGEST_FILE, description="The new lines; empty removes the old ones.")


class Swap(BaseModel):
    """Text that stands exactly once in one file, and what takes its place."""

    path: str = Field(max_length=200)
    search: str = Field(min_length=1, max_length=LONGEST_FILE)
    replace: str = Field(max_length=LONGEST_FILE)


class Written(BaseModel):
    """The files of one stage."""

    files: list[FileText] = Field(min_length=1, max_length=MOST_FILES)
    assumptions: list[str] = Field(
        default_factory=list,
        max_length=40,
        description="One sentence each: what was assumed that the paper does not say.",
    )


class Edited(BaseModel):
    """Changes of the project."""

    lines: list[LineEdit] = Field(default_factory=list, max_length=60)
    swaps: list[Swap] = Field(default_factory=list, max_length=60)
    files: list[FileText] = Field(
        default_factory=list,
        max_length=MOST_FILES,
        description="New files, or files written anew as a whole.",
    )
    removed: list[str] = Field(default_factory=list, max_length=MOST_FILES)
    assumptions: list[str] = Field(default_factory=list, max_length=40)


class Analysis(BaseModel):
    """Why something failed, before anything is changed."""

    cause: str = Field(min_length=1, max_length=4000, description="What goes wrong, where, and why.")
    remedy: str = Field(min_length=1, max_length=4000, description="What to change, file by file.")
    requirement: str = Field(
        default="",
        max_length=200,
        description="A package that is missing and cannot be done without, as NAME or NAME==VERSION.",
    )


class Plan(BaseModel):
    """What is changed for all failed criteria together."""

    steps: list[str] = Field(
        min_length=1,
        max_length=40,
        description="One sentence each: the file, the change, and the criteria it turns, such as `F3, F7`.",
    )
    hopeless: list[str] = Field(
        default_factory=list,
        max_length=60,
        description="Criteria that cannot be met here, each as `F4: the reason`.",
    )

    @property
    def given_up(self) -> frozenset[str]:
        """Ids of the criteria that cannot be met here."""
        return frozenset(one.partition(":")[0].strip() for one in self.hopeless)

    def text(self) -> str:
        """The plan as the code role sees it."""
        left = [f"Not to be met: {one}" for one in self.hopeless]
        return "\n".join([*(f"{number}. {step}" for number, step in enumerate(self.steps, 1)), *left])
