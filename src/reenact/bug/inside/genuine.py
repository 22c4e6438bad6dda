"""Tells values of types that Python, a library or the project have from those that only claim to be."""

from __future__ import annotations

import sys
from typing import Any

EXACT = (
    bool,
    int,
    float,
    complex,
    str,
    bytes,
    bytearray,
    list,
    tuple,
    dict,
    set,
    frozenset,
    range,
    type(None),
)
DEPTH = 12
MOST = 10_000
"""Items that are looked at in all."""


def lying_class(value: Any) -> str:
    """The name of the first class in a value that is not what its module has under its name; empty where
    there is none. A class may write any module into `__module__`, but that module does not have it."""
    waiting = [(value, DEPTH)]
    count = 0
    while waiting and count < MOST:
        item, depth = waiting.pop()
        count += 1
        kind = type(item)
        if kind not in EXACT and not is_genuine(kind):
            return kind.__name__
        if depth and isinstance(item, (list, tuple, set, frozenset)):
            waiting += [(one, depth - 1) for one in item]
        elif depth and isinstance(item, dict):
            waiting += [(one, depth - 1) for pair in item.items() for one in pair]
    return ""


def is_genuine(kind: type) -> bool:
    """Whether the module that a class names really has it, and that module is not the script."""
    found: Any = sys.modules.get(kind.__module__)
    if found is None or kind.__module__ == "__main__":
        return False
    if "<locals>" in kind.__qualname__:
        # Made within a function: it is that module's when its code is.
        codes = [getattr(one, "__code__", None) for one in vars(kind).values()]
        files = {code.co_filename for code in codes if code is not None}
        return bool(files) and files == {getattr(found, "__file__", None)}
    for name in kind.__qualname__.split("."):
        found = getattr(found, name, None)
    # A library of C may define types under other names than theirs; a script cannot make such a type.
    return found is kind or not kind.__flags__ & _MADE_BY_CLASS


_MADE_BY_CLASS = 1 << 9
"""Py_TPFLAGS_HEAPTYPE: set for every class that a `class` statement or `type()` made."""
