"""Blocks as HTML: one template a block, everything escaped, drawings by the room that draws."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache, partial
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from reenact.plain import plain, plain_line
from reenact.report.sheet import Facts, Text
from reenact.types import Table
from reenact.web.assets import TEMPLATES
from reenact.web.figures import figure
from reenact.web.page import (
    Beside,
    Block,
    Board,
    Chart,
    Finding,
    Fold,
    Reading,
    Source,
    Squiggle,
    Timeline,
    Traceback,
)

if TYPE_CHECKING:
    from jinja2 import Environment

MACROS: Mapping[type, str] = {
    Text: "text",
    Facts: "facts",
    Table: "table",
    Chart: "chart",
    Source: "source",
    Traceback: "traceback",
    Finding: "finding",
    Fold: "fold",
    Timeline: "timeline",
    Board: "board",
    Reading: "reading",
    Beside: "beside",
}

HASH, SHOWN = re.compile(r"\b[0-9a-f]{24,}\b"), 10


@cache
def environment(alone: bool = False) -> Environment:
    """The templates, with escaping on and unknown names an error; `alone` for a file without scripts."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"plain": plain, "figure": _figure, "drawing": _drawing, "moment": moment}
    made.filters |= {"shortened": shortened}
    made.globals |= {"paint": partial(paint, alone=alone), "numbered": numbered, "pieces": pieces}
    made.globals |= {"alone": alone}
    return made


def _shown(value: Any) -> Any:
    """What stands between braces, before it is escaped: nothing that a reader could not see gets through."""
    # Markup, a kind of str, holds what has passed here already.
    if type(value) is str:
        return plain(value)
    return plain_line(str(value)) if isinstance(value, PurePath) else value


def render(template: str, *, alone: bool = False, **given: Any) -> str:
    """A whole page."""
    return environment(alone).get_template(template).render(**given)


def paint(block: Block, *, alone: bool = False) -> Markup:
    """One block."""
    macros: Any = environment(alone).get_template("blocks.html").module
    painted: Markup = getattr(macros, MACROS[type(block)])(block)
    return painted


def _figure(chart: Chart) -> str:
    return json.dumps(figure(chart.plot), allow_nan=False, separators=(",", ":"))


def _drawing(chart: Chart) -> Markup:
    # Made by report/svg*.py, where every word is escaped.
    return Markup(chart.plot.draw(chart.words or chart.plot.title))  # noqa: S704


def moment(at: str | None) -> str:
    """A time of the journal for a reader."""
    try:
        return datetime.fromisoformat(at or "").strftime("%Y-%m-%d %H:%M:%S")
    except ValueError:
        return plain(at or "")


def shortened(path: str) -> str:
    """The path of a step with its long hashes cut: enough of each to tell it from the others."""
    return HASH.sub(lambda found: f"{found[0][:SHOWN]}…", path)


@dataclass(frozen=True, slots=True)
class Line:
    """A line of source as it is shown."""

    number: int
    text: str
    squiggles: tuple[Squiggle, ...]
    is_gap: bool = False
    """Stands for lines that are left out."""


def numbered(source: Source) -> Iterator[Line]:
    """The lines of a source: all, or those around a squiggle."""
    lines = plain(source.text).split("\n")
    if lines and not lines[-1]:
        lines.pop()
    on: dict[int, list[Squiggle]] = {}
    for one in source.squiggles:
        on.setdefault(one.line, []).append(one)
    last = 0
    for number, text in enumerate(lines, start=1):
        near = source.context is None or any(abs(number - line) <= source.context for line in on)
        if not near:
            continue
        if number > last + 1:
            yield Line(last + 1, f"{number - last - 1} lines", (), is_gap=True)
        yield Line(number, text, tuple(on.get(number, ())))
        last = number


def pieces(line: Line) -> Iterator[tuple[str, Squiggle | None]]:
    """A line cut at its squiggles; of two that overlap the graver one stands."""
    taken: list[tuple[int, int, Squiggle]] = []
    for one in sorted(line.squiggles, key=lambda squiggle: squiggle.tone == "faint"):
        start, end = min(one.start, len(line.text)), min(one.end or len(line.text), len(line.text))
        if start < end and all(end <= begun or start >= ended for begun, ended, _ in taken):
            taken.append((start, end, one))
    at = 0
    for start, end, one in sorted(taken, key=lambda piece: piece[0]):
        yield line.text[at:start], None
        yield line.text[start:end], one
        at = end
    yield line.text[at:], None
