"""The part of a paper that bears on a task, as prompts have it: the same text in every question of
a step.

Read by all: the paper without its bibliography, thanks and statements. Given to anyone who writes
code: of a narrowed task only the sections that criteria or the review rest on; of the others the
headings; and where these are still long, of their paragraphs only those that something rests on,
with their neighbours. Formulas are written without the spaces that converters put between all
signs: quotes are compared without spaces.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from reenact.intake.papers.paper import Figure, Paper, Paragraph, Section, Sentence
from reenact.paper.options import Goal

SILENT = re.compile(
    r"(?i)^\W*(?:references|bibliography|acknowledge?ments?|author contributions?|funding|ethics "
    r"statement"
    r"|broader impacts?|impact statement)\b"
)
"""Sections that are not about the method."""
LEFT_OUT = "(left out: nothing that is asked for rests on it)"
SHORTENED = "(of this section only what is asked for rests on, with what is next to it)"
LONG = 48_000
"""Characters of the sections beyond which paragraphs of them are left out."""
PORTION = 12000
"""Characters of the paper that one question holds; a single longer block is asked about alone."""
_MATHS = re.compile(r"\$\$?[^$]+\$\$?")
_COMMAND_END = re.compile(r"(\\[A-Za-z]+) (?=[A-Za-z])")
_BETWEEN = re.compile(r"(?<![\\A-Za-z]) +| +(?![A-Za-z])")
ADDED = "added"
"""Id of the section that holds what is not the paper's own."""


def compact(text: str) -> str:
    """The same with formulas such as `1 0 ^ { - 4 }` written as `10^{-4}`."""

    def tight(maths: re.Match[str]) -> str:
        # No space that LaTeX would not need: one stays between a command and a letter, and between
        # words.
        kept = _COMMAND_END.sub(
            "\\1\0",
            " ".join(maths.group().split()),
        )
        return _BETWEEN.sub("", kept).replace("\0", " ")

    return _MATHS.sub(tight, text)


def with_added(paper: Paper, goal: Goal) -> Paper:
    """The paper, and at its end what authors or user add and ask for: facts may rest on that
    too.
    """
    lines = [" ".join(line.split()) for line in f"{goal.addendum}\n{goal.instruction}".splitlines()]
    named = (
        (f"{ADDED}:{number}", line) for number, line in enumerate(filter(None, lines), start=1)
    )
    blocks = tuple(
        Paragraph(
            name,
            (Sentence(f"{name}.1", line),),
        )
        for name, line in named
    )
    if not blocks:
        return paper
    return replace(
        paper,
        sections=(
            *paper.sections,
            Section(ADDED, 1, "Added by authors or user", blocks),
        ),
    )


def read_text(paper: Paper) -> str:
    """The whole paper but for sections that are not about its work."""
    kept = tuple(one for one in paper.sections if not SILENT.match(one.title))
    return compact(replace(paper, sections=kept).text())


def bearing_text(
    paper: Paper,
    places: Iterable[str],
    hide: frozenset[str],
) -> str:
    """The paper without its results; of sections that none of the places lies in the heading alone.
    Without any place nothing is left out but what is not about the work.
    """
    places = frozenset(places)
    text = _sections_text(paper, places, hide)
    if not places or len(text) <= LONG:
        return text
    blocks = set(map(block_of, places))
    short = tuple(_shortened(section, blocks) for section in paper.sections)
    return _sections_text(replace(paper, sections=short), places, hide)


def block_of(place: str) -> str:
    """The paragraph, formula or table in which a place lies."""
    section, _, inside = place.partition(":")
    return f"{section}:{inside.partition('.')[0]}"


def _shortened(section: Section, blocks: set[str]) -> Section:
    """A section without paragraphs and figures that are neither wanted nor next to what is.
    Formulas, tables and algorithms stay: they define.
    """
    wanted = [at for at, one in enumerate(section.blocks) if one.id in blocks]
    near = {other.id for at in wanted for other in section.blocks[max(0, at - 1) : at + 2]}
    kept = tuple(
        one for one in section.blocks if one.id in near or not isinstance(one, Paragraph | Figure)
    )
    if len(kept) == len(section.blocks) or f"{section.id}:" in blocks:
        return section
    mark = Paragraph(
        f"{section.id}:0",
        (Sentence(f"{section.id}:0.1", SHORTENED),),
    )
    return replace(section, blocks=(mark, *kept))


def _sections_text(
    paper: Paper,
    places: frozenset[str],
    hide: frozenset[str],
) -> str:
    wanted = {place.partition(":")[0] for place in places}
    lines = [f"# {paper.title}"]
    for section in (one for one in paper.sections if not SILENT.match(one.title)):
        alone = replace(paper, title="", sections=(section,)).text(hide=hide).partition("\n\n")[2]
        left_out = wanted and section.id not in wanted and section.blocks
        lines.append(f"{section.heading}\n\n{LEFT_OUT}" if left_out else alone)
    return compact("\n\n".join(lines))


def portions(paper: Paper) -> Iterator[tuple[str, set[str]]]:
    """The paper in portions, whole blocks each, never without the heading that they are
    under, with ids.
    """
    lines: list[str] = []
    ids: set[str] = set()
    spoken = [section for section in paper.sections if not SILENT.match(section.title)]
    for head, block in ((section.heading, block) for section in spoken for block in section.blocks):
        if isinstance(block, Figure) and not block.caption:
            continue
        parts = block.sentences if isinstance(block, Paragraph) else (block,)
        words = " ".join(f"[{one.id}] {compact(one.text)}" for one in parts)
        if ids and sum(map(len, lines)) + len(words) > PORTION:
            yield "\n\n".join(lines), ids
            lines = []
            ids = set()
        lines += [words] if head in lines else [head, words]
        ids |= {block.id, *(one.id for one in parts)}
    if ids:
        yield "\n\n".join(lines), ids
