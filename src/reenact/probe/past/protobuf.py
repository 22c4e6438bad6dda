"""The wire format of protocol buffers, as much as scalars need: the fields of one message, in order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
_FIXED = {FIXED64: 8, FIXED32: 4}
_MOST_VARINT_BYTES = 10

Field: TypeAlias = "tuple[int, int, int | bytes]"
"""Number, wire type, and the value: a whole number for VARINT, bytes for the others."""


class WireError(ValueError):
    """Bytes that are no message."""


def fields(message: bytes) -> Iterator[Field]:
    """Every field of a message."""
    at = 0
    while at < len(message):
        key, at = varint(message, at)
        number, kind = key >> 3, key & 7
        if kind == VARINT:
            value, at = varint(message, at)
            yield number, kind, value
            continue
        if kind == BYTES:
            size, at = varint(message, at)
        elif kind in _FIXED:
            size = _FIXED[kind]
        else:
            raise WireError(f"a field has the wire type {kind}")
        if at + size > len(message):
            raise WireError("a field is longer than its message")
        yield number, kind, message[at : at + size]
        at += size


def varint(message: bytes, at: int) -> tuple[int, int]:
    """A whole number of variable length, and the position behind it."""
    value = 0
    for place in range(_MOST_VARINT_BYTES):
        if at + place >= len(message):
            raise WireError("a number is cut off")
        byte = message[at + place]
        value |= (byte & 0x7F) << (7 * place)
        if byte < 0x80:
            return value & (2**64 - 1), at + place + 1
    raise WireError("a number is too long")


def signed(value: int, bits: int = 64) -> int:
    """A varint as the signed number it stands for."""
    value &= 2**bits - 1
    return value - 2**bits if value >> (bits - 1) else value
