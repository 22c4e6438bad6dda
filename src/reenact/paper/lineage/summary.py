"""What of a cited paper matters here: statements, each with the places of its text that it rests on."""

from __future__ import annotations

from pydantic import BaseModel, Field

from reenact.asking import ask
from reenact.errors import AnswerUnusable
from reenact.intake.papers.paper import Paper
from reenact.journal import Scope
from reenact.llm.ask import Model
from reenact.llm.prompts import load_prompt
from reenact.paper.lineage.choose import Chosen
from reenact.paper.lineage.texts import CitedText
from reenact.paper.options import Goal


class CitedStatement(BaseModel):
    """One thing that the cited paper says."""

    text: str = Field(max_length=1500, description="What it says, with values and formulas as LaTeX.")
    places: list[str] = Field(
        min_length=1, max_length=10, description="Ids in square brackets of where it says so."
    )


class CitedSummary(BaseModel):
    """What helps to reproduce the citing paper."""

    statements: list[CitedStatement] = Field(min_length=1, max_length=24)


def summary_of(
    chosen: Chosen, cited: CitedText, paper: Paper, goal: Goal, model: Model, run: Scope
) -> tuple[str, str]:
    """The summary, and a note where there is none; a statement whose places are not there is left out."""
    if not cited.text:
        return "", ""
    prompt = load_prompt("reenact.paper.lineage", "prompts/summary.md").fill(
        title=paper.title, goal=goal.text(), why=chosen.why, text=cited.text
    )
    known = frozenset(cited.ids)

    def check(answer: CitedSummary) -> None:
        if not any(set(one.places) & known for one in answer.statements):
            raise ValueError(
                "No statement names a place that is in the text. Places are ids such as [2:1.3]."
            )

    try:
        told = ask(run, model, "summary", prompt, CitedSummary, check=check).statements
    except AnswerUnusable as error:
        return "", f"No summary of its text: {error.sentence}"
    grounded = [(one.text, [place for place in one.places if place in known]) for one in told]
    kept = [f"- {text} [{', '.join(places)}]" for text, places in grounded if places]
    gone = len(told) - len(kept)
    note = f"Left out of its summary for naming no place of its text: {gone} statements." if gone else ""
    return "\n".join(kept), note
