"""The document as HTML: a page that may be mailed, and the parts that the live pages are made of.

Every word is escaped here. No script and no outside resource; dark and light by `style.css`.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from html import escape
from itertools import zip_longest
from pathlib import Path
from typing import Any

from reenact.plain import plain, plain_line
from reenact.report import document as doc
from reenact.report.mathml import with_formulas
from reenact.types import ExitCode, Table

STYLE = Path(__file__).parent / "style.css"
MANY = 5
"""Columns from which on a table is wide."""
TONES = {
    ExitCode.OK: "good",
    ExitCode.FOUND: "warning",
    ExitCode.INCONCLUSIVE: "note",
    ExitCode.ERROR: "error",
    ExitCode.STOPPED: "warning",
}
"""How a run ended, as the colour next to its verdict knows it."""
SIDES = {
    "@@": "hunk",
    "+++": "same",
    "---": "same",
    "+": "add",
    "-": "gone",
}
"""What a line of a diff is, by how it begins."""


def page(title: str, content: str) -> str:
    """A page around HTML that is escaped already."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f"<title>{escaped(title)}</title><style>{style()}</style></head>\n"
        f'<body><main id="main">{content}</main></body></html>\n'
    )


@cache
def style() -> str:
    """The look of every page."""
    return STYLE.read_text("utf-8")


def render(document: doc.Document) -> str:
    """Title, verdict and sections, everything escaped; the page may be mailed."""
    tone = ""
    if document.exit_code is not None:
        tone = TONES.get(document.exit_code, "")
    reused = ""
    if document.reused:
        reused = f'<p class="reused">{escaped(document.reused)}</p>'
    verdict = f'<p class="verdict {tone}">{escaped(document.verdict)}</p>'
    above = f"{reused}<h1>{escaped(document.title)}</h1>{verdict}"
    return page(
        document.title,
        f"{above}{contents(document.sections)}{blocks(document.sections)}",
    )


def contents(
    sections: Sequence[doc.Section],
    *more: tuple[str, str],
) -> str:
    """Links to the sections and to what else is on the page; nothing for a single one."""
    links = [(one.anchor, one.title) for one in sections if one.anchor and one.title]
    links += more
    if len(links) < 2:
        return ""
    listed = " ".join(
        f'<a href="#{escaped(anchor)}">{escaped(title)}</a>' for anchor, title in links
    )
    return f'<nav class="contents" aria-label="On this page">{listed}</nav>'


def blocks(shown: Iterable[doc.Block]) -> str:
    """Blocks, one after the other."""
    return "".join(PARTS[type(block)](block) for block in shown)


def _section(one: doc.Section) -> str:
    head = ""
    if one.title:
        head = f"<h2>{escaped(one.title)}</h2>"
    leads = " ".join(f'<a href="{escaped(href)}">{escaped(words)}</a>' for words, href in one.leads)
    led = f'<p class="leads">{leads}</p>' if leads else ""
    return f"<section{_id(one.anchor)}>{head}{led}{blocks(one.blocks)}</section>"


def _prose(one: doc.Text) -> str:
    if one.is_list:
        listed = [line for line in plain(one.text).split("\n") if line.strip()]
        items = "".join(f"<li>{with_formulas(line)}</li>" for line in listed)
        return _counted(
            escaped(one.title),
            len(listed),
            f"<ul>{items}</ul>",
        )
    if not one.is_diff:
        return f'{_head(one.title)}<pre tabindex="0">{escaped(one.text)}</pre>'
    lines = ""
    for line in plain(one.text).split("\n"):
        side = next(
            (word for sign, word in SIDES.items() if line.startswith(sign)),
            "same",
        )
        lines += f'<span class="{side}">{escaped(line)}\n</span>'
    return f'{_head(one.title)}<pre class="diff" tabindex="0">{lines}</pre>'


def _facts(one: doc.Facts) -> str:
    rows = ""
    for name, value in one.facts:
        # A value of several lines has the whole width.
        wide = _class("long" if "\n" in value else "")
        rows += f"<div{wide}><dt>{escaped(name)}</dt><dd>{escaped(value)}</dd></div>"
    return f'{_head(one.title)}<dl class="facts">{rows}</dl>'


def _board(one: doc.Board) -> str:
    columns = "".join(f'<th scope="col">{escaped(column)}</th>' for column in one.columns)
    # The heading of each cell: a narrow screen shows each row of a wide table as a card.
    many = "many" if len(one.columns) >= MANY else ""
    named = [f' data-label="{escaped(name)}"' if name and many else "" for name in one.columns]
    rows = ""
    for row in one.rows:
        linked = (
            _linked(
                cell,
                row.hrefs.get(at, ""),
                one.formulas,
            )
            for at, cell in enumerate(row.cells)
        )
        cells = "".join(
            f"<td{label}>{cell}</td>" for label, cell in zip_longest(named, linked, fillvalue="")
        )
        rows += f"<tr{_class(row.tone)}{_id(row.anchor)}>{cells}</tr>"
    name = escaped(one.title) or "Table"
    table = (
        f'<div class="wide" tabindex="0" role="region" aria-label="{name}"><table{_class(many)}>'
    )
    table += f"<thead><tr>{columns}</tr></thead><tbody>{rows}</tbody></table></div>"
    if one.folded:
        return _counted(name, len(one.rows), table)
    return f"{_head(one.title)}{table}"


def _counted(title: str, count: int, content: str) -> str:
    """Folded away below its title and how many there are."""
    head = f"<summary>{title} <small>{count}</small></summary>"
    return f'<details class="fold">{head}<div class="body">{content}</div></details>'


def _picture(one: doc.Picture) -> str:
    caption = ""
    if one.title:
        caption = f"<figcaption>{escaped(one.title)}</figcaption>"
    described = f"<summary>In words</summary><pre>{escaped(one.alt)}</pre>"
    words = f'<details class="words">{described}</details>' if one.alt else ""
    return f'<figure class="chart">{caption}<div class="drawing">{one.svg}</div>{words}</figure>'


def _diagnostic(one: doc.Diagnostic) -> str:
    place = _linked(plain_line(one.where), one.href) if one.where else ""
    edit = f' <a class="edit" href="{escaped(one.editor)}">open in editor</a>' if one.editor else ""
    where = f'<p class="place">{place}{edit}</p>' if place else ""
    aside = f" <small>{escaped(one.aside)}</small>" if one.aside else ""
    line = f'<pre class="line" tabindex="0">{escaped(one.source)}</pre>' if one.source else ""
    reasons = ""
    for name, reason in one.reasons:
        lines = plain(reason).split("\n")
        is_change = name in ("fix", "try", "changed") and all(
            each.startswith(doc.CHANGE) for each in lines
        )
        shown = _prose(doc.Text(reason, is_diff=True)) if is_change else escaped(reason)
        reasons += f"<div><dt>{escaped(name)}</dt><dd>{shown}</dd></div>"
    explained = (
        f'<dl class="reasons">{reasons}</dl>' if reasons else f"<p>{escaped(one.message)}</p>"
    )
    after = f'<p class="next">{escaped(one.next_step)}</p>' if one.next_step else ""
    means = (
        blocks(
            [
                doc.Fold(
                    f"What {one.code} means",
                    [doc.Text(one.help)],
                )
            ]
        )
        if one.help
        else ""
    )
    return (
        f'<article class="finding {one.level.value}"{_id(one.anchor)}>'
        f'<h3><span class="code">{escaped(one.code)}</span> {escaped(one.name)}{aside}</h3>'
        f"{where}{'' if one.href else line}{explained}{blocks(one.pictures)}{after}{means}</article>"
    )


def _fold(one: doc.Fold) -> str:
    href = escaped(one.href)
    own = f' <a class="own" href="{href}">own page</a>' if href else ""
    fetched = (
        f' hx-get="{href}" hx-trigger="toggle once" hx-target="find .body" hx-select="#bodies"'
    )
    opened = f'<details class="fold {one.tone}"{fetched if href and not one.blocks else ""}>'
    content = f'<div class="body">{blocks(one.blocks)}</div>'
    return f"{opened}<summary>{escaped(one.summary)}{own}</summary>{content}</details>"


def _beside(one: doc.Beside) -> str:
    columns = "".join(f"<div>{blocks(column)}</div>" for column in one.columns)
    return f'<div class="beside{" tall" if one.tall else ""}">{columns}</div>'


def _reading(one: doc.Reading) -> str:
    paragraphs = "".join(
        f"<h4>{escaped(part)}</h4>"
        if isinstance(part, str)
        else f"<p>{' '.join(map(_passage, part))}</p>"
        for part in one.paragraphs
    )
    return _listing("reading", one.title, paragraphs)


def _passage(one: doc.Passage) -> str:
    if not one.href:
        return f"<span{_id(one.anchor)}>{with_formulas(one.text)}</span>"
    attributes = (
        f'class="passage {one.tone}" href="{escaped(one.href)}" title="{escaped(one.note)}"'
    )
    return f"<a{_id(one.anchor)} {attributes}>{with_formulas(one.text)}</a>"


def _source(one: doc.Source) -> str:
    on = defaultdict[int, list[doc.Squiggle]](list)
    for squiggle in one.squiggles:
        on[squiggle.line].append(squiggle)
    lines = enumerate(
        plain(one.text).removesuffix("\n").split("\n"),
        start=1,
    )
    rows = "".join(
        _line(
            number,
            text,
            on[number],
            one.anchor,
        )
        for number, text in lines
    )
    return _listing("source", one.file, f"<table>{rows}</table>")


def _listing(kind: str, title: str, content: str) -> str:
    name = escaped(title)
    return (
        f'<figure class="{kind}"><figcaption>{name}</figcaption><div class="listing" tabindex="0" '
        f'role="region" aria-label="{name}">{content}</div></figure>'
    )


def _line(
    number: int,
    text: str,
    squiggles: Sequence[doc.Squiggle],
    anchor: str,
) -> str:
    tones = sorted(one.tone for one in squiggles)
    marked = f' class="marked {tones[0]}"' if tones else ""
    named = ""
    if anchor:
        named = f' id="{escaped(anchor)}-L{number}"'
    code = "".join(_pieces(text, squiggles))
    notes = {one.note: one.tone for one in squiggles if one.tone != "faint"}
    beside = "".join(
        f'<span class="note {tone}">{escaped(words)}</span>' for words, tone in notes.items()
    )
    return (
        f'<tr{named}{marked}><td class="nr">{number}</td><td><code>{code}</code>{beside}</td></tr>'
    )


def _pieces(text: str, squiggles: Sequence[doc.Squiggle]) -> Iterator[str]:
    """A line cut at its squiggles; of two that overlap the graver one is."""
    taken: list[tuple[int, int, doc.Squiggle]] = []
    for one in sorted(
        squiggles,
        key=lambda squiggle: squiggle.tone == "faint",
    ):
        start = min(one.start, len(text))
        end = min(one.end or len(text), len(text))
        if start < end and all(end <= begun or start >= ended for begun, ended, _ in taken):
            taken.append((start, end, one))
    at = 0
    for start, end, one in sorted(
        taken,
        key=lambda piece: piece[0],
    ):
        href = ""
        if one.href:
            href = f' href="{escaped(one.href)}"'
        link = f'<a class="squiggle {one.tone}"{href} title="{escaped(one.note)}">'
        yield f"{escaped(text[at:start])}{link}{escaped(text[start:end])}</a>"
        at = end
    yield escaped(text[at:])


def _table(table: Table) -> str:
    rows = [doc.Row(cells) for cells in table.rows]
    return _board(doc.Board(table.title, table.columns, rows))


PARTS: dict[type, Callable[[Any], str]] = {
    doc.Section: _section,
    doc.Text: _prose,
    doc.Facts: _facts,
    doc.Board: _board,
    doc.Picture: _picture,
    doc.Diagnostic: _diagnostic,
    Table: _table,
    doc.Fold: _fold,
    doc.Beside: _beside,
    doc.Reading: _reading,
    doc.Source: _source,
}


def _head(title: str) -> str:
    return f"<h3>{escaped(title)}</h3>" if title else ""


def _linked(words: str, href: str, formulas: bool = False) -> str:
    shown = with_formulas(words) if formulas else escaped(words)
    if href:
        return f'<a href="{escaped(href)}">{shown}</a>'
    return shown


def _id(anchor: str) -> str:
    return f' id="{escaped(anchor)}"' if anchor else ""


def _class(tone: str) -> str:
    return f' class="{tone}"' if tone else ""


def escaped(text: str) -> str:
    """Text that is safe inside markup, with nothing that a reader could not see."""
    return escape(plain(text))
