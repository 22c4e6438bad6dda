"""What type a step's result has, and how it is rebuilt.

Without a type only plain data may be journalled: none, booleans, numbers, text, bytes, Decimal, Artefact, and
lists and text-keyed dicts of these. With `returns=TYPE` also dataclasses, pydantic models, enums, tuples,
sets, paths and dates come back as what they were.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from functools import lru_cache
from typing import Any, Generic, Protocol, TypeVar

from reenact.errors import JournalError
from reenact.journal.records import Artefact

T = TypeVar("T")


class Codec(Protocol[T]):
    """A value's own way to plain data and back."""

    def encode(self, value: T) -> object: ...

    def decode(self, data: Any) -> T: ...


class Plain(Generic[T]):
    """Values without a type: plain data already, so that they come back as they went."""

    def encode(self, value: T) -> object:
        _refuse_untyped(value)
        return value

    def decode(self, data: Any) -> T:
        result: T = data
        return result


class Typed(Generic[T]):
    """Values of a known type, rebuilt and checked by pydantic."""

    def __init__(self, returns: type[T]) -> None:
        """Refuses a type that pydantic cannot rebuild here, before any effect has been paid for."""
        from pydantic import PydanticUserError, TypeAdapter

        try:
            self._adapter: TypeAdapter[T] = TypeAdapter(returns)
            self._adapter.rebuild(raise_errors=True)
        except (PydanticUserError, NameError, RecursionError) as error:
            raise JournalError(
                f"A step cannot give back a {returns}: {str(error).splitlines()[0]}",
                next_step="Give the step a codec of its own: an object with encode and decode.",
            ) from error

    def encode(self, value: T) -> object:
        return value

    def decode(self, data: Any) -> T:
        return self._adapter.validate_python(data)


def codec_for(returns: type[T] | Codec[T] | None) -> Codec[T]:
    """The codec that a step's `returns` asks for."""
    if returns is None:
        return Plain()
    chosen: Any = returns
    is_codec = hasattr(returns, "encode") and hasattr(returns, "decode") and not isinstance(returns, type)
    codec: Codec[T] = chosen if is_codec else _typed(chosen)
    return codec


@lru_cache(maxsize=256)
def _typed(returns: Any) -> Typed[Any]:
    return Typed(returns)


def _refuse_untyped(value: object) -> None:
    if value is None or type(value) in (bool, int, float, str, bytes, Decimal, Artefact):
        return
    inner: Iterable[object]
    if type(value) is list:
        inner = value
    elif type(value) is dict and all(type(key) is str for key in value):
        inner = value.values()
    else:
        raise JournalError(
            f"A {type(value).__name__} would not come back as it is. Received: {value!r:.80}.",
            next_step="Give the step its type: step(..., returns=TYPE).",
        )
    for item in inner:
        _refuse_untyped(item)
