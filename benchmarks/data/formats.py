"""Bytes into arrays: IDX (MNIST), PNG sprites (CIFAR-10), comma-separated flowers (iris) and events
(Higgs).

Every reader is given the shape it must find and refuses anything else, so a damaged or swapped file
cannot ask for more memory than the data set has.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from reenact.errors import InputError

Bytes: TypeAlias = NDArray[np.uint8]

PNG_MARK = b"\x89PNG\r\n\x1a\n"
RGB_8_BIT = (8, 2, 0, 0, 0)
"""Depth, colour type, compression, filter method, interlace of the only kind of picture we read."""
SUB, UP, AVERAGE, PAETH = 1, 2, 3, 4


def read_idx(data: bytes, shape: tuple[int, ...]) -> Bytes:
    """Unsigned bytes of an IDX file of exactly this shape."""
    wanted = bytes([0, 0, 8, len(shape)]) + struct.pack(f">{len(shape)}I", *shape)
    if not data.startswith(wanted) or len(data) != len(wanted) + int(np.prod(shape)):
        raise InputError(
            f"An IDX file of shape {shape} was expected. Received: {data[:16].hex()}, {len(data)} "
            f"bytes."
        )
    return np.frombuffer(data, np.uint8, offset=len(wanted)).reshape(shape)


def read_sprite(data: bytes, count: int, side: int) -> Bytes:
    """Pictures of `side` x `side` x 3 from a PNG that holds one picture, row after row, in each
    line.
    """
    width = side * side
    pixels = _unpacked(data, width, count)
    filters, lines = pixels[:, 0], pixels[:, 1:].copy()
    previous = np.zeros(3 * width, np.uint8)
    for kind, line in zip(filters.tolist(), lines, strict=True):
        _unfilter(kind, line, previous)
        previous = line
    return lines.reshape(count, side, side, 3)


def read_labels(data: bytes, count: int, classes: int) -> Bytes:
    """Class numbers from a JSON list."""
    labels = json.loads(data)
    if (
        not isinstance(labels, list)
        or len(labels) != count
        or any(one not in range(classes) for one in labels)
    ):
        raise InputError(f"A JSON list of {count} numbers below {classes} was expected.")
    return np.array(labels, np.uint8)


def read_flowers(data: bytes, rows: int) -> tuple[NDArray[np.float64], Bytes]:
    """Four measures and a class number a line, below one header line."""
    lines = data.decode("ascii").splitlines()[1:]
    if len(lines) != rows:
        raise InputError(f"{rows} flowers were expected. Received: {len(lines)}.")
    table = np.array([[float(cell) for cell in line.split(",")] for line in lines])
    return table[:, :4], table[:, 4].astype(np.uint8)


def read_events(text: str, rows: int) -> dict[str, NDArray[Any]]:
    """The first rows of the challenge's training.csv without EventId and Label; a signal `s` is
    0.
    """
    header, *lines = text.splitlines()[: rows + 1]
    names = header.split(",")
    if "EventId" not in names or "Label" not in names or len(lines) < rows:
        raise InputError(
            f"A training.csv with EventId, Label and {rows} rows was expected. Received: "
            f"{header[:80]}"
        )
    label = names.index("Label")
    kept = [place for place, name in enumerate(names) if name not in ("EventId", "Label")]
    cells = [line.split(",") for line in lines]
    return {
        "x": np.array([[float(row[place]) for place in kept] for row in cells], np.float32),
        "y": np.array([0 if row[label] == "s" else 1 for row in cells], np.uint8),
    }


def pack_texts(
    texts: Sequence[Sequence[int]], labels: Sequence[int], train_count: int
) -> dict[str, NDArray[Any]]:
    """Word numbers of all texts after one another, where each begins, and the classes: no
    pickles inside.
    """
    lengths = np.array([len(text) for text in texts], np.int64)
    return {
        "tokens": np.fromiter(
            (token for text in texts for token in text), np.uint16, int(lengths.sum())
        ),
        "offsets": np.concatenate([[0], np.cumsum(lengths)]).astype(np.uint32),
        "labels": np.array(labels, np.uint8),
        "train_count": np.array(train_count, np.int64),
    }


def _unpacked(data: bytes, width: int, height: int) -> Bytes:
    """The lines of an 8-bit RGB PNG of exactly this size, each behind its filter byte."""
    packed, header = bytearray(), b""
    for kind, body in _chunks(data):
        if kind == b"IHDR":
            header = body
        elif kind == b"IDAT":
            packed += body
    if header != struct.pack(">II5B", width, height, *RGB_8_BIT):
        raise InputError(
            f"An 8-bit RGB PNG of {width} x {height} was expected. Received: {header.hex()}."
        )
    size = height * (1 + 3 * width)
    raw = zlib.decompressobj().decompress(bytes(packed), size)
    if len(raw) != size:
        raise InputError(
            f"The PNG ends early: {size} bytes of lines were expected. Received: {len(raw)}."
        )
    return np.frombuffer(raw, np.uint8).reshape(height, 1 + 3 * width)


def _chunks(data: bytes) -> Sequence[tuple[bytes, bytes]]:
    if not data.startswith(PNG_MARK):
        raise InputError("A PNG was expected.")
    found, place = [], len(PNG_MARK)
    while place + 8 <= len(data):
        length, kind = struct.unpack(">I4s", data[place : place + 8])
        found.append((kind, data[place + 8 : place + 8 + length]))
        place += 12 + length
    return found


def _unfilter(kind: int, line: Bytes, above: Bytes) -> None:
    """Undo one line's filter in place (PNG specification, section 9)."""
    if kind == SUB:
        line[:] = np.cumsum(line.reshape(-1, 3), axis=0, dtype=np.uint8).reshape(-1)
    elif kind == UP:
        line += above
    elif kind in (AVERAGE, PAETH):
        _unfilter_slowly(kind, line, above)
    elif kind != 0:
        raise InputError(f"The PNG uses the unknown filter {kind}.")


def _unfilter_slowly(kind: int, line: Bytes, above: Bytes) -> None:
    """The two filters in which every byte waits for its left neighbour."""
    old = above.tolist()
    new = line.tolist()
    for place in range(len(new)):
        left = new[place - 3] if place >= 3 else 0
        corner = old[place - 3] if place >= 3 else 0
        guess = (left + old[place]) // 2 if kind == AVERAGE else _paeth(left, old[place], corner)
        new[place] = (new[place] + guess) & 255
    line[:] = new


def _paeth(left: int, up: int, corner: int) -> int:
    estimate = left + up - corner
    return min((left, up, corner), key=lambda value: abs(estimate - value))
