"""Tables of Markdown: rows between bars, and the caption that stands before or after."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from reenact.intake.papers.inline import bare
from reenact.intake.papers.pieces import Grid, Picture, Piece, Prose, Steps

_RULE = re.compile(r"\s*\|?\s*:?-{1,}:?\s*(?:\|\s*:?-{1,}:?\s*)*\|?\s*$")
_CAPTION = re.compile(
    r"^\**(?P<kind>table|figure|fig\.|algorithm|listing)\s*(?P<number>[\w.-]{0,8}?)\**\s*[:.]\**\s*(?P<words>\S.*)$",
    re.I | re.S,
)
_LABEL = re.compile(r"\s*\{#([^\s}]+)[^}]*\}\s*$")


def is_table(lines: Sequence[str], at: int) -> bool:
    """Whether a line with bars is followed by a rule."""
    return (
        at + 1 < len(lines)
        and "|" in lines[at]
        and "|" in lines[at + 1]
        and bool(_RULE.match(lines[at + 1][:2000]))
    )


def table_of(lines: Sequence[str]) -> Grid:
    """The cells; short rows are filled up."""
    rows = [_cells(line) for line in (lines[0], *lines[2:])]
    width = max(len(row) for row in rows)
    return Grid(tuple((*row, *[""] * (width - len(row))) for row in rows))


def _cells(line: str) -> tuple[str, ...]:
    """Cells of a row; a bar inside a formula or after a backslash is none."""
    cells, cell, inside, before = [], "", False, ""
    for letter in line.strip():
        if letter == "$" and before != "\\":
            inside = not inside and "$" in line
        if letter == "|" and before != "\\" and not inside:
            cells.append(cell)
            cell = ""
        else:
            cell += letter
        before = letter
    cells.append(cell)
    if line.strip().startswith("|"):
        cells = cells[1:]
    if cells and not cells[-1].strip() and line.strip().endswith("|"):
        cells = cells[:-1]
    return tuple(bare(cell.replace("\\|", "|")) for cell in cells)


def captioned(pieces: list[Piece]) -> list[Piece]:
    """Captions joined with what they name: the table, figure or listing next to them."""
    found: list[Piece] = []
    waiting: tuple[str, str, str] | None = None
    for piece in pieces:
        told = _told(piece)
        if waiting is not None:
            piece, used = _named(piece, waiting)
            if not used:
                found.append(Prose(_as_text(waiting)))
            waiting = None
        if told is None:
            found.append(piece)
            continue
        if found and (named := _named(found[-1], told))[1]:
            found[-1] = named[0]
        else:
            waiting = told
    if waiting is not None:
        found.append(Prose(_as_text(waiting)))
    return found


def _told(piece: Piece) -> tuple[str, str, str] | None:
    """Kind, label and words of a paragraph that is a caption."""
    if not isinstance(piece, Prose):
        return None
    caption = _CAPTION.match(piece.text.strip())
    if not caption:
        return None
    label = _LABEL.search(caption["words"])
    words = bare(_LABEL.sub("", caption["words"]))
    return caption["kind"][:3].casefold(), label[1] if label else caption["number"], words


def _named(piece: Piece, told: tuple[str, str, str]) -> tuple[Piece, bool]:
    kind, label, words = told
    fits = {"tab": Grid, "fig": Picture, "alg": Steps, "lis": Steps}[kind]
    if isinstance(piece, fits) and isinstance(piece, Grid | Picture | Steps) and not piece.caption:
        return replace(piece, caption=words, label=piece.label or label), True
    return piece, False


def _as_text(told: tuple[str, str, str]) -> str:
    kind = {"tab": "Table", "fig": "Figure", "alg": "Algorithm", "lis": "Listing"}[told[0]]
    return f"{kind} {told[1]}: {told[2]}"
