"""Numbers that stand in figures alone: a model that takes pictures reads them off, and states how surely.

Asked only where text and tables state no number for the task. What is read off was never printed: it holds
within the uncertainty of the reading, has ids of its own, and is marked in every table.
"""

from collections.abc import Iterator

from pydantic import BaseModel, Field

from reenact.asking import ask
from reenact.errors import AnswerUnusable
from reenact.intake.papers.paper import Paper
from reenact.journal import Scope
from reenact.llm.ask import Model
from reenact.llm.prompts import load_prompt
from reenact.paper.options import Goal
from reenact.paper.review.claims import Claim, Claims
from reenact.paper.review.review import pictures


class ReadOff(BaseModel):
    """One number of a figure."""

    metric: str = Field(min_length=1, max_length=200, description="As the axis or the caption names it.")
    value: float = Field(description="In the unit of the axis: 12.5 for 12.5 %.")
    uncertainty: float = Field(gt=0, description="How far the true value may be from this one, either way.")
    unit: str = Field(default="", max_length=20, description="% where the axis is in per cent; else empty.")
    higher_is_better: bool
    method: str = Field(min_length=1, max_length=200, description="Whose number it is, as the legend says.")
    dataset: str = Field(default="", max_length=200)
    setting: str = Field(default="", max_length=500, description="What else decides it: the epoch, a size.")
    figure: str = Field(max_length=80, description="Id of the figure.")
    seen: str = Field(
        min_length=1, max_length=500, description="Which curve or bar, where on it, and between which marks."
    )
    asked: bool = Field(
        default=True, description="False when what is to be reproduced leaves this number out."
    )


class FigureNumbers(BaseModel):
    """All numbers that could be read off."""

    numbers: list[ReadOff] = Field(default_factory=list, max_length=100)


def figure_claims(paper: Paper, goal: Goal, model: Model, run: Scope) -> Claims:
    """Claims read off the figures, numbered `R1`, `R2`, ...; none where no figure can be shown."""
    images = pictures(paper)
    if not images:
        return Claims((), ())
    shown = {one.label.partition("]")[0].lstrip("[") for one in images}
    prompt = load_prompt("reenact.paper.review", "prompts/figures.md").fill(goal=goal.text(), figures=images)
    try:
        answer = ask(run, model, "figures", prompt, FigureNumbers)
    except AnswerUnusable as error:
        return Claims((), (f"Nothing was read off the figures: {error.sentence}",))
    there = [one for one in answer.numbers if _figure(one) in shown]
    dropped = tuple(
        f"{one.metric} {one.value:g} of {one.method}: there is no such figure ({one.figure})"
        for one in answer.numbers
        if _figure(one) not in shown
    )
    return Claims(tuple(_claims(there, goal)), dropped)


def _figure(one: ReadOff) -> str:
    return one.figure.strip().strip("[]")


def _claims(numbers: list[ReadOff], goal: Goal) -> Iterator[Claim]:
    for number, one in enumerate(numbers, start=1):
        yield Claim(
            id=f"R{number}", metric=one.metric.strip(), value=one.value, unit="%" if "%" in one.unit else "",
            higher_is_better=one.higher_is_better, method=one.method.strip(), dataset=one.dataset.strip(),
            setting=one.setting.strip(), spread=one.uncertainty, place=_figure(one), quote=one.seen.strip(),
            asked=one.asked or goal.is_all, read_off=True,
        )  # fmt: skip
