"""What may be spent on models: calls, tokens, money, wall time.

Looked at before every call and charged as soon as a reply is there, before anybody reads it. Tokens and
money of a call are known only afterwards, so calls already under way may still cross those two limits:
one for each thread that asks.
"""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Protocol, runtime_checkable

from reenact.errors import BudgetSpent, SettingsError
from reenact.llm.ask import Usage
from reenact.llm.clock import Clock, RealClock


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
    """Replies whose price nobody knows; `money` does not contain them."""


@runtime_checkable
class Limited(Protocol):
    """A model whose answers count against a budget."""

    def carry(self, earlier: Spent) -> None:
        """See `Budget.carry`."""


class Budget:
    """Limits and what has been used of them; none means unlimited. Safe to share between threads."""

    def __init__(
        self,
        *,
        calls: int | None = None,
        tokens: int | None = None,
        money: Decimal | None = None,
        seconds: float | None = None,
        already: Spent | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.calls = calls
        self.tokens = tokens
        self.money = money
        self.seconds = seconds
        self._spent = already or Spent()
        self._clock = clock or RealClock()
        self._started = self._clock.now() - self._spent.seconds
        self._blind = ""
        self._lock = threading.Lock()

    @property
    def spent(self) -> Spent:
        with self._lock:
            return replace(self._spent, seconds=self._clock.now() - self._started)

    @property
    def seconds_left(self) -> float:
        return math.inf if self.seconds is None else self.seconds - (self._clock.now() - self._started)

    def carry(self, earlier: Spent) -> None:
        """Count what earlier executions of the same run have used."""
        with self._lock:
            self._spent = replace(
                self._spent,
                calls=self._spent.calls + earlier.calls,
                tokens=self._spent.tokens + earlier.tokens,
                money=self._spent.money + earlier.money,
                unpriced=self._spent.unpriced + earlier.unpriced,
            )
            self._started -= earlier.seconds

    def open_call(self) -> None:
        """Count one more call, or raise BudgetSpent when nothing may be asked any more."""
        with self._lock:
            self._refuse_what_is_spent()
            self._spent = replace(self._spent, calls=self._spent.calls + 1)

    def charge(self, usage: Usage, cost: Decimal | None, *, model: str, billed: bool) -> None:
        """Book one reply. `billed` says that it did cost money, whether or not we know how much."""
        with self._lock:
            self._spent = replace(
                self._spent,
                tokens=self._spent.tokens + usage.tokens,
                money=self._spent.money + (cost or 0),
                unpriced=self._spent.unpriced + (cost is None),
            )
            if billed and cost is None:
                self._blind = model

    def require_price(self, model: str) -> None:
        """Refuse a limit in money that could not be kept, before anything is spent."""
        if self.money is not None:
            raise SettingsError(
                f"The price of {model} is not known, so a limit in money cannot be kept."
                f" Received: max_cost={self.money}.",
                next_step="Limit the run by --max-tokens or --max-calls instead of --max-cost.",
            )

    def _refuse_what_is_spent(self) -> None:
        spent = self._spent
        passed = self._clock.now() - self._started
        if self.calls is not None and spent.calls >= self.calls:
            raise self._over("calls", spent.calls, self.calls, "--max-calls")
        if self.tokens is not None and spent.tokens >= self.tokens:
            raise self._over("tokens", spent.tokens, self.tokens, "--max-tokens")
        if self.money is not None and spent.money >= self.money:
            raise self._over("US dollars", spent.money, self.money, "--max-cost")
        if self.seconds is not None and passed >= self.seconds:
            raise self._over("seconds", round(passed), round(self.seconds), "--max-time")
        if self.money is not None and self._blind:
            raise BudgetSpent(
                f"{self._blind} answered at a price that is not known, so the limit of {self.money}"
                " US dollars can no longer be kept.",
                next_step="Limit the run by --max-tokens or --max-calls instead of --max-cost.",
            )

    def _over(self, what: str, spent: object, limit: object, flag: str) -> BudgetSpent:
        return BudgetSpent(
            f"The budget is spent: {spent} of {limit} {what}.",
            next_step=f"Raise {flag} and run the same command: it continues where it stopped.",
        )
