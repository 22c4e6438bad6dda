"""Papers of the tests, a sandbox for their parsers, and PDFs made by hand."""

from __future__ import annotations

import zlib
from pathlib import Path

import pytest

from reenact.intake.papers.paper import Paper
from reenact.intake.papers.read import read_paper
from reenact.sandbox.box import Sandbox
from reenact.sandbox.choose import choose

FIXTURES = Path(__file__).parent / "fixtures"


@pytest.fixture(scope="session")
def box() -> Sandbox:
    return choose()


@pytest.fixture(scope="session")
def fixtures() -> Path:
    return FIXTURES


@pytest.fixture(scope="session")
def pdf() -> type[Pdf]:
    return Pdf


@pytest.fixture(scope="session")
def latex(box: Sandbox) -> Paper:
    """The LaTeX paper of the tests, read once."""
    return read_paper(str(FIXTURES / "narrow"), box=box)


@pytest.fixture(scope="session")
def html(box: Sandbox) -> Paper:
    return read_paper(str(FIXTURES / "narrow.html"), box=box)


@pytest.fixture(scope="session")
def markdown(box: Sandbox) -> Paper:
    return read_paper(str(FIXTURES / "narrow.md"), box=box)


class Sheet:
    """A page of a PDF: words and rules at places, in points from the lower left corner."""

    def __init__(self) -> None:
        self.drawn: list[str] = []

    def say(
        self,
        text: str,
        x: float,
        y: float,
        size: float = 10,
        *,
        bold: bool = False,
        white: bool = False,
    ) -> None:
        escaped = text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")
        colour = "1 1 1 rg" if white else "0 0 0 rg"
        self.drawn.append(
            f"BT {colour} /F{2 if bold else 1} {size} Tf {x} {y} Td ({escaped}) Tj ET"
        )

    def rule(self, left: float, right: float, y: float) -> None:
        self.drawn.append(f"0.5 w {left} {y} m {right} {y} l S")

    def block(
        self, left: float, low: float, right: float, high: float, colour: str = "1 0 0"
    ) -> None:
        """A filled rectangle; the colour as red, green and blue."""
        self.drawn.append(f"{colour} rg {left} {low} {right - left} {high - low} re f")


class Pdf:
    """Makes PDFs."""

    sheet = Sheet

    @staticmethod
    def of(*sheets: Sheet, trailer: str = "", count: int = 0) -> bytes:
        """A small PDF with two fonts. `count` repeats the first page so often."""
        streams = [
            zlib.compress("\n".join(sheet.drawn).encode("latin-1", "replace")) for sheet in sheets
        ]
        kids = [5 + 2 * number for number in range(len(streams))]
        listed = " ".join(f"{kid} 0 R" for kid in (kids[:1] * count if count else kids))
        objects = [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            f"<< /Type /Pages /Kids [{listed}] /Count {count or len(kids)} >>".encode(),
            b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
            b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold >>",
        ]
        for number, stream in enumerate(streams):
            objects += [_page(6 + 2 * number), _stream(stream)]
        return _file(objects, trailer)


def _page(content: int) -> bytes:
    fonts = "/Resources << /Font << /F1 3 0 R /F2 4 0 R >> >>"
    return (
        f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {content} 0 R {fonts} >>"
    ).encode()


def _stream(content: bytes) -> bytes:
    head = f"<< /Length {len(content)} /Filter /FlateDecode >>\nstream\n".encode()
    return head + content + b"\nendstream"


def _file(objects: list[bytes], trailer: str) -> bytes:
    data = b"%PDF-1.5\n"
    places = []
    for number, body in enumerate(objects, start=1):
        places.append(len(data))
        data += f"{number} 0 obj\n".encode() + body + b"\nendobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    head = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}"
    root = (
        f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R {trailer} "
        f">>\nstartxref\n{len(data)}\n%%EOF\n"
    )
    return data + head.encode() + root.encode()
