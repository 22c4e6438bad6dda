"""Lineage: the cited papers that a work stands on, each with a summary and, where there is some, its code.

candidates (mechanical) -> choice (a model's, among them) -> text -> summary -> repository -> files, as
Algorithm 1 of AutoReproduce has it. What cannot be had becomes a note of the exemplar, never a success.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from reenact.errors import Unreachable, ended_by
from reenact.intake.papers.clients import Clients
from reenact.intake.papers.library import Library
from reenact.intake.papers.paper import Paper
from reenact.intake.web import Polite
from reenact.journal import Kind, Scope
from reenact.llm.ask import Model
from reenact.paper.exemplar import Exemplar
from reenact.paper.lineage.cited import (
    FOUND_BY_SEARCH,
    CitedText,
    CodeSearch,
    Shelves,
    cited_text,
    content_mark,
    repository_links,
)
from reenact.paper.lineage.code import MOST_TOTAL, Address, Opener, choose_files
from reenact.paper.lineage.questions import Chosen, choose_lineage, summary_of
from reenact.paper.options import Goal
from reenact.sandbox.box import Sandbox
from reenact.types import Progress, Stop, Tell, tell_nobody


def trace_lineage(
    paper: Paper,
    goal: Goal,
    model: Model,
    run: Scope,
    *,
    most: int,
    box: Sandbox,
    library: Library | None,
    clients: Clients | None,
    checkouts: Path,
    search: CodeSearch | None = None,
    tell: Tell = tell_nobody,
    stop: Stop | None = None,
) -> tuple[Exemplar, ...]:
    """At most `most` exemplars. `checkouts` is where repositories are kept; without clients no network."""
    if clients is not None and search is None:
        search = CodeSearch(polite=Polite(checkouts / "searches", tries=2))
    shelves = Shelves(box, library, clients, search if clients is not None else None)
    opener = Opener(checkouts, stop, MOST_TOTAL // max(most, 1))
    chosen = choose_lineage(paper, goal, model, run, most=most)
    found: list[Exemplar] = []
    for number, one in enumerate(chosen):
        if stop is not None and stop.asked:
            raise ended_by(stop, "Stopped between two cited papers; the same command continues.")
        tell(Progress("lineage", number, len(chosen), one.candidate.reference.title[:60]))
        found.append(_exemplar(one, paper, goal, model, run.under("cited", attempt=number), shelves, opener))
    return tuple(found)


def _exemplar(
    chosen: Chosen, paper: Paper, goal: Goal, model: Model, run: Scope, shelves: Shelves, opener: Opener
) -> Exemplar:
    reference = chosen.candidate.reference
    cited = cited_text(reference, shelves, run)
    summary, unsummed = summary_of(chosen, cited, paper, goal, model, run)
    addresses = tuple(_addresses(chosen, cited, shelves))
    tree, sought = opener.tree(addresses, run), tuple[str, ...]()
    if not tree.named:
        found, sought = _searched(chosen, shelves, run)
        if found:
            sought = (*(tree.notes if addresses else ()), *sought)
            addresses, tree = found, opener.tree(found, run.under("searched"))
    picked, unpicked = (
        choose_files(tree, chosen.why, summary, paper, goal, model, run) if tree.files else ((), "")
    )
    files = opener.texts(tree, addresses, picked, run) if picked else ()
    left_out = [one.path for one in picked if one.path not in {file.path for file in files}]
    unfit = f"No room was left for its {', '.join(left_out)}." if left_out else ""
    notes = (*chosen.notes, *cited.notes, unsummed, *sought, *tree.notes, unpicked, unfit)
    return Exemplar(
        key=reference.key,
        title=reference.title or reference.text[:200],
        why=chosen.why,
        cited_in=chosen.places,
        summary=summary,
        repository=tree.named,
        licence=tree.licence,
        files=files,
        notes=tuple(note for note in notes if note),
    )


def _addresses(chosen: Chosen, cited: CitedText, shelves: Shelves) -> Iterator[Address]:
    """Where its code may be opened, the library before the network."""
    entry = shelves.entry(chosen.candidate.reference)
    if entry is not None and entry.repository is not None:
        yield Address(str(entry.repository), f"library:{entry.name}", content_mark(entry.repository))
    if shelves.clients is None:
        return
    reference = chosen.candidate.reference
    for address in dict.fromkeys((*repository_links(f"{reference.url} {reference.text}"), *cited.links)):
        yield Address(address, address)


def _searched(chosen: Chosen, shelves: Shelves, run: Scope) -> tuple[tuple[Address, ...], tuple[str, ...]]:
    """Repositories that nobody names but that speak of the paper, and what to know of that."""
    if (search := shelves.search) is None:
        return (), ()
    reference = chosen.candidate.reference
    try:
        found = run.step(
            "search",
            lambda: list(search.addresses(reference)),
            kind=Kind.NOTE,
            inputs={"title": reference.title, "arxiv": reference.arxiv},
            returns=list[str],
        )
    except Unreachable as error:
        return (), (error.sentence,)
    return tuple(Address(one, one) for one in found), (FOUND_BY_SEARCH,) if found else ()
