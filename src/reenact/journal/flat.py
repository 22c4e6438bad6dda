"""Values as plain data and back: JSON with a few tags, never pickle.

`{"$bytes": base64}`, `{"$artefact": sha256, "size": n}` for large bytes, `{"$ref": sha256, "size": n}` for an
Artefact, `{"$decimal": text}`, `{"$float": "nan"}`. A key that begins with `$` is written with two.
"""

from __future__ import annotations

import base64
import dataclasses
import json
import math
from collections.abc import Callable, Mapping
from datetime import date
from decimal import Decimal
from enum import Enum
from pathlib import PurePath
from typing import Any, TypeAlias

from reenact.errors import JournalError
from reenact.journal.keys import canonical
from reenact.journal.records import Artefact
from reenact.types import JsonValue

Redact: TypeAlias = Callable[[str], str]
Keep: TypeAlias = Callable[[bytes], Artefact]
Read: TypeAlias = Callable[[str], bytes]
INLINE_BYTES = 1024
"""Bytes up to this many stand in the row; more become an artefact."""


def redact_nothing(text: str) -> str:
    """The default of an opener that has no secrets."""
    return text


class Flattening:
    """One value on its way into the journal: text redacted, large bytes kept apart."""

    def __init__(self, keep: Keep, redact: Redact = redact_nothing) -> None:
        self.artefacts: dict[str, None] = {}
        """Hashes of all artefacts referred to, in order."""
        self._redact = redact
        self._keep = keep

    def flat(self, value: object) -> JsonValue:
        """The value as JSON."""
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, Enum):
            return self.flat(value.value)
        if isinstance(value, str):
            return self._redact(value)
        if isinstance(value, int | float):
            return value if math.isfinite(value) else {"$float": repr(float(value))}
        if isinstance(value, bytes | bytearray | memoryview):
            return self._bytes(bytes(value))
        if isinstance(value, Mapping):
            return {self._name(key): self.flat(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.flat(item) for item in value]
        return self._object(value)

    def _object(self, value: object) -> JsonValue:
        if isinstance(value, Artefact):
            self.artefacts[value.sha256] = None
            return {"$ref": value.sha256, "size": value.size}
        if isinstance(value, Decimal):
            return {"$decimal": str(value)}
        if isinstance(value, set | frozenset):
            return sorted((self.flat(item) for item in value), key=canonical)
        if isinstance(value, PurePath):
            return self._redact(value.as_posix())
        if isinstance(value, date):
            return value.isoformat()
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            stored = [spec.name for spec in dataclasses.fields(value) if spec.metadata.get("stored", True)]
            return {name: self.flat(getattr(value, name)) for name in stored}
        if callable(dump := getattr(value, "model_dump", None)):
            return self.flat(dump(mode="python", round_trip=True))
        raise JournalError(f"A {type(value).__name__} cannot be journalled. Received: {value!r:.80}.")

    def _bytes(self, data: bytes) -> JsonValue:
        data = redacted(data, self._redact)
        if len(data) <= INLINE_BYTES:
            return {"$bytes": base64.b64encode(data).decode("ascii")}
        kept = self._keep(data)
        self.artefacts[kept.sha256] = None
        return {"$artefact": kept.sha256, "size": kept.size}

    def _name(self, key: object) -> str:
        if isinstance(key, Enum):
            key = key.value
        if isinstance(key, bool) or not isinstance(key, str | int):
            raise JournalError(
                f"A mapping in the journal has text or whole numbers as keys. Received: {key!r:.80}."
            )
        name = self._redact(str(key))
        return f"${name}" if name.startswith("$") else name


def redacted(data: bytes, redact: Redact) -> bytes:
    """Bytes with the text in them redacted; surrogateescape carries any other byte through and back."""
    return redact(data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")


def unflat(value: Any, read: Read) -> Any:
    """The plain data that was flattened."""
    if isinstance(value, list):
        return [unflat(item, read) for item in value]
    if not isinstance(value, dict):
        return value
    if "$artefact" in value:
        return read(value["$artefact"])
    for tag, back in _TAGS.items():
        if tag in value:
            return back(value)
    return {name[1:] if name.startswith("$$") else name: unflat(item, read) for name, item in value.items()}


_TAGS: dict[str, Callable[[Any], Any]] = {
    "$ref": lambda value: Artefact(value["$ref"], value["size"]),
    "$decimal": lambda value: Decimal(value["$decimal"]),
    "$float": lambda value: float(value["$float"]),
    "$bytes": lambda value: base64.b64decode(value["$bytes"]),
}


def dumped(value: JsonValue) -> str:
    """JSON text as it stands in a row: readable, and always valid UTF-8."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text
