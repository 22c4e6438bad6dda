"""LaTeX -> Draft: all files as one text, what pandoc would lose kept aside, the rest through its tree."""

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import islice, takewhile
from pathlib import Path
from typing import Any

from reenact.errors import UnreadablePaper
from reenact.intake.papers.assemble import Draft, Piece
from reenact.intake.papers.bibliography import cut_list, read_bibitems, read_bibtex
from reenact.intake.papers.latex_files import DOCUMENT, DOCUMENT_END, Files, find_main, flatten
from reenact.intake.papers.latex_macros import detex, group, regrouped
from reenact.intake.papers.latex_prepare import (
    ELSEWHERE,
    USUAL,
    definitions,
    keep_arguments,
    local_styles,
    prepare,
    skipped_drawings,
    skipped_frames,
    unknown_commands,
    without_frames,
)
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
_CITE = re.compile(r"\\[A-Za-z]{0,20}[cC]ite[A-Za-z]{0,20}\*?\s*(?:\[[^\]]{0,300}\]){0,2}\s*\{([^{}]*)\}")
_GRAPHICS = re.compile(r"\\graphicspath\s*\{((?:\s*\{[^{}]*\}){1,20})\s*\}")
_TABULAR = re.compile(r"\\begin\s*\{(?:tabular[x*y]?|longtable|tabulary|NiceTabular)\}")


def read_latex(folder: Path, main: str, *, box: Sandbox, source: str) -> Draft:
    """The paper in a folder of LaTeX; the main file is looked for when none is named."""
    files = Files(folder)
    main = main or find_main(files, source)
    text = flatten(files, main)
    if not DOCUMENT.search(text):
        raise UnreadablePaper(
            f"The LaTeX has no \\begin{{document}}: it is a part of a paper, or none. Received: {source}",
            next_step="Name the main file, or the folder that holds it.",
        )
    body, listed = cut_list(text)
    references = tuple(_references(files, main, text, listed))
    made = prepare(_with_styles(files, main, body))
    parsed, unknown, broken = _parsed(made.text, box, source)
    pictures = Pictures(folder, beside=_picture_folders(main, text))
    walk = Walk(pictures, made.stored)
    pieces = tuple(walk.pieces(parsed.blocks))
    abstract = tuple(_meta_blocks(walk, parsed.meta.get("abstract")))
    pieces, undrawn = drawn(pieces, pictures.waiting, box=box)
    lost = [
        *files.lost,
        *walk.lost,
        *pictures.lost,
        *undrawn,
        *broken,
        *_unknown(unknown),
        *(Lost("macro", f"{name} {MACHINERY}", name) for name in (f"\\{one}" for one in made.machinery)),
        *(
            Lost("figure", f"Pictures that the source draws with {name} cannot be shown.", name)
            for name in skipped_drawings(parsed.skipped)
        ),
        *_tables(made.text, (*abstract, *pieces)),
    ]
    return Draft(
        "latex",
        pieces,
        title=walk.line(_meta(parsed.meta.get("title"), "MetaInlines", "Note")) or title_in(text),
        authors=tuple(_authors(walk, parsed.meta.get("author"))) or tuple(authors_in(text)),
        abstract=abstract,
        references=references,
        lost=tuple(lost),
    )


def _parsed(text: str, box: Sandbox, source: str) -> tuple[Parsed, dict[str, bool], tuple[Lost, ...]]:
    """Pandoc's tree; a second look when commands that nobody defines cost words in the first."""
    text, parsed, lost = _opened(text, box, source)
    unknown = unknown_commands(parsed.skipped)
    if any(words or name in USUAL for name, words in unknown.items()):
        _, parsed, again = _opened(keep_arguments(text, unknown), box, source)
        lost = (*(one for one in lost if one.kind == FRAME), *again)
    return parsed, unknown, lost


def _opened(text: str, box: Sandbox, source: str) -> tuple[str, Parsed, tuple[Lost, ...]]:
    """Pandoc's tree; without the environments that it would skip with all that stands in them."""
    parsed, lost = _whole_or_parts(text, box, source)
    opened: list[Lost] = []
    for _ in range(FRAMES):
        frames = skipped_frames(parsed.skipped)
        if not frames:
            break
        opened += [
            Lost(FRAME, f"The environment {name} was not understood: its words stand without it.", name)
            for name in frames
        ]
        text = without_frames(text, frames)
        parsed, lost = _whole_or_parts(text, box, source)
    return text, parsed, (*opened, *lost)


def _whole_or_parts(text: str, box: Sandbox, source: str) -> tuple[Parsed, tuple[Lost, ...]]:
    parsed = parse(text, "latex", box=box, name=source)
    return parse_parts(text, box=box, name=source) if parsed.problem else (parsed, ())


def _unknown(commands: Mapping[str, bool]) -> Iterator[Lost]:
    for name, words in commands.items():
        kept = "its first argument stands for it" if words else "it was left out"
        why = f"\\{name} is out of its place" if name in ELSEWHERE else f"Nobody defines \\{name}"
        if name not in USUAL:
            yield Lost("macro", f"{why}: {kept}.", f"\\{name}")


def _tables(source: str, pieces: Iterable[Piece]) -> Iterator[Lost]:
    """A table that collapsed is worth a word: its numbers are what papers are about."""
    written = len(_TABULAR.findall(source.partition("\\begin{document}")[2]))
    read = sum(isinstance(piece, Table) and len(piece.rows) > 0 for piece in pieces)
    if read < written:
        yield Lost("table", f"{written - read} of {written} tables were not understood as cells.")


def _with_styles(files: Files, main: str, text: str) -> str:
    """Definitions of the paper's own style files in front of the document."""
    folder = posixpath.dirname(main)
    paths = (posixpath.join(folder, name) for name in local_styles(text))
    styles = (files.text(path) for path in paths if (files.folder / path).is_file())
    return "\n".join((*(definitions(style) for style in styles if style), text))


def _picture_folders(main: str, text: str) -> tuple[str, ...]:
    folder = posixpath.dirname(main)
    here = f"{folder}/" if folder else ""
    named = [inner for found in _GRAPHICS.findall(text) for inner in re.findall(r"\{([^{}]*)\}", found)]
    return tuple(dict.fromkeys((here, *(here + inner.strip().removeprefix("./") for inner in named))))


def _references(files: Files, main: str, text: str, listed: str) -> Iterator[Reference]:
    """From the list in the text, the .bib files that it names (what is cited of them), the .bbl beside it."""
    if listed:
        yield from read_bibitems(listed)
    folder, stem = posixpath.dirname(main), posixpath.splitext(main)[0]
    beside = files.first((f"{stem}.bbl", *files.names(".bbl")))
    cited = {key.strip() for keys in _CITE.findall(text) for key in keys.split(",")}
    everything = "*" in cited
    named = [name.strip() for found in _BIB.findall(text) for name in found.split(",") if name.strip()]
    for name in named:
        path = posixpath.normpath(posixpath.join(folder, name if name.endswith(".bib") else f"{name}.bib"))
        bib = files.text(path)
        if bib is not None:
            yield from (one for one in read_bibtex(bib) if everything or one.key in cited)
        elif not listed and beside is None:
            files.lost.append(Lost("file", f"The bibliography {name[:200]} is not among the files.", path))
    if beside is not None and not listed:
        yield from read_bibitems(beside[1])


def _meta(meta: Any, kind: str, *without: str) -> list[Any]:
    """What an entry of that kind holds, but for some kinds of elements; nothing for another entry."""
    return [one for one in meta["c"] if one["t"] not in without] if meta and meta["t"] == kind else []


def _meta_blocks(walk: Walk, meta: Any) -> Iterator[Piece]:
    nodes = _meta(meta, "MetaInlines")
    return walk.pieces([{"t": "Para", "c": nodes}] if nodes else _meta(meta, "MetaBlocks"))


def _authors(walk: Walk, meta: Any) -> Iterator[str]:
    """Names stand on the first line; what follows is where they work."""
    for entry in _meta(meta, "MetaList"):
        nodes = _meta(entry, "MetaInlines", "Note", "Superscript", "Math")
        first = takewhile(lambda node: node["t"] != "LineBreak", nodes)
        yield from _people(walk.line(first))


def _people(names: str) -> Iterator[str]:
    """Names one by one, without marks and addresses of mail."""
    for name in re.split(r",|\\and\b|\band\b", names):
        words = detex(name).strip(" *†‡,;")
        if words and "@" not in words:
            yield words


MOST_AUTHORS = 500
LONGEST = 2000
_TITLE = re.compile(r"\\(?:icml|neurips|acl)?[tT]itle\*?\s*(?:\[[^\]]{0,300}\])?\s*(?=\{)")
_NAMED = re.compile(r"\\(?:icmlauthor|authorname|IEEEauthorblockN)\s*(?=\{)")
_NOTES = re.compile(
    r"\\(?:thanks|footnote|footnotemark|textsuperscript|inst|orcidID|email)\s*(?:\[[^\]]{0,40}\])?\s*(?=\{)"
)


def title_in(text: str) -> str:
    """The title; empty when there is none."""
    found = _TITLE.search(text)
    return detex(_cut_notes(group(text, found.end(), LONGEST)[0])) if found else ""


def authors_in(text: str) -> Iterator[str]:
    """Authors that have a command of their own each."""
    for found in islice(_NAMED.finditer(text), MOST_AUTHORS):
        yield from _people(_cut_notes(group(text, found.end(), LONGEST)[0]))


def _cut_notes(text: str) -> str:
    return regrouped(text, _NOTES, lambda *_: "")


MOST_PARTS = 60
PART = replace(LIMITS, wall_s=20.0)
"""Time for one section: sixty of them may not take an hour."""
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
    begin = DOCUMENT.search(text)
    preamble, body = (text[: begin.end()], text[begin.end() :]) if begin else ("", text)
    end = DOCUMENT_END.search(body)
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
