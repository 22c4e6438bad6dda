"""HTML -> Draft: pages that LaTeXML makes (arXiv, ar5iv) and ordinary ones, with their formulas as LaTeX.

A script in the sandbox leaves out what no reader sees and rewrites what pandoc would lose; pandoc reads the
rest.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from typing import Any

from reenact.errors import MissingExtra
from reenact.intake.papers.assemble import Draft
from reenact.intake.papers.pandoc import parse, result_json, run_script
from reenact.intake.papers.paper import Lost
from reenact.intake.papers.pictures import Pictures
from reenact.intake.papers.references import keyed, reference_of
from reenact.intake.papers.tree import Walk
from reenact.sandbox.box import Sandbox


def read_html(text: str, name: str, pictures: Pictures, *, box: Sandbox) -> Draft:
    """The paper on a page."""
    page = _page(text, name, box)
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


def _page(text: str, name: str, box: Sandbox) -> Mapping[str, Any]:
    if importlib.util.find_spec("selectolax") is None:
        raise MissingExtra("selectolax", "papers")
    given = text.encode("utf-8", "replace")
    result = run_script("html_page", box=box, name=name, stdin=given, collect=("page.json",))
    return result_json(result, "page.json", name)
