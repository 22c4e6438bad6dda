"""Record files (TFRecord): length, checksum of the length, bytes, checksum of the bytes.

A file that ends inside a record is a run that was killed or still runs: what came before counts. A length
with a wrong checksum ends the file there, since nothing tells where the next record begins. Large records
hold pictures, histograms and graphs, no scalar: they are stepped over, unread and unchecked.

TensorBoard's own reader is not used: it needs eleven more packages (about 130 MB), stops at the first damaged
record and allocates whatever a length promises.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

HEAD = 12
FOOT = 4
MOST_RECORD_BYTES = 1 << 14
_POLYNOMIAL = 0x82F63B78
_MASK_DELTA = 0xA282EAD8
_ALL = 0xFFFFFFFF


@dataclass(slots=True)
class Damage:
    """What could not be read; filled while the records are read."""

    torn: bool = False
    """The file ends inside a record."""
    lost_at: int | None = None
    """Position at which the framing is lost."""
    bad_records: int = 0
    """Records whose bytes do not fit their checksum."""
    large_records: int = 0


def is_record_file(data: bytes) -> bool:
    """Whether the first record's length fits its checksum."""
    return len(data) >= HEAD and _length(data, 0) is not None


def records(data: bytes, damage: Damage) -> Iterator[bytes]:
    """The sound records of a file, in order."""
    at = 0
    while at < len(data):
        if at + HEAD > len(data):
            damage.torn = True
            return
        length = _length(data, at)
        if length is None:
            damage.lost_at = at
            return
        start, end = at + HEAD, at + HEAD + length
        if end + FOOT > len(data):
            damage.torn = True
            return
        at = end + FOOT
        if length > MOST_RECORD_BYTES:
            damage.large_records += 1
            continue
        body = data[start:end]
        if masked(body) == struct.unpack_from("<I", data, end)[0]:
            yield body
        else:
            damage.bad_records += 1


def _length(data: bytes, at: int) -> int | None:
    if masked(data[at : at + 8]) != struct.unpack_from("<I", data, at + 8)[0]:
        return None
    return int(struct.unpack_from("<Q", data, at)[0])


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
