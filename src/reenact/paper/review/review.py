"""Three summaries of a paper; every statement names the sentences it rests on, or is dropped. And
numbers that stand in figures alone: a model that takes pictures reads them off, and states how
surely.

Figures are asked about only where text and tables state no number for the task. What is read off
was never printed: it holds within the uncertainty of the reading, has ids of its own, and is marked
in every table.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

from pydantic import BaseModel, Field

from reenact.asking import ask, ask_with_retry
from reenact.errors import AnswerUnusable
from reenact.intake.papers.paper import Figure, Paper
from reenact.journal import Scope
from reenact.llm.ask import Image, Model, bounded
from reenact.llm.prompts import load_prompt
from reenact.paper.bearing import read_text
from reenact.paper.grounding import known
from reenact.paper.options import Goal
from reenact.paper.review.claims import Claims, PaperClaim

MOST_FIGURES = 8
LARGEST_FIGURE = 4_000_000
"""Bytes; of a larger image the caption is shown alone."""
MEDIA = {b"\x89PNG": "image/png", b"\xff\xd8\xff": "image/jpeg"}


@dataclass(frozen=True, slots=True)
class Statement:
    """One thing that the paper states, in few words."""

    text: str
    places: tuple[str, ...]
    """Ids of what it rests on; never empty, and all in the paper."""

    def __str__(self) -> str:
        return f"{self.text} [{', '.join(self.places)}]"


@dataclass(frozen=True, slots=True)
class Review:
    """What the paper is about, what it does, and how it was tried."""

    overall: tuple[Statement, ...]
    method: tuple[Statement, ...]
    experiment: tuple[Statement, ...]
    notes: tuple[str, ...] = ()
    """What was left out, and why."""

    def text(self, hide: frozenset[str] = frozenset()) -> str:
        """The review as a model sees it; statements that rest on a hidden place are left out."""
        parts = {
            "Overall": self.overall,
            "Method": self.method,
            "Experiment": self.experiment,
        }
        shown = {
            title: [one for one in part if not hide & {*one.places}]
            for title, part in parts.items()
        }
        listed = {title: "\n".join(f"- {one}" for one in part) for title, part in shown.items()}
        return "\n\n".join(f"## {title}\n{lines or '(nothing)'}" for title, lines in listed.items())


class Said(BaseModel):
    """One statement."""

    text: str = Field(
        min_length=1,
        max_length=2000,
        description="One thing, as a sentence of your own.",
    )
    places: list[str] = bounded(
        40, "Ids, as they stand in brackets, of every sentence or block it rests on."
    )


class Summaries(BaseModel):
    """Three summaries."""

    overall: list[Said] = Field(
        max_length=40, description="The problem, the idea, what is contributed."
    )
    method: list[Said] = Field(
        max_length=120,
        description="What is computed, step by step, with every formula, size and constant.",
    )
    experiment: list[Said] = Field(
        max_length=120,
        description="Data, splits, baselines, settings, and how the outcome is measured.",
    )


def review(
    paper: Paper,
    goal: Goal,
    model: Model,
    run: Scope,
    *,
    figures: bool,
) -> Review:
    """The three summaries; an empty review with a note when the model cannot give any."""
    values: dict[str, Any] = {
        "paper": read_text(paper),
        "goal": goal.text(),
        "addendum": goal.addendum or "There is none.",
        "figures": pictures(paper) if figures else (),
    }
    template = load_prompt("reenact.paper.review", "prompts/review.md")
    wrong = partial(_ungrounded, paper=paper)
    try:
        answer = ask_with_retry(
            run,
            model=model,
            name="review",
            template=template,
            values=values,
            answer=Summaries,
            wrong=wrong,
        )
    except AnswerUnusable as error:
        return Review(
            (),
            (),
            (),
            (f"There is no review: {error.sentence}",),
        )
    notes = tuple(f"Left out of the review: {text}" for text in _ungrounded(answer, paper))
    overall = _kept(answer.overall, paper)
    method = _kept(answer.method, paper)
    return Review(overall, method, _kept(answer.experiment, paper), notes)


def pictures(paper: Paper) -> tuple[Image, ...]:
    """The figures that can be shown, in the order of the paper."""
    figures = [
        one
        for one in paper.blocks()
        if isinstance(one, Figure) and len(one.image) <= LARGEST_FIGURE
    ]
    shown = [
        (one, media)
        for one in figures
        for head, media in MEDIA.items()
        if one.image.startswith(head)
    ]
    return tuple(
        Image(
            one.image,
            media,
            f"[{one.id}] {one.text}",
        )
        for one, media in shown[:MOST_FIGURES]
    )


def _kept(
    given: Iterable[Said],
    paper: Paper,
) -> tuple[Statement, ...]:
    """Statements with the places that exist; without any a statement is no one's word."""
    found = (
        (
            " ".join(one.text.split()),
            known(paper, one.places),
        )
        for one in given
    )
    return tuple(Statement(text, places) for text, places in found if text and places)


def _ungrounded(given: Summaries, paper: Paper) -> list[str]:
    bare = (
        one
        for one in (*given.overall, *given.method, *given.experiment)
        if not known(paper, one.places)
    )
    named = (
        (
            one.text[:120],
            ", ".join(one.places[:5]) or "none",
        )
        for one in bare
    )
    return [f"{text!r} names no place of the paper (received: {places})" for text, places in named]


class ReadOff(BaseModel):
    """One number of a figure."""

    metric: str = Field(
        min_length=1, max_length=200, description="As the axis or the caption names it."
    )
    value: float = Field(description="In the unit of the axis: 12.5 for 12.5 %.")
    uncertainty: float = Field(
        gt=0, description="How far the true value may be from this one, either way."
    )
    unit: str = Field(
        default="",
        max_length=20,
        description="% where the axis is in per cent; else empty.",
    )
    higher_is_better: bool
    method: str = Field(
        min_length=1,
        max_length=200,
        description="Whose number it is, as the legend says.",
    )
    dataset: str = Field(default="", max_length=200)
    setting: str = Field(
        default="",
        max_length=500,
        description="What else decides it: the epoch, a size.",
    )
    figure: str = Field(max_length=80, description="Id of the figure.")
    seen: str = bounded(
        500, "Which curve or bar, where on it, and between which marks.", min_length=1
    )
    asked: bool = Field(
        True, description="False when what is to be reproduced leaves this number out."
    )


class FigureNumbers(BaseModel):
    """All numbers that could be read off."""

    numbers: list[ReadOff] = Field(default_factory=list, max_length=100)


def figure_claims(
    paper: Paper,
    goal: Goal,
    model: Model,
    run: Scope,
) -> Claims:
    """Claims read off the figures, numbered `R1`, `R2`, ...; none where no figure can be shown."""
    images = pictures(paper)
    if not images:
        return Claims((), ())
    shown = {one.label.partition("]")[0].lstrip("[") for one in images}
    prompt = load_prompt("reenact.paper.review", "prompts/figures.md").fill(
        goal=goal.text(), figures=images
    )
    try:
        answer = ask(
            run,
            model=model,
            name="figures",
            prompt=prompt,
            answer=FigureNumbers,
        )
    except AnswerUnusable as error:
        return Claims((), (f"Nothing was read off the figures: {error.sentence}",))
    claims: list[PaperClaim] = []
    dropped: list[str] = []
    for one in answer.numbers:
        figure = one.figure.strip().strip("[]")
        if figure not in shown:
            what = f"{one.metric} {one.value:g} of {one.method}"
            dropped.append(f"{what}: there is no such figure ({one.figure})")
            continue
        stated = {name: text.strip() for name, text in one if isinstance(text, str)}
        known = {
            "id": f"R{len(claims) + 1}",
            "place": figure,
            "quote": stated.pop("seen"),
            "read_off": True,
            "unit": "%" if "%" in one.unit else "",
            "spread": one.uncertainty,
            "value": one.value,
            "higher_is_better": one.higher_is_better,
            "asked": one.asked or goal.is_all,
        }
        claims.append(
            PaperClaim.model_validate(
                {
                    **stated,
                    **known,
                }
            )
        )
    return Claims(tuple(claims), tuple(dropped))
