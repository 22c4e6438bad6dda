"""paper.pdf -> pages.json: lines with size, weight and place, tables between rules, nothing
invisible.

With words FILE PAGE ...: draws pages as 0.png, 1.png, ...; one that cannot be drawn is left out.
"""

from __future__ import annotations

import ctypes
import json
import re
import sys
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

MOST_PAGES = 400
MOST_LETTERS = 4_000_000
MOST_TABLE_PAGES = 60
SMALLEST = 2.5
"""Letters of fewer points are there for machines, not for readers."""
LEAST_RULE = 60.0
"""Points: a shorter line is not a rule of a table."""
GAP = 5.0
"""Points between two columns of a table."""
BOLD = re.compile(r"bold|black|heavy|medi|cmbx|-bd|sfbx|\bbx", re.I)
HYPHENS = "\ufffe\x02"
"""Are where a word was cut at the end of a line."""
ENDS = f"\r\n{HYPHENS}"
CAPTION = re.compile(r"^\s*table\s+[\w.]{1,6}\s*[:.]", re.I | re.M)
BESIDE = re.compile(r"(?<=\s)(?:Figure|Fig\.|Table)\s*\d{1,3}\s*[:.|]")
"""A caption that does not begin a line: it may are next to another one."""
APART = 1.5
"""Sizes of a letter between two captions that are side by side."""
WIDEST, CLOSEST = 1400, 4.0
"""Pixels along the longer side, and pixels a point at most."""
SECONDS = 60.0
"""After so many no other page is begun."""
LARGEST = 1_500_000
"""Bytes of a PNG; a larger one is kept as JPEG."""


def main() -> None:
    import pypdfium2  # type: ignore[import-untyped,unused-ignore]

    try:
        document = pypdfium2.PdfDocument("paper.pdf")
    except pypdfium2.PdfiumError as error:
        locked = "password" in str(error).lower()
        write(
            {
                "error": "it is locked with a password" if locked else f"it is damaged ({error})",
            }
        )
        return
    count = len(document)
    if count > MOST_PAGES:
        write(
            {
                "error": f"it has {count} pages, and at most {MOST_PAGES} are read",
            }
        )
        return
    pages = []
    unseen = 0
    letters = 0
    for number in range(count):
        lines, hidden, seen = read_page(document[number])
        letters += seen
        unseen += hidden
        if letters > MOST_LETTERS:
            write({"error": f"it has more than {MOST_LETTERS} letters"})
            return
        pages.append(
            {
                "number": number + 1,
                "lines": lines,
                "tables": [],
            }
        )
    add_tables(pages)
    write(
        {
            "pages": pages,
            "unseen": unseen,
        }
    )


def write(found: object) -> None:
    Path("pages.json").write_text(
        json.dumps(found),
        encoding="utf-8",
    )


def read_page(page: Any) -> tuple[list[dict[str, Any]], int, int]:
    """Lines of a page, how many letters no reader sees or are turned, and how many there are."""
    from pypdfium2 import raw

    text = page.get_textpage()
    count = raw.FPDFText_CountChars(text.raw)
    line = Line()
    lines = []
    hidden = 0
    for at in range(min(count, MOST_LETTERS)):
        letter = chr(min(raw.FPDFText_GetUnicode(text.raw, at), 0x10FFFF))
        if letter in ENDS:
            line.letters += "-" * (letter in HYPHENS)
            lines += line.done()
            line = Line()
            continue
        size = raw.FPDFText_GetFontSize(text.raw, at)
        made = raw.FPDFText_IsGenerated(text.raw, at) == 1
        if not made and (
            not is_seen(raw, text.raw, at) or raw.FPDFText_GetCharAngle(text.raw, at) > 0.1
        ):
            hidden += not letter.isspace()
            continue
        line.add(
            letter,
            size,
            None if made or letter.isspace() else box_of(raw, text.raw, at),
        )
        if line.bold is None and not made:
            line.bold = is_bold(raw, text.raw, at)
    lines += line.done()
    return lines, hidden, count


class Line:
    """One line while its letters are read."""

    def __init__(self) -> None:
        self.letters: list[str] = []
        self.sizes: Counter[float] = Counter()
        self.boxes: list[tuple[float, float, float, float]] = []
        self.places: list[int] = []
        """Which letter each box is of."""
        self.bold: bool | None = None

    def add(
        self,
        letter: str,
        size: float,
        box: tuple[float, float, float, float] | None,
    ) -> None:
        self.letters.append(letter)
        if box is not None:
            self.boxes.append(box)
            self.places.append(len(self.letters) - 1)
            self.sizes[
                round(
                    max(size, box[3] - box[1] if size <= 1 else size),
                    1,
                )
            ] += 1

    def done(self) -> list[dict[str, Any]]:
        text = "".join(self.letters).strip()
        if not text or not self.boxes:
            return []
        beside = self.split()
        if beside is not None:
            return [*self.done(), *beside.done()]
        lefts, lows, rights, highs = zip(*self.boxes, strict=True)
        size = self.sizes.most_common(1)[0][0]
        place = [round(value, 1) for value in (min(lefts), min(lows), max(rights), max(highs))]
        return [
            {
                "text": text,
                "size": size,
                "bold": bool(self.bold),
                "box": place,
            }
        ]

    def split(self) -> Line | None:
        """Cut off a caption that is apart next to what comes before it; none when there is
        none.
        """
        size = self.sizes.most_common(1)[0][0]
        for found in BESIDE.finditer("".join(self.letters)):
            at = bisect_left(self.places, found.start())
            if (
                not 0 < at < len(self.boxes)
                or self.boxes[at][0] - self.boxes[at - 1][2] < APART * size
            ):
                continue
            other = Line()
            other.letters, self.letters = (
                self.letters[found.start() :],
                self.letters[: found.start()],
            )
            other.boxes, self.boxes = self.boxes[at:], self.boxes[:at]
            other.places = [place - found.start() for place in self.places[at:]]
            self.places = self.places[:at]
            other.sizes = self.sizes
            other.bold = self.bold
            return other
        return None


def box_of(
    raw: Any,
    text: Any,
    at: int,
) -> tuple[float, float, float, float]:
    left = ctypes.c_double()
    right = ctypes.c_double()
    low = ctypes.c_double()
    high = ctypes.c_double()
    raw.FPDFText_GetCharBox(text, at, left, right, low, high)
    return left.value, low.value, right.value, high.value


def is_seen(raw: Any, text: Any, at: int) -> bool:
    """Neither white nor transparent nor too small to read."""
    red = ctypes.c_uint()
    green = ctypes.c_uint()
    blue = ctypes.c_uint()
    alpha = ctypes.c_uint()
    known = raw.FPDFText_GetFillColor(text, at, red, green, blue, alpha)
    white = known and min(red.value, green.value, blue.value) >= 250
    left, low, right, high = box_of(raw, text, at)
    tiny = (
        0 < high - low < 1
        and 0 < right - left < 1
        and raw.FPDFText_GetFontSize(text, at) < SMALLEST
    )
    return not (white or (known and alpha.value < 10) or tiny)


def is_bold(raw: Any, text: Any, at: int) -> bool:
    name = ctypes.create_string_buffer(128)
    raw.FPDFText_GetFontInfo(text, at, name, 128, ctypes.c_int())
    return (
        bool(BOLD.search(name.value.decode("latin-1")))
        or raw.FPDFText_GetFontWeight(text, at) >= 600
    )


def add_tables(pages: list[dict[str, Any]]) -> None:
    """Tables of the pages that have a caption of one."""
    wanted = [page for page in pages if any(CAPTION.match(line["text"]) for line in page["lines"])]
    if not wanted:
        return
    import pdfplumber

    numbers = [page["number"] for page in wanted[:MOST_TABLE_PAGES]]
    with pdfplumber.open("paper.pdf", pages=numbers) as document:
        for page, source in zip(wanted, document.pages, strict=False):
            page["tables"] = list(tables_of(source))
            source.close()


def tables_of(page: Any) -> Iterator[dict[str, Any]]:
    """Regions between horizontal rules of the same width, as cells."""
    groups: dict[tuple[int, int], list[float]] = {}
    for edge in (one for one in page.horizontal_edges if one["x1"] - one["x0"] >= LEAST_RULE):
        left = round(edge["x0"])
        right = round(edge["x1"])
        near = (one for one in groups if abs(one[0] - left) < 4 and abs(one[1] - right) < 4)
        groups.setdefault(next(near, (left, right)), []).append(float(edge["top"]))
    words = page.extract_words(use_text_flow=False, x_tolerance=1.5)
    for (left, right), tops in groups.items():
        heights = sorted(set(tops))
        if len(heights) < 2 or heights[-1] - heights[0] < 12:
            continue
        between = [word for word in words if heights[0] - 1 <= word["top"] < heights[-1]]
        rows = rows_of([one for one in between if left - 3 <= one["x0"] and one["x1"] <= right + 3])
        if len(rows) >= 2:
            heads = 1
            if len(heights) > 2:
                heads = sum(row[0]["bottom"] <= heights[1] + 1 for row in rows)
            box = [
                left,
                page.height - heights[-1],
                right,
                page.height - heights[0],
            ]
            yield {
                "rows": cells_of(rows),
                "heads": heads,
                "box": [float(round(side, 1)) for side in box],
            }


def rows_of(words: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    rows: list[list[dict[str, Any]]] = []
    for word in sorted(
        words,
        key=lambda one: (one["top"] + one["bottom"]) / 2,
    ):
        middle = (word["top"] + word["bottom"]) / 2
        last = rows[-1][0] if rows else None
        if last is not None and last["top"] <= middle <= last["bottom"]:
            rows[-1].append(word)
        else:
            rows.append([word])
    return [
        sorted(
            row,
            key=lambda one: one["x0"],
        )
        for row in rows
    ]


def cells_of(rows: list[list[dict[str, Any]]]) -> list[list[str]]:
    """Columns are where most rows leave no letter; a cell over several columns is repeated in
    each.
    """
    joined = [join(row) for row in rows]
    usual = Counter(len(row) for row in joined).most_common(1)[0][0]
    columns: list[list[float]] = []
    for left, right in sorted(
        (cell[0], cell[1]) for row in joined if len(row) >= usual for cell in row
    ):
        if columns and left <= columns[-1][1] + 1:
            columns[-1][1] = max(columns[-1][1], right)
        else:
            columns.append([left, right])
    table = []
    for row in joined:
        cells = [""] * len(columns)
        for left, right, text in row:
            touched = [
                at for at, (start, end) in enumerate(columns) if start < right and left < end
            ]
            for at in touched or [
                min(range(len(columns)), key=lambda one: abs(columns[one][0] - left))
            ]:
                cells[at] = f"{cells[at]} {text}".strip()
        table.append(cells)
    return table


def join(row: list[dict[str, Any]]) -> list[tuple[float, float, str]]:
    """Words of a row that are close together are one cell."""
    cells: list[tuple[float, float, str]] = []
    for word in row:
        if cells and word["x0"] - cells[-1][1] < GAP:
            left, _, text = cells[-1]
            cells[-1] = (
                left,
                word["x1"],
                f"{text} {word['text']}",
            )
        else:
            cells.append(
                (
                    word["x0"],
                    word["x1"],
                    word["text"],
                )
            )
    return cells


def draw(file: str, number: int, into: Path) -> None:
    import pypdfium2  # type: ignore[import-untyped,unused-ignore]

    try:
        page = pypdfium2.PdfDocument(file)[number - 1]
    except (pypdfium2.PdfiumError, IndexError):
        return
    longer = max(page.get_size())
    if 1 <= longer <= 20_000:
        image = page.render(scale=min(WIDEST / longer, CLOSEST)).to_pil().convert("RGB")
        image.save(into)
        if into.stat().st_size > LARGEST:
            image.save(into, format="JPEG", quality=85)


if not sys.argv[1:]:
    main()
begun = time.monotonic()
for place, (name, wanted) in enumerate(zip(sys.argv[1::2], sys.argv[2::2], strict=True)):
    if time.monotonic() - begun <= SECONDS:
        draw(
            name,
            int(wanted),
            Path(f"{place}.png"),
        )
