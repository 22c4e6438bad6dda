"""Figures that are PDFs, drawn as PNG inside the sandbox: one run for all of a paper."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from dataclasses import replace

from reenact.errors import ReenactError, Stopped
from reenact.intake.papers.boxed import LIMITS, run_script
from reenact.intake.papers.paper import Lost
from reenact.intake.papers.pieces import Picture, Piece
from reenact.sandbox.box import Sandbox

MOST = 40
"""Figures of one paper that are drawn; the others keep their captions."""


def drawn(
    pieces: tuple[Piece, ...], waiting: Mapping[str, bytes], *, box: Sandbox
) -> tuple[tuple[Piece, ...], tuple[Lost, ...]]:
    """The pieces with those figures as PNG, and a note for each that could not be drawn."""
    images = _images(dict(list(waiting.items())[:MOST]), box)
    made = tuple(
        replace(piece, image=images[piece.file])
        if isinstance(piece, Picture) and not piece.image and piece.file in images
        else piece
        for piece in pieces
    )
    missing = [name for name in waiting if name not in images]
    return made, tuple(
        Lost("figure", f"The picture {name} is a PDF and was not drawn.", name) for name in missing
    )


def _images(waiting: dict[str, bytes], box: Sandbox) -> dict[str, bytes]:
    if not waiting or any(importlib.util.find_spec(name) is None for name in ("pypdfium2", "PIL")):
        return {}
    files = {f"figure{number}.pdf": data for number, data in enumerate(waiting.values())}
    asked = tuple(name.replace(".pdf", ".png") for name in files)
    try:
        result = run_script(
            "pdf_image", *files, box=box, name="figures", given=files, collect=asked, limits=LIMITS
        )
    except Stopped:
        raise
    except ReenactError:
        # A figure made to harm its reader costs the figures, not the paper; the caller tells which.
        return {}
    found = {name: result.results.get(image, b"") for name, image in zip(waiting, asked, strict=True)}
    return {name: image for name, image in found.items() if image.startswith(b"\x89PNG")}
