"""What a model answers when it develops code, edits apart: those are `reenact.codegen.edits`."""

from __future__ import annotations

from pydantic import BaseModel, Field

from reenact.codegen.edits import FileText
from reenact.codegen.project import MOST_FILES


class Learnt(BaseModel):
    """What the research role answers."""

    summary: str = Field(
        min_length=1,
        max_length=12_000,
        description="What is to be built and measured, in the order of building; complete by itself.",
    )
    decisions: list[str] = Field(
        default_factory=list,
        max_length=60,
        description="One sentence each: what was chosen where the paper is silent, and why.",
    )
    questions: list[str] = Field(
        default_factory=list, max_length=40, description="One sentence each: what is still open."
    )


class Written(BaseModel):
    """The files of one stage."""

    files: list[FileText] = Field(min_length=1, max_length=MOST_FILES)
    assumptions: list[str] = Field(
        default_factory=list,
        max_length=40,
        description="One sentence each: what was assumed that the paper does not say.",
    )


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
