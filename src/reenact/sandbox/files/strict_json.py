"""Reads JSON that an untrusted program wrote, without letting it harm or fool the reader.

Covered: size, nesting depth (checked before the parser recurses), duplicate keys, NaN and infinities (also
the hidden ones such as 1e999), numbers of absurd length, lone surrogates, bytes that are not UTF-8.
Not covered: whether the content is true. A program may write any figures it likes.
"""

import json
import math
import re
from typing import NoReturn

from reenact.errors import ResultRefused
from reenact.types import JsonValue

MOST_BYTES = 16 * 1024 * 1024
DEEPEST = 64
LONGEST_NUMBER = 64

# An unterminated string takes the rest of the text: or else each quote in it would start another scan.
_STRUCTURE = re.compile(r'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)|[\[{]|[\]}]', re.DOTALL)


def read_json(data: bytes, *, most_bytes: int = MOST_BYTES, deepest: int = DEEPEST) -> JsonValue:
    """The value in `data`, or ResultRefused with the reason."""
    if len(data) > most_bytes:
        _refuse(f"it has {len(data)} bytes, at most {most_bytes} are read")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ResultRefused(f"The JSON was refused: byte {error.start} is not UTF-8.") from error
    _check_depth(text, deepest)
    try:
        value: JsonValue = json.loads(
            text, object_pairs_hook=_pairs, parse_constant=_constant, parse_float=_float, parse_int=_integer
        )
    except json.JSONDecodeError as error:
        raise ResultRefused(f"The JSON was refused: {error.msg} at character {error.pos}.") from error
    if "\\ud" in text.lower():
        _check_surrogates(value)
    return value


def _refuse(reason: str) -> NoReturn:
    raise ResultRefused(f"The JSON was refused: {reason}.")


def _check_depth(text: str, deepest: int) -> None:
    depth = 0
    for token in _STRUCTURE.finditer(text):
        if token[0] in "[{":
            depth += 1
            if depth > deepest:
                _refuse(f"it nests deeper than {deepest} levels")
        elif token[0] in "]}":
            depth -= 1


def _pairs(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    found = dict(pairs)
    if len(found) != len(pairs):
        _refuse("an object holds the same key twice")
    return found


def _check_surrogates(value: JsonValue) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError as error:
        raise ResultRefused(
            "The JSON was refused: a text holds half a character (a lone surrogate)."
        ) from error


def _constant(name: str) -> NoReturn:
    _refuse(f"{name} is no JSON number")


def _float(digits: str) -> float:
    if len(digits) > LONGEST_NUMBER:
        _refuse(f"a number has {len(digits)} characters")
    value = float(digits)
    if not math.isfinite(value):
        _refuse(f"{digits} is beyond every finite number")
    return value


def _integer(digits: str) -> int:
    if len(digits) > LONGEST_NUMBER:
        _refuse(f"a number has {len(digits)} characters")
    return int(digits)
