"""Align-Score: how far code follows a paper, on three levels (AutoReproduce, 4.3 and A.3.2).

paper  five key points of the paper, each 0 to 20, from the paper and the code
code   four dimensions, each 0 to 25, from a reference implementation and the code
mixed  the five key points, each 0 to 20, as the reference implementation understands them

Each level has 100 points. A mark that the judge could not give, or gave in a form no one could
read, is left out of its level with the reason; the level is then the mean of the others on the same
scale.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, TypedDict

from pydantic import BaseModel, Field

from reenact.asking import ask
from reenact.codegen.project import Project
from reenact.errors import AnswerUnusable
from reenact.intake.papers.paper import Paper
from reenact.journal import Scope
from reenact.llm.ask import Model, bounded
from reenact.llm.prompts import load_prompt
from reenact.paper.options import Goal

PACKAGE = "reenact.paper.evaluate"
POINTS = 5
SILENT = "The judge did not mention it."
DIMENSIONS = (
    "overall structure",
    "model details",
    "training details",
    "experimental integrity",
)


class Level(StrEnum):
    """What the code is compared with."""

    PAPER = "paper"
    CODE = "code"
    MIXED = "mixed"

    @property
    def most(self) -> int:
        """Points that one mark can have."""
        return 25 if self is Level.CODE else 20


class KeyPoint(BaseModel):
    """One thing that the code must have."""

    name: str = Field(max_length=200)
    kind: Literal["method", "hyper-parameters", "training"]
    text: str = Field(
        max_length=4000, description="What exactly must hold, with formulas as LaTeX."
    )
    places: list[str] = bounded(
        20, "Ids in square brackets of the sentences it rests on.", default_factory=list
    )


class KeyPoints(BaseModel):
    """The five key points of a paper."""

    points: list[KeyPoint] = Field(min_length=POINTS, max_length=POINTS)

    def text(self) -> str:
        numbered = enumerate(self.points, start=1)
        return "\n\n".join(
            f"{number}. {one.name} ({one.kind})\n{one.text}" for number, one in numbered
        )


class GivenMark(BaseModel):
    """A judge's mark."""

    number: int = Field(ge=1, le=POINTS, description="Which point or dimension, counted from 1.")
    compared: str = Field(
        max_length=3000,
        description="What was compared, with files and lines of the code.",
    )
    score: int | None = Field(
        default=None, ge=0, description="The points; null when it cannot be judged."
    )
    reason: str = Field(
        max_length=2000, description="Why these points, or why it cannot be judged."
    )


class GivenMarks(BaseModel):
    """All marks of one level."""

    marks: list[GivenMark] = Field(min_length=1, max_length=2 * POINTS)


@dataclass(frozen=True, slots=True)
class Mark:
    """One mark, or why there is none."""

    name: str
    score: int | None
    reason: str


class AlignScoreJson(TypedDict):
    """One level for programs."""

    level: Level
    marks: tuple[Mark, ...]
    score: float | None
    most: int


@dataclass(frozen=True, slots=True)
class AlignScore:
    """One level."""

    level: Level
    marks: tuple[Mark, ...]

    @property
    def judged(self) -> int:
        return sum(mark.score is not None for mark in self.marks)

    @property
    def score(self) -> float | None:
        """Out of 100, over the marks that were given; none without one."""
        given = [mark.score for mark in self.marks if mark.score is not None]
        if given:
            return 100 * sum(given) / (self.level.most * len(given))
        return None

    def json_fields(self) -> AlignScoreJson:
        """What programs get."""
        return {
            "level": self.level,
            "marks": self.marks,
            "score": self.score,
            "most": self.level.most,
        }


def align(
    paper: Paper,
    goal: Goal,
    code: Project,
    model: Model,
    run: Scope,
    *,
    reference: Project | None = None,
) -> tuple[AlignScore, ...]:
    """All levels that can be judged: without a reference implementation the paper's alone."""

    def check(points: KeyPoints) -> None:
        unknown = [
            place for point in points.points for place in point.places if place not in paper.by_id
        ]
        if unknown:
            raise ValueError(f"The paper has no sentence with the id {unknown[0]!r}.")

    prompt = load_prompt(PACKAGE, "prompts/key-points.md").fill(
        paper=paper.text(), goal=goal.text()
    )
    try:
        points = ask(
            run,
            model=model,
            name="key-points",
            prompt=prompt,
            answer=KeyPoints,
            check=check,
        )
        names = [one.name for one in points.points]
        unread = ""
    except AnswerUnusable as error:
        points = None
        names = [f"key point {number}" for number in range(1, POINTS + 1)]
        unread = f"The key points of the paper could not be read: {error.sentence}"
    shown = {
        "points": points.text() if points is not None else "",
        "code": code.text(),
        "goal": goal.text(),
    }
    shown["reference"] = reference.text() if reference is not None else ""
    scores = []
    for level in (Level.PAPER,) if reference is None else Level:
        if level is not Level.CODE and unread:
            scores.append(
                AlignScore(
                    level,
                    tuple(Mark(name, None, unread) for name in names),
                )
            )
        else:
            scores.append(
                _level(
                    level,
                    names=DIMENSIONS if level is Level.CODE else names,
                    shown=shown,
                    model=model,
                    run=run,
                )
            )
    return tuple(scores)


def _level(
    level: Level,
    names: Sequence[str],
    shown: dict[str, str],
    model: Model,
    run: Scope,
) -> AlignScore:
    template = load_prompt(PACKAGE, f"prompts/align-{level}.md")
    prompt = template.fill(**{name: shown[name] for name in template.variables})

    def check(given: GivenMarks) -> None:
        check_numbers(
            [mark.number for mark in given.marks],
            len(names),
        )
        if any(mark.score is not None and mark.score > level.most for mark in given.marks):
            raise ValueError(f"A score is at most {level.most}.")

    try:
        given = ask(
            run,
            model=model,
            name=f"align-{level}",
            prompt=prompt,
            answer=GivenMarks,
            check=check,
        )
    except AnswerUnusable as error:
        return AlignScore(
            level,
            tuple(Mark(name, None, error.sentence) for name in names),
        )
    by_number = {
        mark.number: Mark(
            names[mark.number - 1],
            mark.score,
            mark.reason,
        )
        for mark in given.marks
    }
    marks = (
        by_number.get(
            at,
            Mark(name, None, SILENT),
        )
        for at, name in enumerate(names, start=1)
    )
    return AlignScore(level, tuple(marks))


def check_numbers(numbers: Sequence[int], count: int) -> None:
    """Whether an answer numbers what it was asked about. Raises ValueError in words for the
    model.
    """
    if len(set(numbers)) < len(numbers) or any(number > count for number in numbers):
        raise ValueError(f"Give each of the numbers 1 to {count} once.")
