"""Inline elements of pandoc's tree -> text: formulas between dollar signs, citations as `[@key; @key]`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from reenact.intake.papers.citations import marked

Node: TypeAlias = Mapping[str, Any]
_QUOTES = {"SingleQuote": ("‘", "’"), "DoubleQuote": ("“", "”")}
_WRAPS = ("Emph", "Strong", "Strikeout", "SmallCaps", "Underline")
_SPACES = ("Space", "SoftBreak", "LineBreak")


@dataclass
class Inlines:
    """Renders inline elements, and keeps aside what does not belong into the sentence."""

    notes: list[list[Node]] = field(default_factory=list)
    """Blocks of footnotes, in order."""
    images: list[tuple[str, list[Node]]] = field(default_factory=list)
    """Pictures met on the way: file and description."""
    keys: frozenset[str] = frozenset()
    """Entries of the bibliography that a link may lead to."""

    def text(self, nodes: Iterable[Node]) -> str:
        return "".join(self._one(node) for node in nodes)

    def _one(self, node: Node) -> str:  # noqa: C901 - one line for each kind of element
        kind: str = node["t"]
        content: Any = node.get("c")
        if kind == "Str":
            return str(content).replace("\u00a0", " ")
        if kind in _SPACES:
            return " "
        if kind in _WRAPS:
            return self.text(content)
        if kind == "Superscript":
            return f"^{self.text(content)}"
        if kind == "Subscript":
            return f"_{self.text(content)}"
        if kind == "Math":
            return formula(content[1]) if content[0]["t"] == "InlineMath" else f"$${content[1]}$$"
        if kind == "Cite":
            return self._cite(content)
        if kind == "Code":
            return str(content[1])
        if kind == "Quoted":
            opening, closing = _QUOTES[content[0]["t"]]
            return f"{opening}{self.text(content[1])}{closing}"
        if kind == "Link":
            return self._link(content)
        if kind == "Span":
            return self._span(content[0][1], content[1])
        return self._aside(kind, content)

    def _aside(self, kind: str, content: Any) -> str:
        if kind == "Note":
            self.notes.append(content)
        elif kind == "Image":
            self.images.append((str(content[2][0]), content[1]))
        return ""

    def _cite(self, content: Any) -> str:
        keys = [str(citation["citationId"]) for citation in content[0]]
        return marked(keys)

    def _span(self, classes: list[str], nodes: list[Node]) -> str:
        if "footnote" in classes:
            self.notes.append([{"t": "Plain", "c": nodes}])
            return ""
        keys = [key for node in nodes if node["t"] == "Link" and (key := self._target(node["c"]))]
        return marked(dict.fromkeys(keys)) if "cite" in classes and keys else self.text(nodes)

    def _target(self, content: Any) -> str:
        """The entry of the bibliography that a link of a page leads to."""
        key = str(content[2][0]).partition("#")[2]
        return key if key in self.keys else ""

    def _link(self, content: Any) -> str:
        if key := self._target(content):
            return marked([key])
        words, address = self.text(content[1]), str(content[2][0])
        label = next((str(value) for name, value in content[0][2] if name == "reference"), "")
        if label:
            # A number would be pandoc's own count; the label names the thing wherever it stands.
            return f"[{label}]"
        return (
            f"{words} ({address})"
            if address.startswith("http")
            and words.strip()
            and address.rstrip("/") != words.strip().rstrip("/")
            else words
        )


def formula(latex: str) -> str:
    """An inline formula on one line."""
    return f"${' '.join(latex.split())}$"
