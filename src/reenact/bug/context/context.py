"""What a context is: code of the project, the signatures to call it by, and why each part is there.

One in the making takes pieces while they fit: no line twice, no copy of a text twice, and a long
definition shortened to its head, then the lines that matter with their neighbours, then the rest.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from reenact.bug.context.chunk import Chunk
from reenact.bug.context.index import CHARACTERS_A_TOKEN, CodeIndex, estimate_tokens


@dataclass(frozen=True, slots=True)
class Signature:
    """How something of the project is imported and called."""

    name: str
    """Where it is imported from, with dots: `skorch.callbacks.EarlyStopping`; a method after
    its class.
    """
    text: str
    """The head of the definition with annotations and defaults, on one line."""
    doc: str
    """The first line of its docstring; empty when there is none."""

    def render(self) -> str:
        doc = f"    # {self.doc}" if self.doc else ""
        return f"{self.name}: {self.text}{doc}\n"


@dataclass(frozen=True, slots=True)
class Piece:
    """A chunk in a context."""

    chunk: Chunk
    text: str
    """Its lines; where some are left out, a comment says how many."""
    why: str
    """Why it is part of the context."""

    def render(self) -> str:
        chunk = self.chunk
        title = f"{chunk.kind} {chunk.name}".strip()
        return (
            f"## {chunk.path}, lines {chunk.first}-{chunk.last}: {title} "
            f"({self.why})\n{self.text}\n"
        )


@dataclass(frozen=True, slots=True)
class Context:
    """One view of the project for one attempt. All of it is untrusted text: quote it as data."""

    name: str
    """The module that it looks at: a folder or a file."""
    why: str
    """How it came about, in a sentence."""
    surface: tuple[Signature, ...]
    pieces: tuple[Piece, ...]
    exports: tuple[str, ...] = ()
    """What the project exports, by dotted names."""

    def text(self) -> str:
        """The context as a prompt holds it."""
        parts = [f"# {self.name}\n{self.why}\n"]
        if self.exports:
            parts.append(f"## Public entry points\n{', '.join(self.exports)}\n")
        if self.surface:
            parts.append(
                "## How to import and call it\n" + "".join(one.render() for one in self.surface)
            )
        return "\n".join(
            [
                *parts,
                *(piece.render() for piece in self.pieces),
            ]
        )

    @property
    def tokens(self) -> int:
        """Estimated size of `text()`."""
        return estimate_tokens(self.text())


HEAD = 6
GAP = 45
"""Characters of the line that stands for left out ones; so few are shown instead."""
REACHES = (2, 6, 12)
"""Lines around one that matters, taken in so many steps."""


def excerpt(
    lines: Sequence[str],
    focus: Iterable[int],
    last_resort: Iterable[int],
    most_tokens: int,
) -> str:
    """The lines within a budget, empty when none fits. `focus` is best first; lines count from
    0.
    """
    whole = "\n".join(lines)
    if estimate_tokens(whole) <= most_tokens:
        return whole
    late = set(last_resort)
    kept: set[int] = set()
    # A gap costs a line of its own; there are at most as many as steps that jump.
    space = int(most_tokens * CHARACTERS_A_TOKEN) - 60
    for line in dict.fromkeys(
        _by_importance(
            len(lines),
            list(dict.fromkeys(focus)),
            late,
        )
    ):
        space -= len(lines[line]) + 1 + (0 if line - 1 in kept or line + 1 in kept else GAP)
        if space < 0:
            break
        kept.add(line)
    if kept:
        return "\n".join(_with_gaps(lines, sorted(kept)))
    return ""


def _by_importance(
    count: int,
    focus: list[int],
    late: set[int],
) -> Iterator[int]:
    yield from range(min(HEAD, count))
    done = 0
    for reach in REACHES:
        for line in focus:
            near = range(max(0, line - reach), min(count, line + reach + 1))
            yield from (one for one in near if abs(one - line) >= done or not done)
        done = reach
    yield from (line for line in range(count) if line not in late)
    yield from range(count)


def _with_gaps(
    lines: Sequence[str],
    kept: list[int],
) -> Iterator[str]:
    before = -1
    indent = ""
    for line in [*kept, len(lines)]:
        missing = lines[before + 1 : line]
        if sum(len(one) + 1 for one in missing) <= GAP:
            yield from missing
        elif missing:
            yield f"{indent}# ... {len(missing)} lines left out ..."
        if line < len(lines):
            yield lines[line]
            if lines[line].strip():
                indent = lines[line][: len(lines[line]) - len(lines[line].lstrip())]
        before = line


MOSTLY_DOCUMENTATION = 0.15
"""Share of the budget for a piece that is docstring for the most part."""
SCRAP = 300
"""Characters below which what is left of a shortened definition says no one anything."""
HEADING = 120
"""Tokens kept free for the heading and the reason of a context."""


@dataclass
class Pack:
    """What is in so far."""

    code: CodeIndex
    budget: int
    """Tokens of the whole context."""
    exports: tuple[str, ...] = ()
    pieces: dict[Chunk, Piece] = field(default_factory=dict)
    surface: tuple[Signature, ...] = ()
    used: int = HEADING

    def __post_init__(self) -> None:
        self.used += estimate_tokens(", ".join(self.exports))

    def add_surface(self, found: Iterable[Signature], share: float) -> None:
        """Signatures, in their order, within a share of the budget."""
        until = self.used + int(share * self.budget)
        for one in found:
            cost = estimate_tokens(one.render())
            if self.used + cost > until:
                break
            self.used += cost
            self.surface += (one,)

    def add(
        self,
        chunk: Chunk,
        why: str,
        *,
        largest: float,
        until: float = 1.0,
        focus: Iterable[int] = (),
    ) -> bool:
        """Add a chunk, shortened to a share of the budget; false when it is in already or does
        not fit.
        """
        if chunk in self.pieces:
            return False
        docs = self.code.docstrings(chunk)
        is_documentation = 2 * len(docs) > chunk.last - chunk.first
        share = min(largest, MOSTLY_DOCUMENTATION) if is_documentation else largest
        space = min(int(share * self.budget), int(until * self.budget) - self.used)
        space -= estimate_tokens(Piece(chunk, "", why).render()) + 1
        inside, late = (
            [line - chunk.first for line in lines if line in chunk] for lines in (focus, docs)
        )
        text = ""
        if space > 0:
            text = excerpt(
                chunk.text.split("\n"),
                inside,
                late,
                space,
            )
        is_scrap = len(text) < SCRAP and len(text) < len(chunk.text)
        if is_scrap or text in {one.text for one in self.pieces.values()}:
            return False
        self.pieces[chunk] = piece = Piece(chunk, text, why)
        self.used += estimate_tokens(piece.render()) + 1
        return True

    def done(self, name: str, why: str) -> Context:
        """The context; a heading that was longer than thought costs the last pieces."""
        context = Context(
            name,
            why=why,
            surface=self.surface,
            pieces=tuple(self.pieces.values()),
            exports=self.exports,
        )
        while context.tokens > self.budget and context.pieces:
            context = replace(
                context,
                pieces=context.pieces[:-1],
            )
        return context
