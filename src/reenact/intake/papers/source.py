"""Bytes of a paper from this disk, and their form: by their content first, by their name last."""

import codecs
import gzip
import re
import zlib
from contextlib import suppress
from enum import StrEnum
from io import BytesIO
from pathlib import Path

from reenact.errors import UnreadablePaper
from reenact.files import read_start
from reenact.intake.archive import begins_archive
from reenact.plain import plain

MOST_BYTES = 64 * 1024 * 1024
"""The largest file that is read: an archive or a PDF."""
MOST_TEXT = 4 * 1024 * 1024
"""The largest text: twenty times a long paper."""
MOST_STRANGE = 0.05
_STRANGE = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f\ufffd]")
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_HTML = re.compile(
    rb"\A\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html)\b",
    re.I | re.S,
)
_TEX = re.compile(
    rb"^[^%\n]*\\(?:document(?:class|style)|begin\s*\{document\}|(?:input|section)\s*\{)",
    re.M,
)
_HEADED = re.compile(rb"^#{1,4} \S", re.M)


class Form(StrEnum):
    """Forms of papers."""

    LATEX = "latex"
    HTML = "html"
    MARKDOWN = "markdown"
    TEXT = "text"
    PDF = "pdf"
    ARCHIVE = "archive"
    PACKED = "packed"
    """One file, gzipped: as arXiv sends papers that are a single file."""


_BY_NAME = {
    ".tex": Form.LATEX,
    ".ltx": Form.LATEX,
    ".html": Form.HTML,
    ".htm": Form.HTML,
    ".xhtml": Form.HTML,
    ".md": Form.MARKDOWN,
    ".markdown": Form.MARKDOWN,
    ".txt": Form.TEXT,
}


def load(path: Path) -> bytes:
    """The bytes of a plain file."""
    try:
        data = read_start(path, MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        why = f"The paper cannot be read: {why}. Received: {path}"
        instead = "Name a file, a folder with LaTeX, an archive, or an arXiv id such as 1706.03762."
        raise UnreadablePaper(why, next_step=instead) from error
    if len(data) > MOST_BYTES:
        raise UnreadablePaper(
            f"The paper has more than {MOST_BYTES // 1024**2} MiB. Received: {path}"
        )
    if not data.strip():
        raise UnreadablePaper(f"The paper is empty. Received: {path}")
    return data


def form_of(data: bytes, name: str) -> Form:
    """What the bytes are."""
    start = data[:4096]
    if b"%PDF-" in start[:1024]:
        return Form.PDF
    if start.startswith(b"\x1f\x8b"):
        with suppress(zlib.error):
            if zlib.decompressobj(31).decompress(start, 512)[257:262] == b"ustar":
                return Form.ARCHIVE
        return Form.PACKED
    if begins_archive(start):
        return Form.ARCHIVE
    if _HTML.match(start):
        return Form.HTML
    guessed = Form.MARKDOWN if _HEADED.search(data[:200_000]) else Form.TEXT
    if _TEX.search(data[:200_000]):
        guessed = Form.LATEX
    return _BY_NAME.get(Path(name).suffix.lower(), guessed)


def unpacked(data: bytes, name: str) -> bytes:
    """The one file in a gzip stream, so many bytes at most."""
    try:
        with gzip.open(BytesIO(data)) as stream:
            inner = stream.read(MOST_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise UnreadablePaper(f"The file cannot be unpacked: {error}. Received: {name}") from error
    if len(inner) > MOST_BYTES:
        raise UnreadablePaper(
            f"The file unpacks to more than {MOST_BYTES // 1024**2} MiB. Received: {name}"
        )
    return inner


def text_of(data: bytes, name: str) -> str:
    """The text in the bytes, cleaned; Latin-1 where it is not UTF-8. UnreadablePaper for other
    bytes.
    """
    if len(data) > MOST_TEXT:
        why = f"The text has {len(data)} bytes, and at most {MOST_TEXT} are read. Received: {name}"
        raise UnreadablePaper(why, next_step="Give the paper alone, without data.")
    text = decoded(data, fallback="cp1252")
    if not is_text(text):
        why = f"The paper is not text, and not a PDF or archive either. Received: {name}"
        raise UnreadablePaper(why, next_step="Name a PDF, LaTeX, HTML, Markdown or plain text.")
    return plain(text)


def decoded(data: bytes, *, fallback: str = "utf-8") -> str:
    """The text in the bytes: UTF-8, UTF-16 with its mark, else the fallback."""
    encoding = next(
        (known for mark, known in _MARKS if data.startswith(mark)),
        "utf-8",
    )
    try:
        return data.decode(encoding)
    except UnicodeDecodeError:
        return data.decode(fallback, errors="replace")


def is_text(text: str) -> bool:
    """Whether hardly a character is one that no one types (a Latin-1 page read as UTF-8 has
    about 2 %).
    """
    return "\x00" not in text and len(_STRANGE.findall(text)) <= MOST_STRANGE * len(text)
