"""References ranked by the paper's own citation contexts, before any model is asked.

Baselines of the main experiment come first, then what the method builds on. What everybody cites (an
optimiser, a data set), or what is cited once in passing, comes last.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from reenact.intake.papers.paper import Paper, Paragraph, Reference, Sentence, Table


@cache
def phrases(section: str) -> dict[str, re.Pattern[str]]:
    """Patterns of one section of phrases.toml by name; a list is any of its phrases as whole words."""
    text = files("reenact.paper.lineage").joinpath("phrases.toml").read_text(encoding="utf-8")
    given: dict[str, str | list[str]] = tomllib.loads(text)[section]
    patterns = {
        name: one if isinstance(one, str) else rf"\b(?:{'|'.join(one)})\b" for name, one in given.items()
    }
    return {name: re.compile(pattern, re.IGNORECASE) for name, pattern in patterns.items()}


MOST = 12
"""Candidates that a model chooses among."""
SENTENCES = 5
"""Citing sentences that are shown of each."""
WEIGHTS = {
    "named in a table": 4.0,
    "a baseline": 3.0,
    "built upon": 3.0,
    "cited in the method": 2.0,
    "cited in the experiments": 2.0,
    "cited alone": 1.0,
    "generic": -6.0,
    "in passing": -2.0,
}
"""What each reason is worth."""
EACH_PLACE, MOST_PLACES = 0.5, 4
LONGEST_NAME = 60
_BRACKET = re.compile(r"\[[^\[\]]*\]")
_NAME = re.compile(r"[A-Z][\w-]*[A-Z0-9][\w-]*|[A-Z][a-z]+(?:[- ][A-Z][a-z]+)*")


@dataclass(frozen=True, slots=True)
class Context:
    """One sentence that cites."""

    sentence: Sentence
    kind: str
    """What its section is: introduction, method, experiment, ..."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A reference, why it may matter, and how much."""

    reference: Reference
    contexts: tuple[Context, ...]
    tables: tuple[str, ...]
    """Ids of the tables that name it."""
    reasons: tuple[str, ...]
    score: float

    def text(self) -> str:
        """The candidate as a model sees it."""
        shown = sorted(self.contexts, key=lambda one: one.kind not in ("method", "experiment"))[:SENTENCES]
        lines = [f"[{one.sentence.id}] ({one.kind}) {one.sentence.text}" for one in shown]
        head = f"key: {self.reference.key}\ntitle: {self.reference.title or self.reference.text[:200]}"
        tables = f"\nnamed in tables: {', '.join(self.tables)}" if self.tables else ""
        return f"{head}{tables}\n" + "\n".join(lines)


def candidates(paper: Paper) -> tuple[Candidate, ...]:
    """The references that are cited, best first, at most so many."""
    kinds = section_kinds(paper)
    found = [_candidate(paper, reference, kinds) for reference in paper.references]
    cited = [one for one in found if one.contexts or one.tables]
    return tuple(sorted(cited, key=lambda one: -one.score)[:MOST])


def section_kinds(paper: Paper) -> dict[str, str]:
    """Section id -> what it is; a subsection whose title tells nothing is what its section is."""
    kinds: dict[str, str] = {}
    for section in paper.sections:
        known = (name for name, pattern in phrases("sections").items() if pattern.search(section.title))
        above = kinds.get(section.id.rpartition(".")[0], "other")
        kinds[section.id] = "abstract" if section.id == "0" else next(known, above)
    return kinds


def _candidate(paper: Paper, reference: Reference, kinds: Mapping[str, str]) -> Candidate:
    paragraphs = [
        (one.id, part) for one in paper.sections for part in one.blocks if isinstance(part, Paragraph)
    ]
    cited = [(name, one) for name, part in paragraphs for one in part.sentences if reference.key in one.cites]
    contexts = tuple(Context(sentence, kinds[name]) for name, sentence in cited)
    tables = tuple(_tables(paper, reference, contexts))
    reasons = tuple(_reasons(reference, contexts, tables))
    score = sum(WEIGHTS[reason] for reason in reasons) + EACH_PLACE * min(len(contexts), MOST_PLACES)
    return Candidate(reference, contexts, tables, reasons, score)


def _tables(paper: Paper, reference: Reference, contexts: tuple[Context, ...]) -> Iterator[str]:
    """Tables that cite it, or have a cell with the name by which the paper calls it."""
    names = {name.casefold() for name in _names(reference, contexts)}
    marks = re.compile(rf"@{re.escape(reference.key)}(?![\w:-])")
    tables = (block for block in paper.blocks() if isinstance(block, Table))
    yield from (one.id for one in tables if any(_names_it(row, names, marks) for row in one.rows))


def _names_it(row: tuple[str, ...], names: set[str], marks: re.Pattern[str]) -> bool:
    """Whether a row of numbers is that of the cited method; one that only names a setting is not."""
    named = [cell for cell in row if marks.search(cell) or _bare(cell) in names]
    return bool(named) and any(re.search(r"\d", _BRACKET.sub("", cell)) for cell in row if cell not in named)


def _bare(cell: str) -> str:
    return _BRACKET.sub("", cell).strip(" *_()~").casefold()


def _names(reference: Reference, contexts: tuple[Context, ...]) -> Iterator[str]:
    """What the method is called: before the colon of its title, or right before a citation of it alone."""
    head, colon, _ = reference.title.partition(":")
    if colon and len(head) <= 40:
        yield head.strip()
    for context in contexts:
        text = context.sentence.text
        for mark in _BRACKET.finditer(text):
            if f"@{reference.key}" not in mark[0] or mark[0].count("@") > 1:
                continue
            before = text[max(0, mark.start() - LONGEST_NAME) : mark.start()].rstrip(" ~(")
            if found := re.search(rf"(?:{_NAME.pattern})$", before):
                yield found[0]


def _reasons(reference: Reference, contexts: tuple[Context, ...], tables: tuple[str, ...]) -> list[str]:
    kinds = {one.kind for one in contexts}
    beside = kinds <= {"introduction", "related", "abstract", "conclusion"}
    theirs = [one for one in contexts if one.kind in ("method", "experiment")]
    pattern = phrases("sentences")
    compared = [one for one in contexts if pattern["baseline"].search(one.sentence.text)]
    holds = {
        "named in a table": tables,
        "a baseline": any(one.kind != "related" for one in compared),
        "built upon": any(pattern["extends"].search(one.sentence.text) for one in contexts),
        "cited in the method": "method" in kinds,
        "cited in the experiments": "experiment" in kinds,
        "cited alone": any(len(one.sentence.cites) == 1 for one in theirs),
        "generic": pattern["generic"].search(reference.title or reference.text),
        "in passing": len(contexts) == 1 and beside and not tables,
    }
    return [reason for reason, true in holds.items() if true]
