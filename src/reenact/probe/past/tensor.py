"""One number out of a TensorProto of rank zero: TensorFlow 2 and Keras write their scalars as tensors."""

from __future__ import annotations

import struct

from reenact.probe.past.protobuf import BYTES, FIXED32, FIXED64, VARINT, WireError, fields, signed, varint

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


def scalar(tensor: bytes) -> float | None:
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
