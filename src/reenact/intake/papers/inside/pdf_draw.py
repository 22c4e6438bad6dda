"""Draws figures. Names of PDFs on the command line: the first page of each becomes a PNG beside it. Without
them: paper.pdf, and on standard input where captions of figures are -> crop0.png, ..., and crops.json.

A figure is what is drawn next to its caption, in the caption's column: above it, else below it. Text that a
reader would call running text ends a figure; other words beside and inside it belong to it.
"""

from __future__ import annotations

import ctypes
import json
import sys
import time
from pathlib import Path
from typing import Any

WIDEST, CLOSEST = 1400, 3.0
"""Pixels along the longer side, and pixels a point at most."""
SECONDS = 60.0
"""After so many no other figure is begun."""
MOST_OBJECTS = 60_000
LARGEST = 1_500_000
"""Bytes of a PNG; a larger one is kept as JPEG."""
LEAP = 48.0
"""Points without anything drawn inside a figure, or between it and its caption, at most."""
MARGIN = 12.0
"""Points around what is drawn in which words are part of it."""
AIR = 4.0
"""Points of white around a figure."""
THIN = 1.5
"""Points: what is not thicker and runs over most of a column is a rule, which may stand between texts."""
LEAST = 12.0
"""Points: what is smaller in either direction is no figure."""

Box = tuple[float, float, float, float]
"""Left, low, right, high, in points from the lower left corner."""


def main() -> None:
    for name in sys.argv[1:]:
        draw(name)
    if not sys.argv[1:]:
        crop_all()


def draw(name: str) -> None:
    """The first page of a PDF that is a figure."""
    import pypdfium2  # type: ignore[import-untyped,unused-ignore]

    try:
        page = pypdfium2.PdfDocument(name)[0]
    except (pypdfium2.PdfiumError, IndexError):
        return
    longer = max(page.get_size())
    if 1 <= longer <= 20_000:
        page.render(scale=min(WIDEST / longer, 4.0)).to_pil().save(Path(name).with_suffix(".png"))


def crop_all() -> None:
    import pypdfium2  # type: ignore[import-untyped,unused-ignore]

    begun = time.monotonic()
    document = pypdfium2.PdfDocument("paper.pdf")
    problems: list[str] = []
    for number, wanted in enumerate(json.load(sys.stdin)):
        if time.monotonic() - begun > SECONDS:
            problems.append("the time for drawing figures was used up")
            continue
        problems.append(crop(document[wanted["page"] - 1], wanted, f"crop{number}"))
    Path("crops.json").write_text(json.dumps({"problems": problems}), encoding="utf-8")


def crop(page: Any, wanted: dict[str, Any], name: str) -> str:
    """Draw one figure into a file; why not, when there is nothing to draw."""
    if page.get_rotation():
        return "its page is turned"
    sheet = page.get_bbox()
    region = region_of(drawings(page, sheet), wanted, sheet)
    if region is None:
        return "nothing is drawn next to its caption"
    left, low, right, high = region
    scale = min(CLOSEST, WIDEST / max(right - left, high - low))
    margins = (left - sheet[0], low - sheet[1], sheet[2] - right, sheet[3] - high)
    image = page.render(scale=scale, crop=tuple(max(0.0, side) for side in margins)).to_pil().convert("RGB")
    if all(first == last for first, last in image.getextrema()):
        return "what is drawn next to its caption cannot be seen"
    image.save(f"{name}.png", optimize=True)
    if Path(f"{name}.png").stat().st_size > LARGEST:
        image.save(f"{name}.png", format="JPEG", quality=85)
    return ""


def drawings(page: Any, sheet: Box) -> list[Box]:
    """Boxes of the pictures, lines and shades of a page; what covers the whole of it is its background."""
    from pypdfium2 import raw

    kinds = (raw.FPDF_PAGEOBJ_PATH, raw.FPDF_PAGEOBJ_IMAGE, raw.FPDF_PAGEOBJ_SHADING, raw.FPDF_PAGEOBJ_FORM)
    wide, tall = sheet[2] - sheet[0], sheet[3] - sheet[1]
    found = []
    for at in range(min(raw.FPDFPage_CountObjects(page.raw), MOST_OBJECTS)):
        one = raw.FPDFPage_GetObject(page.raw, at)
        if raw.FPDFPageObj_GetType(one) not in kinds:
            continue
        sides = [ctypes.c_float() for _ in range(4)]
        if not raw.FPDFPageObj_GetBounds(one, *sides):
            continue
        left, low, right, high = (side.value for side in sides)
        box = (max(left, sheet[0]), max(low, sheet[1]), min(right, sheet[2]), min(high, sheet[3]))
        whole = box[2] - box[0] > 0.95 * wide and box[3] - box[1] > 0.95 * tall
        if box[2] >= box[0] and box[3] >= box[1] and not whole:
            found.append(box)
    return found


def region_of(drawn: list[Box], wanted: dict[str, Any], sheet: Box) -> Box | None:
    """What is drawn above the caption, else below it, with the words in it."""
    left, right = wanted["column"]
    inside = [box for box in drawn if left - 6 <= (box[0] + box[2]) / 2 <= right + 6]
    rules = [box for box in inside if box[3] - box[1] < THIN and box[2] - box[0] > 0.6 * (right - left)]
    shapes = [box for box in inside if box not in rules]
    lines, words = ([tuple(line) for line in wanted[kind]] for kind in ("prose", "words"))
    # A sentence in a box of a drawing is part of it.
    prose = [line for line in lines if not any(holds(shape, line) for shape in shapes)]
    caption = tuple(wanted["caption"])
    for upward in (True, False):
        region = grown(shapes, caption, prose, upward)
        if region is not None:
            for rule in rules:
                region = union(region, rule) if holds(wider(region, 3.0), rule) else region
            near = [line for line in words if left - 6 <= line[0] and line[2] <= right + 6]
            return with_words(region, near, caption, sheet)
    return None


def grown(drawn: list[Box], caption: Box, prose: list[Box], upward: bool) -> Box | None:
    """The drawings on one side of a caption, one after the other, up to running text or a large gap."""
    if not upward:
        found = grown(turned(drawn), turned([caption])[0], turned(prose), True)
        return turned([found])[0] if found else None
    start = caption[3]
    ceiling = min((line[1] for line in prose if line[1] >= start - 1 and overlap(line, caption)), default=1e9)
    region: Box | None = None
    for box in sorted((box for box in drawn if box[1] >= start - 3), key=lambda box: box[1]):
        top = region[3] if region else start
        if box[1] - top > LEAP or box[1] > ceiling:
            break
        box = (box[0], box[1], box[2], min(box[3], ceiling))
        region = union(region, box) if region else box
    large = region is not None and min(region[2] - region[0], region[3] - region[1]) >= LEAST
    return region if large else None


def turned(boxes: list[Box]) -> list[Box]:
    """Upside down."""
    return [(box[0], -box[3], box[2], -box[1]) for box in boxes]


def wider(box: Box, by: float) -> Box:
    return box[0] - by, box[1] - by, box[2] + by, box[3] + by


def holds(outer: Box, inner: Box) -> bool:
    low = outer[0] <= inner[0] and outer[1] <= inner[1]
    return low and inner[2] <= outer[2] and inner[3] <= outer[3]


def overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2]


def union(one: Box, other: Box) -> Box:
    return (
        min(one[0], other[0]), min(one[1], other[1]), max(one[2], other[2]), max(one[3], other[3]),
    )  # fmt: skip


def with_words(region: Box, words: list[Box], caption: Box, sheet: Box) -> Box:
    """The region with axis labels, legends and titles, a little air around it, without the caption."""
    left, low, right, high = whole = region
    under, over = low >= caption[3] - 3, high <= caption[1] + 3
    # Whatever stands between a drawing and its caption belongs to the drawing.
    least, most = caption[3] if under else low - MARGIN, caption[1] if over else high + MARGIN
    for line in words:
        across = left - 2 * MARGIN <= line[2] and line[0] <= right + 2 * MARGIN
        if across and least <= (line[1] + line[3]) / 2 <= most:
            whole = union(whole, line)
    floor, top = caption[3] + 1 if under else sheet[1], caption[1] - 1 if over else sheet[3]
    return (
        max(whole[0] - AIR, sheet[0]), max(whole[1] - AIR, floor),
        min(whole[2] + AIR, sheet[2]), min(whole[3] + AIR, top),
    )  # fmt: skip


main()
