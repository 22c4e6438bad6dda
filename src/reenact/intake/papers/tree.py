"""Pandoc's tree -> pieces. What was taken out of the source before pandoc saw it comes back at
its marker.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
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
_NUMBER = re.compile(
    r"\s*(?:table|figure|fig\.|algorithm|listing)\s*([\w.]{1,8}?)\s*[:.]?\s+", re.I
)


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
        for piece in (
            *(piece for block in blocks for piece in self._block(block)),
            None,
        ):
            if lead and isinstance(piece, Prose):
                piece = Prose(f"{lead} {piece.text}")
            elif lead:
                yield Prose(lead)
            lead = ""
            if isinstance(piece, Heading) and piece.level > DEEPEST and self.keys is None:
                lead = piece.title if piece.title.endswith((".", ":")) else f"{piece.title}."
            elif piece is not None:
                yield piece

    def _block(self, block: Node) -> Iterator[Piece]:  # noqa: C901 - one case for each kind of element
        given: Any = block.get("c")
        match block["t"], given:
            case "Para" | "Plain", nodes:
                yield from self._paragraph(nodes)
            case "Header", [level, attributes, words]:
                title = self.line(words)
                named = self.keys is not None and title.casefold().startswith("appendix")
                yield Heading(
                    int(level),
                    title,
                    self._appendix or named,
                    "unnumbered" in attributes[1],
                )
            case "Table", content:
                yield grid_of(content, self.line)
            case "Figure", content:
                yield from self._figure(content)
            case "Div", [[label, classes, _], blocks]:
                # A theorem keeps its name, a table takes the label of what surrounds it.
                self._appendix = self._appendix or "ltx_appendix" in classes
                for piece in self.pieces(blocks):
                    if label and not isinstance(piece, Heading | Prose) and not piece.label:
                        piece = replace(piece, label=str(label))
                    yield piece
            case "BlockQuote", blocks:
                yield from self.pieces(blocks)
            case ("BulletList", items) | ("OrderedList", [_, items]):
                for item in items:
                    yield from self.pieces(item)
            case "DefinitionList", terms:
                yield from (
                    Prose(f"{self.line(term)}: {self._joined(meanings)}")
                    for term, meanings in terms
                )
            case "CodeBlock", [attributes, body]:
                yield Algorithm(
                    body=str(body),
                    label=str(attributes[0]),
                )
            case "LineBlock", lines:
                yield Prose(" ".join(map(self.line, lines)))
            case "RawBlock", [_, source]:
                what = f"Source that is not understood was left out: {str(source)[:80]!r}."
                self.lost.append(Lost("text", what))

    def line(self, nodes: Iterable[Node]) -> str:
        """Inline elements as one line; footnotes follow in brackets."""
        inlines = Inlines(keys=self.keys or frozenset())
        text = inlines.text(nodes)
        return " ".join(
            (text + "".join(f" ({self._joined([note])})" for note in inlines.notes)).split()
        )

    def _joined(self, groups: Iterable[Iterable[Node]]) -> str:
        pieces = [piece for group in groups for piece in self.pieces(group)]
        return " ".join(piece.text for piece in pieces if isinstance(piece, Prose))

    def _paragraph(self, nodes: list[Node]) -> Iterator[Piece]:
        """Displayed formulas are between the parts of the paragraph that they were written in."""
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
            yield Figure(
                caption=shown,
                file=file,
                image=self.pictures.load(file),
            )
        for text in filter(
            None,
            (self._joined([note]) for note in inlines.notes),
        ):
            yield Prose(f"Footnote: {text}")

    def _prose(self, text: str) -> Iterator[Piece]:
        words = " ".join(text.split())
        piece = self.stored.get(words, Prose(words))
        self._appendix = self._appendix or piece is None
        if piece is not None and (words in self.stored or _LETTER.search(words)):
            yield piece

    def _figure(self, content: Any) -> Iterator[Piece]:
        """A figure with its pictures; a table inside is a table with that caption."""
        attributes, caption, blocks = content
        words = self._joined([caption[1]])
        label = str(attributes[0])
        inner = list(self.pieces(blocks))
        images = [piece for piece in inner if isinstance(piece, Figure)]
        if self.keys is not None:
            yield from _numbered(words, inner, images)
            return
        # Without a label of its own pandoc gives a figure the last one that stands in it.
        label = "" if label in {image.label for image in images} else label
        for image in images:
            # The caption of all is with the first; the others follow it.
            text = (
                f"{words} ({image.caption})" if words and image.caption else words or image.caption
            )
            yield replace(
                image,
                caption=text,
                label=", ".join(filter(None, (image.label, label))),
            )
            words = label = ""
        if not images:
            yield Figure(caption=words, label=label)
        for piece in inner:
            if not isinstance(piece, Figure | Prose):
                yield piece


def _numbered(
    words: str,
    inner: list[Piece],
    images: list[Figure],
) -> Iterator[Piece]:
    """What stands in a figure of a page, with the words and the number of its caption."""
    number = _NUMBER.match(words)
    label, words = (
        (
            number[1],
            words[number.end() :],
        )
        if number
        else ("", words)
    )
    others = [piece for piece in inner if isinstance(piece, Table | Algorithm)]
    for piece in others or images or [Figure()]:
        caption = piece.caption if others and piece.caption else words or piece.caption
        yield replace(
            piece,
            caption=caption,
            label=piece.label or label,
        )


def equation(latex: str) -> Equation:
    """A displayed formula without its environment; the labels apart."""
    labels = [
        *_LABEL.findall(latex),
        *_TAG.findall(latex),
    ]
    body = _UNNUMBERED.sub(
        "",
        _TAG.sub("", _LABEL.sub("", latex)),
    )
    wrapped = _WRAPPED.match(body)
    return Equation(
        latex=(wrapped[2] if wrapped else body).strip(),
        label=", ".join(labels),
    )


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
        return "".join(
            _KINDS[node["t"]](
                self,
                node.get("c"),
            )
            for node in nodes
            if node["t"] in _KINDS
        )

    def note(self, blocks: list[Node]) -> str:
        """Nothing in the sentence: it follows later."""
        self.notes.append(blocks)
        return ""

    def image(self, content: Any) -> str:
        """Nothing in the sentence: it is a figure."""
        self.images.append(
            (
                str(content[2][0]),
                content[1],
            )
        )
        return ""

    def span(self, content: Any) -> str:
        """A footnote or a citation of a page; else its words."""
        (_, classes, _), nodes = content
        if "footnote" in classes:
            return self.note(
                [
                    {
                        "t": "Plain",
                        "c": nodes,
                    }
                ]
            )
        keys = [key for node in nodes if node["t"] == "Link" and (key := self._target(node["c"]))]
        if "cite" in classes and keys:
            return marked(dict.fromkeys(keys))
        return self.text(nodes)

    def _target(self, content: Any) -> str:
        """The entry of the bibliography that a link of a page leads to."""
        key = str(content[2][0]).partition("#")[2]
        return key if key in self.keys else ""

    def link(self, content: Any) -> str:
        """A citation, the label that it leads to, or its words with the address."""
        if key := self._target(content):
            return marked([key])
        words = self.text(content[1])
        address = str(content[2][0])
        label = next(
            (str(value) for name, value in content[0][2] if name == "reference"),
            "",
        )
        if label:
            # A number would be pandoc's own count; the label names the thing wherever it is.
            return f"[{label}]"
        tells = words.strip() and address.rstrip("/") != words.strip().rstrip("/")
        if tells and address.startswith("http"):
            return f"{words} ({address})"
        return words


_QUOTES = {
    "SingleQuote": ("‘", "’"),
    "DoubleQuote": ("“", "”"),
}
_KINDS: Mapping[str, Callable[[Inlines, Any], str]] = {
    "Str": lambda _, text: str(text).replace("\u00a0", " "),
    **dict.fromkeys(("Space", "SoftBreak", "LineBreak"), lambda *_: " "),
    **dict.fromkeys(("Emph", "Strong", "Strikeout", "SmallCaps", "Underline"), Inlines.text),
    "Superscript": lambda inlines, nodes: f"^{inlines.text(nodes)}",
    "Subscript": lambda inlines, nodes: f"_{inlines.text(nodes)}",
    "Math": lambda _, content: (
        f"${' '.join(content[1].split())}$"
        if content[0]["t"] == "InlineMath"
        else f"$${content[1]}$$"
    ),
    "Cite": lambda _, content: marked(str(citation["citationId"]) for citation in content[0]),
    "Code": lambda _, content: str(content[1]),
    "Quoted": lambda inlines, content: inlines.text(content[1]).join(_QUOTES[content[0]["t"]]),
    "Link": Inlines.link,
    "Span": Inlines.span,
    "Note": Inlines.note,
    "Image": Inlines.image,
}
"""How each kind of element is written; of others nothing is."""
