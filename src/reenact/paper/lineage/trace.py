"""Lineage: the cited papers that a work builds on, each with a summary and, where there is some,
its code.

candidates (mechanical) -> choice (a model's, among them) -> text -> summary -> repository -> files,
as Algorithm 1 of AutoReproduce has it. What cannot be had becomes a note of the exemplar, never a
success.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from pydantic import BaseModel, Field

from reenact.asking import ask
from reenact.errors import AnswerUnusable, ended_by
from reenact.intake.papers.paper import Paper, Reference
from reenact.journal import Scope
from reenact.llm.ask import Model, bounded
from reenact.llm.prompts import load_prompt
from reenact.paper.lineage import cited as sources
from reenact.paper.lineage import code
from reenact.paper.lineage.cited import Candidate, CitedText, Shelves
from reenact.paper.lineage.code import MOST_TOTAL, Address, CitedFile
from reenact.paper.options import Goal
from reenact.types import Progress, Tell


@dataclass(frozen=True, slots=True)
class Exemplar:
    """A lineage element: a summary, and code where there is some."""

    key: str
    """Key of the reference in the paper."""
    title: str
    why: str
    """Why this one: baseline of the main experiment, the method it extends, ..."""
    cited_in: tuple[str, ...]
    """Ids of the sentences that cite it."""
    summary: str = ""
    """What of it matters here; empty when its text could not be had."""
    repository: str = ""
    """Where its code came from; empty when none was found."""
    licence: str = ""
    """As its repository states it; empty when it does not."""
    files: tuple[CitedFile, ...] = ()
    notes: tuple[str, ...] = ()
    """What could not be had, and why, in words."""

    def text(self) -> str:
        """The exemplar as a model sees it."""
        parts = [
            f"## {self.title} [{self.key}]\nWhy: {self.why}",
            self.summary,
        ]
        for file in self.files:
            parts.append(f"### {file.path} ({file.why})\n{file.text}")
        if not self.summary and not self.files:
            parts.append(
                "Neither its text nor its code could be had: nothing more is known of it here."
            )
        return "\n\n".join(part for part in parts if part)


class Pick(BaseModel):
    """One chosen paper."""

    key: str = Field(max_length=200, description="The key of a candidate, as it stands.")
    why: str = Field(
        max_length=600,
        description="What it is to this paper, and what its code would show.",
    )
    places: list[str] = bounded(
        10, "Ids in square brackets of sentences that say so.", default_factory=list
    )


class Choice(BaseModel):
    """The chosen papers, the most helpful first."""

    picks: list[Pick] = Field(max_length=20)


class CitedStatement(BaseModel):
    """One thing that the cited paper says."""

    text: str = Field(
        max_length=1500, description="What it says, with values and formulas as LaTeX."
    )
    places: list[str] = bounded(10, "Ids in square brackets of where it says so.", min_length=1)


class CitedSummary(BaseModel):
    """What helps to reproduce the citing paper."""

    statements: list[CitedStatement] = Field(min_length=1, max_length=24)


def trace_lineage(
    paper: Paper,
    goal: Goal,
    model: Model,
    run: Scope,
    shelves: Shelves,
    *,
    most: int,
    tell: Tell,
) -> tuple[Exemplar, ...]:
    """At most `most` exemplars."""
    space = MOST_TOTAL // max(most, 1)
    chosen = choose_lineage(paper, goal, model, run, most=most)
    references = {one.key: one for one in reversed(paper.references)}
    found: list[Exemplar] = []
    for number, one in enumerate(chosen):
        if shelves.stop.asked:
            raise ended_by(
                shelves.stop,
                "Stopped between two cited papers; the same command continues.",
            )
        tell(
            Progress(
                "lineage",
                number,
                len(chosen),
                one.title[:60],
            )
        )
        place = run.under("cited", attempt=number)
        reference = references[one.key]
        cited = sources.cited_text(reference, shelves, place)
        summary, unsummed = summary_of(
            one,
            cited=cited,
            paper=paper,
            goal=goal,
            model=model,
            run=place,
        )
        addresses = tuple(_addresses(reference, cited, shelves))
        tree = code.open_tree(addresses, shelves, place)
        picked, unpicked = code.choose_files(
            tree,
            why=one.why,
            summary=summary,
            paper=paper,
            goal=goal,
            model=model,
            run=place,
        )
        address = next(
            (each for each in addresses if each.named == tree.named),
            None,
        )
        files = (
            code.file_texts(
                tree,
                address=address,
                chosen=picked,
                space=space,
                shelves=shelves,
                run=place,
            )
            if picked and address
            else ()
        )
        left_out = [each.path for each in picked if each.path not in {file.path for file in files}]
        unfit = f"No room was left for its {', '.join(left_out)}." if left_out else ""
        notes = (
            *one.notes,
            *cited.notes,
            unsummed,
            *tree.notes,
            unpicked,
            unfit,
        )
        had = replace(
            one,
            repository=tree.named,
            licence=tree.licence,
            files=files,
        )
        found.append(
            replace(
                had,
                summary=summary,
                notes=tuple(filter(None, notes)),
            )
        )
    return tuple(found)


def _addresses(reference: Reference, cited: CitedText, shelves: Shelves) -> Iterator[Address]:
    """Where its code may be opened, the library before the network."""
    entry = shelves.entry(reference)
    if entry is not None and entry.repository is not None:
        yield Address(
            str(entry.repository),
            f"library:{entry.name}",
            sources.content_mark(entry.repository),
        )
    if shelves.clients is not None:
        links = (
            *sources.repository_links(f"{reference.url} {reference.text}"),
            *cited.links,
        )
        for link in dict.fromkeys(links):
            yield Address(link, link)


def choose_lineage(
    paper: Paper,
    goal: Goal,
    model: Model | None,
    run: Scope,
    *,
    most: int,
) -> tuple[Exemplar, ...]:
    """At most `most` of the references, not looked into yet; without a model the first by their
    citations.
    """
    ranked = sources.candidates(paper)
    if not ranked or most < 1:
        return ()
    if model is None:
        return tuple(_chosen(one) for one in ranked[:most])
    listed = "\n\n".join(one.text() for one in ranked)
    about = {
        "title": paper.title,
        "goal": goal.text(),
        "most": min(most, len(ranked)),
    }
    prompt = load_prompt("reenact.paper.lineage", "prompts/choose.md").fill(
        candidates=listed, **about
    )
    known = {one.reference.key: one for one in ranked}

    def check(choice: Choice) -> None:
        keys = [pick.key for pick in choice.picks]
        if unknown := [key for key in keys if key not in known]:
            raise ValueError(
                f"{unknown[0]!r} is not a candidate. The keys are: {', '.join(known)}."
            )
        if len(set(keys)) < len(keys):
            raise ValueError("A paper may be chosen once only.")
        if not 1 <= len(keys) <= most:
            raise ValueError(f"Choose at least one and at most {most}.")

    try:
        choice = ask(
            run,
            model=model,
            name="choose",
            prompt=prompt,
            answer=Choice,
            check=check,
        )
    except AnswerUnusable as error:
        note = (
            f"Chosen by its citations alone, because the model's choice was of no use: "
            f"{error.sentence}"
        )
        return tuple(_chosen(one, note=note) for one in ranked[:most])
    return tuple(
        _chosen(
            known[pick.key],
            pick.why,
            pick.places,
        )
        for pick in choice.picks
    )


def _chosen(
    candidate: Candidate,
    why: str = "",
    places: Sequence[str] = (),
    note: str = "",
) -> Exemplar:
    """Only places that do cite it; all of them when none of those that were named does."""
    reference = candidate.reference
    citing = tuple(one.sentence.id for one in candidate.contexts)
    cited_in = tuple(place for place in citing if place in places) or citing
    why = why or ", ".join(candidate.reasons) or "cited"
    title = reference.title or reference.text[:200]
    notes = (note,) if note else ()
    return Exemplar(reference.key, title, why, cited_in, notes=notes)


def summary_of(
    chosen: Exemplar,
    cited: CitedText,
    paper: Paper,
    goal: Goal,
    model: Model,
    run: Scope,
) -> tuple[str, str]:
    """The summary, and a note where there is none; a statement whose places are not there is
    left out.
    """
    if not cited.text:
        return "", ""
    template = load_prompt("reenact.paper.lineage", "prompts/summary.md")
    prompt = template.fill(
        title=paper.title,
        goal=goal.text(),
        why=chosen.why,
        text=cited.text,
    )
    known = frozenset(cited.ids)

    def check(answer: CitedSummary) -> None:
        if not any(set(one.places) & known for one in answer.statements):
            words = (
                "No statement names a place that is in the text. Places are ids such as [2:1.3]."
            )
            raise ValueError(words)

    try:
        stated = ask(
            run,
            model=model,
            name="summary",
            prompt=prompt,
            answer=CitedSummary,
            check=check,
        ).statements
    except AnswerUnusable as error:
        return "", f"No summary of its text: {error.sentence}"
    grounded = [
        (
            one.text,
            [place for place in one.places if place in known],
        )
        for one in stated
    ]
    kept = [f"- {text} [{', '.join(places)}]" for text, places in grounded if places]
    gone = len(stated) - len(kept)
    note = (
        f"Left out of its summary for naming no place of its text: {gone} statements."
        if gone
        else ""
    )
    return "\n".join(kept), note
