"""Paper and code side by side, criterion by criterion, as one self-contained HTML page.

Every sentence that a criterion rests on links to the criterion, the criterion to its lines of code, and the
lines back to the sentence: plain anchors, so that no script is needed and the page may be mailed.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from html import escape

from reenact.codegen.project import Project
from reenact.intake.papers.paper import Block, Paper, Paragraph
from reenact.paper.criterion import Criterion, Judged, Value
from reenact.plain import plain
from reenact.report.as_html import body, page
from reenact.report.sheet import Sheet

SIDES = """
body { max-width: 96rem; }
.sides { display: grid; grid-template-columns: 1fr 1fr; gap: 1rem; }
.side { max-height: 85vh; overflow: auto; padding: 0 .75rem; border: 1px solid #8884; border-radius: .4rem; }
.side pre { background: none; padding: 0; margin: 0; overflow: visible; }
.line { display: block; white-space: pre; } .line b { opacity: .45; font-weight: 400; user-select: none; }
.resting { border-bottom: 2px solid #28a8; }
:target { background: #fd06; outline: 2px solid #b80; }
a { color: inherit; } a.mark { font-size: .75rem; margin-left: .3rem; text-decoration: none; }
a.mark { border: 1px solid #8886; border-radius: .6rem; padding: 0 .35rem; white-space: nowrap; }
.pass { color: #283; } .fail { color: #d33; } .unknown { color: #b80; }
@media (prefers-color-scheme: dark) {
  .pass { color: #6c8; } .fail { color: #f77; } .unknown { color: #db5; }
}
@media (max-width: 60rem) { .sides { grid-template-columns: 1fr; } .side { max-height: none; } }
"""
CLASSES = {Value.PASS: "pass", Value.FAIL: "fail", Value.UNKNOWN: "unknown"}


def traced(
    head: Sheet,
    paper: Paper,
    project: Project,
    criteria: Sequence[Criterion],
    judged: Sequence[Judged],
) -> str:
    """The whole page; `head` stands above: the verdict, the claims, whatever else is told."""
    links = _Links(criteria, judged)
    parts = [
        body(head),
        "<h2>Criteria</h2>",
        _criteria(criteria, links),
        "<h2>The paper and the code</h2>",
        f'<div class="sides">{_side("The paper", _paper(paper, links))}'
        f"{_side('The code', _code(project, links))}</div>",
    ]
    return page(head.title, "".join(parts), SIDES)


class _Links:
    """Who points where."""

    def __init__(self, criteria: Sequence[Criterion], judged: Sequence[Judged]) -> None:
        self.judged = {one.criterion: one for one in judged}
        self.of_place: dict[str, list[Criterion]] = defaultdict(list)
        self.of_line: dict[tuple[str, int], list[Criterion]] = defaultdict(list)
        for criterion in criteria:
            for place in criterion.places:
                self.of_place[place].append(criterion)
            found = self.judged.get(criterion.id)
            for line in found.lines if found is not None else ():
                self.of_line[line.file, line.line].append(criterion)

    def colour(self, criterion: Criterion) -> str:
        found = self.judged.get(criterion.id)
        return CLASSES[found.value] if found is not None else "unknown"


def _side(name: str, content: str) -> str:
    """One half, scrolled by itself, by keyboard too."""
    return f'<section class="side" aria-label="{name}" tabindex="0">{content}</section>'


def _criteria(criteria: Sequence[Criterion], links: _Links) -> str:
    rows = "".join(_row(criterion, links) for criterion in criteria)
    names = ("", "what must hold", "found", "in the paper", "in the code", "why")
    heads = "".join(f'<th scope="col">{name}</th>' for name in names)
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"


def _row(criterion: Criterion, links: _Links) -> str:
    found = links.judged.get(criterion.id)
    places = " ".join(f'<a href="#{_mark("s", place)}">{_text(place)}</a>' for place in criterion.places)
    lines = found.lines if found is not None else ()
    code = " ".join(
        f'<a href="#{_mark("l", line.file, line.line)}">{_text(str(line))}</a>' for line in lines[:6]
    )
    value, by = (found.value.value, found.by) if found is not None else ("not verified", "")
    return (
        f'<tr id="{_mark("c", criterion.id)}"><th scope="row">{_text(criterion.id)}</th>'
        f"<td>{_text(criterion.fact)}<small>{_text(criterion.scope)}</small></td>"
        f'<td class="{links.colour(criterion)}">{_text(value)}<small>{_text(by)}</small></td>'
        f"<td>{places}</td><td>{code}</td><td>{_text(found.reason if found is not None else '')}</td></tr>"
    )


def _paper(paper: Paper, links: _Links) -> str:
    parts = []
    for section in paper.sections:
        level = min(section.level + 2, 6)
        parts.append(f"<h{level}>{_text(section.id)} {_text(section.title)}</h{level}>")
        parts += [_block(block, links) for block in section.blocks]
    return "".join(parts)


def _block(block: Block, links: _Links) -> str:
    if not isinstance(block, Paragraph):
        marks = _marks(links.of_place[block.id], links)
        return f"<pre{_rests(block.id, links)}>{_text(block.text)}{marks}</pre>"
    said = [
        f"<span{_rests(one.id, links)}>{_text(one.text)}{_marks(links.of_place[one.id], links)}</span>"
        for one in block.sentences
    ]
    return f"<p>{' '.join(said)}</p>"


def _rests(place: str, links: _Links) -> str:
    """The anchor of a place, and whether a criterion rests on it."""
    return f' id="{_mark("s", place)}"' + (' class="resting"' if links.of_place[place] else "")


def _code(project: Project, links: _Links) -> str:
    parts = []
    for name in sorted(project.files):
        lines = enumerate(project.files[name].splitlines(), start=1)
        shown = "".join(
            f'<span class="line" id="{_mark("l", name, number)}"><b>{number:4} </b>{_text(line)}'
            f"{_marks(links.of_line[name, number], links)}</span>"
            for number, line in lines
        )
        parts.append(f"<h3>{_text(name)}</h3><pre>{shown}</pre>")
    return "".join(parts)


def _marks(criteria: Iterable[Criterion], links: _Links) -> str:
    return "".join(
        f'<a class="mark {links.colour(one)}" href="#{_mark("c", one.id)}" title="{_text(one.fact)}">'
        f"{_text(one.id)}</a>"
        for one in criteria
    )


def _mark(kind: str, *names: object) -> str:
    """An anchor: letters that no name can break."""
    safe = (re.sub(r"[^A-Za-z0-9]", lambda found: f"_{ord(found[0]):04x}", str(name)) for name in names)
    return "-".join((kind, *safe))


def _text(text: str) -> str:
    return escape(plain(text))
