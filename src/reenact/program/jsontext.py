"""JSON text with positions: every value knows where it stands, so that it can be edited in place."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from reenact.program.lines import Span
from reenact.types import JsonValue

SPACE = re.compile(r"[ \t\r\n]*")
STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
SCALAR = re.compile(r"[^\s,\]}]+")
MAX_DEPTH = 50


class BadJson(ValueError):
    """Not JSON, or nested beyond reason."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One value in a data file: what it is, where it stands, what it holds."""

    span: Span
    value: JsonValue
    """Scalars as they are; none for a mapping or a list, whose entries are in `items`."""
    items: dict[str, Entry] | list[Entry] | None = None

    def get(self, key: str | int) -> Entry | None:
        """The entry under a key of a mapping or an index of a list."""
        if isinstance(self.items, dict):
            return self.items.get(str(key))
        if (
            isinstance(self.items, list)
            and isinstance(key, int)
            and -len(self.items) <= key < len(self.items)
        ):
            return self.items[key]
        return None

    def plain(self) -> JsonValue:
        """The whole value without positions."""
        if isinstance(self.items, dict):
            return {key: entry.plain() for key, entry in self.items.items()}
        if isinstance(self.items, list):
            return [entry.plain() for entry in self.items]
        return self.value


def read_json(text: str) -> Entry:
    """Every value of a JSON document with its span; raises BadJson."""
    entry, end = _value(text, _skip(text, 0), 0)
    if _skip(text, end) != len(text):
        raise BadJson(f"something follows the document at offset {end}")
    return entry


def _value(text: str, at: int, depth: int) -> tuple[Entry, int]:
    if depth > MAX_DEPTH:
        raise BadJson("nested too deeply")
    head = text[at : at + 1]
    if head == "{":
        return _object(text, at, depth)
    if head == "[":
        return _array(text, at, depth)
    if head == '"':
        string, end = _string(text, at)
        return Entry(Span(at, end), string), end
    match = SCALAR.match(text, at)
    if match is None:
        raise BadJson(f"a value is missing at offset {at}")
    try:
        return Entry(Span(at, match.end()), json.loads(match.group())), match.end()
    except ValueError as error:
        raise BadJson(f"no JSON value at offset {at}") from error


def _object(text: str, start: int, depth: int) -> tuple[Entry, int]:
    items: dict[str, Entry] = {}
    at = _skip(text, start + 1)
    while text[at : at + 1] != "}":
        if items:
            at = _expect(text, at, ",")
        if text[at : at + 1] != '"':
            raise BadJson(f"a key is missing at offset {at}")
        key, at = _string(text, at)
        at = _expect(text, _skip(text, at), ":")
        items[key], at = _value(text, at, depth + 1)
        at = _skip(text, at)
    return Entry(Span(start, at + 1), None, items), at + 1


def _array(text: str, start: int, depth: int) -> tuple[Entry, int]:
    items: list[Entry] = []
    at = _skip(text, start + 1)
    while text[at : at + 1] != "]":
        if items:
            at = _expect(text, at, ",")
        entry, at = _value(text, at, depth + 1)
        items.append(entry)
        at = _skip(text, at)
    return Entry(Span(start, at + 1), None, items), at + 1


def _string(text: str, at: int) -> tuple[str, int]:
    match = STRING.match(text, at)
    try:
        if match is not None:
            return str(json.loads(match.group(), strict=False)), match.end()
    except ValueError as error:
        raise BadJson(f"a broken string at offset {at}") from error
    raise BadJson(f"a broken string at offset {at}")


def _skip(text: str, at: int) -> int:
    match = SPACE.match(text, at)
    assert match is not None
    return match.end()


def _expect(text: str, at: int, sign: str) -> int:
    if text[at : at + 1] != sign:
        raise BadJson(f"{sign!r} is missing at offset {at}")
    return _skip(text, at + 1)
