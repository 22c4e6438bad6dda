"""Inputs and results on their way into a row and out of it: plain data, redacted, large ones as
artefacts.

JSON with a few tags, never pickle: `{"$bytes": base64}`, `{"$artefact": sha256, "size": n}` for
large bytes, `{"$decimal": text}`, `{"$float": "nan"}`. A key that begins with `$` is written with
two.

With `returns=TYPE` dataclasses, pydantic models, enums, tuples, sets, paths and dates come back as
what they were; without a type as plain data: none, booleans, numbers, text, bytes, Decimal, lists
and text-keyed dicts.
"""

from __future__ import annotations

import base64
import dataclasses
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import Enum
from functools import lru_cache
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

from reenact.errors import JournalDamaged, JournalError
from reenact.journal.artefacts import Artefacts
from reenact.journal.records import Artefact, canonical
from reenact.redact import redact_bytes
from reenact.types import JsonValue

if TYPE_CHECKING:
    from pydantic import TypeAdapter

Redact: TypeAlias = Callable[[str], str]
Keep: TypeAlias = Callable[[bytes], Artefact]
Read: TypeAlias = Callable[[str], bytes]
INLINE_BYTES = 1024
"""Bytes up to this many stand in the row; more become an artefact."""


def redact_nothing(text: str) -> str:
    """The default of an opener that has no secrets."""
    return text


class Flattening:
    """One value on its way into the journal: text redacted, large bytes kept apart."""

    def __init__(self, keep: Keep, redact: Redact = redact_nothing) -> None:
        self.artefacts: dict[str, None] = {}
        """Hashes of all artefacts referred to, in order."""
        self._redact = redact
        self._keep = keep

    def flat(self, value: object) -> JsonValue:
        """The value as JSON."""
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, Enum):
            return self.flat(value.value)
        if isinstance(value, str):
            return self._redact(value)
        if isinstance(value, int | float):
            if math.isfinite(value):
                return value
            return {"$float": repr(float(value))}
        if isinstance(value, bytes | bytearray | memoryview):
            return self._bytes(bytes(value))
        if isinstance(value, Mapping):
            return {self._name(key): self.flat(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.flat(item) for item in value]
        return self._object(value)

    def _object(self, value: object) -> JsonValue:
        if isinstance(value, Decimal):
            return {"$decimal": str(value)}
        if isinstance(value, set | frozenset):
            return sorted(
                (self.flat(item) for item in value),
                key=canonical,
            )
        if isinstance(value, PurePath):
            return self._redact(value.as_posix())
        if isinstance(value, date):
            return value.isoformat()
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            stored = [
                spec.name for spec in dataclasses.fields(value) if spec.metadata.get("stored", True)
            ]
            return {name: self.flat(getattr(value, name)) for name in stored}
        if callable(dump := getattr(value, "model_dump", None)):
            return self.flat(dump(mode="python", round_trip=True))
        raise JournalError(
            f"A {type(value).__name__} cannot be journalled. Received: {value!r:.80}."
        )

    def _bytes(self, data: bytes) -> JsonValue:
        data = redact_bytes(data, self._redact)
        if len(data) <= INLINE_BYTES:
            return {"$bytes": base64.b64encode(data).decode("ascii")}
        kept = self._keep(data)
        self.artefacts[kept.sha256] = None
        return {
            "$artefact": kept.sha256,
            "size": kept.size,
        }

    def _name(self, key: object) -> str:
        if isinstance(key, Enum):
            key = key.value
        if isinstance(key, bool) or not isinstance(key, str | int):
            form = "A mapping in the journal has text or whole numbers as keys."
            raise JournalError(f"{form} Received: {key!r:.80}.")
        name = self._redact(str(key))
        return f"${name}" if name.startswith("$") else name


def unflat(value: Any, read: Read) -> Any:
    """The plain data that was flattened."""
    if isinstance(value, list):
        return [unflat(item, read) for item in value]
    if not isinstance(value, dict):
        return value
    for tag, back in {
        "$artefact": read,
        **_TAGS,
    }.items():
        if tag in value:
            return back(value[tag])
    return {
        name[1:] if name.startswith("$$") else name: unflat(item, read)
        for name, item in value.items()
    }


_TAGS: dict[str, Callable[[Any], Any]] = {
    "$decimal": Decimal,
    "$float": float,
    "$bytes": base64.b64decode,
}


def dumped(value: JsonValue) -> str:
    """JSON text as it is in a row: readable, and always valid UTF-8."""
    text = json.dumps(
        value,
        ensure_ascii=False,
        allow_nan=False,
        separators=(",", ":"),
    )
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(
            value,
            ensure_ascii=True,
            allow_nan=False,
            separators=(",", ":"),
        )
    return text


T = TypeVar("T")


def decoder(returns: type[T] | None) -> Callable[[Any], T]:
    """What makes the result of a step of its plain data: without a type as they are, else by
    pydantic, which raises ValueError for data of another type. A type that pydantic cannot rebuild
    is refused here, before any effect has been paid for.
    """
    if returns is None:
        return lambda data: data
    return _adapter(cast(Any, returns)).validate_python


@lru_cache(maxsize=256)
def _adapter(returns: Any) -> TypeAdapter[Any]:
    from pydantic import PydanticUserError, TypeAdapter

    try:
        adapter: TypeAdapter[Any] = TypeAdapter(returns)
        adapter.rebuild(raise_errors=True)
    except (PydanticUserError, NameError, RecursionError) as error:
        why = f"A step cannot give back a {returns}: {str(error).splitlines()[0]}"
        raise JournalError(
            why, next_step="Return plain data, a dataclass or a pydantic model."
        ) from error
    return adapter


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
        # The same words come again and again, above all as keys; remembering is cheaper than
        # searching them.
        short = lru_cache(maxsize=4096)(redact)
        self._redact: Redact = lambda text: (
            short(text) if len(text) <= SHORT_WORDS else redact(text)
        )

    def body(self, value: object) -> Body:
        """A value as it goes into a row; its large parts are durable when this returns."""
        flattening = Flattening(self.artefacts.keep, self._redact)
        text = dumped(flattening.flat(value))
        if len(text) > ROW_CHARACTERS:
            kept = self.artefacts.keep(text.encode("utf-8"))
            flattening.artefacts[kept.sha256] = None
            text = dumped(
                {
                    "$body": kept.sha256,
                    "size": kept.size,
                }
            )
        return Body(text, tuple(flattening.artefacts))

    def plain(self, text: str) -> Any:
        """The plain data that a body's text stands for."""
        try:
            value = json.loads(text)
            if isinstance(value, dict) and "$body" in value:
                value = json.loads(self.artefacts.read(value["$body"]))
            return unflat(value, self.artefacts.read)
        except (
            ValueError,
            TypeError,
            KeyError,
            ArithmeticError,
            RecursionError,
        ) as error:
            why = (
                f"A value in the journal has not the form that reenact writes: "
                f"{type(error).__name__}."
            )
            instead = "If the run was imported, remove it: reenact runs remove RUN"
            raise JournalDamaged(why, next_step=instead) from error

    def words(self, text: str) -> str:
        """Words of a person or a program, as they go into a column."""
        return (
            self._redact(text).encode("utf-8", "backslashreplace").decode("utf-8")[:ROW_CHARACTERS]
        )
