"""Reads arrays that an untrusted program wrote, without ever running what is in them.

Covered: .npy and .npz; pickled objects in them, shapes that claim more than the bytes there are, archives
that unpack to more than allowed, broken headers, encrypted or exotically packed members. Not covered: whether
the figures are true.
"""

from __future__ import annotations

import io
import math
import zipfile
from typing import TYPE_CHECKING, Any, NoReturn

from reenact.errors import ResultRefused

if TYPE_CHECKING:
    import numpy

    Array = numpy.ndarray[Any, Any]

MOST_BYTES = 64 * 1024 * 1024
MOST_MEMBERS = 4096
_PLAIN_PACKING = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


def read_array(data: bytes, *, most_bytes: int = MOST_BYTES) -> Array:
    """The array in the bytes of a .npy file, or ResultRefused with the reason."""
    import numpy as np

    if len(data) > most_bytes:
        _refuse(f"it has {len(data)} bytes, at most {most_bytes} are read")
    stream = io.BytesIO(data)
    try:
        shape, fortran, kind = _read_header(stream)
    except Exception as error:
        raise ResultRefused("The array was refused: its header cannot be read.") from error
    if kind.hasobject:
        _refuse("it holds pickled objects, which run code when they are read")
    if not kind.itemsize or any(length < 0 for length in shape):
        _refuse(f"its header makes no sense (shape={shape}, dtype={kind})")
    claimed, there = math.prod(shape) * kind.itemsize, len(data) - stream.tell()
    if claimed != there:
        _refuse(f"its header claims {claimed} bytes and {there} are there")
    flat = np.frombuffer(data, dtype=kind, offset=stream.tell())
    return flat.reshape(shape, order="F" if fortran else "C")


def _read_header(stream: io.BytesIO) -> tuple[tuple[int, ...], bool, numpy.dtype[Any]]:
    from numpy.lib import format as layout

    version = layout.read_magic(stream)
    if version == (1, 0):
        return layout.read_array_header_1_0(stream)
    if version == (2, 0):
        return layout.read_array_header_2_0(stream)
    raise ValueError(f"version {version}")


def read_arrays(data: bytes, *, most_bytes: int = MOST_BYTES) -> dict[str, Array]:
    """The arrays in the bytes of a .npz file by name, or ResultRefused with the reason."""
    with _opened(data, most_bytes) as archive:
        members = archive.infolist()
        for member in members:
            if not member.filename.endswith(".npy"):
                _refuse(f"it holds {member.filename!r}, which is no array")
        try:
            contents = {member.filename.removesuffix(".npy"): archive.read(member) for member in members}
        except Exception as error:
            raise ResultRefused("The archive was refused: a member cannot be unpacked.") from error
    if len(contents) != len(members):
        _refuse("it holds the same name twice")
    return {name: read_array(content, most_bytes=most_bytes) for name, content in contents.items()}


def _opened(data: bytes, most_bytes: int) -> zipfile.ZipFile:
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except Exception as error:
        raise ResultRefused("The archive was refused: it is no zip archive.") from error
    members = archive.infolist()
    unpacked = sum(member.file_size for member in members)
    if len(members) > MOST_MEMBERS:
        _refuse(f"it has {len(members)} members, at most {MOST_MEMBERS} are read")
    if unpacked > most_bytes:
        _refuse(f"it unpacks to {unpacked} bytes, at most {most_bytes} are read")
    if any(member.flag_bits & 1 or member.compress_type not in _PLAIN_PACKING for member in members):
        _refuse("a member is encrypted or packed in a rare way")
    return archive


def _refuse(reason: str) -> NoReturn:
    raise ResultRefused(f"The array was refused: {reason}.")
