"""One context in the making: pieces go in while they fit, no line twice, no copy of a text twice."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from reenact.bug.context.code import Code
from reenact.bug.context.context import Context, Piece, Signature, render_signature
from reenact.bug.context.excerpt import excerpt
from reenact.bug.context.words import estimate_tokens

MOSTLY_DOCUMENTATION = 0.15
"""Share of the budget for a piece that is docstring for the most part."""
SCRAP = 300
"""Characters below which what is left of a shortened definition tells nobody anything."""
HEADING = 120
"""Tokens kept free for the heading and the reason of a context."""


@dataclass
class Pack:
    """What is in so far."""

    code: Code
    budget: int
    """Tokens of the whole context."""
    taken: set[int] = field(default_factory=set)
    pieces: list[Piece] = field(default_factory=list)
    surface: tuple[Signature, ...] = ()
    used: int = HEADING
    _texts: set[str] = field(default_factory=set)

    def add_surface(self, found: Iterable[Signature], share: float) -> None:
        """Signatures, in their order, within a share of the budget."""
        room = int(share * self.budget)
        kept: list[Signature] = []
        for one in found:
            cost = estimate_tokens(render_signature(one))
            if cost > room:
                break
            room -= cost
            self.used += cost
            kept.append(one)
        self.surface = tuple(kept)

    def add(
        self, number: int, why: str, *, largest: float, until: float = 1.0, focus: Iterable[int] = ()
    ) -> bool:
        """Add a chunk, shortened to a share of the budget; false when it is in already or does not fit."""
        if number in self.taken:
            return False
        share = min(largest, MOSTLY_DOCUMENTATION) if self._is_documentation(number) else largest
        room = min(int(share * self.budget), int(until * self.budget) - self.used)
        piece = self._piece(number, why, focus, room)
        if piece is None:
            return False
        digest = hashlib.sha256(piece.text.encode("utf-8", "replace")).hexdigest()
        if digest in self._texts:
            return False
        self._texts.add(digest)
        self.taken.add(number)
        self.pieces.append(piece)
        self.used += estimate_tokens(piece.render()) + 1
        return True

    def done(self, name: str, why: str) -> Context:
        """The context; a heading that was longer than thought costs the last pieces."""
        pieces = list(self.pieces)
        context = Context.of(name, why, self.surface, tuple(pieces))
        while context.tokens > self.budget and pieces:
            pieces.pop()
            context = Context.of(name, why, self.surface, tuple(pieces))
        return context

    def _is_documentation(self, number: int) -> bool:
        chunk = self.code.chunk(number)
        docs = sum(chunk.first <= line <= chunk.last for line in self.code.docstrings(self.code.path(number)))
        return 2 * docs > chunk.last - chunk.first

    def _piece(self, number: int, why: str, focus: Iterable[int], room: int) -> Piece | None:
        chunk = self.code.chunk(number)
        path = self.code.path(number)
        empty = Piece(path, chunk.first, chunk.last, chunk.kind, chunk.name, "", why)
        room -= estimate_tokens(empty.render()) + 1
        lines = self.code.lines(path)[chunk.first - 1 : chunk.last]
        inside = [line - chunk.first for line in focus if chunk.first <= line <= chunk.last]
        docs = [
            line - chunk.first for line in self.code.docstrings(path) if chunk.first <= line <= chunk.last
        ]
        text = excerpt(lines, inside, docs, room) if room > 0 else ""
        is_scrap = len(text) < SCRAP and len(text) < len("\n".join(lines))
        return None if is_scrap else replace(empty, text=text)
