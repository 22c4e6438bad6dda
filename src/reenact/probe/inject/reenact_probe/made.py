"""Remembers where in the source each module and optimiser was made, without writing anything into it."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

from reenact_probe.places import caller
from reenact_probe.types import Place


class Made:
    """Places by identity. Nothing is stored on the object, so nothing of ours is pickled or copied with
    it.
    """

    def __init__(self) -> None:
        self._places: dict[int, tuple[Any, Place]] = {}

    def note(self, thing: Any) -> None:
        """Remember the user's line that is making `thing` right now."""
        key = id(thing)
        if key in self._places and self._places[key][0]() is thing:
            return
        place = caller(made=thing)
        if place is not None:
            self._places[key] = (weakref.ref(thing, self._forget(key)), place)

    def _forget(self, key: int) -> Callable[[Any], None]:
        def forget(ref: Any) -> None:
            known = self._places.get(key)
            if known is not None and known[0] is ref:
                del self._places[key]

        return forget

    def place(self, thing: Any) -> Place | None:
        known = self._places.get(id(thing))
        return known[1] if known is not None and known[0]() is thing else None
