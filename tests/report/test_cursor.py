from __future__ import annotations

import pytest

from reenact.report.cursor import Cursor


def after(*pieces: bytes) -> Cursor:
    cursor = Cursor()
    for piece in pieces:
        cursor.feed(piece)
    return cursor


@pytest.mark.parametrize(
    ("written", "fresh", "below"),
    [
        (b"", True, 0),
        (b"a line\n", True, 0),
        (b"a line\r\n", True, 0),
        (b"half a line", False, 0),
        (b"a bar\r", False, 0),
        (b"\x1b[31mred\x1b[0m\n", True, 0),
        (b"\x1b[31m", True, 0),
        # A second bar below the first, and back.
        (b"one\n\rtwo\x1b[A", False, 1),
        (b"one\ntwo\nthree\x1b[2A", False, 2),
        (b"one\ntwo\nthree\x1b[2A\n", False, 1),
        (b"one\ntwo\x1b[A\n\n", True, 0),
        # The rows of a live display are erased one by one, then written again.
        (b"one\ntwo\r\x1b[2K\x1b[1A\x1b[2Kone\ntwo", False, 0),
        (b"one\ntwo\x1b[A\x1b[J", False, 0),
        (b"\x1b7one\ntwo\x1b8", False, 1),
        (b"\x1b]0;a title\x07", True, 0),
        (b"\x1b(B", True, 0),
        (b"\x1bM", False, 1),
    ],
)
def test_rows_below(written: bytes, fresh: bool, below: int) -> None:
    whole = after(written)
    assert (whole.fresh, whole.below, whole.known) == (fresh, below, True)
    in_pieces = after(*(bytes([byte]) for byte in written))
    assert (in_pieces.fresh, in_pieces.below, in_pieces.known) == (fresh, below, True)


@pytest.mark.parametrize(
    "written",
    [
        b"\x1b",
        b"\x1b[3",
        b"\x1b]0;half a title",
        "é".encode()[:1],
        "█".encode()[:2],
        b"\x1b7",
        b"\x1b[s",
        b"\x1b[10;1H",
        b"\x1b[2;5r",
        b"\x1b[?1049h",
    ],
)
def test_nothing_may_be_drawn(written: bytes) -> None:
    assert not after(b"text\n" + written).known


@pytest.mark.parametrize(
    "written",
    [
        b"\x1b[2J\x1b[H",
        b"\x1b[H\x1b[2J",
        b"\x1b[10;1H\x1b[J",
        b"\x1b[?1049h\x1b[5;5Hx\x1b[J\x1b[?1049l",
        b"\x1b7\x1b8",
        b"\x1b[s\x1b[u",
        b"\x1bc",
        "█".encode(),
        b"\x1b[3\x1b[m",
    ],
)
def test_it_may_be_drawn_again(written: bytes) -> None:
    assert after(b"text\n" + written).known


def test_a_sequence_without_an_end_becomes_text() -> None:
    assert after(b"\x1b]" + b"x" * 10_000).known
