"""One type in, any format out: picks the renderer by name."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar, cast

from reenact.redact import redact
from reenact.report.document import Document

T = TypeVar("T")
FORMATS = ("full", "concise", "json", "markdown", "html", "sarif", "github")


def render(document: Document, output_format: str, *, width: int = 100, color: bool = False) -> str:
    """The document as text in that format, ending in a newline."""
    document = _without_secrets(document)
    module = importlib.import_module(f"reenact.report.as_{output_format}")
    if output_format == "full":
        return cast("Callable[..., str]", module.render)(document, width=width, color=color)
    return cast("Callable[[Document], str]", module.render)(document)


def _without_secrets(value: T) -> T:
    """The same with every text in it redacted, before a format escapes it into something else."""
    found: Any = value
    if isinstance(found, str):
        found = redact(found) if type(found) is str else found
    elif isinstance(found, list):
        found = [_without_secrets(item) for item in found]
    elif isinstance(found, tuple):
        found = tuple(_without_secrets(item) for item in found)
    elif isinstance(found, dict):
        found = {_without_secrets(key): _without_secrets(item) for key, item in found.items()}
    elif is_dataclass(found) and not isinstance(found, type):
        names = [spec.name for spec in fields(found) if spec.init]
        found = replace(found, **{name: _without_secrets(getattr(found, name)) for name in names})
    result: T = found
    return result
