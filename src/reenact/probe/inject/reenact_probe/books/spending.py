"""What becomes of gradients: follows the numbers of purses from backward pass to step."""

from __future__ import annotations

from typing import Any

import numpy

from reenact_probe.types import Array, Facts, Place

ROWS = 400
"""Steps of which is kept what was done to their gradients."""
OPEN = 256
"""Backward passes that wait to be spent or thrown away."""
NEARLY = 0.9
SAME = 1e-5
CONSTANT = 2e-3
"""How much factors of a purse may differ and still be one."""

AS_CAME = 0
SCALED = 1
CLIPPED = 2
BY_TENSOR = 3
CHANGED = 4
EMPTIED = 5
BY_HAND = 6
"""What was done to the gradients before a step."""


class Reading:
    """Numbers that were read at an event."""

    __slots__ = ("event", "facts", "owner", "values")

    def __init__(
        self,
        event: str,
        owner: int,
        values: Any,
        facts: Facts,
    ) -> None:
        self.event = event
        self.owner = owner
        self.values = values
        self.facts = facts


class Pass:
    """A backward pass: whom it reached, and whether a step spent it."""

    __slots__ = ("bad", "moved", "open", "others", "place", "reached", "spent")

    def __init__(self, place: Place | None, others: bool) -> None:
        self.place = place
        self.others = others
        self.open: set[int] = set()
        self.reached = False
        self.spent = False
        self.bad = False
        self.moved = False
        """Weights moved before it was cleared: it served for something else than a step."""


class Owner:
    """One optimizer: what lies in its purse, and what of that was spent before."""

    def __init__(self, facts: Facts, values: Array) -> None:
        self.type = facts["type"]
        self.tensors = int(facts["tensors"])
        self.sizes = facts["sizes"]
        self.usable = int(facts["usable"])
        self.count = sum(self.sizes)
        self.steps = 0
        """Steps that were looked at from the start of their income."""
        self.again = 0
        """Of them those that spent again what was spent before."""
        self.again_share = 0.0
        """The part of the numbers that was spent again, summed over these."""
        self.idle = 0
        """Steps without any income since the one before."""
        self.by_hand = 0
        self.inside = 0
        """Steps whose gradients come while they step."""
        self.passes = 0
        """Backward passes that steps spent for the first time."""
        self.step_place: Place | None = None
        self.reset(values)

    def reset(self, values: Array) -> None:
        self.now = values[: self.count]
        self.weights = values[self.count :]
        self.spent: Array = None
        """The part of it that a step spent before; none where that is not known."""
        self.pending: list[Pass] = []
        self.income = False
        self.stepping = False


class Ledger:
    """Every reading in its order."""

    def __init__(self) -> None:
        self.owners: dict[int, Owner] = {}
        self.looks = 0
        self.step = 0
        self.passes = 0
        self.bad = 0
        self.reached = 0
        self.spent = 0
        self.thrown = 0
        self.thrown_bad = 0
        self.used_otherwise = 0
        self.thrown_place: Place | None = None
        self.first_place: Place | None = None
        self.spent_lines: set[int] = set()
        self.thrown_lines: set[int] = set()
        self.rows: list[list[float]] = []
        self._pass: Pass | None = None

    @property
    def suspects(self) -> bool:
        """Whether something was thrown away."""
        return self.thrown > 0

    def enter(self, reading: Reading) -> None:
        if reading.event == "look":
            self._look(bool(reading.facts["follows"]), int(reading.facts["step"]))
        elif reading.event == "pass":
            self._pass = Pass(reading.facts["place"], bool(reading.facts["others"]))
            self.passes += bool(self.owners)
            self.first_place = self.first_place or self._pass.place
        elif reading.values is not None:
            values = reading.values.astype(numpy.float64)
            if reading.event == "opened":
                self._opened(reading.owner, reading.facts, values)
            elif reading.owner in self.owners:
                getattr(self, "_" + reading.event)(reading, values)

    def _look(self, follows: bool, step: int) -> None:
        self.looks += 1
        self.step = step
        self._pass = None
        if follows:
            return
        for owner in self.owners.values():
            owner.pending = []
            owner.income = False

    def _opened(self, number: int, facts: Facts, values: Array) -> None:
        if number in self.owners:
            kept = self.owners[number]
            kept.sizes, kept.count = facts["sizes"], sum(facts["sizes"])
            kept.reset(values)
        else:
            self.owners[number] = Owner(facts, values)

    def _found(self, reading: Reading, values: Array) -> None:
        """After steps that no one looked at: what lies here was spent, where no one else steps."""
        owner = self.owners[reading.owner]
        owner.reset(values)
        owner.spent = owner.now.copy() if len(self.owners) == 1 else None

    def _before(self, reading: Reading, values: Array) -> None:
        self._settle(reading.owner, values)

    def _settle(self, number: int, values: Array) -> None:
        """Between two readings the program may have cleared a purse, or changed it."""
        owner = self.owners[number]
        now, then = values[: owner.count], owner.now
        moved = not numpy.array_equal(values[owner.count :], owner.weights, equal_nan=True)
        owner.weights = values[owner.count :]
        lay = then != 0
        gone = lay & (now == 0)
        if moved:
            for one in owner.pending:
                one.moved = True
        if lay.any() and gone.sum() >= NEARLY * lay.sum():
            stepping = any(one.stepping for one in self.owners.values())
            for one in owner.pending:
                if stepping:
                    # A step that asks for the loss several times looks at each of its gradients.
                    self._served(one)
                self._cleared(one, number)
            owner.pending = []
            owner.income = False
            owner.spent = numpy.zeros_like(now)
        elif owner.spent is not None:
            owner.spent[gone] = 0
        if not now.any():
            owner.spent = numpy.zeros_like(now)
        owner.now = now

    def _served(self, one: Pass) -> None:
        self.spent += not one.spent
        one.spent = True
        self.spent_lines.add(one.place[1] if one.place else -1)

    def _cleared(self, one: Pass, number: int) -> None:
        one.open.discard(number)
        if not one.open and not one.spent:
            self._resolve(one)

    def _resolve(self, one: Pass) -> None:
        """No step can spend this pass any more."""
        if one.bad:
            self.thrown_bad += 1
        elif one.moved or one.others:
            self.used_otherwise += 1
        else:
            self.thrown += 1
            self.thrown_place = self.thrown_place or one.place
            self.thrown_lines.add(one.place[1] if one.place else -1)

    def _came(self, reading: Reading, values: Array) -> None:
        owner = self.owners[reading.owner]
        one = self._pass
        now = values[: owner.count]
        with numpy.errstate(all="ignore"):
            income = now - owner.now
        bad = not numpy.isfinite(now).all()
        reached = bad or bool(income.any())
        owner.now = now
        owner.weights = values[owner.count :]
        if one is None or not reached:
            return
        if not one.reached:
            one.reached = True
            self.reached += 1
        self.bad += bad and not one.bad
        one.bad = one.bad or bad
        one.open.add(reading.owner)
        owner.pending.append(one)
        owner.pending = owner.pending[-OPEN:]
        owner.income = True

    def _step(self, reading: Reading, values: Array) -> None:
        owner = self.owners[reading.owner]
        owner.step_place = owner.step_place or reading.facts["place"]
        owner.stepping = True
        if owner.income:
            self._spend(reading.owner, values)

    def _stepped(self, reading: Reading, values: Array) -> None:
        """Gradients that came while it stepped are spent by then."""
        owner = self.owners[reading.owner]
        inside = owner.stepping and owner.income
        if inside:
            owner.inside += 1
            self._spend(reading.owner, values, inside=True)
        elif owner.stepping:
            self._spend_nothing_new(owner, values)
        else:
            self._settle(reading.owner, values)
        owner.stepping = False
        owner.now = values[: owner.count]
        owner.weights = values[owner.count :]

    def _spend(self, number: int, values: Array, inside: bool = False) -> None:
        owner = self.owners[number]
        now = values[: owner.count]
        kind, factor = treatment(owner.now, now, owner.sizes)
        self._row(owner, number, now, kind, factor)
        owner.steps += 1
        if owner.spent is not None:
            self._spend_again(owner, now)
        else:
            owner.steps -= 1
        for one in owner.pending:
            self._served(one)
        owner.passes += len(owner.pending)
        owner.pending = []
        owner.income = False
        owner.stepping = inside
        owner.now = now
        owner.weights = values[owner.count :]
        owner.spent = now.copy()
        if not inside:
            owner.stepping = False

    def _spend_again(self, owner: Owner, now: Array) -> None:
        there = (now != 0) & numpy.isfinite(now)
        old = there & (owner.spent != 0)
        if there.any() and old.any():
            owner.again += 1
            owner.again_share += float(old.sum() / there.sum())

    def _spend_nothing_new(self, owner: Owner, values: Array) -> None:
        now = values[: owner.count]
        if not now.any():
            owner.idle += 1
        elif numpy.array_equal(now, owner.now, equal_nan=True) and owner.spent is not None:
            owner.steps += 1
            self._spend_again(owner, now)
            owner.idle += 1
        elif not numpy.array_equal(now, owner.now, equal_nan=True):
            owner.by_hand += 1
        owner.spent = now.copy()

    def _row(
        self,
        owner: Owner,
        number: int,
        now: Array,
        kind: int,
        factor: float,
    ) -> None:
        if len(self.rows) < ROWS:
            norms = [_norm(owner.now), _norm(now)]
            self.rows.append([float(self.step), float(number), *norms, float(kind), factor])

    def facts(self) -> Facts | None:
        if not self.passes:
            return None
        return {
            "looks": self.looks,
            "passes": self.passes,
            "reached": self.reached,
            "bad": self.bad,
            "spent": self.spent,
            "thrown": self.thrown,
            "thrown_bad": self.thrown_bad,
            "used_otherwise": self.used_otherwise,
            "same_line": bool(self.thrown_lines & self.spent_lines),
            "thrown_at": {"place": self.thrown_place},
            "first_pass": {"place": self.first_place},
            "owners": [_owner_facts(one) for one in self.owners.values()],
            "treatments": [[_plain(value) for value in row] for row in self.rows],
        }


def treatment(came: Array, now: Array, sizes: list[int]) -> tuple[int, float]:
    """What was done to the gradients that came, and the factor where it is one."""
    if not now.any():
        return EMPTIED, 0.0
    largest = numpy.abs(came).max(initial=0.0)
    if largest == 0:
        return BY_HAND, float("nan")
    if not (numpy.isfinite(now).all() and numpy.isfinite(came).all()):
        return CHANGED, float("nan")
    if numpy.abs(now - came).max() <= SAME * largest:
        return AS_CAME, 1.0
    clear = numpy.abs(came) > 1e-3 * largest
    factors = now[clear] / came[clear]
    middle = float(numpy.median(factors))
    if middle and numpy.abs(factors - middle).max() <= CONSTANT * abs(middle):
        return SCALED, middle
    limit = numpy.abs(now).max()
    if numpy.abs(numpy.clip(came, -limit, limit) - now).max() <= SAME * largest:
        return CLIPPED, 1.0
    if _by_tensor(came, now, sizes):
        return BY_TENSOR, middle
    return CHANGED, middle


def _by_tensor(came: Array, now: Array, sizes: list[int]) -> bool:
    """Whether each tensor has one factor of its own."""
    begin = 0
    for size in sizes:
        part, new = came[begin : begin + size], now[begin : begin + size]
        begin += size
        clear = numpy.abs(part) > 1e-3 * numpy.abs(part).max(initial=0.0)
        factors = new[clear] / part[clear]
        if len(factors) and numpy.ptp(factors) > CONSTANT * abs(float(numpy.median(factors))):
            return False
    return True


def _norm(values: Array) -> float:
    return float(numpy.sqrt((values * values).sum()))


def _plain(value: float) -> float | None:
    return value if value - value == 0 else None


def _owner_facts(owner: Owner) -> Facts:
    return {
        "type": owner.type,
        "tensors": owner.tensors,
        "usable": owner.usable,
        "steps": owner.steps,
        "again": owner.again,
        "again_share": owner.again_share / owner.again if owner.again else 0.0,
        "idle": owner.idle,
        "by_hand": owner.by_hand,
        "inside": owner.inside,
        "passes": owner.passes,
        "place": owner.step_place,
    }
