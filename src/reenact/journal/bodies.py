"""Inputs and results on their way into a row and out of it: flat, redacted, large ones as artefacts."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from reenact.errors import JournalDamaged
from reenact.journal.artefacts import Artefacts
from reenact.journal.flat import Flattening, Redact, dumped, redacted, unflat
from reenact.journal.records import Artefact

SHORT_WORDS = 100
ROW_CHARACTERS = 32 * 1024
"""A longer body becomes an artefact of its own."""


@dataclass(frozen=True, slots=True)
class Body:
    """A value as text, and the artefacts it refers to."""

    text: str
    artefacts: tuple[str, ...] = ()


class Bodies:
    """Makes bodies and reads them."""

    def __init__(self, artefacts: Artefacts, redact: Redact) -> None:
        self.artefacts = artefacts
        self._redact = _remembering(redact)

    def body(self, value: object) -> Body:
        """A value as it goes into a row; its large parts are durable when this returns."""
        flattening = Flattening(self.artefacts.keep, self._redact)
        text = dumped(flattening.flat(value))
        if len(text) > ROW_CHARACTERS:
            kept = self.artefacts.keep(text.encode("utf-8"))
            flattening.artefacts[kept.sha256] = None
            text = dumped({"$body": kept.sha256, "size": kept.size})
        return Body(text, tuple(flattening.artefacts))

    def plain(self, text: str) -> Any:
        """The plain data that a body's text stands for."""
        try:
            value = json.loads(text)
            if isinstance(value, dict) and "$body" in value:
                value = json.loads(self.artefacts.read(value["$body"]))
            return unflat(value, self.artefacts.read)
        except (ValueError, TypeError, KeyError, ArithmeticError, RecursionError) as error:
            raise JournalDamaged(
                f"A value in the journal has not the form that reenact writes: {type(error).__name__}.",
                next_step="If the run was imported, remove it: reenact runs remove RUN",
            ) from error

    def keep(self, data: bytes) -> Artefact:
        """Bytes as an artefact of their own."""
        return self.artefacts.keep(redacted(data, self._redact))

    def shown(self, data: bytes) -> bytes:
        """Bytes as they may stand in a file for others."""
        return redacted(data, self._redact)

    def words(self, text: str) -> str:
        """Words of a person or a program, as they go into a column."""
        return self._redact(text).encode("utf-8", "backslashreplace").decode("utf-8")[:ROW_CHARACTERS]


def _remembering(redact: Redact) -> Redact:
    """The same words come again and again, above all as keys; remembering is cheaper than searching them."""
    short = lru_cache(maxsize=4096)(redact)
    return lambda text: short(text) if len(text) <= SHORT_WORDS else redact(text)
