"""What may be spent on models (calls, tokens, money, wall time), and what a call costs.

Looked at before every call and charged as soon as a reply is there, before anybody reads it. Tokens
and money of a call are known only afterwards, so calls already under way may still cross those two
limits: one for each thread that asks.

Prices come from the list in genai-prices, without a network and without guessing: for a provider
that is reached at its own address. A model of the same name at another address (a gateway, a local
server) has no price.
"""

from __future__ import annotations

import math
import threading
from dataclasses import astuple, dataclass, field, replace
from decimal import Decimal
from typing import Any, Protocol, runtime_checkable

from reenact.errors import BudgetSpent, SettingsError
from reenact.llm.ask import Usage
from reenact.llm.patience import Clock, RealClock

INSTEAD = "Limit the run by --max-tokens or --max-calls instead of --max-cost."


@dataclass(frozen=True, slots=True)
class Spent:
    """What has been used so far."""

    calls: int = 0
    """Calls sent, including those that failed and were tried again."""
    tokens: int = 0
    money: Decimal = Decimal(0)
    """US dollars, over the calls whose price is known."""
    seconds: float = 0.0
    unpriced: int = 0
    """Replies whose price no one knows; `money` does not contain them."""

    def __add__(self, other: Spent) -> Spent:
        return Spent(*(one + more for one, more in zip(astuple(self), astuple(other), strict=True)))


@runtime_checkable
class Limited(Protocol):
    """A model whose answers count against a budget."""

    def carry(self, earlier: Spent) -> None:
        """See `Budget.carry`."""


@runtime_checkable
class Priced(Protocol):
    """A model that may know what its answers cost."""

    def price(self, usage: Usage) -> Decimal | None:
        """US dollars for so many tokens; none when unknown."""


@dataclass(kw_only=True, eq=False)
class Budget:
    """Limits and what has been used of them; none means unlimited. Safe to share between
    threads.
    """

    calls: int | None = None
    tokens: int | None = None
    money: Decimal | None = None
    seconds: float | None = None
    clock: Clock = field(default_factory=RealClock)

    def __post_init__(self) -> None:
        self._spent = Spent()
        self._blind = ""
        self._started = self.clock.now()
        self._lock = threading.Lock()

    @property
    def spent(self) -> Spent:
        with self._lock:
            return replace(
                self._spent,
                seconds=self.clock.now() - self._started,
            )

    @property
    def seconds_left(self) -> float:
        if self.seconds is None:
            return math.inf
        return self.seconds - (self.clock.now() - self._started)

    def carry(self, earlier: Spent) -> None:
        """Count what earlier executions of the same run have used."""
        with self._lock:
            self._spent += replace(earlier, seconds=0.0)
            self._started -= earlier.seconds

    def open_call(self) -> None:
        """Count one more call, or raise BudgetSpent when nothing may be asked any more."""
        with self._lock:
            self._refuse_what_is_spent()
            self._spent += Spent(calls=1)

    def charge(
        self,
        usage: Usage,
        cost: Decimal | None,
        *,
        model: str,
        billed: bool,
    ) -> None:
        """Book one reply. `billed` says that it did cost money, whether or not we know how much."""
        with self._lock:
            self._spent += Spent(
                tokens=usage.tokens,
                money=cost or Decimal(0),
                unpriced=int(cost is None),
            )
            if billed and cost is None:
                self._blind = model

    def require_price(self, model: str) -> None:
        """Refuse a limit in money that could not be kept, before anything is spent."""
        if self.money is not None:
            why = f"The price of {model} is not known, so a limit in money cannot be kept."
            raise SettingsError(
                f"{why} Received: max_cost={self.money}.",
                next_step=INSTEAD,
            )

    def _refuse_what_is_spent(self) -> None:
        passed = self.clock.now() - self._started
        limits: tuple[tuple[Any, Any, str, str], ...] = (
            (self.calls, self._spent.calls, "calls", "--max-calls"),
            (self.tokens, self._spent.tokens, "tokens", "--max-tokens"),
            (self.money, self._spent.money, "US dollars", "--max-cost"),
            (self.seconds, passed, "seconds", "--max-time"),
        )
        for limit, spent, unit, flag in limits:
            if limit is not None and spent >= limit:
                used = (
                    f"{round(spent)} of {round(limit)}"
                    if unit == "seconds"
                    else f"{spent} of {limit}"
                )
                instead = f"Raise {flag} and run the same command: it continues where it stopped."
                raise BudgetSpent(
                    f"The budget is spent: {used} {unit}.",
                    next_step=instead,
                )
        if self.money is not None and self._blind:
            kept = f"so the limit of {self.money} US dollars can no longer be kept"
            why = f"{self._blind} answered at a price that is not known, {kept}."
            raise BudgetSpent(why, next_step=INSTEAD)


def price(usage: Any, model: str, url: str) -> Decimal | None:
    """US dollars for a `Usage`, or a usage as a provider counted it, of a model at an address; none
    when unknown.
    """
    from genai_prices import Usage as Counted
    from genai_prices import calc_price

    counted = usage
    if isinstance(usage, Usage):
        cached = usage.cached_tokens or None
        sent = usage.input_tokens
        received = usage.output_tokens
        counted = Counted(input_tokens=sent, output_tokens=received, cache_read_tokens=cached)
    try:
        return calc_price(counted, model, provider_api_url=url).total_price
    except (LookupError, ValueError):
        return None
