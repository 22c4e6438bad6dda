from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reenact.errors import ResultRefused
from reenact.sandbox.files.results import DEEPEST, read_json

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**18), 10**18)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(values)
def test_what_json_writes_is_read_back(value: object) -> None:
    assert read_json(json.dumps(value).encode()) == value


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused_by_name(data: bytes) -> None:
    try:
        read_json(data)
    except ResultRefused:
        return


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[" * 100_000 + "]" * 100_000, "nests deeper"),
        ("[" * (DEEPEST + 1) + "]" * (DEEPEST + 1), "nests deeper"),
        ('{"a": ' * 100_000, "nests deeper"),
        ('{"loss": NaN}', "NaN"),
        ("[-Infinity]", "-Infinity"),
        ("1e999", "1e999"),
        ('{"a": 1, "a": 2}', "same key twice"),
        ("9" * 100_000, "100000 characters"),
        ("0." + "1" * 100, "102 characters"),
        (r'["\ud800"]', "surrogate"),
        ('"' + '\\"' * 400_000, "Unterminated string"),
        ("", "Expecting value"),
        ("{} {}", "Extra data"),
    ],
)
def test_what_would_harm_or_fool_a_reader_is_refused(text: str, why: str) -> None:
    with pytest.raises(ResultRefused, match=why):
        read_json(text.encode())


def test_bytes_that_are_not_text_and_too_many_bytes_are_refused() -> None:
    with pytest.raises(ResultRefused, match="byte 1 is not UTF-8"):
        read_json(b'"\xff"')
    with pytest.raises(ResultRefused, match="at most 4 are read"):
        read_json(b"[1,2]", most_bytes=4)


def test_brackets_in_strings_are_no_depth() -> None:
    assert read_json(json.dumps("[" * 1000 + '"' + "\\").encode()) == "[" * 1000 + '"' + "\\"
    assert read_json(b"[" * DEEPEST + b"]" * DEEPEST) is not None
