"""Which of the candidates are looked into: a model's choice, or the mechanical order when it has none."""

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
