"""Two guides through the paper: the parts of the system, then its settings."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from reenact.errors import AnswerUnusable
from reenact.intake.papers.paper import Paper
from reenact.journal import Scope
from reenact.llm.ask import Model, Prompt
from reenact.llm.prompts import load_prompt
from reenact.paper.criterion import Kind, Level
from reenact.paper.fingerprint.answers import Guide, Proposed, Sort
from reenact.paper.fingerprint.fingerprint import Dropped
from reenact.paper.fingerprint.sift import objections
from reenact.paper.insist import insist
from reenact.paper.options import Goal
from reenact.settings import field_texts

Fill: TypeAlias = Callable[[str], Prompt]
"""A prompt from the objections to an earlier answer."""

TOLERATED = 10
"""One ungrounded fact in so many is dropped without asking again."""
LOOK = {
    Level.FRAMEWORK: (
        "Describe the parts of the system and how they work together, in the order in which they act: where"
        " the data come from and how they are prepared; the model, part by part; what is computed and"
        " minimised, each equation and each algorithm whole; the order of the steps of training; the"
        " baselines and ablations; how the outcome is evaluated. Leave plain settings (rates, sizes, counts)"
        " to a later list."
    ),
    Level.CONFIGURATION: (
        "List the settings: sizes of data and splits, layers and their sizes, activations, initial values,"
        " optimiser, learning rate and schedule, batch size, number of epochs or steps, regularisation,"
        " constants of the method, thresholds, seeds and number of runs, and what is measured and how it is"
        " averaged. Read the tables of settings cell by cell. Where a setting differs between data sets,"
        " methods or experiments, give one fact for each, with its scope."
    ),
}
ATOMIC = (
    "One fact says one thing: one setting with its value, one step, one part. What is true of two things is"
    " two facts. An equation or an algorithm is one fact and stays whole."
)
COMPOUND = "What the paper says together may stay together in one fact."


def guide(
    level: Level, paper: Paper, goal: Goal, model: Model, run: Scope, *, atomic: bool
) -> tuple[list[Proposed], list[Dropped]]:
    """What the paper says at this level; nothing, and the reason, when the model cannot say it."""
    template = load_prompt("reenact.paper.fingerprint", "prompts/guide.md")

    def fill(objections: str) -> Prompt:
        return template.fill(
            paper=paper.text(),
            goal=goal.text(),
            addendum=goal.addendum or "There is none.",
            look=LOOK[level],
            grain=grain(atomic=atomic),
            sorts=listing(Sort),
            kinds=listing(Kind),
            objections=objections,
        )

    return proposed(run, model, level.value, fill, level, paper)


def proposed(
    run: Scope, model: Model, name: str, fill: Fill, level: Level, paper: Paper
) -> tuple[list[Proposed], list[Dropped]]:
    """The facts of one question, asked twice when many are not grounded."""
    try:
        said = insist(
            run,
            model,
            name,
            fill,
            Guide,
            wrong=lambda one: objections(one, paper),
            tolerate=lambda one: len(one.items) // TOLERATED,
        )
    except AnswerUnusable as error:
        return [], [Dropped(f"(everything that {name} would have found)", level, error.sentence)]
    return said.items, []


def grain(*, atomic: bool) -> str:
    """How much one fact may say, in our words."""
    return ATOMIC if atomic else COMPOUND


def listing(owner: type[Sort] | type[Kind]) -> str:
    """The members of an enumeration with what they mean."""
    return "\n".join(f"  - {owner[name].value}: {words}" for name, words in field_texts(owner).items())
