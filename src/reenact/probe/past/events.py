"""The scalars of a TensorBoard event file."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from reenact.probe.past import tensor
from reenact.probe.past.protobuf import BYTES, FIXED32, FIXED64, VARINT, WireError, fields, signed
from reenact.probe.past.records import Damage, records

_TIME, _STEP, _SUMMARY = 1, 2, 5
_VALUE = 1
_TAG, _SIMPLE, _TENSOR = 1, 2, 8
MOST_TAG_CHARACTERS = 500


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
            found = tensor.scalar(value)
    if found is not None and 0 < len(tag) <= MOST_TAG_CHARACTERS:
        yield Scalar(tag, found, step, time)
