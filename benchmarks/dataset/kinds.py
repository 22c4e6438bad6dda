"""Kinds of faults: which one each fault of a truth is (trainings/kinds.toml), and which rules
report a kind.

`categories.toml` holds the kinds of programs that are kept here, each with the rules that report
it. Foreign programs use the types of faults of the study (ACH) and rules that have no type (RE901).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from benchmarks.dataset.training import TRAININGS
from reenact.errors import InputError
from reenact.faults.fault_type import FaultType

CATEGORIES = Path(__file__).with_name("categories.toml")
KINDS = "kinds.toml"
TYPES = frozenset(fault.value for fault in FaultType)
_RULE = re.compile(r"[A-Z]{2}\d{3}")


@lru_cache
def categories() -> dict[str, frozenset[str]]:
    """Which rules, by name, report a fault of a category."""
    listed = tomllib.loads(CATEGORIES.read_text(encoding="utf-8"))
    return {category: frozenset({category, *rules}) for category, rules in listed.items()}


@lru_cache
def kinds(folder: Path = TRAININGS) -> Mapping[str, tuple[str, ...]]:
    """By training: the kinds of its faults, in the order of its truth. Raises InputError."""
    file = folder / KINDS
    try:
        listed = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise InputError(
            f"The kinds of faults cannot be read: {error}. Received: {file}."
        ) from error
    unknown = {kind for each in listed.values() for kind in each if not _is_known(kind)}
    if unknown:
        raise InputError(
            f"A kind is a category of {CATEGORIES.name}, a type of fault or a rule. "
            f"Received: {', '.join(sorted(unknown))}."
        )
    return {name: tuple(each) for name, each in listed.items()}


def _is_known(kind: str) -> bool:
    return kind in categories() or kind in TYPES or _RULE.fullmatch(kind) is not None
