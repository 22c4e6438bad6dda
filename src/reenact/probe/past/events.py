"""The scalars of a TensorBoard event file: the wire format of protocol buffers, as much as scalars need.

TensorFlow 2 and Keras write their scalars as tensors of rank zero.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from reenact.probe.past.records import Damage, records

_TIME, _STEP, _SUMMARY = 1, 2, 5
_VALUE = 1
_TAG, _SIMPLE, _TENSOR = 1, 2, 8
MOST_TAG_CHARACTERS = 500
_DTYPE, _SHAPE, _CONTENT = 1, 2, 4
_DIMENSION, _UNKNOWN_RANK = 2, 3
_CONTENT_FORMATS = {
    1: "<f", 2: "<d", 3: "<i", 4: "<B", 5: "<h", 6: "<b", 9: "<q", 10: "<?", 17: "<H", 19: "<e", 22: "<I",
    23: "<Q",
}  # fmt: skip
"""How the one element lies in the content, by the number of its type."""
_BFLOAT16, _HALF = 14, 19
_FLOATS = {5: "<f", 6: "<d"}
_SIGNED_BITS = {7: 32, 10: 64, 11: 64, 16: 64, 17: 64}
_HALVES = 13
VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
_FIXED = {FIXED64: 8, FIXED32: 4}
_MOST_VARINT_BYTES = 10
Field: TypeAlias = "tuple[int, int, int | bytes]"
"""Number, wire type, and the value: a whole number for VARINT, bytes for the others."""


@dataclass(frozen=True, slots=True)
class Scalar:
    """One number as it was logged."""

    tag: str
    value: float
    step: int
    time: float
    """Unix time."""


def scalars(data: bytes, damage: Damage) -> Iterator[Scalar]:
    """Every scalar of a file, in the order of writing; what is damaged is counted and left out."""
    for record in records(data, damage):
        try:
            yield from list(_event(record))
        except (WireError, UnicodeDecodeError):
            damage.bad_records += 1


def _event(record: bytes) -> Iterator[Scalar]:
    time, step, summaries = 0.0, 0, []
    for number, kind, value in fields(record):
        if number == _TIME and kind == FIXED64 and isinstance(value, bytes):
            time = struct.unpack("<d", value)[0]
        elif number == _STEP and kind == VARINT and isinstance(value, int):
            step = signed(value)
        elif number == _SUMMARY and kind == BYTES and isinstance(value, bytes):
            summaries.append(value)
    for summary in summaries:
        for number, kind, value in fields(summary):
            if number == _VALUE and kind == BYTES and isinstance(value, bytes):
                yield from _scalar(value, step, time)


def _scalar(message: bytes, step: int, time: float) -> Iterator[Scalar]:
    tag, found = "", None
    for number, kind, value in fields(message):
        if not isinstance(value, bytes):
            continue
        if number == _TAG and kind == BYTES:
            tag = value.decode()
        elif number == _SIMPLE and kind == FIXED32:
            found = struct.unpack("<f", value)[0]
        elif number == _TENSOR and kind == BYTES:
            found = tensor_scalar(value)
    if found is not None and 0 < len(tag) <= MOST_TAG_CHARACTERS:
        yield Scalar(tag, found, step, time)


def tensor_scalar(tensor: bytes) -> float | None:
    """The number, or none for text and for tensors with dimensions."""
    dtype, content, single = 0, b"", None
    for number, kind, value in fields(tensor):
        if number == _DTYPE and isinstance(value, int):
            dtype = value
        elif number == _SHAPE and isinstance(value, bytes) and _has_dimensions(value):
            return None
        elif number == _CONTENT and isinstance(value, bytes):
            content = value
        elif single is None:
            single = _element(number, kind, value, dtype)
    return _of_content(content, dtype) if content else single


def _has_dimensions(shape: bytes) -> bool:
    return any(number in (_DIMENSION, _UNKNOWN_RANK) for number, _, _ in fields(shape))


def _of_content(content: bytes, dtype: int) -> float | None:
    if dtype == _BFLOAT16 and len(content) == 2:
        return float(struct.unpack("<f", b"\0\0" + content)[0])
    layout = _CONTENT_FORMATS.get(dtype)
    if layout is None or len(content) != struct.calcsize(layout):
        return None
    return float(struct.unpack(layout, content)[0])


def _element(number: int, kind: int, value: int | bytes, dtype: int) -> float | None:
    """The first element of one of the typed lists, packed or not."""
    if number in _FLOATS and kind in (BYTES, FIXED32, FIXED64) and isinstance(value, bytes):
        layout = _FLOATS[number]
        if len(value) < struct.calcsize(layout):
            raise WireError("a list of numbers is cut off")
        return float(struct.unpack_from(layout, value)[0])
    if number not in _SIGNED_BITS and number != _HALVES:
        return None
    if kind == BYTES and isinstance(value, bytes):
        value = varint(value, 0)[0]
    if kind not in (BYTES, VARINT) or not isinstance(value, int):
        return None
    if number == _HALVES:
        return _half(value, dtype)
    return float(value if number == 17 else signed(value, _SIGNED_BITS[number]))


def _half(bits: int, dtype: int) -> float | None:
    content = (bits & 0xFFFF).to_bytes(2, "little")
    return _of_content(content, dtype if dtype in (_BFLOAT16, _HALF) else _HALF)


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
