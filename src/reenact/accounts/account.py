"""An account: what one book of a training comes to, entry by entry."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePosixPath
from typing import TypedDict

from reenact.types import Place


class BookName(StrEnum):
    """The books of a training, in the order in which they are read."""

    ROWS = "rows"
    GRADIENTS = "gradients"
    PARAMETERS = "parameters"
    MODELS = "models"
    METRICS = "metrics"
    FORMULAS = "formulas"


class AccountStatus(StrEnum):
    """What became of an entry."""

    BALANCES = "balances"
    """What came in is what was spent."""
    IMBALANCE = "imbalance"
    """It is not; that is a finding."""
    FACT = "fact"
    """It may be meant so: only the author knows."""
    UNSEEN = "unseen"
    """It could not be looked at."""


class EntryJson(TypedDict):
    """An entry as JSON."""

    key: str
    status: AccountStatus
    sentence: str
    fault: str | None
    file: PurePosixPath | None
    line: int | None


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that a book accounts for."""

    key: str
    """What is accounted for, in words joined by hyphens: `income-spent-again`."""
    status: AccountStatus
    sentence: str
    """What was seen, with its numbers; no full stop."""
    place: Place | None = None
    """The line at which an imbalance arises."""
    fault: str = ""
    """Name of the fault that an imbalance shows; empty where it is reported as itself."""
    why: str = ""
    """Of an imbalance that is reported as itself: why that is wrong, in one sentence."""
    confidence: float = 0.6
    """How often such an imbalance is a fault."""
    is_proof: bool = False
    """Whether no sound program can show it."""
    layers: tuple[str, ...] = ()
    """Paths of the layers that it is about; none for what belongs to the training."""

    def json_fields(self) -> EntryJson:
        place = self.place
        return {
            "key": self.key,
            "status": self.status,
            "sentence": self.sentence,
            "fault": self.fault or None,
            "file": place.file if place is not None else None,
            "line": place.line if place is not None else None,
        }


class AccountJson(TypedDict):
    """An account as JSON."""

    book: BookName
    balances: bool
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class Account:
    """One book: what balances, what does not, what may be meant so, what could not be seen."""

    book: BookName
    entries: tuple[Entry, ...]

    @property
    def imbalances(self) -> tuple[Entry, ...]:
        """What does not balance, the surest first."""
        off = self.of(AccountStatus.IMBALANCE)
        return tuple(sorted(off, key=lambda one: (not one.is_proof, -one.confidence)))

    def of(self, status: AccountStatus) -> tuple[Entry, ...]:
        """The entries of one status, in order."""
        return tuple(one for one in self.entries if one.status is status)

    def json_fields(self) -> AccountJson:
        return {
            "book": self.book,
            "balances": not self.imbalances,
            "entries": self.entries,
        }


def balances(key: str, sentence: str) -> Entry:
    """What came in is what was spent."""
    return Entry(key, AccountStatus.BALANCES, sentence)


def fact(key: str, sentence: str, place: Place | None = None) -> Entry:
    """It may be meant so."""
    return Entry(key, AccountStatus.FACT, sentence, place)


def unseen(key: str, sentence: str) -> Entry:
    """It could not be looked at, with the reason."""
    return Entry(key, AccountStatus.UNSEEN, sentence)


def imbalance(
    key: str,
    sentence: str,
    *,
    why: str = "",
    fault: str = "",
    place: Place | None = None,
    confidence: float = 0.6,
    is_proof: bool = False,
    layers: tuple[str, ...] = (),
) -> Entry:
    """What came in is not what was spent; either names a fault or says why it is wrong."""
    return Entry(
        key,
        AccountStatus.IMBALANCE,
        sentence,
        place,
        fault,
        why,
        confidence,
        is_proof,
        layers,
    )
