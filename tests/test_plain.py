from __future__ import annotations

import json
import os
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reenact.plain import (
    LONGEST_SEQUENCE,
    PlainText,
    plain,
    plain_json,
    plain_line,
    plain_text,
)

pieces = st.lists(
    st.sampled_from(
        [
            b"\x1b",
            b"[",
            b"]",
            b"0;",
            b"31m",
            b"\x07",
            b"\x1b\\",
            b"\xc2\x9b",
            b"\xc2\x9d",
            b"a",
            b"\r",
            b"\n",
            b"\xff",
        ]
    )
    | st.binary(max_size=8),
    max_size=30,
)


@given(pieces)
@example([b"\x1b", b"[31", b"m"])
def test_no_control_character_is_left_however_it_is_cut(parts: list[bytes]) -> None:
    cleaner = PlainText()
    text = "".join(cleaner.feed(part) for part in parts) + cleaner.finish()
    assert not [c for c in text if unicodedata.category(c) == "Cc" and c not in "\n\t"]


@given(pieces)
def test_the_cuts_do_not_matter(parts: list[bytes]) -> None:
    cleaner = PlainText()
    cut = "".join(cleaner.feed(part) for part in parts) + cleaner.finish()
    assert cut == plain_text(b"".join(parts))


@pytest.mark.parametrize(
    ("printed", "kept"),
    [
        (b"\x1b]52;c;Y2FuYXJ5\x07a", "a"),
        (b"\x1b]8;;http://example.com\x1b\\link\x1b]8;;\x1b\\", "link"),
        (b"\x1bP+q544e\x1b\\a\x1b[?1049hb\x1b[8mc\x1b(Bd", "abcd"),
        ("\x9b31ma\x9d0;title\x9cb".encode(), "ab"),
        (b"10%\r20%\r\nend", "10%\n20%\nend"),
        (b"a\x00\x08\x7fb\tc", "ab\tc"),
        (b"\xf0\x9f\x92\xa9\xff", "\U0001f4a9\ufffd"),
        ("user\u202egnp.exe".encode(), "usergnp.exe"),
        (b"\x1b]0;never ends", "]0;never ends"),
    ],
)
def test_sequences_go_and_words_stay(printed: bytes, kept: str) -> None:
    assert plain_text(printed) == kept


def test_a_sequence_that_never_ends_does_not_swallow_the_output() -> None:
    cleaner = PlainText()
    shown = (
        cleaner.feed(b"\x1b]0;")
        + cleaner.feed(b"x" * (LONGEST_SEQUENCE + 1))
        + cleaner.feed(b"the end")
    )
    assert shown.endswith("the end")


def test_a_file_name_is_one_line_and_shows_what_is_in_it() -> None:
    name = "a\x1b]0;pwned\x07\n\tb\u202e\x9b31m" + os.fsdecode(b"\xff") + "\ud800.py"
    assert plain_line(name) == r"a\x1b]0;pwned\x07\n\tb\u202e\x9b31m\xff\ud800.py"
    assert plain_line("für/ärger 1.py") == "für/ärger 1.py"


def test_text_with_a_name_that_is_not_utf8_can_be_encoded() -> None:
    assert plain(f"read {os.fsdecode(b'x' + bytes([255]))}\nwell").encode() == b"read x\\xff\nwell"


def test_json_keeps_every_character_and_shows_none_of_them_raw() -> None:
    value = {"n\x9b": ["\u202e\x1b\x7f", os.fsdecode(b"\xff"), "ü\n"]}
    document = plain_json(json.dumps(value, ensure_ascii=False))
    assert json.loads(document) == value
    assert "ü" in document
    assert not set("\x9b\u202e\x1b\x7f\udcff\n") & set(document)
