"""Values written in the style of what stands there now."""

from __future__ import annotations

import json

from reenact.errors import NotChangeable
from reenact.types import JsonValue


def python_text(value: JsonValue, before: str = "") -> str:
    """A JSON value as Python source; quotes, brackets and quoted numbers follow what stood there."""
    quote = before[:1] if before[:1] in ("'", '"') else '"'
    if isinstance(value, str):
        return _string(value, quote)
    if isinstance(value, bool) or value is None:
        return repr(value)
    if isinstance(value, int | float):
        text = repr(value)
        return f"{quote}{text}{quote}" if before[:1] in ("'", '"') else text
    if isinstance(value, list | tuple):
        inner = ", ".join(python_text(part) for part in value)
        if before[:1] == "[":
            return f"[{inner}]"
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    raise NotChangeable(f"This value cannot be written as a Python literal. Received: {value!r}.")


def _string(value: str, quote: str) -> str:
    text = json.dumps(value, ensure_ascii=False)
    if quote == '"' or "'" in value or "\\" in text:
        return text
    return f"'{value}'"


def word_text(value: JsonValue) -> str:
    """A value as one word of a command line."""
    if isinstance(value, str):
        return value
    return json.dumps(value) if value is not None and not isinstance(value, bool) else str(value)
