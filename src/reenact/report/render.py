"""One type in, any format out: picks the renderer by name."""

from __future__ import annotations

import importlib
from collections.abc import Callable

from reenact.redact import redact
from reenact.report.document import Document, mapped

FORMATS = ("full", "concise", "json", "markdown", "html", "sarif", "github")
FILES = {"concise": "lines", "github": "lines", "sarif": "json"}
"""Formats whose renderer has another file than `as_NAME.py`."""


def render(document: Document, output_format: str, *, width: int = 100, color: bool = False) -> str:
    """The document as text in that format, ending in a newline."""
    # Before a format escapes a secret into something else.
    document = mapped(document, lambda _, text: redact(text))
    module = importlib.import_module(f"reenact.report.as_{FILES.get(output_format, output_format)}")
    renderer: Callable[..., str] = getattr(module, output_format if output_format in FILES else "render")
    return renderer(document, width=width, color=color) if output_format == "full" else renderer(document)
