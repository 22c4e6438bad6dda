"""Figures that are PDFs, as files named on the command line -> PNG of each first page, beside it."""

from __future__ import annotations

import sys
from pathlib import Path

WIDEST = 1400
"""Points of the picture along its longer side."""


def main() -> None:
    import pypdfium2  # type: ignore[import-untyped,unused-ignore]

    for name in sys.argv[1:]:
        try:
            page = pypdfium2.PdfDocument(name)[0]
        except (pypdfium2.PdfiumError, IndexError):
            continue
        longer = max(page.get_size())
        if 1 <= longer <= 20_000:
            page.render(scale=min(WIDEST / longer, 4.0)).to_pil().save(Path(name).with_suffix(".png"))


main()
