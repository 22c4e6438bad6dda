"""Which rows go together: does a row that comes again bring the partner that it had before, and is a map
turned with its picture?"""

from __future__ import annotations

from collections import Counter

import numpy

from reenact_probe.types import Array, Facts

MOST_ROWS = 50_000
A_LOOK = 256
MOST_MAPS = 768
MOST_PIXELS = 2304
QUANTILES = numpy.linspace(0, 1, 16)
NEAR = 2e-3
SAME = 1e-2


class Pairs:
    """Rows of two kinds that arrive next to each other."""

    def __init__(self) -> None:
        self.partner: dict[int, tuple[int, int]] = {}
        """Of each row: its partner, and the step at which they were seen."""
        self.partners: Counter[int] = Counter()
        self.rows = 0
        self.repeated = 0
        self.again = 0
        self.same = 0
        self.known = 0
        self.steps = 0
        self.fixed = 0
        """Times that pairs were added, and those whose partners are, place by place, those of other
        rows just before: they belong to a place, not to a row."""
        self._last: tuple[bytes, bytes] = (b"", b"")

    def add(self, rows: Array, partners: Array, step: int) -> None:
        """Two kinds of rows, by their keys, at one step."""
        left = rows[:A_LOOK].tolist()
        right = partners[:A_LOOK].tolist()
        rows_before, partners_before = self._last
        self._last = (rows.tobytes(), partners.tobytes())
        self.steps += 1
        self.fixed += partners_before == self._last[1] and rows_before != self._last[0]
        self.rows += len(left)
        self.repeated += len(left) - len(set(left))
        for row, partner in zip(left, right):
            earlier = self.partner.get(row)
            if earlier is not None and earlier[1] != step:
                self.again += 1
                self.same += earlier[0] == partner
                self.known += partner in self.partners
        if len(self.partner) < MOST_ROWS:
            self.partners.update(right)
            self.partner.update((row, (one, step)) for row, one in zip(left, right))

    def facts(self) -> Facts:
        counts = self.partners.values()
        total = sum(counts)
        chance = sum(count * count for count in counts) / max(1, total * total)
        return {
            "rows": self.rows,
            "repeated": self.repeated,
            "again": self.again,
            "same": self.same,
            "known": self.known,
            "chance": chance,
            "steps": self.steps,
            "fixed": self.fixed,
        }


class Maps:
    """Pictures and the maps that are their labels: seen again, is one turned and not the other?"""

    def __init__(self) -> None:
        self.pictures: list[Array] = []
        self.maps: list[Array] = []
        self.steps: list[int] = []

    def add(self, pictures: Array, maps: Array, step: int) -> None:
        """Pictures with a number for each point, and maps of their height and width."""
        if pictures.ndim not in (3, 4) or pictures.shape[-2:] != maps.shape[-2:]:
            return
        high, wide = pictures.shape[-2:]
        fits = min(high, wide) >= 8 and high * wide <= MOST_PIXELS
        if maps.ndim < 3 or not fits or len(self.pictures) + len(pictures) > MOST_MAPS:
            return
        grey = _grey(pictures)
        if self.pictures and self.pictures[0].shape != grey.shape[1:]:
            return
        middle = grey.mean(axis=(1, 2), keepdims=True)
        spread = grey.std(axis=(1, 2), keepdims=True)
        self.pictures += list((grey - middle) / numpy.maximum(spread, 1e-9))
        self.maps += list(_grey(maps))
        self.steps += [step] * len(grey)

    def facts(self) -> Facts:
        """Pictures that came again, how many turned, how many whose map was turned otherwise."""
        again = 0
        turned = 0
        otherwise = 0
        for first, second in self._pairs():
            how = _turn(self.pictures[first], self.pictures[second], SAME)
            if how is None:
                continue
            again += 1
            turned += how != 0
            later = self.maps[second]
            whole = turned_by(self.maps[first], how)
            same = whole.shape == later.shape and numpy.allclose(whole, later, atol=1e-4)
            other = _turn(self.maps[first], later, 1e-4)
            otherwise += not same and other is not None
        return {"again": again, "turned": turned, "otherwise": otherwise}

    def _pairs(self) -> list[tuple[int, int]]:
        """Each picture next to the first one that has the same values, in whatever order."""
        if len(self.pictures) < 16:
            return []
        marks = numpy.stack([numpy.quantile(one, QUANTILES) for one in self.pictures])
        found: list[tuple[int, int]] = []
        for row in range(1, len(marks)):
            off = abs(marks[:row] - marks[row]).max(axis=1)
            near = int(off.argmin())
            if off[near] < NEAR and self.steps[near] != self.steps[row]:
                found.append((near, row))
        return found[:256]


def _grey(pictures: Array) -> Array:
    high, wide = pictures.shape[-2:]
    return pictures.reshape(len(pictures), -1, high, wide).astype("f4").mean(axis=1)


def turned_by(picture: Array, how: int) -> Array:
    """One of the eight ways to turn and mirror a square."""
    turned = numpy.rot90(picture, how % 4)
    return turned[:, ::-1] if how >= 4 else turned


def _turn(first: Array, second: Array, near: float) -> int | None:
    """The way in which one is the other, the plainest first; none where there is no such way."""
    for how in range(8):
        turned = turned_by(first, how)
        if turned.shape == second.shape and float(abs(turned - second).mean()) < near:
            return how
    return None
