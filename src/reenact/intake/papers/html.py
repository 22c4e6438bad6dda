"""HTML -> Draft: pages that LaTeXML makes (arXiv, ar5iv) and ordinary ones, with their formulas as LaTeX.

A script in the sandbox leaves out what no reader sees and rewrites what pandoc would lose; pandoc reads the
rest.
"""

from __future__ import annotations

from reenact.intake.papers.assemble import Draft
from reenact.intake.papers.pandoc import parse, read_by
from reenact.intake.papers.paper import Lost
from reenact.intake.papers.pictures import Pictures
from reenact.intake.papers.references import keyed, reference_of
from reenact.intake.papers.tree import Walk
from reenact.sandbox.box import Sandbox


def read_html(text: str, name: str, pictures: Pictures, *, box: Sandbox) -> Draft:
    """The paper on a page."""
    given = text.encode("utf-8", "replace")
    page = read_by("html_page", "page.json", name=name, box=box, stdin=given)
    references = tuple(
        reference_of(key, entry) if key else keyed(entry, number)
        for number, (key, entry) in enumerate(page["references"], start=1)
        if key or entry
    )
    walk = Walk(pictures, keys=frozenset(one.key for one in references))
    pieces = tuple(walk.pieces(parse(page["page"], "html", box=box, name=name).blocks))
    lost = [
        *(Lost("equation", f"A formula came without its LaTeX: {words!r}.") for words in page["formulas"]),
        *(Lost("macro", f"Nobody defined {name} when the page was made.") for name in page["macros"]),
        *walk.lost,
        *pictures.lost,
    ]
    if page["unseen"]:
        lost.append(Lost("text", f"Elements that no reader would see were left out: {page['unseen']}."))
    return Draft(
        "html",
        pieces,
        title=page["title"],
        authors=tuple(page["authors"]),
        references=references,
        lost=tuple(lost),
        texts={name: text},
    )
