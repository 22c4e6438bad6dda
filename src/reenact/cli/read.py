"""`reenact read PAPER`: what a paper holds as reenact sees it, and what of it did not come
through.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import click

from reenact.cli.help import command
from reenact.cli.options import echo, shared, show
from reenact.report.document import Diagnostic, Document, Facts, Level
from reenact.result import encoded
from reenact.types import ExitCode, JsonValue, Table

if TYPE_CHECKING:
    from reenact.intake.papers.paper import Block, Paper

CODE = "PA001"
NAME = "lost-in-reading"


@command()
@click.option("--text", is_flag=True, help="Print the paper as numbered text instead.")
@click.option("--offline", is_flag=True, help="Ask no server; know only what was fetched before.")
@click.option("--sandbox", help="Tier that runs the parsers; default: the best one here.")
@shared("trust-code", "output-format")
@click.argument("paper")
def read(
    paper: str,
    text: bool,
    offline: bool,
    output_format: str,
    **given: Any,
) -> ExitCode:
    """Read a paper and show its outline, what it holds, and what was lost in reading.

    PAPER is an arXiv id or address, a PDF, LaTeX (folder, archive or file), HTML, Markdown or plain
    text.
    """
    from reenact.api.session import open_session
    from reenact.cli.calling import calling

    with (
        calling() as stop,
        open_session(
            {
                **given,
                "cancel": stop,
            }
        ) as session,
    ):
        found = session.paper(paper, offline=offline)
    if text:
        echo(found.text())
        return ExitCode.OK
    show(paper_document(found), output_format)
    return ExitCode.OK


def paper_document(paper: Paper) -> Document:
    """Outline, counts and losses."""
    counts = counts_of(paper)
    parts = ", ".join(
        f"{number} {name if number != 1 else name[:-1]}" for name, number in counts.items()
    )
    authors = ", ".join(paper.authors)
    lost = "nothing was lost in reading"
    if paper.lost:
        lost = f"lost in reading: {len(paper.lost)}"
    gone = (
        (
            one.kind,
            f"{one.what} [{one.where}]" if one.where else one.what,
        )
        for one in paper.lost
    )
    notices = tuple(
        Diagnostic(
            CODE,
            NAME,
            Level.NOTE,
            what,
            aside=kind,
        )
        for kind, what in gone
    )
    cited = (
        (
            one,
            ", ".join(one.cited_in[:6]) or "-",
        )
        for one in paper.references
    )
    references = tuple(
        (
            one.key,
            one.title or one.text[:80],
            str(one.year or "-"),
            at,
        )
        for one, at in cited
    )
    blocks = (
        Facts(
            "",
            (
                ("authors", authors or "-"),
                ("source", paper.source),
                ("form", paper.form),
            ),
        ),
        Table(
            "Outline",
            ("section", "title", "sentences", "also"),
            tuple(_outline(paper)),
        ),
        Table("References", ("key", "title", "year", "cited in"), references),
    )
    title = f"Paper: {paper.title}"
    verdict = f"{parts}; {lost}."
    data = _data(paper, counts)
    return Document(
        "read",
        title=title,
        verdict=verdict,
        blocks=blocks,
        diagnostics=notices,
        data=data,
    )


def counts_of(paper: Paper) -> dict[str, int]:
    """How many of each kind there are."""
    kinds = Counter(type(block).__name__ for block in paper.blocks())
    return {
        "sections": len(paper.sections),
        "sentences": sum(1 for _ in paper.sentences()),
        "equations": kinds["Equation"],
        "tables": kinds["Table"],
        "figures": kinds["Figure"],
        "algorithms": kinds["Algorithm"],
        "references": len(paper.references),
    }


def _outline(paper: Paper) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for section in paper.sections:
        kinds = Counter(type(block).__name__.lower() for block in section.blocks)
        sentences = sum(len(getattr(block, "sentences", ())) for block in section.blocks)
        also = ", ".join(f"{count} {kind}" for kind, count in kinds.items() if kind != "paragraph")
        rows.append(
            (
                section.id,
                f"{'  ' * (section.level - 1)}{section.title}",
                str(sentences),
                also or "-",
            )
        )
    return rows


def _data(paper: Paper, counts: dict[str, int]) -> JsonValue:
    head = {name: encoded(getattr(paper, name)) for name in ("title", "authors", "source", "form")}
    sections: list[JsonValue] = [
        {
            "id": one.id,
            "level": one.level,
            "title": one.title,
            "blocks": list(map(_block, one.blocks)),
        }
        for one in paper.sections
    ]
    tail = {name: encoded(getattr(paper, name)) for name in ("references", "lost")}
    return {
        **head,
        "counts": counts,
        "sections": sections,
        **tail,
    }


def _block(block: Block) -> JsonValue:
    kind = type(block).__name__.lower()
    label = getattr(block, "label", "")
    caption = getattr(block, "caption", "")
    return {
        "id": block.id,
        "kind": kind,
        "label": label,
        "caption": caption,
        "text": block.text,
    }
