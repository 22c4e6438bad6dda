"""Which Python a bug is looked at with: that of the report, else one that was there at its date.

This interpreter is kept where nothing speaks against it: the report names it or none, it was
released before that day, and the project supports it.
"""

import re
from collections.abc import Sequence
from datetime import date, timedelta
from pathlib import Path

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from reenact.bug.report import Installed
from reenact.sandbox.environments.interpreters import OLDEST, Minor, bring_python, minor_of
from reenact.types import Stop

RELEASED = {
    (3, 8): date(2019, 10, 14),
    (3, 9): date(2020, 10, 5),
    (3, 10): date(2021, 10, 4),
    (3, 11): date(2022, 10, 24),
    (3, 12): date(2023, 10, 2),
    (3, 13): date(2024, 10, 7),
    (3, 14): date(2025, 10, 7),
}
"""When each series of Python came out (PEPs 569, 596, 619, 664, 693, 719, 745)."""
SETTLED = timedelta(days=365)
"""After that long most packages have wheels for a series."""


def wanted_series(
    reported: Sequence[Installed], day: date | None, supported: str, here: Minor
) -> Minor:
    """The series to look at a bug with. `supported` is what the project says, `here` is this
    interpreter's.
    """
    stated = next((one for one in map(_series, reported) if one is not None), None)
    if stated is not None:
        return max(stated, OLDEST)
    fits = [one for one in RELEASED if _is_supported(one, supported)]
    was_there = day is None or RELEASED.get(here, date.min) <= day
    if was_there and (here in fits or not fits):
        return here
    settled = [one for one in fits if day is None or RELEASED[one] + SETTLED <= day]
    if settled:
        return max(settled)
    return min(fits, default=here)


def choose_python(
    wanted: Minor, current: str, cache: Path, notes: list[str], stop: Stop | None
) -> str:
    """The interpreter of a series; the current one, with a note, where it cannot be had."""
    here = minor_of(current)
    if wanted == here:
        return current
    found = bring_python(wanted, cache / "pythons", stop)
    named, ours = (".".join(map(str, one)) for one in (wanted, here))
    if not found:
        notes.append(f"Python {named} is not on this machine and cannot be fetched; {ours} runs.")
        return current
    notes.append(f"Python {named} runs, as of the report or its date.")
    return found


def _series(one: Installed) -> Minor | None:
    found = re.match(r"\D*(3)\.(\d+)", one.version)
    if one.package.strip().lower() not in ("python", "cpython") or found is None:
        return None
    return (int(found[1]), int(found[2]))


def _is_supported(series: Minor, supported: str) -> bool:
    try:
        # Of a series the last release counts: `>=3.8.1` is fulfilled by it.
        return SpecifierSet(supported).contains(f"{series[0]}.{series[1]}.99")
    except InvalidSpecifier:
        return True
