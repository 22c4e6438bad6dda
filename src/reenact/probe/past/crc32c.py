"""CRC-32C (Castagnoli), and the mask that record files put over it."""

from __future__ import annotations

from functools import lru_cache

_POLYNOMIAL = 0x82F63B78
_MASK_DELTA = 0xA282EAD8
_ALL = 0xFFFFFFFF


@lru_cache(maxsize=1)
def _table() -> tuple[int, ...]:
    found = []
    for byte in range(256):
        value = byte
        for _ in range(8):
            value = (value >> 1) ^ (_POLYNOMIAL if value & 1 else 0)
        found.append(value)
    return tuple(found)


def crc32c(data: bytes) -> int:
    """The checksum of the bytes."""
    table, value = _table(), _ALL
    for byte in data:
        value = table[(value ^ byte) & 0xFF] ^ (value >> 8)
    return value ^ _ALL


def masked(data: bytes) -> int:
    """The checksum as it stands in a record file."""
    value = crc32c(data)
    return (((value >> 15) | (value << 17)) + _MASK_DELTA) & _ALL
