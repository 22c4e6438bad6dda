"""FILE PAGE ...: draws pages as 0.png, 1.png, ...; one that cannot be drawn is left out."""

from __future__ import annotations

import sys
import time
from pathlib import Path

WIDEST, CLOSEST = 1400, 4.0
"""Pixels along the longer side, and pixels a point at most."""
SECONDS = 60.0
"""After so many no other page is begun."""
LARGEST = 1_500_000
"""Bytes of a PNG; a larger one is kept as JPEG."""


def main() -> None:
    begun = time.monotonic()
    for number, (file, page) in enumerate(zip(sys.argv[1::2], sys.argv[2::2], strict=True)):
        if time.monotonic() - begun <= SECONDS:
            draw(file, int(page), Path(f"{number}.png"))


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


main()
