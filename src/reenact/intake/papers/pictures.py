"""Figures from a folder of strangers: inside it only, PNG, JPEG or PDF only, so many bytes only."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from reenact.errors import InputError
from reenact.intake.papers.paper import Lost
from reenact.sandbox.files.collect import collect, inner_name

MOST_BYTES = 8 * 1024 * 1024
"""The largest picture that is kept."""
MOST_TOGETHER = 64 * 1024 * 1024
_MAGIC = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff")
_ENDINGS = ("", ".png", ".jpg", ".jpeg", ".PNG", ".JPG", ".pdf")


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
    _room: int = MOST_TOGETHER

    def load(self, name: str) -> bytes:
        """The picture as it came; nothing, and a note, when it cannot be shown."""
        if self.folder is None or not name:
            return b""
        for candidate in self._candidates(name):
            found = collect(self.folder, [candidate], MOST_BYTES)
            for data in found.results.values():
                return self._checked(name, data)
            for why in found.refused.values():
                return self._miss(name, why)
        return self._miss(name, "it is not among the files, or not as PNG, JPEG or PDF")

    def _candidates(self, name: str) -> Iterable[str]:
        for folder in self.beside:
            for ending in _ENDINGS:
                path = f"{folder}{name}{ending}"
                try:
                    inner_name(path)
                except InputError:
                    continue
                yield path.removeprefix("./")

    def _checked(self, name: str, data: bytes) -> bytes:
        if not data.startswith((*_MAGIC, b"%PDF-")):
            return self._miss(name, "it is neither PNG nor JPEG nor PDF")
        if len(data) > self._room:
            return self._miss(name, f"the figures together have more than {MOST_TOGETHER} bytes")
        self._room -= len(data)
        if data.startswith(b"%PDF-"):
            self.waiting[name] = data
            return b""
        return data

    def _miss(self, name: str, why: str) -> bytes:
        self.lost.append(Lost("figure", f"The picture {name[:200]} cannot be shown: {why}.", name[:200]))
        return b""
