"""Text of a page's element: formulas between dollar signs, citations by key, footnotes kept aside."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from reenact.intake.papers.citations import marked
from reenact.intake.papers.html_node import Element, tex_of
from reenact.intake.papers.paper import Lost

DISPLAYED = "\x02"
"""Stands around a displayed formula, so that the paragraph can be cut there."""
_BRACKETS = re.compile(r"\\\((.+?)\\\)", re.S)
_BLOCKS = re.compile(r"\\\[(.+?)\\\]|\$\$(.+?)\$\$", re.S)


@dataclass
class Words:
    """Renders elements as text."""

    keys: frozenset[str]
    """Ids of the entries of the bibliography."""
    notes: list[str] = field(default_factory=list)
    lost: list[Lost] = field(default_factory=list)

    def text(self, children: Iterable[Element | str]) -> str:
        raw = "".join(child if isinstance(child, str) else self._element(child) for child in children)
        raw = _BLOCKS.sub(lambda found: f"{DISPLAYED}{found[1] or found[2]}{DISPLAYED}", raw)
        return _BRACKETS.sub(lambda found: f"${found[1].strip()}$", raw)

    def line(self, element: Element) -> str:
        """One line, displayed formulas in their place."""
        return " ".join(
            re.sub(f"{DISPLAYED}([^{DISPLAYED}]*){DISPLAYED}", r"$\1$", self.text(element.children)).split()
        )

    def _element(self, one: Element) -> str:
        if one.tag in ("math", "script"):
            return self._maths(one)
        if one.has("ltx_note", "footnote") and one.tag != "a":
            self._note(one)
            return ""
        if one.tag == "cite" or one.has("ltx_cite", "citation"):
            return self._cite(one)
        if one.tag == "a":
            return self._link(one)
        if one.has("ltx_ERROR"):
            self.lost.append(Lost("macro", f"Nobody defined {one.words()[:60]} when the page was made."))
            return ""
        if one.has("ltx_tag") and not one.has("ltx_tag_note"):
            return ""
        return " " if one.tag == "br" else self.text(one.children)

    def _maths(self, one: Element) -> str:
        latex = tex_of(one)
        if not latex:
            said = " ".join(one.words().split())
            self.lost.append(Lost("equation", f"A formula came without its LaTeX: {said[:60]!r}."))
            return said
        shown = one.attributes.get("display") == "block" or "mode=display" in one.attributes.get("type", "")
        return f"{DISPLAYED}{latex}{DISPLAYED}" if shown else f"${' '.join(latex.split())}$"

    def _note(self, one: Element) -> None:
        inner = one.first(lambda part: part.has("ltx_note_content")) or one
        kept = tuple(
            part
            for part in inner.children
            if isinstance(part, str) or not (part.has("ltx_note_mark") or part.tag == "sup")
        )
        said = " ".join(self.text(kept).split())
        if said:
            self.notes.append(said)

    def _cite(self, one: Element) -> str:
        links = one.all(lambda part: part.tag == "a")
        keys = [_target(link) for link in links if _target(link) in self.keys]
        return marked(dict.fromkeys(keys)) if keys else self.text(one.children)

    def _link(self, one: Element) -> str:
        target = _target(one)
        if target in self.keys:
            return marked([target])
        words = self.text(one.children)
        address = one.attributes.get("href", "")
        outside = address.startswith("http") and address.rstrip("/") != words.strip().rstrip("/")
        return f"{words} ({address})" if outside and words.strip() else words


def _target(link: Element) -> str:
    """The place on the same page that a link leads to."""
    return link.attributes.get("href", "").partition("#")[2]
