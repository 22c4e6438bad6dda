"""One type in, any format out: picks the renderer by name."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import cast

from reenact.report.sheet import Sheet

FORMATS = ("full", "concise", "json", "markdown", "html", "sarif", "github")


def render(sheet: Sheet, output_format: str, *, width: int = 100, color: bool = False) -> str:
    """The sheet as text in that format, ending in a newline."""
    module = importlib.import_module(f"reenact.report.as_{output_format}")
    if output_format == "full":
        return cast("Callable[..., str]", module.render)(sheet, width=width, color=color)
    return cast("Callable[[Sheet], str]", module.render)(sheet)
