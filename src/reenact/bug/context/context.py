"""What a context is: code of the project, the signatures to call it by, and why each part is there."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath

from reenact.bug.context.words import estimate_tokens


@dataclass(frozen=True, slots=True)
class Signature:
    """How something of the project is imported and called."""

    name: str
    """Where it is imported from, with dots: `skorch.callbacks.EarlyStopping`; a method after its class."""
    path: PurePosixPath
    line: int
    text: str
    """The head of the definition with annotations and defaults, on one line."""
    doc: str
    """The first line of its docstring; empty when there is none."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Consecutive lines of one file, usually one definition."""

    path: PurePosixPath
    first_line: int
    last_line: int
    kind: str
    """function, method, class, `top level`, or text for a file that is no valid Python."""
    name: str
    """Dotted within its file; empty for the top level."""
    text: str
    """The lines; where some are left out, a comment says how many."""
    why: str
    """Why it is part of the context."""

    def render(self) -> str:
        title = f"{self.kind} {self.name}".strip()
        return (
            f"## {self.path}, lines {self.first_line}-{self.last_line}: {title} ({self.why})\n{self.text}\n"
        )


@dataclass(frozen=True, slots=True)
class Context:
    """One view of the project for one attempt. All of it is untrusted text: quote it as data."""

    name: str
    """The module that it looks at: a folder or a file."""
    pieces: tuple[Piece, ...]
    surface: tuple[Signature, ...]
    why: str
    """How it came about, in a sentence."""
    tokens: int
    """Estimated size of `text()`."""

    def text(self) -> str:
        """The context as a prompt holds it."""
        return render(self.name, self.why, self.surface, self.pieces)

    @classmethod
    def of(cls, name: str, why: str, surface: tuple[Signature, ...], pieces: tuple[Piece, ...]) -> Context:
        """The context with its size."""
        return cls(name, pieces, surface, why, estimate_tokens(render(name, why, surface, pieces)))


def render(name: str, why: str, surface: tuple[Signature, ...], pieces: tuple[Piece, ...]) -> str:
    parts = [f"# {name}\n{why}\n"]
    if surface:
        parts.append("## How to import and call it\n" + "".join(render_signature(one) for one in surface))
    parts += [piece.render() for piece in pieces]
    return "\n".join(parts)


def render_signature(one: Signature) -> str:
    doc = f"    # {one.doc}" if one.doc else ""
    return f"{one.name}: {one.text}{doc}\n"
