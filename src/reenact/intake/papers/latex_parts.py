r"""LaTeX that pandoc refuses as a whole, section by section: what breaks one section costs that one alone.

A section that is refused too comes as its bare words, and that is told.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from reenact.intake.papers.detex import detex, group
from reenact.intake.papers.latex_tables import HEADS
from reenact.intake.papers.pandoc import LIMITS, Parsed, parse
from reenact.intake.papers.paper import Lost
from reenact.sandbox.box import Sandbox

MOST_PARTS = 60
PART = replace(LIMITS, wall_s=20.0)
"""Time for one section: sixty of them may not take an hour."""
_BEGIN = re.compile(r"\\begin\s*\{document\}")
_END = re.compile(r"\\end\s*\{document\}")
_SECTION = re.compile(r"(?=\\(?:sub){0,2}section\*?\s*[\[{])")
_HEADING = re.compile(r"\\(?P<sub>(?:sub){0,2})section\*?\s*(?:\[[^\]]{0,300}\])?\s*(?=\{)")
_DISPLAYED = re.compile(
    r"\\begin\{(?P<kind>(?:equation|align|gather|multline|eqnarray)\*?)\}.{1,6000}?\\end\{(?P=kind)\}"
    r"|\\\[.{1,6000}?\\\]|\$\$.{1,6000}?\$\$",
    re.S,
)
_FRAME = re.compile(r"\\(?:begin|end)\s*\{[^{}]*\}(?:\s*\[[^\]]{0,100}\])?(?:\{l+\})?|\\(?:centering|item)\b")


def parse_parts(text: str, *, box: Sandbox, name: str) -> tuple[Parsed, tuple[Lost, ...]]:
    """The trees of all sections as one, and a note for each that came as bare words."""
    begin = _BEGIN.search(text)
    preamble, body = (text[: begin.end()], text[begin.end() :]) if begin else ("", text)
    end = _END.search(body)
    parts = _SECTION.split(body[: end.start()] if end else body)
    meta: dict[str, Any] = {}
    blocks: list[Any] = []
    skipped: list[str] = []
    lost: list[Lost] = []
    for number, part in enumerate(parts):
        found = (
            parse(f"{preamble}\n{part}\n\\end{{document}}", "latex", box=box, name=name, limits=PART)
            if number < MOST_PARTS
            else None
        )
        if found is not None and not found.problem:
            meta = {**found.meta, **meta}
            blocks += found.blocks
            skipped += found.skipped
            continue
        bare = list(_bare(part))
        blocks += bare
        if bare:
            why = found.problem if found is not None else f"the paper has more than {MOST_PARTS} sections"
            lost.append(
                Lost("text", f"A section came as bare words, without its tables: {why}.", _title(part))
            )
    return Parsed(meta, tuple(blocks), tuple(dict.fromkeys(skipped)), ""), tuple(lost)


def _title(part: str) -> str:
    heading = _HEADING.match(part)
    return detex(group(part, heading.end())[0]) if heading else ""


def _bare(part: str) -> Iterator[dict[str, Any]]:
    """A heading, paragraphs and displayed formulas, as pandoc would tell them."""
    heading = _HEADING.match(part)
    if heading:
        title, end = group(part, heading.end())
        yield {"t": "Header", "c": [heading["sub"].count("sub") + 1, ["", [], []], [_words(title)]]}
        part = part[end:]
    for paragraph in re.split(r"\n[ \t]*\n", part):
        at = 0
        nodes: list[dict[str, Any]] = []
        for shown in _DISPLAYED.finditer(paragraph):
            nodes += [_words(paragraph[at : shown.start()]), _formula(shown[0])]
            at = shown.end()
        nodes.append(_words(paragraph[at:]))
        yield {"t": "Para", "c": nodes}


def _words(text: str) -> dict[str, Any]:
    return {"t": "Str", "c": f" {detex(_FRAME.sub(' ', HEADS.sub('', text)))} "}


def _formula(shown: str) -> dict[str, Any]:
    latex = shown.removeprefix("$$").removesuffix("$$").removeprefix("\\[").removesuffix("\\]")
    return {"t": "Math", "c": [{"t": "DisplayMath"}, latex]}
