"""Pictures of a PDF's figures: cut out of its pages inside the sandbox, one run for all of a paper."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Sequence
from dataclasses import replace

from reenact.errors import ReenactError, Stopped
from reenact.intake.papers.boxed import LIMITS, result_json, run_script
from reenact.intake.papers.paper import Lost
from reenact.intake.papers.pdf_lines import Line, Page
from reenact.intake.papers.pieces import Picture, Piece
from reenact.sandbox.box import Sandbox
from reenact.types import JsonValue

MOST = 40
"""Figures of one paper that are cut out; the others keep their captions."""
LONG = 40
"""Letters from which on a line is running text and no label of an axis."""


def cropped(
    pieces: Sequence[Piece], pages: Sequence[Page], data: bytes, *, size: float, box: Sandbox
) -> tuple[tuple[Piece, ...], tuple[Lost, ...]]:
    """The pieces with pixels for their figures, and a note for each figure that has none."""
    figures = [piece for piece in pieces if isinstance(piece, Picture) and piece.box]
    by_number = {page.number: page for page in pages}
    wanted = [_wanted(one, by_number[one.page], figures, size) for one in figures[:MOST]]
    images, problems = _images(data, wanted, box) if wanted else ([], [])
    problems += [f"at most {MOST} figures of a paper are cut out"] * (len(figures) - len(problems))
    found = dict(zip(map(id, figures), images, strict=False))
    made = tuple(
        replace(one, image=found.get(id(one), b"")) if isinstance(one, Picture) else one for one in pieces
    )
    lost = [
        Lost("figure", f"Figure {one.label} has no picture: {why}.", f"page {one.page}")
        for one, why in zip(figures, problems, strict=True)
        if why
    ]
    return made, tuple(lost)


def _wanted(figure: Picture, page: Page, figures: Sequence[Picture], size: float) -> dict[str, JsonValue]:
    """Where a caption stands, the column that it belongs to, and the words around it."""
    caption = figure.box
    lines = [line for line in page.lines if not _inside(line, caption)]
    others = [one.box for one in figures if one.page == figure.page and one is not figure]
    prose = [_box(line) for line in lines if len(line.text) >= LONG and line.size >= 0.9 * size]
    return {
        "page": figure.page,
        "caption": list(caption),
        "column": list(_column(caption, page.lines, others)),
        # The caption of another figure ends this one, as running text does.
        "prose": [list(box) for box in (*prose, *others)],
        "words": [list(_box(line)) for line in lines if len(line.text) < LONG],
    }


def _column(
    caption: tuple[float, ...], lines: Sequence[Line], others: Sequence[tuple[float, ...]]
) -> tuple[float, float]:
    """From where to where the figure of a caption may reach."""
    left, right = min(line.left for line in lines), max(line.right for line in lines)
    middle = (left + right) / 2
    long = [line for line in lines if len(line.text) >= LONG]
    halves = [line for line in long if line.right <= middle + 6 or line.left >= middle - 6]
    if long and 2 * len(halves) > len(long):
        right = middle if caption[2] <= middle + 6 else right
        left = middle if caption[0] >= middle - 6 else left
    for other in others:
        beside = other[1] < caption[3] and caption[1] < other[3]
        if beside and other[0] >= caption[2]:
            right = min(right, (caption[2] + other[0]) / 2)
        elif beside and other[2] <= caption[0]:
            left = max(left, (other[2] + caption[0]) / 2)
    return left, right


def _images(data: bytes, wanted: list[dict[str, JsonValue]], box: Sandbox) -> tuple[list[bytes], list[str]]:
    if importlib.util.find_spec("PIL") is None:
        return [], ["drawing it needs the package pillow"] * len(wanted)
    names = tuple(f"crop{number}.png" for number in range(len(wanted)))
    try:
        result = run_script(
            "pdf_crop", box=box, name="figures", stdin=json.dumps(wanted).encode(),
            given={"paper.pdf": data}, collect=("crops.json", *names), limits=LIMITS,
        )  # fmt: skip
        problems = [str(one) for one in result_json(result, "crops.json", "figures")["problems"]]
    except Stopped:
        raise
    except ReenactError as error:
        # A page made to harm its reader costs the figures, not the paper.
        return [], [f"the figures could not be drawn ({_plain(error)})"] * len(wanted)
    return [result.results.get(name, b"") for name in names], problems


def _plain(error: ReenactError) -> str:
    return error.sentence.rstrip(".")


def _inside(line: Line, caption: tuple[float, ...]) -> bool:
    middle = (line.low + line.high) / 2
    return caption[1] <= middle <= caption[3] and line.left < caption[2] and caption[0] < line.right


def _box(line: Line) -> tuple[float, ...]:
    return line.left, line.low, line.right, line.high
