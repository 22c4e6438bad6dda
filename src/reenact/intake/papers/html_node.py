"""An element of a page, and questions about it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

HEADING = re.compile(r"h([1-6])\Z")


@dataclass(frozen=True)
class Element:
    """A tag with its attributes and what stands in it."""

    tag: str
    attributes: Mapping[str, str] = field(default_factory=dict)
    children: tuple[Element | str, ...] = ()

    @property
    def id(self) -> str:
        return self.attributes.get("id", "")

    def has(self, *names: str) -> bool:
        """Whether one of its classes has such a name."""
        classes = self.attributes.get("class", "").split()
        return any(name in classes for name in names)

    def all(self, wanted: Callable[[Element], bool]) -> Iterator[Element]:
        """Elements below that are wanted, in order; nothing is looked for inside one that was found."""
        for child in self.children:
            if isinstance(child, Element):
                if wanted(child):
                    yield child
                else:
                    yield from child.all(wanted)

    def first(self, wanted: Callable[[Element], bool]) -> Element | None:
        return next(self.all(wanted), None)

    def words(self) -> str:
        """All text in it, as it stands."""
        return "".join(child if isinstance(child, str) else child.words() for child in self.children)


def element_of(node: Any) -> Element:
    """A tree of lists as elements."""
    tag, attributes, children = node
    made = tuple(child if isinstance(child, str) else element_of(child) for child in children)
    return Element(str(tag), {str(name): str(value) for name, value in attributes.items()}, made)


def sectioned(element: Element, titles: frozenset[str]) -> Element:
    """Headings of such titles with what follows each as sections, where a page has none."""
    made: list[Element | str] = []
    opened: list[Element | str] | None = None
    for child in element.children:
        heading = isinstance(child, Element) and HEADING.match(child.tag) is not None
        if opened is not None and heading:
            made.append(Element("section", {}, tuple(opened)))
            opened = None
        if isinstance(child, Element) and heading and child.words().strip(" .:\n").casefold() in titles:
            opened = [child]
        elif opened is not None:
            opened.append(child)
        else:
            made.append(sectioned(child, titles) if isinstance(child, Element) else child)
    if opened is not None:
        made.append(Element("section", {}, tuple(opened)))
    return Element(element.tag, element.attributes, tuple(made))


def tex_of(maths: Element) -> str:
    """The LaTeX that a formula was made from; empty when the page does not keep it."""
    if maths.tag == "script":
        return maths.words().strip()
    told = maths.attributes.get("alttext", "")
    note = maths.first(
        lambda one: one.tag == "annotation" and "tex" in one.attributes.get("encoding", "").lower()
    )
    latex = told or (note.words() if note else "")
    latex = re.sub(r"%\s*\n", "", latex).strip()
    return (
        re.sub(r"\A\{?\\displaystyle\s*(.*?)\}?\Z", r"\1", latex, flags=re.S)
        if "displaystyle" in latex[:16]
        else latex
    )
