"""Arrays from a box are read without running what is in them."""

from __future__ import annotations

import io
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest

from reenact.errors import ResultRefused
from reenact.sandbox.files.results import read_array, read_arrays


class Trip:
    """Touches a file when it is unpickled."""

    def __init__(self, tripwire: Path) -> None:
        self.tripwire = tripwire

    def __reduce__(self) -> tuple[object, ...]:
        return exec, (f"open({str(self.tripwire)!r}, 'w').close()",)


def npy(array: np.ndarray, **options: object) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array, **options)
    return stream.getvalue()


def header(text: str) -> bytes:
    packed = text.encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(packed).to_bytes(2, "little") + packed


@pytest.mark.parametrize(
    "array",
    [
        np.arange(12.0).reshape(3, 4),
        np.asfortranarray(np.arange(12).reshape(3, 4)),
        np.array(3, dtype=np.int8),
        np.zeros((0, 5)),
        np.array(["a", "bcd"]),
        np.array([(1, 2.0)], dtype=[("a", "i4"), ("b", "f8")]),
    ],
)
def test_honest_arrays_come_back_as_they_were(array: np.ndarray) -> None:
    np.testing.assert_array_equal(read_array(npy(array)), array)
    stream = io.BytesIO()
    np.savez_compressed(stream, a=array, b=array)
    found = read_arrays(stream.getvalue())
    assert sorted(found) == ["a", "b"]
    np.testing.assert_array_equal(found["a"], array)


def test_pickled_objects_are_refused_and_not_run(tmp_path: Path) -> None:
    array = np.array([Trip(tmp_path / "tripwire")], dtype=object)
    with pytest.raises(ResultRefused, match="pickled objects"):
        read_array(npy(array, allow_pickle=True))
    stream = io.BytesIO()
    np.savez(stream, a=array)
    with pytest.raises(ResultRefused, match="pickled objects"):
        read_arrays(stream.getvalue())
    assert not (tmp_path / "tripwire").exists()
    np.load(io.BytesIO(npy(array, allow_pickle=True)), allow_pickle=True)
    assert (tmp_path / "tripwire").exists(), "the poison itself must work"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x93NUMPY",
        b"\x93NUMPY\x09\x00" + b"\0" * 100,
        header("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000, 1000000), }")
        + b"\0" * 8,
        header("{'descr': '<f8', 'fortran_order': False, 'shape': (-1,), }") + b"\0" * 8,
        header("{'descr': '|V0', 'fortran_order': False, 'shape': (99999999999,), }"),
        header("{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }") + b"\0" * 9,
        header("(" * 100),
        header("__import__('os')"),
        pickle.dumps({"a": 1}),
    ],
)
def test_broken_and_lying_arrays_are_refused(data: bytes) -> None:
    with pytest.raises(ResultRefused):
        read_array(data)


def test_an_archive_that_unpacks_to_too_much_is_refused_before_it_is_unpacked() -> None:
    stream = io.BytesIO()
    np.savez_compressed(stream, a=np.zeros(2_000_000))
    assert len(stream.getvalue()) < 100_000
    with pytest.raises(ResultRefused, match="unpacks to"):
        read_arrays(stream.getvalue(), most_bytes=1_000_000)


def test_an_array_that_is_too_large_is_refused() -> None:
    with pytest.raises(ResultRefused, match="at most 100"):
        read_array(npy(np.zeros(100)), most_bytes=100)


def test_archives_with_other_members_are_refused() -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("evil.pkl", b"x")
    with pytest.raises(ResultRefused, match="not an array"):
        read_arrays(stream.getvalue())
    with pytest.raises(ResultRefused, match="not a zip archive"):
        read_arrays(b"x" * 100)


def test_a_member_with_a_wrong_checksum_is_refused() -> None:
    stream = io.BytesIO()
    np.savez(stream, a=np.arange(100))
    data = bytearray(stream.getvalue())
    data[400] ^= 0xFF
    with pytest.raises(ResultRefused, match="cannot be unpacked"):
        read_arrays(bytes(data))
