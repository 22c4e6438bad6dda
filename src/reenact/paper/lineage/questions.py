"""Two questions about cited work: which papers the work stands on, and what of each matters here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import BaseModel, Field

from reenact.asking import ask
from reenact.errors import AnswerUnusable
from reenact.intake.papers.paper import Paper
from reenact.journal import Scope
from reenact.llm.ask import Model
from reenact.llm.prompts import load_prompt
from reenact.paper.lineage.candidates import Candidate, candidates
from reenact.paper.lineage.cited import CitedText
from reenact.paper.options import Goal


class Pick(BaseModel):
    """One chosen paper."""

    key: str = Field(max_length=200, description="The key of a candidate, as it stands.")
    why: str = Field(max_length=600, description="What it is to this paper, and what its code would show.")
    places: list[str] = Field(
        default_factory=list, max_length=10, description="Ids in square brackets of sentences that say so."
    )


class Choice(BaseModel):
    """The chosen papers, the most helpful first."""

    picks: list[Pick] = Field(max_length=20)


@dataclass(frozen=True, slots=True)
class Chosen:
    """A candidate that is looked into."""

    candidate: Candidate
    why: str
    places: tuple[str, ...]
    notes: tuple[str, ...] = ()


def choose_lineage(
    paper: Paper, goal: Goal, model: Model | None, run: Scope, *, most: int
) -> tuple[Chosen, ...]:
    """At most `most` of the references; without a model the first of the mechanical order."""
    ranked = candidates(paper)
    if not ranked or most < 1:
        return ()
    if model is None:
        return tuple(_ranked(one) for one in ranked[:most])
    prompt = load_prompt("reenact.paper.lineage", "prompts/choose.md").fill(
        title=paper.title,
        goal=goal.text(),
        candidates="\n\n".join(one.text() for one in ranked),
        most=min(most, len(ranked)),
    )
    known = {one.reference.key: one for one in ranked}
    try:
        picks = ask(
            run, model, "choose", prompt, Choice, check=lambda choice: _check(choice, known, most)
        ).picks
    except AnswerUnusable as error:
        note = f"Chosen by its citations alone, because the model's choice was of no use: {error.sentence}"
        return tuple(_ranked(one, note) for one in ranked[:most])
    return tuple(Chosen(known[pick.key], pick.why, tuple(_said(pick, known[pick.key]))) for pick in picks)


def _check(choice: Choice, known: dict[str, Candidate], most: int) -> None:
    keys = [pick.key for pick in choice.picks]
    if unknown := [key for key in keys if key not in known]:
        raise ValueError(f"{unknown[0]!r} is no candidate. The keys are: {', '.join(known)}.")
    if len(set(keys)) < len(keys):
        raise ValueError("A paper may be chosen once only.")
    if not 1 <= len(keys) <= most:
        raise ValueError(f"Choose at least one and at most {most}.")


def _said(pick: Pick, candidate: Candidate) -> Sequence[str]:
    """Only places that do cite it; all of them when none of those that were named does."""
    citing = [one.sentence.id for one in candidate.contexts]
    return [place for place in citing if place in pick.places] or citing


def _ranked(candidate: Candidate, *notes: str) -> Chosen:
    why = ", ".join(candidate.reasons) or "cited"
    return Chosen(candidate, why, tuple(one.sentence.id for one in candidate.contexts), notes)


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
