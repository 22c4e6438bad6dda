"""Reads JSON and arrays that an untrusted program wrote, without letting it harm or fool the
reader.

Covered in JSON: size, nesting depth (checked before the parser recurses), duplicate keys, NaN and
infinities (also the hidden ones such as 1e999), numbers of absurd length, lone surrogates, bytes
that are not UTF-8. Covered in arrays (.npy and .npz), of which nothing is ever run: pickled
objects, shapes that claim more than the bytes there are, archives that unpack to more than allowed,
broken headers, encrypted or exotically packed members. Not covered: whether the content is true. A
program may write any figures it likes.
"""

from __future__ import annotations

import io
import json
import math
import re
import zipfile
from typing import TYPE_CHECKING, Any, NoReturn

from reenact.errors import ResultRefused
from reenact.types import JsonValue

if TYPE_CHECKING:
    import numpy

    Array = numpy.ndarray[Any, Any]

MOST_BYTES = 16 * 1024 * 1024
DEEPEST = 64
LONGEST_NUMBER = 64

# An unterminated string takes the rest of the text: or else each quote in it would start another
# scan.
_STRUCTURE = re.compile(r'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)|[\[{]|[\]}]', re.DOTALL)


def read_json(data: bytes, *, most_bytes: int = MOST_BYTES, deepest: int = DEEPEST) -> JsonValue:
    """The value in `data`, or ResultRefused with the reason."""
    if len(data) > most_bytes:
        _refuse(f"it has {len(data)} bytes, at most {most_bytes} are read")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ResultRefused(f"The JSON was refused: byte {error.start} is not UTF-8.") from error
    depth = 0
    for token in _STRUCTURE.finditer(text):
        depth += (token[0] in "[{") - (token[0] in "]}")
        if depth > deepest:
            _refuse(f"it nests deeper than {deepest} levels")
    try:
        value: JsonValue = json.loads(
            text,
            object_pairs_hook=_pairs,
            parse_constant=lambda name: _refuse(f"{name} is not a JSON number"),
            parse_float=lambda digits: _number(float, digits),
            parse_int=lambda digits: _number(int, digits),
        )
        if "\\ud" in text.lower():
            json.dumps(value, ensure_ascii=False).encode("utf-8")
    except json.JSONDecodeError as error:
        raise ResultRefused(
            f"The JSON was refused: {error.msg} at character {error.pos}."
        ) from error
    except UnicodeEncodeError as error:
        raise ResultRefused(
            "The JSON was refused: a text holds half a character (a lone surrogate)."
        ) from error
    return value


def _refuse(reason: str, what: str = "JSON") -> NoReturn:
    raise ResultRefused(f"The {what} was refused: {reason}.")


def _pairs(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    found = dict(pairs)
    if len(found) != len(pairs):
        _refuse("an object holds the same key twice")
    return found


def _number(
    kind: type[int] | type[float],
    digits: str,
) -> float:
    if len(digits) > LONGEST_NUMBER:
        _refuse(f"a number has {len(digits)} characters")
    value = kind(digits)
    if not math.isfinite(value):
        _refuse(f"{digits} is beyond every finite number")
    return value


MOST_ARRAY_BYTES = 64 * 1024 * 1024
MOST_MEMBERS = 4096
_PLAIN_PACKING = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


def read_array(data: bytes, *, most_bytes: int = MOST_ARRAY_BYTES) -> Array:
    """The array in the bytes of a .npy file, or ResultRefused with the reason."""
    import numpy as np
    from numpy.lib import format as layout

    if len(data) > most_bytes:
        _refuse(
            f"it has {len(data)} bytes, at most {most_bytes} are read",
            "array",
        )
    stream = io.BytesIO(data)
    try:
        headers = {
            (1, 0): layout.read_array_header_1_0,
            (2, 0): layout.read_array_header_2_0,
        }
        shape, fortran, kind = headers[layout.read_magic(stream)](stream)
    except Exception as error:
        raise ResultRefused("The array was refused: its header cannot be read.") from error
    if kind.hasobject:
        _refuse("it holds pickled objects, which run code when they are read", "array")
    if not kind.itemsize or any(length < 0 for length in shape):
        _refuse(
            f"its header makes no sense (shape={shape}, dtype={kind})",
            "array",
        )
    claimed = math.prod(shape) * kind.itemsize
    there = len(data) - stream.tell()
    if claimed != there:
        _refuse(
            f"its header claims {claimed} bytes and {there} are there",
            "array",
        )
    return np.frombuffer(data, dtype=kind, offset=stream.tell()).reshape(
        shape, order="F" if fortran else "C"
    )


def read_arrays(data: bytes, *, most_bytes: int = MOST_ARRAY_BYTES) -> dict[str, Array]:
    """The arrays in the bytes of a .npz file by name, or ResultRefused with the reason."""
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except Exception as error:
        raise ResultRefused("The archive was refused: it is not a zip archive.") from error
    with archive:
        members = archive.infolist()
        unpacked = sum(member.file_size for member in members)
        if len(members) > MOST_MEMBERS:
            _refuse(
                f"it has {len(members)} members, at most {MOST_MEMBERS} are read",
                "array",
            )
        if unpacked > most_bytes:
            _refuse(
                f"it unpacks to {unpacked} bytes, at most {most_bytes} are read",
                "array",
            )
        if any(
            member.flag_bits & 1 or member.compress_type not in _PLAIN_PACKING for member in members
        ):
            _refuse("a member is encrypted or packed in a rare way", "array")
        for member in members:
            if not member.filename.endswith(".npy"):
                _refuse(f"it holds {member.filename!r}, which is not an array", "array")
        try:
            contents = {
                member.filename.removesuffix(".npy"): archive.read(member) for member in members
            }
        except Exception as error:
            raise ResultRefused("The archive was refused: a member cannot be unpacked.") from error
    if len(contents) != len(members):
        _refuse("it holds the same name twice", "array")
    return {name: read_array(content, most_bytes=most_bytes) for name, content in contents.items()}
