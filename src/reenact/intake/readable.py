"""Bytes that claim to be text: decoded, cleaned, cut to a length that is stated; anything else is refused."""

from __future__ import annotations

import codecs
import re

from reenact.errors import UnreadableReport
from reenact.plain import plain

_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_STRANGE = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f\ufffd]")
MOST_STRANGE = 0.05
"""Share of characters that no writer types, above which bytes are no text (a Latin-1 page has about 2 %)."""


def decode(data: bytes, source: str) -> str:
    """The text in the bytes, without anything a terminal would obey. UnreadableReport for other bytes."""
    encoding = next((name for mark, name in _MARKS if data.startswith(mark)), "utf-8")
    text = data.decode(encoding, errors="replace")
    strange = len(_STRANGE.findall(text))
    if "\x00" in text or strange > MOST_STRANGE * len(text):
        raise UnreadableReport(
            f"The report is not text ({strange} of {len(text)} characters are none). Received: {source}",
            next_step="Give the report as plain text or Markdown.",
        )
    return plain(text)


def shorten(text: str, most: int) -> tuple[str, str]:
    """Head and tail of a long text with the cut marked, and the cut as a clause; all of a short one."""
    if len(text) <= most:
        return text, ""
    head, tail = most - most // 3, most // 3
    left_out = len(text) - head - tail
    kept = f"{text[:head]}\n[... {left_out} characters left out ...]\n{text[-tail:] if tail else ''}"
    return kept, f"{left_out} of {len(text)} characters left out in the middle"
