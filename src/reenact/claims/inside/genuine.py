"""Reports values of types that Python, a library or the project have from those that only claim to
be: by their class, or by answers of their own that are not those of the list, the text or the
number that they are.
"""

from __future__ import annotations

import itertools
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
KEPT = frozenset(
    (
        "__new__",
        "__init__",
        "__init_subclass__",
        "__class_getitem__",
        "__doc__",
        "__repr__",
        "__reduce_ex__",
    )
)
"""Members that a subclass of a built-in type may have of its own."""
MOST_COUNTED = 10_000
DEPTH = 12
MOST = 10_000
"""Items that are looked at in all."""


def lying_class(value: Any) -> str:
    """The name of the first class in a value that is not what its module has under its name; empty
    where there is none. A class may write any module into `__module__`, but that module does not
    have it.
    """
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
    # A library of C may define types under other names than theirs; a script cannot make such a
    # type.
    return found is kind or not kind.__flags__ & _MADE_BY_CLASS


def made_plain(kind: type) -> str:
    """Take from a class, which a script derived from a built-in type, its own answers to what that
    type answers already: how long it is, what it gives, what its sum is. The name of the type;
    empty where nothing was taken.
    """
    bases = [base for base in kind.__mro__ if base in EXACT]
    taken = False
    for one in kind.__mro__:
        if not bases or one in EXACT or is_genuine(one):
            continue
        for name in [name for name in vars(one) if name in vars(bases[0]) and name not in KEPT]:
            type.__delattr__(one, name)
            taken = True
    return bases[0].__name__ if taken else ""


def contradiction(value: Any) -> str:
    """How an object with a length and items of its own contradicts itself, in words; empty where it
    does not. Asked for by position alone it may give items without an end, as data sets do: that is
    none.
    """
    kind = type(value)
    if is_genuine(kind) or not hasattr(kind, "__len__") or not hasattr(kind, "__iter__"):
        return ""
    try:
        length = len(value)
        count = sum(
            1
            for _ in itertools.islice(
                iter(value),
                min(length, MOST_COUNTED) + 1,
            )
        )
    except Exception:  # noqa: BLE001 - a stranger's object may raise anything
        return ""
    if count == length or count > MOST_COUNTED:
        return ""
    more = "more" if count > length else str(count)
    return f"the script's {kind.__name__} says that it has {length} items, and gives {more}"


_MADE_BY_CLASS = 1 << 9
"""Py_TPFLAGS_HEAPTYPE: set for every class that a `class` statement or `type()` made."""
