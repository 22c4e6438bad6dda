"""What a reader of one form of paper hands on: pieces in reading order, not yet numbered."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from reenact.intake.papers.paper import Lost, Reference


@dataclass(frozen=True, slots=True)
class Heading:
    """Begins a section."""

    level: int
    """1 for a section."""
    title: str
    appendix: bool = False
    starred: bool = False
    """The paper gives it no number."""


@dataclass(frozen=True, slots=True)
class Prose:
    """A paragraph. Formulas stand between dollar signs, citations as `[@key; @key]`."""

    text: str
    page: int = 0
    """Page of a PDF, from 1; 0 elsewhere."""


@dataclass(frozen=True, slots=True)
class Formula:
    """A displayed equation."""

    latex: str
    label: str = ""
    page: int = 0


@dataclass(frozen=True, slots=True)
class Grid:
    """A table; cells that span are repeated."""

    rows: tuple[tuple[str, ...], ...]
    heads: int = 1
    caption: str = ""
    label: str = ""
    page: int = 0


@dataclass(frozen=True, slots=True)
class Picture:
    """A figure."""

    caption: str = ""
    label: str = ""
    file: str = ""
    image: bytes = b""
    page: int = 0
    box: tuple[float, ...] = ()
    """Where the caption stands on a page of a PDF: left, low, right, high."""


@dataclass(frozen=True, slots=True)
class Steps:
    """An algorithm or a listing."""

    body: str
    caption: str = ""
    label: str = ""
    page: int = 0


Piece: TypeAlias = Heading | Prose | Formula | Grid | Picture | Steps


@dataclass(frozen=True)
class Draft:
    """A paper before its parts have ids."""

    form: str
    pieces: tuple[Piece, ...]
    title: str = ""
    authors: tuple[str, ...] = ()
    abstract: tuple[Piece, ...] = ()
    references: tuple[Reference, ...] = ()
    lost: tuple[Lost, ...] = ()
    texts: dict[str, str] = field(default_factory=dict)
    """The source, file by file in reading order: where spans are looked for."""
