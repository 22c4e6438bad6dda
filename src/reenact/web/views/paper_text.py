"""The paper's text beside the code: a sentence leads to its lines, a line leads to its sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import BaseModel

from reenact.web.page import Beside, Passage, Reading, Source, Squiggle

TONES = {"pass": "good", "fail": "error"}


class Criterion(BaseModel):
    """One atom of the fingerprint."""

    id: str
    fact: str
    quote: str
    places: list[str]
    level: str = ""

    @property
    def first_place(self) -> str:
        return self.places[0] if self.places else self.id


class CodeLine(BaseModel):
    """A line of the generated code."""

    file: str
    line: int
    text: str = ""


class Judged(BaseModel):
    """What was found of a criterion."""

    criterion: str
    value: str
    by: str
    reason: str
    lines: list[CodeLine] = []


class Piece(BaseModel):
    """A sentence, formula or table of the paper."""

    id: str
    text: str


class TextSection(BaseModel):
    """A heading of the paper and the paragraphs below it."""

    id: str
    title: str
    paragraphs: list[list[Piece]]


def side_by_side(
    sections: Sequence[TextSection],
    criteria: Sequence[Criterion],
    judged: Sequence[Judged],
    files: Mapping[str, str],
) -> Beside:
    """The paper on the left, the code on the right."""
    found = {one.criterion: one for one in judged}
    numbers = {name: at for at, name in enumerate(files)}
    by_place: dict[str, list[Criterion]] = {}
    for one in criteria:
        for place in one.places:
            by_place.setdefault(place, []).append(one)

    def passage(piece: Piece) -> Passage:
        about = by_place.get(piece.id, [])
        told = [found[one.id] for one in about if one.id in found]
        line = next((line for one in told for line in one.lines if line.file in numbers), None)
        href = f"#code-{numbers[line.file]}-L{line.line}" if line is not None else ""
        if about and not href:
            href = f"#criterion-{about[0].id}"
        values = [one.value for one in told]
        tone = "error" if "fail" in values else "good" if "pass" in values else ""
        said = "; ".join(f"{one.id}: {one.fact}" for one in about)
        return Passage(f"p-{piece.id}", piece.text, href, said, tone)

    paragraphs: list[Sequence[Passage] | str] = []
    for section in sections:
        paragraphs.append(f"{section.id} {section.title}")
        paragraphs += [[passage(piece) for piece in paragraph] for paragraph in section.paragraphs]
    if not sections:
        quotes = {one.first_place: one.quote for one in reversed(criteria)}
        paragraphs += [[passage(Piece(id=place, text=quote))] for place, quote in reversed(quotes.items())]
    title = "The paper" if sections else "Words of the paper that criteria rest on"
    code = [
        Source(name, text, _squiggles(name, text, criteria, found), anchor=f"code-{numbers[name]}")
        for name, text in files.items()
    ]
    return Beside([Reading(title, paragraphs)], code, tall=True)


def _squiggles(
    name: str, text: str, criteria: Sequence[Criterion], found: Mapping[str, Judged]
) -> list[Squiggle]:
    """Lines that a verdict rests on, each leading to its sentence."""
    lines = text.split("\n")
    squiggles: dict[int, Squiggle] = {}
    for one in criteria:
        for line in found[one.id].lines if one.id in found else []:
            if line.file != name or not 0 < line.line <= len(lines):
                continue
            before = squiggles.get(line.line)
            said = f"{one.id} {found[one.id].value}"
            whole = lines[line.line - 1]
            squiggles[line.line] = Squiggle(
                line.line,
                len(whole) - len(whole.lstrip()),
                len(whole),
                f"{before.said}, {said}" if before is not None else said,
                before.href if before is not None else f"#p-{one.first_place}",
                "good" if found[one.id].value == "pass" else "",
            )
    return list(squiggles.values())
