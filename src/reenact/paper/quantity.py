"""Numbers as papers and programs write: `10^{-3}`, `1e-3`, `3\\times10^{-4}`, `91\\%`, `1,024`,
`two`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

_SUPERSCRIPT = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
_RAISED = re.compile("[⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺]+")
_GAP = re.compile(r"(?<=\d)(?:\{,\}|\\,)(?=\d{3})")
_FRACTION = re.compile(r"\\[dt]?frac\s*\{\s*(\d+)\s*\}\s*\{\s*(\d+)\s*\}")
_POWER = r"\s*\^\s*\{{?\s*(?P<{}>[-+]?\d{{1,5}})\s*\}}?"
_NUMBER = re.compile(
    # A digit after a letter belongs to a name (ResNet18, x1), one after ^ to that name's power, a
    # minus after a digit to a range.
    r"(?<![\w.^])(?<!\^\{)(?P<sign>(?<![\w)}])-)?"
    r"(?P<digits>(?>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+))"
    r"(?:[eE](?P<exponent>[-+]?\d{1,5})"
    rf"|\s*(?:\\times|\\cdot|×|·|\*|x)\s*10{_POWER.format('ten')}|{_POWER.format('power')}"
    r"|\s*/\s*(?P<over>\d+)(?![\d.]))?(?P<scale>[kKM](?![A-Za-z]))?(?P<percent>\s*(?:\\?%|per\s?cent\b))?"
    # Letters and digits mixed are a colour or a hash, but for sizes like 3x3.
    r"(?!(?!x\d)[A-Za-z_]+\d)"
)
_WORDS = {
    "zero": 0.0,
    "one": 1.0,
    "two": 2.0,
    "three": 3.0,
    "four": 4.0,
    "five": 5.0,
    "six": 6.0,
    "seven": 7.0,
    "eight": 8.0,
    "nine": 9.0,
    "ten": 10.0,
    "eleven": 11.0,
    "twelve": 12.0,
    "twenty": 20.0,
    "half": 0.5,
    "hundred": 100.0,
    "thousand": 1000.0,
}
_WORD = re.compile(
    rf"\b(?:{'|'.join(_WORDS)})\b",
    re.IGNORECASE,
)
_SCALES = {"k": 1e3, "K": 1e3, "M": 1e6}
_GOES_ON = re.compile(r"\s*[-+*/^_(\\]")
TEN = 10.0
UNIT_WORDS = 2
"""Words after a number that are its unit (`64 hidden units`); more are a description."""
NEAR = 1e-6
"""Relative difference of two ways to write one number."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """One number in a text."""

    value: float
    percent: bool = False
    start: int = 0
    """First character in the text, after typography was made plain."""
    written: str = ""

    def equals(self, other: Quantity) -> bool:
        """The same number; 10 % is 0.1, and 10 where a table has the sign in its heading."""
        part, whole = (self.value, other.value) if self.percent else (other.value, self.value)
        return near(part, whole) or (self.percent != other.percent and near(part / 100, whole))


def near(left: float, right: float) -> bool:
    return math.isclose(left, right, rel_tol=NEAR, abs_tol=1e-15)


def quantities(text: str) -> list[Quantity]:
    """Every number of a text, in order."""
    text = ready(text)
    found = [one for match in _NUMBER.finditer(text) for one in _read(match)]
    words = ((match.group(), match.start()) for match in _WORD.finditer(text))
    for word, at in words:
        found.append(
            Quantity(
                _WORDS[word.lower()],
                False,
                at,
                word,
            )
        )
    return sorted(found, key=lambda one: one.start)


def as_quantity(value: str) -> Quantity | None:
    """The number that a value is; none when it is a name, a list or a formula."""
    found = quantities(value)
    text = ready(value)
    if len({one.start for one in found}) != 1 or re.search(
        r"\w",
        text[: found[0].start],
    ):
        return None
    rest = text[found[0].start + len(found[0].written) :]
    if _GOES_ON.match(rest) or len(re.findall(r"[A-Za-z]+", rest)) > UNIT_WORDS:
        return None
    return found[0]


def states(text: str, value: str) -> bool:
    """Whether the text has that value: the same number however written, or the same words."""
    from reenact.intake.papers.paper import plain

    wanted = as_quantity(value)
    if wanted is not None:
        return any(wanted.equals(one) for one in quantities(text))
    words = plain(value)
    return bool(words) and words in plain(text)


def has_numbers(text: str, wanted: str) -> bool:
    """Whether the text has every number of another one."""
    there = quantities(text)
    return all(any(one.equals(other) for other in there) for one in quantities(wanted))


def ready(text: str) -> str:
    """Typography made plain, lengths not kept."""
    text = _RAISED.sub(
        lambda match: "^" + match.group().translate(_SUPERSCRIPT),
        text,
    )
    text = (
        text.replace("\u2212", "-")
        .replace("\u2013", "-")
        .replace("\u00a0", " ")
        .replace(
            "\\!",
            "",
        )
    )
    return _FRACTION.sub(r"\1/\2", _GAP.sub(",", text))


def _read(match: re.Match[str]) -> Iterator[Quantity]:
    """The number; and what is raised, where that may be the number that is meant: a variance of
    $0.5^2$.
    """
    value = base = float(match["digits"].replace(",", ""))
    try:
        if power := match["exponent"] or match["ten"]:
            value = base * 10.0 ** int(power)
        elif match["power"] or match["over"]:
            value = base ** int(match["power"]) if match["power"] else base / float(match["over"])
        value *= _SCALES.get(match["scale"] or "", 1.0)
    except (OverflowError, ZeroDivisionError):
        return
    if not math.isfinite(value):
        return
    sign = -1.0 if match["sign"] else 1.0
    yield Quantity(
        sign * value,
        bool(match["percent"]),
        match.start(),
        match.group(),
    )
    if match["power"] and base != TEN:
        yield Quantity(
            sign * base,
            False,
            match.start(),
            match["digits"],
        )
