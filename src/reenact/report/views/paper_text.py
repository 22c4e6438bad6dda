"""The paper's text beside the code: a sentence leads to its lines, a line leads to its sentence."""

from collections.abc import Iterator, Mapping, Sequence

from reenact.intake.papers.paper import Block, Paragraph
from reenact.paper.criterion import Criterion, Judged, Value
from reenact.paper.reproduction import Reproduction
from reenact.report.document import Beside, Passage, Reading, Source, Squiggle


def side_by_side(found: Reproduction) -> Beside:
    """The paper on the left, the code on the right."""
    criteria, files = found.fingerprint.criteria, found.development.project.files
    judged = {one.criterion: one for one in found.judged}
    links = _Links(criteria, judged, {name: at for at, name in enumerate(files)})
    paragraphs: list[Sequence[Passage] | str] = []
    for section in found.paper.sections:
        paragraphs.append(f"{section.id} {section.title}")
        paragraphs += [[links.passage(*piece) for piece in _pieces(block)] for block in section.blocks]
    if not found.paper.sections:
        quotes = {first_place(one): one.quote for one in reversed(criteria)}
        paragraphs += [[links.passage(place, quote)] for place, quote in reversed(quotes.items())]
    title = "The paper" if found.paper.sections else "Words of the paper that criteria rest on"
    code = [
        Source(name, text, _squiggles(name, text, criteria, judged), anchor=f"code-{at}")
        for at, (name, text) in enumerate(files.items())
    ]
    return Beside([[Reading(title, paragraphs)], code], tall=True)


def first_place(one: Criterion) -> str:
    """Where in the paper a criterion stands."""
    return one.places[0] if one.places else one.id


def _pieces(block: Block) -> Iterator[tuple[str, str]]:
    if isinstance(block, Paragraph):
        yield from ((sentence.id, sentence.text) for sentence in block.sentences)
    else:
        yield block.id, block.text


class _Links:
    """What a place of the paper leads to."""

    def __init__(
        self, criteria: Sequence[Criterion], judged: Mapping[str, Judged], files: Mapping[str, int]
    ) -> None:
        self._judged, self._files = judged, files
        self._of_place: dict[str, list[Criterion]] = {}
        for one in criteria:
            for place in one.places:
                self._of_place.setdefault(place, []).append(one)

    def passage(self, place: str, text: str) -> Passage:
        about = self._of_place.get(place, [])
        known = [self._judged[one.id] for one in about if one.id in self._judged]
        line = next((line for one in known for line in one.lines if line.file in self._files), None)
        href = f"#code-{self._files[line.file]}-L{line.line}" if line is not None else ""
        if about and not href:
            href = f"#criterion-{about[0].id}"
        values = [one.value for one in known]
        tone = "error" if Value.FAIL in values else "good" if Value.PASS in values else ""
        return Passage(f"p-{place}", text, href, "; ".join(f"{one.id}: {one.fact}" for one in about), tone)


def _squiggles(
    name: str, text: str, criteria: Sequence[Criterion], judged: Mapping[str, Judged]
) -> list[Squiggle]:
    """Lines that a verdict rests on, each leading to its sentence."""
    lines = text.split("\n")
    squiggles: dict[int, Squiggle] = {}
    for one in criteria:
        for line in judged[one.id].lines if one.id in judged else ():
            if line.file != name or not 0 < line.line <= len(lines):
                continue
            before = squiggles.get(line.line)
            note = f"{one.id} {judged[one.id].value.value}"
            whole = lines[line.line - 1]
            squiggles[line.line] = Squiggle(
                line.line,
                len(whole) - len(whole.lstrip()),
                len(whole),
                f"{before.note}, {note}" if before is not None else note,
                before.href if before is not None else f"#p-{first_place(one)}",
                "good" if judged[one.id].value is Value.PASS else "",
            )
    return list(squiggles.values())
