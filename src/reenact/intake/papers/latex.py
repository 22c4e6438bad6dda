"""LaTeX -> Draft: all files as one text, what pandoc would lose kept aside, the rest through
its tree.
"""

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import islice, takewhile
from pathlib import Path
from typing import Any

from reenact.errors import UnreadablePaper
from reenact.intake.papers import latex_prepare as ready
from reenact.intake.papers.assemble import Draft
from reenact.intake.papers.bibliography import cut_list, read_bibitems, read_bibtex
from reenact.intake.papers.latex_files import (
    DOCUMENT,
    DOCUMENT_END,
    Files,
    find_main,
    flatten,
)
from reenact.intake.papers.latex_macros import detex, group, regrouped
from reenact.intake.papers.pandoc import LIMITS, Parsed, parse
from reenact.intake.papers.paper import Lost, Reference, Table
from reenact.intake.papers.pictures import Pictures, drawn
from reenact.intake.papers.tables import HEADS
from reenact.intake.papers.tree import Walk
from reenact.sandbox.box import Sandbox

FRAMES = 3
"""Environments around one another that may be taken off."""
FRAME = "environment"
MACHINERY = "is made in a way that only TeX follows: its arguments stand for it."
_BIB = re.compile(r"\\(?:bibliography|addbibresource)\s*(?:\[[^\]]{0,200}\])?\s*\{([^{}]*)\}")
_CITE = re.compile(
    r"\\[A-Za-z]{0,20}[cC]ite[A-Za-z]{0,20}\*?\s*(?:\[[^\]]{0,300}\]){0,2}\s*\{([^{}]*)\}"
)
_GRAPHICS = re.compile(r"\\graphicspath\s*\{((?:\s*\{[^{}]*\}){1,20})\s*\}")
_TABULAR = re.compile(r"\\begin\s*\{(?:tabular[x*y]?|longtable|tabulary|NiceTabular)\}")
MOST_AUTHORS = 500
LONGEST = 2000
_TITLE = re.compile(r"\\(?:icml|neurips|acl)?[tT]itle\*?\s*(?:\[[^\]]{0,300}\])?\s*(?=\{)")
_NAMED = re.compile(r"\\(?:icmlauthor|authorname|IEEEauthorblockN)\s*(?=\{)")
_NOTES = re.compile(
    r"\\(?:thanks|footnote|footnotemark|textsuperscript|inst|orcidID|email)\s*(?:\[[^\]]{0,40}\])?\s*(?=\{)"
)
MOST_PARTS = 60
PART = replace(LIMITS, wall_s=20.0)
"""Time for one section: sixty of them may not take an hour."""
_SECTION = re.compile(r"(?=\\(?:sub){0,2}section\*?\s*[\[{])")
_HEADING = re.compile(r"\\(?P<sub>(?:sub){0,2})section\*?\s*(?:\[[^\]]{0,300}\])?\s*(?=\{)")
_DISPLAYED = re.compile(
    r"(?s)\\begin\{(?P<kind>(?:equation|align|gather|multline|eqnarray)\*?)\}.{1,6000}?\\end\{(?P=kind)\}"
    r"|\\\[.{1,6000}?\\\]|\$\$.{1,6000}?\$\$"
)
_FRAME = re.compile(
    r"\\(?:begin|end)\s*\{[^{}]*\}(?:\s*\[[^\]]{0,100}\])?(?:\{l+\})?|\\(?:centering|item)\b"
)


def read_latex(folder: Path, main: str, *, box: Sandbox, source: str) -> Draft:
    """The paper in a folder of LaTeX; the main file is looked for when none is named."""
    files = Files(folder)
    main = main or find_main(files, source)
    text = flatten(files, main)
    if not DOCUMENT.search(text):
        why = (
            f"The LaTeX has no \\begin{{document}}: it is a part of a paper, or none. Received: "
            f"{source}"
        )
        raise UnreadablePaper(why, next_step="Name the main file, or the folder that holds it.")
    body, listed = cut_list(text)
    references = tuple(_references(files, main, text, listed))
    here = f"{posixpath.dirname(main)}/".lstrip("/")
    # Definitions of the paper's own style files stand in front of the document.
    asked = (
        f"{here}{name.strip()}.sty"
        for names in ready.STYLE.findall(body)
        for name in names.split(",")
    )
    styles = (files.text(one) for one in asked if (folder / one).is_file())
    made = ready.prepare(
        "\n".join(
            (
                *(ready.definitions(style) for style in styles if style),
                body,
            )
        )
    )
    parsed, unknown, broken = _parsed(made.text, box, source)
    named = [
        inner for found in _GRAPHICS.findall(text) for inner in re.findall(r"\{([^{}]*)\}", found)
    ]
    beside = (
        here,
        *(here + inner.strip().removeprefix("./") for inner in named),
    )
    pictures = Pictures(
        folder,
        beside=tuple(dict.fromkeys(beside)),
    )
    walk = Walk(pictures, made.stored)
    pieces = tuple(walk.pieces(parsed.blocks))
    nodes = _meta(parsed.meta.get("abstract"), "MetaInlines")
    blocks = (
        [
            {
                "t": "Para",
                "c": nodes,
            }
        ]
        if nodes
        else _meta(parsed.meta.get("abstract"), "MetaBlocks")
    )
    abstract = tuple(walk.pieces(blocks))
    pieces, undrawn = drawn(pieces, pictures.waiting, box=box)
    lost = [
        *files.lost,
        *walk.lost,
        *pictures.lost,
        *undrawn,
        *broken,
        *_unknown(unknown),
    ]
    lost += [
        Lost(
            "macro",
            f"\\{name} {MACHINERY}",
            f"\\{name}",
        )
        for name in made.machinery
    ]
    for name in ready.skipped_drawings(parsed.skipped):
        lost.append(
            Lost(
                "figure",
                f"Pictures that the source draws with {name} cannot be shown.",
                name,
            )
        )
    # A table that collapsed is worth a word: its numbers are what papers are about.
    written = len(_TABULAR.findall(made.text.partition("\\begin{document}")[2]))
    read = sum(isinstance(piece, Table) and len(piece.rows) > 0 for piece in (*abstract, *pieces))
    if read < written:
        lost.append(
            Lost(
                "table",
                f"{written - read} of {written} tables were not understood as cells.",
            )
        )
    command = _TITLE.search(text)
    titled = detex(_argument(text, command.end())) if command else ""
    title = (
        walk.line(
            _meta(
                parsed.meta.get("title"),
                "MetaInlines",
                "Note",
            )
        )
        or titled
    )
    authors = tuple(
        _authors(
            walk,
            parsed.meta.get("author"),
            text,
        )
    )
    return Draft(
        "latex",
        pieces=pieces,
        title=title,
        authors=authors,
        abstract=abstract,
        references=references,
        lost=tuple(lost),
    )


def _parsed(
    text: str, box: Sandbox, source: str
) -> tuple[Parsed, dict[str, bool], tuple[Lost, ...]]:
    """Pandoc's tree; a second look when commands that no one defines cost words in the first."""
    text, parsed, lost = _opened(text, box, source)
    unknown = ready.unknown_commands(parsed.skipped)
    if any(words or name in ready.USUAL for name, words in unknown.items()):
        _, parsed, again = _opened(
            ready.keep_arguments(text, unknown),
            box,
            source,
        )
        lost = (
            *(one for one in lost if one.kind == FRAME),
            *again,
        )
    return parsed, unknown, lost


def _opened(
    text: str,
    box: Sandbox,
    source: str,
) -> tuple[str, Parsed, tuple[Lost, ...]]:
    """Pandoc's tree; without the environments that it would skip with all that stands in them."""
    opened: list[Lost] = []
    for left in reversed(range(FRAMES + 1)):
        parsed = parse(text, "latex", box=box, name=source)
        lost: tuple[Lost, ...] = ()
        if parsed.problem:
            parsed, lost = parse_parts(text, box=box, name=source)
        frames = ready.skipped_frames(parsed.skipped) if left else ()
        if not frames:
            break
        why = "was not understood: its words are without it."
        for name in frames:
            opened.append(
                Lost(
                    FRAME,
                    f"The environment {name} {why}",
                    name,
                )
            )
        either = "|".join(map(re.escape, frames))
        text = re.sub(
            rf"\\(?:begin|end)\s*\{{(?:{either})\}}",
            "\n\n",
            text,
        )
    return text, parsed, (*opened, *lost)


def _unknown(commands: Mapping[str, bool]) -> Iterator[Lost]:
    for name, words in commands.items():
        kept = "its first argument stands for it" if words else "it was left out"
        why = (
            f"\\{name} is out of its place"
            if name in ready.ELSEWHERE
            else f"No one defines \\{name}"
        )
        if name not in ready.USUAL:
            yield Lost(
                "macro",
                f"{why}: {kept}.",
                f"\\{name}",
            )


def _references(
    files: Files,
    main: str,
    text: str,
    listed: str,
) -> Iterator[Reference]:
    """From the list in the text, the .bib files that it names (what is cited of them), the .bbl
    next to it.
    """
    if listed:
        yield from read_bibitems(listed)
    folder = posixpath.dirname(main)
    stem = posixpath.splitext(main)[0]
    beside = files.first(
        (
            f"{stem}.bbl",
            *files.names(".bbl"),
        )
    )
    cited = {key.strip() for keys in _CITE.findall(text) for key in keys.split(",")}
    everything = "*" in cited
    named = [
        name.strip() for found in _BIB.findall(text) for name in found.split(",") if name.strip()
    ]
    for name in named:
        path = posixpath.normpath(
            posixpath.join(
                folder,
                name if name.endswith(".bib") else f"{name}.bib",
            )
        )
        bib = files.text(path)
        if bib is not None:
            yield from (one for one in read_bibtex(bib) if everything or one.key in cited)
        elif not listed and beside is None:
            files.lost.append(
                Lost(
                    "file",
                    f"The bibliography {name[:200]} is not among the files.",
                    path,
                )
            )
    if beside is not None and not listed:
        yield from read_bibitems(beside[1])


def _meta(meta: Any, kind: str, *without: str) -> list[Any]:
    """What an entry of that kind holds, but for some kinds of elements; nothing for another
    entry.
    """
    if meta and meta["t"] == kind:
        return [one for one in meta["c"] if one["t"] not in without]
    return []


def _authors(walk: Walk, meta: Any, text: str) -> list[str]:
    """Names are on the first line; what follows is where they work. Or they have a command
    each.
    """
    without = ("Note", "Superscript", "Math")
    entries = (_meta(entry, "MetaInlines", *without) for entry in _meta(meta, "MetaList"))
    lines = (
        walk.line(
            takewhile(
                lambda node: node["t"] != "LineBreak",
                nodes,
            )
        )
        for nodes in entries
    )
    commands = (
        _argument(text, found.end()) for found in islice(_NAMED.finditer(text), MOST_AUTHORS)
    )
    return _people(lines) or _people(commands)


def _people(lines: Iterable[str]) -> list[str]:
    """Names one by one, without marks and addresses of mail."""
    names = (name for line in lines for name in re.split(r",|\\and\b|\band\b", line))
    words = (detex(name).strip(" *†‡,;") for name in names)
    return [one for one in words if one and "@" not in one]


def _argument(text: str, at: int) -> str:
    """What a command of the title is given, without notes."""
    return regrouped(
        group(text, at, LONGEST)[0],
        _NOTES,
        lambda *_: "",
    )


def parse_parts(
    text: str,
    *,
    box: Sandbox,
    name: str,
) -> tuple[Parsed, tuple[Lost, ...]]:
    """The trees of all sections as one, and a note for each that came as bare words."""
    begin = DOCUMENT.search(text)
    preamble, body = (
        (
            text[: begin.end()],
            text[begin.end() :],
        )
        if begin
        else ("", text)
    )
    end = DOCUMENT_END.search(body)
    parts = _SECTION.split(body[: end.start()] if end else body)
    meta: dict[str, Any] = {}
    blocks: list[Any] = []
    skipped: list[str] = []
    lost: list[Lost] = []
    for number, part in enumerate(parts):
        found = Parsed(
            {},
            (),
            (),
            f"the paper has more than {MOST_PARTS} sections",
        )
        if number < MOST_PARTS:
            found = parse(
                f"{preamble}\n{part}\n\\end{{document}}",
                "latex",
                box=box,
                name=name,
                limits=PART,
            )
        meta = {
            **found.meta,
            **meta,
        }
        bare = []
        if found.problem:
            bare = list(_bare(part))
        blocks += [*found.blocks, *bare]
        skipped += found.skipped
        if bare:
            what = f"A section came as bare words, without its tables: {found.problem}."
            heading = _HEADING.match(part)
            lost.append(
                Lost(
                    "text",
                    what,
                    detex(group(part, heading.end())[0]) if heading else "",
                )
            )
    return Parsed(
        meta,
        tuple(blocks),
        tuple(dict.fromkeys(skipped)),
        "",
    ), tuple(lost)


def _bare(part: str) -> Iterator[dict[str, Any]]:
    """A heading, paragraphs and displayed formulas, as pandoc would tell them."""
    heading = _HEADING.match(part)
    if heading:
        title, end = group(part, heading.end())
        yield {
            "t": "Header",
            "c": [
                heading["sub"].count("sub") + 1,
                ["", [], []],
                [_words(title)],
            ],
        }
        part = part[end:]
    for paragraph in re.split(r"\n[ \t]*\n", part):
        at = 0
        nodes: list[dict[str, Any]] = []
        for shown in _DISPLAYED.finditer(paragraph):
            latex = (
                shown[0]
                .removeprefix("$$")
                .removesuffix("$$")
                .removeprefix("\\[")
                .removesuffix("\\]")
            )
            nodes.append(_words(paragraph[at : shown.start()]))
            nodes.append(
                {
                    "t": "Math",
                    "c": [{"t": "DisplayMath"}, latex],
                }
            )
            at = shown.end()
        yield {
            "t": "Para",
            "c": [*nodes, _words(paragraph[at:])],
        }


def _words(text: str) -> dict[str, Any]:
    return {
        "t": "Str",
        "c": f" {detex(_FRAME.sub(' ', HEADS.sub('', text)))} ",
    }
