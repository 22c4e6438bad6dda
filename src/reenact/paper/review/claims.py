"""Every number that the paper reports for the task: a model points at it, code looks whether it is there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pydantic import BaseModel, Field

from reenact.errors import AnswerUnusable
from reenact.intake.papers.paper import Paper, Table, plain
from reenact.journal import Scope
from reenact.llm.ask import Model, Prompt
from reenact.llm.prompts import load_prompt
from reenact.paper.claim import Claim
from reenact.paper.insist import insist
from reenact.paper.options import Goal
from reenact.paper.places import in_order, known, said_at
from reenact.paper.quantity import Quantity, quantities
from reenact.paper.review.cells import of_another
from reenact.paper.review.withheld import withheld, without_results

__all__ = ["Claims", "claims_of", "stated_claims", "withheld", "without_results"]


@dataclass(frozen=True, slots=True)
class Claims:
    """The claims that hold against the text, and what became of the others."""

    claims: tuple[Claim, ...]
    dropped: tuple[str, ...]
    """A sentence each."""

    @property
    def asked(self) -> tuple[Claim, ...]:
        """Those that what is to be reproduced asks for."""
        return tuple(one for one in self.claims if one.asked)


class Stated(BaseModel):
    """One reported number."""

    metric: str = Field(min_length=1, max_length=200, description="As the paper names it.")
    value: float = Field(description="The number as it is printed: 12.5 for 12.5 %.")
    unit: str = Field(default="", max_length=20, description="% where the paper gives per cent; else empty.")
    higher_is_better: bool
    method: str = Field(max_length=200, description="Whose number it is, as the paper names it.")
    dataset: str = Field(default="", max_length=200)
    setting: str = Field(default="", max_length=500, description="What else decides it, as the paper says.")
    spread: float | None = Field(default=None, ge=0, description="What stands after the plus-minus sign.")
    place: str = Field(max_length=80, description="Id of the table or sentence.")
    quote: str = Field(
        min_length=1,
        max_length=1000,
        description="The table cell as it stands, or words of the sentence.",
    )
    asked: bool = Field(
        default=True,
        description="False when what is to be reproduced leaves this number out: another method or setting.",
    )


class Reported(BaseModel):
    """All reported numbers."""

    claims: list[Stated] = Field(max_length=400)


def claims_of(paper: Paper, goal: Goal, model: Model, run: Scope) -> tuple[Claim, ...]:
    """The claims that hold against the text; the others are told in the journal as `claims-dropped`."""
    return stated_claims(paper, goal, model, run).claims


def stated_claims(paper: Paper, goal: Goal, model: Model, run: Scope) -> Claims:
    """The claims, and a sentence for each that was dropped."""
    template = load_prompt("reenact.paper.review", "prompts/claims.md")

    def fill(objections: str) -> Prompt:
        return template.fill(paper=paper.text(), goal=goal.text(), objections=objections)

    try:
        said = insist(run, model, "claims", fill, Reported, wrong=lambda one: _objections(one, paper))
    except AnswerUnusable as error:
        found = Claims((), (f"No claims were read: {error.sentence}",))
    else:
        found = Claims(tuple(_numbered(said, paper, goal)), tuple(_objections(said, paper)))
    if found.dropped:
        run.note("claims-dropped", list(found.dropped))
    return found


def _numbered(said: Reported, paper: Paper, goal: Goal) -> Iterator[Claim]:
    order = in_order(paper)
    held = [(one, place) for one in said.claims if isinstance(place := _place(one, paper), tuple)]
    seen: set[tuple[object, ...]] = set()
    number = 0
    for one, (place,) in sorted(held, key=lambda pair: order[pair[1][0]]):
        key = (place, plain(one.metric), one.value, plain(one.method), plain(one.dataset), plain(one.setting))
        if key in seen:
            continue
        seen.add(key)
        number += 1
        yield Claim(
            id=f"C{number}",
            metric=one.metric.strip(),
            value=one.value,
            unit="%" if "%" in one.unit or "cent" in one.unit.lower() else "",
            higher_is_better=one.higher_is_better,
            method=one.method.strip(),
            dataset=one.dataset.strip(),
            setting=one.setting.strip(),
            spread=one.spread if one.spread is not None and _has(one.quote, one.spread) else None,
            place=place,
            quote=one.quote.strip(),
            asked=one.asked or goal.is_all,
        )


def _objections(said: Reported, paper: Paper) -> list[str]:
    found = ((one, _place(one, paper)) for one in said.claims)
    return [
        f"{one.metric} {one.value:g} of {one.method} [{one.place}]: {why}"
        for one, why in found
        if isinstance(why, str)
    ]


def _place(one: Stated, paper: Paper) -> tuple[str] | str:
    """The id it stands at, or why it does not hold."""
    if not _has(one.quote, one.value):
        return f"the value is not in its quote ({one.quote[:80]!r})"
    named = known(paper, [one.place])
    found = [place for place in (*named, *paper.find(one.quote)) if _stands(one.quote, place, paper)]
    if not found:
        return "its quote is not in the paper" if named else "there is no such place in the paper"
    table = paper.by_id[found[0]]
    whose = of_another(table, one.quote, one.method) if isinstance(table, Table) else ""
    return f"its cell stands under {whose!r}, not under {one.method!r}" if whose else (found[0],)


def _stands(quote: str, place: str, paper: Paper) -> bool:
    """Whether the quote is in a cell of that table, or in those words."""
    wanted = plain(quote)
    block = paper.by_id[place]
    if isinstance(block, Table):
        numbers = quantities(quote)
        cells = (cell for row in block.rows for cell in row)
        return any(wanted in plain(cell) and _all_in(numbers, quantities(cell)) for cell in cells)
    text = said_at(paper, place)
    return bool(wanted) and wanted in plain(text) and _all_in(quantities(quote), quantities(text))


def _all_in(wanted: list[Quantity], there: list[Quantity]) -> bool:
    return all(any(one.equals(other) for other in there) for one in wanted)


def _has(quote: str, value: float) -> bool:
    return any(one.equals(Quantity(value, False, 0, "")) for one in quantities(quote))
