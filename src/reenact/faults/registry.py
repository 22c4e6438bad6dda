"""All faults and detectors: found by looking through the folders, chosen by code, prefix, name or family."""

from __future__ import annotations

import difflib
import importlib
import pkgutil
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.metadata import entry_points
from types import ModuleType

from reenact.errors import InputError
from reenact.faults.detector import Detector, Status
from reenact.faults.entry import Category, FaultEntry
from reenact.faults.families import FAMILIES

ENTRY_POINT = "reenact.faults"
"""Where other packages name the modules of their faults."""


@cache
def all_detectors() -> tuple[Detector, ...]:
    """Every detector, by code: ours, then those of other packages."""
    detectors: dict[str, Detector] = {}
    for module in _modules():
        for one in detectors_in(module):
            if one.code in detectors:
                other = detectors[one.code].name
                raise InputError(f"Two detectors have the code {one.code}: {other} and {one.name}.")
            detectors[one.code] = one
    return tuple(detectors[code] for code in sorted(detectors))


@cache
def all_faults() -> tuple[FaultEntry, ...]:
    """Every fault that has a detector, by code."""
    faults: dict[str, FaultEntry] = {}
    for one in all_detectors():
        known = faults.setdefault(one.fault.code, one.fault)
        if known is not one.fault:
            raise InputError(
                f"Two faults have the code {known.code}: {known.name} and {one.fault.name}."
            )
    return tuple(faults[code] for code in sorted(faults))


def detectors_in(module: ModuleType) -> tuple[Detector, ...]:
    """The detectors that a module defines."""
    members = vars(module).values()
    return tuple(
        one
        for one in members
        if isinstance(one, Detector) and one.look.__module__ == module.__name__
    )


def detectors_of(fault: FaultEntry) -> tuple[Detector, ...]:
    """The detectors of a fault, by code."""
    return tuple(one for one in all_detectors() if one.fault is fault)


def _modules() -> Iterable[ModuleType]:
    for category in Category:
        if category is Category.OTHER:
            # Faults of other packages alone.
            continue
        package = importlib.import_module(f"reenact.faults.{category.value}")
        for module in pkgutil.iter_modules(package.__path__):
            yield importlib.import_module(f"{package.__name__}.{module.name}")
    for point in entry_points(group=ENTRY_POINT):
        loaded = point.load()
        if not isinstance(loaded, ModuleType):
            raise InputError(f"The entry point {point.name} of {ENTRY_POINT} has to name a module.")
        yield loaded


def detector(code: str) -> Detector:
    """The detector of a code or a name."""
    wanted = code.strip()
    for one in all_detectors():
        if wanted.upper() == one.code or wanted.lower() == one.name:
            return one
    raise InputError(
        f"There is no detector of that code or name. Received: {code!r}.",
        next_step="reenact rules",
    )


def fault(word: str) -> FaultEntry | None:
    """The fault of a code or a name; None where there is none."""
    wanted = word.strip()
    for one in all_faults():
        if wanted.upper() == one.code or wanted.lower() == one.name:
            return one
    return None


def chosen(
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
) -> tuple[Detector, ...]:
    """Detectors by code, prefix, name, fault, category or family; without a wish all that are
    stable.
    """
    if select:
        wanted = [one for one in all_detectors() if is_meant(one, select)]
    else:
        wanted = [one for one in all_detectors() if one.status is Status.STABLE]
    return tuple(one for one in wanted if not is_meant(one, ignore))


def of_family(name: str) -> tuple[Detector, ...]:
    """The detectors of a published tool; raises InputError where there is no such tool."""
    found = tuple(one for one in all_detectors() if one.family == name.strip().lower())
    if not found:
        known = dict.fromkeys(
            (
                *FAMILIES,
                *(one.family for one in all_detectors()),
            )
        )
        raise InputError(
            f"There is no family {name!r}.", next_step=f"Families: {', '.join(known)}."
        )
    return found


def check_words(wanted: Iterable[str]) -> None:
    """Raise InputError for a word that names nothing."""
    for word in wanted:
        if not any(is_meant(one, (word,)) for one in all_detectors()):
            known = [name for one in all_detectors() for name in _names(one)]
            close = difflib.get_close_matches(
                word,
                [*known, *FAMILIES],
                n=2,
            )
            meant = f"Did you mean {' or '.join(close)}? " if close else ""
            raise InputError(
                f"No fault or detector goes by that code, prefix, name, category or family. "
                f"Received: {word!r}.",
                next_step=f"{meant}Families: {', '.join(FAMILIES)}. All faults: reenact rules.",
            )


def is_meant(one: Detector, words: Sequence[str]) -> bool:
    """Whether one of these words names a detector, its fault, its category or its family."""
    names = {
        one.name,
        one.family,
        one.fault.name,
        one.fault.category.value,
    }
    codes = (one.code, one.fault.code)
    for word in words:
        if word and (word.lower() in names or any(code.startswith(word.upper()) for code in codes)):
            return True
    return False


def _names(one: Detector) -> tuple[str, ...]:
    return one.code, one.name, one.fault.code, one.fault.name
