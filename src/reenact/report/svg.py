"""Small drawings as SVG text: the pieces they are made of. No script, no outside resource, dark and
light.

Lines, marks and letters take the colour of the text around them; colours that carry meaning are
readable on white and on black. Every word is escaped here, so that the name of a layer cannot
become markup.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from reenact.plain import plain

WIDTH = 720
COLOURS = (
    "#3b82d0",
    "#e07b39",
    "#2f9e6e",
    "#b05cc0",
    "#8a7a3a",
    "#c0455f",
    "#2a9fb0",
    "#7f8694",
    "#d9699f",
    "#7a9a2f",
)
ALARM = "#d33c3c"
SMALL = 11
"""Size of letters."""
LEAST = 1e-12
"""What is smaller than this part of the largest is drawn at the foot of a logarithmic scale, as
zero is.
"""
DECADES = 100.0
"""Positive values that span more than this factor are drawn on a logarithmic scale."""


@dataclass(frozen=True, slots=True)
class Scale:
    """From values to positions."""

    low: float
    high: float
    start: float
    end: float
    logarithmic: bool = False

    def __call__(self, value: float) -> float:
        low = self._linear(self.low)
        high = self._linear(self.high)
        share = 0.5
        if high > low:
            share = (self._linear(value) - low) / (high - low)
        return self.start + min(1.0, max(0.0, share)) * (self.end - self.start)

    def _linear(self, value: float) -> float:
        """The value, on a logarithmic scale its power of ten."""
        if self.logarithmic:
            return math.log10(max(value, 1e-300))
        return value

    def ticks(self, most: int = 5) -> tuple[float, ...]:
        """Round numbers inside, powers of ten on a logarithmic scale."""
        if self.high <= self.low:
            return (self.low,)
        if self.logarithmic:
            first = math.ceil(math.log10(self.low) - 1e-9)
            last = math.floor(math.log10(self.high) + 1e-9)
            every = max(1, math.ceil((last - first + 1) / most))
            return tuple(10.0**power for power in range(first, last + 1, every))
        raw = (self.high - self.low) / most
        power = 10.0 ** math.floor(math.log10(raw))
        step = next(
            power * factor for factor in (1, 2, 5, 10) if power * factor >= raw * (1 - 1e-9)
        )
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        return tuple(number * step for number in range(first, last + 1))


def scale_for(
    values: Iterable[float],
    start: float,
    end: float,
    *,
    logarithmic: bool | None = None,
) -> Scale:
    """A scale over all finite values; logarithmic where they are positive and span decades."""
    known = [value for value in values if math.isfinite(value)] or [0.0, 1.0]
    low = min(known)
    high = max(known)
    positive = [value for value in known if value > 0]
    can = low >= 0 and 2 * len(positive) > len(known)
    spread = can and (high / min(positive) > DECADES if logarithmic is None else logarithmic)
    if spread:
        return Scale(
            max(min(positive), high * LEAST),
            high,
            start,
            end,
            logarithmic=True,
        )
    if high == low:
        return Scale(low, high, start, end)
    margin = 0.05 * (high - low)
    return Scale(
        low if low == 0 else low - margin,
        high + margin,
        start,
        end,
    )


def number(value: float) -> str:
    """As short as a tick can be."""
    if not math.isfinite(value):
        return "not a number" if value != value else f"{value}"
    if value and not 1e-3 <= abs(value) < 1e5:
        digits, power = f"{value:.1e}".split("e")
        return f"{digits.removesuffix('.0')}e{int(power)}"
    if abs(value) >= 1000:
        return f"{value:.0f}"
    return f"{value:.3g}"


def drawing(parts: Iterable[str], height: float, label: str) -> str:
    """The whole picture; `label` is what a screen reader says."""
    return (
        f'<svg viewBox="0 0 {WIDTH} {height:g}" role="img" aria-label="{words(label)}" '
        f'style="width:100%;max-width:{WIDTH}px;height:auto" font-size="{SMALL}" '
        'fill="currentColor">'
        f"{''.join(parts)}</svg>"
    )


def text(
    x: float,
    y: float,
    label: str,
    *,
    anchor: str = "start",
    colour: str = "",
) -> str:
    fill = f' fill="{colour}"' if colour else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{fill}>{words(label)}</text>'


def line(
    x1: float,
    y1: float,
    x2: float,
    y2: float,
    *,
    colour: str = "",
    faint: bool = False,
    dashes: str = "",
) -> str:
    """`dashes` are the lengths of a dash and of the gap after it; without, the line is whole."""
    if dashes:
        look = f' stroke-dasharray="{dashes}"'
    elif faint:
        look = ' stroke-opacity=".18"'
    elif colour:
        look = ' stroke-width="2"'
    else:
        look = ""
    return (
        f'<path d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}" '
        f'stroke="{colour or "currentColor"}"{look}/>'
    )


def curve(
    points: Sequence[tuple[float, float]],
    colour: str,
    width: float = 1.6,
) -> str:
    path = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
    shape = f'stroke="{colour}" stroke-width="{width:g}" stroke-linejoin="round"'
    return f'<path d="M{path}" fill="none" {shape}/>'


def dot(x: float, y: float, colour: str, radius: float = 2.5) -> str:
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}" fill="{colour}" fill-opacity=".8"/>'


def named(part: str, hint: str) -> str:
    """A part that says something when it is pointed at."""
    return f"<g><title>{words(hint)}</title>{part}</g>"


def box(
    x: float,
    y: float,
    width: float,
    height: float,
    colour: str,
    hint: str = "",
) -> str:
    title = f"<title>{words(hint)}</title>" if hint else ""
    place = f'x="{x:.1f}" y="{y:.1f}" width="{width:.2f}" height="{height:.1f}"'
    return f'<rect {place} fill="{colour}">{title}</rect>'


def words(content: str) -> str:
    """Safe inside markup."""
    return escape(" ".join(plain(content).split()))


def shortened(content: str, most: int) -> str:
    """The end of a long name, where names differ."""
    if len(content) <= most:
        return content
    return f"…{content[1 - most :]}"
