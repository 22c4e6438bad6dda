"""Pandoc's tree -> pieces. What was taken out of the source before pandoc saw it comes back at its marker."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from reenact.intake.papers.assemble import Heading, Piece, Prose
from reenact.intake.papers.pandoc import Node
from reenact.intake.papers.paper import Algorithm, Equation, Figure, Lost, Table
from reenact.intake.papers.pictures import Pictures
from reenact.intake.papers.references import marked
from reenact.intake.papers.tables import grid_of

DEEPEST = 3
"""Levels of headings that begin a section: `\\paragraph` is below."""
NO_WORDS = "image"
"""What pandoc calls a picture that has no words of its own."""
_LABEL = re.compile(r"\\label\s*\{([^{}]*)\}")
_TAG = re.compile(r"\\tag\*?\s*\{([^{}]*)\}")
_UNNUMBERED = re.compile(r"\\(?:nonumber|notag)\b")
_WRAPPED = re.compile(r"\A\s*\\begin\{(equation\*?|displaymath|math)\}(.*)\\end\{\1\}\s*\Z", re.S)
_LETTER = re.compile(r"[^\W_]")
_NUMBER = re.compile(r"\s*(?:table|figure|fig\.|algorithm|listing)\s*([\w.]{1,8}?)\s*[:.]?\s+", re.I)


@dataclass
class Walk:
    """Goes through the blocks once, in reading order."""

    pictures: Pictures
    stored: Mapping[str, Piece | None] = field(default_factory=dict)
    """Pieces by marker; none marks the beginning of the appendix."""
    keys: frozenset[str] | None = None
    """Of a page in HTML: the entries of its bibliography. Its captions begin with their numbers."""
    lost: list[Lost] = field(default_factory=list)
    _appendix: bool = False

    def pieces(self, blocks: Iterable[Node]) -> Iterator[Piece]:
        """The pieces; a heading of a single paragraph begins that paragraph."""
        lead = ""
        for piece in (piece for block in blocks for piece in self._block(block)):
            if lead and isinstance(piece, Prose):
                piece, lead = Prose(f"{lead} {piece.text}"), ""
            elif lead:
                yield Prose(lead)
                lead = ""
            if isinstance(piece, Heading) and piece.level > DEEPEST and self.keys is None:
                lead = piece.title if piece.title.endswith((".", ":")) else f"{piece.title}."
            else:
                yield piece
        if lead:
            yield Prose(lead)

    def _block(self, block: Node) -> Iterator[Piece]:
        kind: str = block["t"]
        content: Any = block.get("c")
        if kind in ("Para", "Plain"):
            yield from self._paragraph(content)
        elif kind == "Header":
            starred = "unnumbered" in content[1][1]
            title = self.line(content[2])
            named = self.keys is not None and title.casefold().startswith("appendix")
            yield Heading(int(content[0]), title, self._appendix or named, starred)
        elif kind == "Table":
            yield grid_of(content, self.line)
        elif kind == "Figure":
            yield from self._figure(content)
        elif kind == "Div":
            yield from self._division(content)
        else:
            yield from self._other(kind, content)

    def _other(self, kind: str, content: Any) -> Iterator[Piece]:
        if kind == "BlockQuote":
            yield from self.pieces(content)
        elif kind in ("BulletList", "OrderedList"):
            for item in content if kind == "BulletList" else content[1]:
                yield from self.pieces(item)
        elif kind == "DefinitionList":
            for term, meanings in content:
                yield Prose(f"{self.line(term)}: {self._joined(meanings)}")
        elif kind == "CodeBlock":
            yield Algorithm(body=str(content[1]), label=str(content[0][0]))
        elif kind == "LineBlock":
            yield Prose(" ".join(self.line(line) for line in content))
        elif kind == "RawBlock":
            self.lost.append(
                Lost("text", f"Source that is not understood was left out: {str(content[1])[:80]!r}.")
            )

    def line(self, nodes: Iterable[Node]) -> str:
        """Inline elements as one line; footnotes follow in brackets."""
        inlines = Inlines(keys=self.keys or frozenset())
        text = inlines.text(nodes)
        notes = "".join(f" ({self._joined([note])})" for note in inlines.notes)
        return " ".join((text + notes).split())

    def _joined(self, groups: Iterable[Iterable[Node]]) -> str:
        pieces = [piece for group in groups for piece in self.pieces(group)]
        return " ".join(piece.text for piece in pieces if isinstance(piece, Prose))

    def _paragraph(self, nodes: list[Node]) -> Iterator[Piece]:
        """Displayed formulas stand between the parts of the paragraph that they were written in."""
        inlines = Inlines(keys=self.keys or frozenset())
        part: list[Node] = []
        for node in nodes:
            if node["t"] == "Math" and node["c"][0]["t"] == "DisplayMath":
                yield from self._prose(inlines.text(part))
                part = []
                yield equation(str(node["c"][1]))
            else:
                part.append(node)
        yield from self._prose(inlines.text(part))
        for file, words in inlines.images:
            caption = self.line(words)
            shown = "" if caption == NO_WORDS else caption
            yield Figure(caption=shown, file=file, image=self.pictures.load(file))
        for note in inlines.notes:
            text = self._joined([note])
            if text:
                yield Prose(f"Footnote: {text}")

    def _prose(self, text: str) -> Iterator[Piece]:
        words = " ".join(text.split())
        if words in self.stored:
            piece = self.stored[words]
            if piece is None:
                self._appendix = True
            else:
                yield piece
        elif _LETTER.search(words):
            yield Prose(words)

    def _figure(self, content: Any) -> Iterator[Piece]:
        """A figure with its pictures; a table inside is a table with that caption."""
        attributes, caption, blocks = content
        words, label = self._joined([caption[1]]), str(attributes[0])
        inner = list(self.pieces(blocks))
        images = [piece for piece in inner if isinstance(piece, Figure)]
        if self.keys is not None:
            yield from _numbered(words, inner, images)
            return
        # Without a label of its own pandoc gives a figure the last one that stands in it.
        label = "" if label in {image.label for image in images} else label
        for image in images:
            # The caption of all stands with the first; the others follow it.
            text = f"{words} ({image.caption})" if words and image.caption else words or image.caption
            yield replace(image, caption=text, label=", ".join(filter(None, (image.label, label))))
            words = label = ""
        if not images:
            yield Figure(caption=words, label=label)
        yield from (piece for piece in inner if not isinstance(piece, Figure | Prose))

    def _division(self, content: Any) -> Iterator[Piece]:
        """A container: a theorem keeps its name, a table takes the label of what surrounds it."""
        label = str(content[0][0])
        self._appendix = self._appendix or "ltx_appendix" in content[0][1]
        for piece in self.pieces(content[1]):
            if label and not isinstance(piece, Heading | Prose) and not piece.label:
                piece = replace(piece, label=label)
            yield piece


def _numbered(words: str, inner: list[Piece], images: list[Figure]) -> Iterator[Piece]:
    """What stands in a figure of a page, with the words and the number of its caption."""
    number = _NUMBER.match(words)
    label, words = (number[1], words[number.end() :]) if number else ("", words)
    others = [piece for piece in inner if isinstance(piece, Table | Algorithm)]
    for piece in (*others, *(() if others else images or [Figure()])):
        yield replace(
            piece,
            caption=piece.caption if others and piece.caption else words or piece.caption,
            label=piece.label or label,
        )


def equation(latex: str) -> Equation:
    """A displayed formula without its environment; the labels apart."""
    labels = [*_LABEL.findall(latex), *_TAG.findall(latex)]
    body = _UNNUMBERED.sub("", _TAG.sub("", _LABEL.sub("", latex)))
    wrapped = _WRAPPED.match(body)
    return Equation(latex=(wrapped[2] if wrapped else body).strip(), label=", ".join(labels))


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
            inline = content[0]["t"] == "InlineMath"
            return f"${' '.join(content[1].split())}$" if inline else f"$${content[1]}$$"
        if kind == "Cite":
            return marked(str(citation["citationId"]) for citation in content[0])
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
        tells = words.strip() and address.rstrip("/") != words.strip().rstrip("/")
        return f"{words} ({address})" if tells and address.startswith("http") else words
