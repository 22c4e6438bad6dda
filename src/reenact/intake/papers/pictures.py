"""Figures from a folder of strangers: inside it only, PNG, JPEG or PDF only, so many bytes only."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from reenact.errors import InputError, ReenactError, Stopped
from reenact.intake.papers.assemble import Piece
from reenact.intake.papers.pandoc import run_script
from reenact.intake.papers.paper import Figure, Lost
from reenact.sandbox.box import Sandbox
from reenact.sandbox.files.collect import collect, inner_name

MOST_BYTES = 8 * 1024 * 1024
"""The largest picture that is kept."""
MOST_TOGETHER = 64 * 1024 * 1024
_MAGIC = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff")
_ENDINGS = ("", ".png", ".jpg", ".jpeg", ".PNG", ".JPG", ".pdf")
MOST = 40
"""Pages that are drawn for one paper; other figures keep their captions alone."""


@dataclass
class Pictures:
    """Loads figures by the names that a paper gives them."""

    folder: Path | None
    """Where the paper lies; none when it has no folder of its own."""
    beside: tuple[str, ...] = ("",)
    """Folders inside in which names are looked for, as `\\graphicspath` has them."""
    lost: list[Lost] = field(default_factory=list)
    waiting: dict[str, bytes] = field(default_factory=dict)
    """Figures that are PDFs, by name: they can be drawn, but not here."""
    _left: int = MOST_TOGETHER

    def load(self, name: str) -> bytes:
        """The picture as it came; nothing, and a note, when it cannot be shown."""
        if self.folder is None or not name:
            return b""
        data = b""
        why = "it is not among the files, or not as PNG, JPEG or PDF"
        for path in (f"{folder}{name}{ending}" for folder in self.beside for ending in _ENDINGS):
            with suppress(InputError):
                inner_name(path)
                found = collect(
                    self.folder,
                    [path.removeprefix("./")],
                    MOST_BYTES,
                )
                if found.results or found.refused:
                    data = next(iter(found.results.values()), b"")
                    why = next(
                        iter(found.refused.values()),
                        "it is neither PNG nor JPEG nor PDF",
                    )
                    break
        if len(data) > self._left:
            data = b""
            why = f"the figures together have more than {MOST_TOGETHER} bytes"
        if not data.startswith((*_MAGIC, b"%PDF-")):
            self.lost.append(
                Lost(
                    "figure",
                    f"The picture {name[:200]} cannot be shown: {why}.",
                    name[:200],
                )
            )
            return b""
        self._left -= len(data)
        if not data.startswith(b"%PDF-"):
            return data
        self.waiting[name] = data
        return b""


def drawn(
    pieces: Iterable[Piece], waiting: Mapping[str, bytes], *, box: Sandbox
) -> tuple[tuple[Piece, ...], tuple[Lost, ...]]:
    """The pieces with figures that are pages of PDFs as pixels, and a note for each that was not
    drawn. `waiting` has the PDFs by the names of the figures: the first page, or the one that
    `#page=` names.
    """
    images = _images(
        dict(list(waiting.items())[:MOST]),
        box,
    )
    made: list[Piece] = []
    for piece in pieces:
        if isinstance(piece, Figure) and not piece.image:
            piece = replace(
                piece,
                image=images.get(piece.file, b""),
            )
        made.append(piece)
    missing = (name for name in waiting if name not in images)
    what = "is a PDF and was not drawn."
    return tuple(made), tuple(
        Lost(
            "figure",
            f"The picture {name} {what}",
            name,
        )
        for name in missing
    )


def _images(
    waiting: dict[str, bytes],
    box: Sandbox,
) -> dict[str, bytes]:
    if not waiting:
        return {}
    files = {id(data): (f"file{number}.pdf", data) for number, data in enumerate(waiting.values())}
    pages = (
        (
            files[id(data)][0],
            name.partition("#page=")[2] or "1",
        )
        for name, data in waiting.items()
    )
    words = [word for pair in pages for word in pair]
    asked = tuple(f"{number}.png" for number in range(len(waiting)))
    given = dict(files.values())
    try:
        result = run_script(
            "pdf_pages",
            *words,
            box=box,
            name="figures",
            files=given,
            collect=asked,
        )
    except Stopped:
        raise
    except ReenactError:
        # A figure made to harm its reader costs the figures, not the paper; the caller says which.
        return {}
    found = {
        name: result.results.get(image, b"") for name, image in zip(waiting, asked, strict=True)
    }
    return {name: image for name, image in found.items() if image.startswith(_MAGIC)}
