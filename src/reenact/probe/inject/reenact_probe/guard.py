"""Nothing that goes wrong in the probe may reach the program.

Every function that the program can enter is wrapped by `guarded(name)`. The first error inside one
switches the probe off: what was patched is put back, one line goes to stderr, the program goes on
unobserved. A test arms an error with `REENACT_PROBE_FAULT=name` or `name:3` for the third time the
function is entered.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import sys
from collections.abc import Callable
from typing import Any

from reenact_probe.types import Function


class _State:
    """One probe per process."""

    asleep: bool
    undo: list[Callable[[], object]]
    on_error: Callable[[str], None]
    """Called with the sentence, so that the trace says why it ends."""


state = _State()


def guarded(name: str) -> Callable[[Function], Function]:
    """Wrap an entry point: asleep it does nothing, an error in it switches the probe off."""

    def wrap(function: Function) -> Function:
        target = _with_armed_fault(name, function)

        @functools.wraps(function)
        def safe(*args: Any, **kwargs: Any) -> Any:
            if state.asleep:
                return None
            try:
                return target(*args, **kwargs)
            except Exception as error:  # noqa: BLE001 - whatever it is, the program must not see it
                switch_off(name, error)
                return None

        return safe

    return wrap


def switch_off(name: str, error: BaseException) -> None:
    """Put everything back and say so once."""
    if state.asleep:
        return
    sentence = f"the probe met an error of its own in {name} ({type(error).__name__}: {error})"
    # The disk may be what failed.
    with contextlib.suppress(Exception):
        state.on_error(sentence)
    stand_down()
    sys.stderr.write(
        f"reenact: {sentence} and switched itself off; the program goes on unobserved.\n"
    )


def stand_down() -> None:
    """Leave the program alone from now on, silently."""
    state.asleep = True
    while state.undo:
        # Where one fails, the rest must still be put back.
        with contextlib.suppress(Exception):
            state.undo.pop()()


def wake() -> None:
    """Begin, in this process perhaps again: a second watch, or a test."""
    state.asleep = False
    state.undo = []
    state.on_error = lambda _: None


wake()


def patch(
    owner: Any,
    name: str,
    make: Callable[[Function], Function],
) -> None:
    """Replace an attribute by `make(original)`, and remember how to put it back."""
    original = getattr(owner, name)
    own = name in vars(owner)
    replacement = functools.wraps(original)(make(original))
    setattr(owner, name, replacement)

    def undo() -> None:
        if not own:
            delattr(owner, name)
        elif vars(owner).get(name) is replacement:
            setattr(owner, name, original)

    state.undo.append(undo)


def when_made(owner: type, call: Callable[[Any], object]) -> None:
    """Call this with each object of a class once it is made."""
    after(
        owner,
        "__init__",
        lambda _, thing, *__, **___: call(thing),
    )


def before(owner: Any, name: str, call: Function) -> None:
    """Have a method call this first, with what it is given itself."""

    def make(original: Function) -> Function:
        def method(*args: Any, **kwargs: Any) -> Any:
            call(*args, **kwargs)
            return original(*args, **kwargs)

        return method

    patch(owner, name, make)


def after(owner: Any, name: str, call: Function) -> None:
    """Have a method call this at its end, with its result and what it is given itself."""

    def make(original: Function) -> Function:
        def method(*args: Any, **kwargs: Any) -> Any:
            result = original(*args, **kwargs)
            call(result, *args, **kwargs)
            return result

        return method

    patch(owner, name, make)


def _with_armed_fault(name: str, function: Function) -> Function:
    wanted, _, nth = os.environ.get("REENACT_PROBE_FAULT", "").partition(":")
    calls = itertools.count(1)

    def faulty(*args: Any, **kwargs: Any) -> Any:
        if next(calls) == int(nth or 1):
            raise RuntimeError("an armed fault")
        return function(*args, **kwargs)

    return faulty if wanted == name else function
