"""What came of one program, as it is kept: one JSON file a case, depth and reenact."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import ClassVar

from pydantic import ConfigDict, TypeAdapter, ValidationError

from benchmarks.field.case import FieldCase
from reenact.errors import StorageError
from reenact.program.fault import Fault
from reenact.types import JsonValue

SAME = {Fault.ARM: Fault.ACH, Fault.AAL: Fault.ACH}
"""Missing, wrong and redundant activations are one thing seen from different sides."""
CRASHES = frozenset({"RE901", "RE902", "RE903", "RE904"})
"""Rules that explain a crash: above the threshold that is a finding, though it has no fault type."""


@dataclass(frozen=True, slots=True)
class NamedFault:
    """One thing that was named: a fault type or, without one, the rules that saw it."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    fault: Fault | None
    codes: tuple[str, ...]
    lines: tuple[tuple[int, int], ...]
    """First and last line of each place; none where it belongs to no line."""
    layer: str
    confidence: float
    status: str
    saw: str

    def is_true_of(self, case: FieldCase) -> bool:
        """Whether the manifest names the same fault at a line of this one, or it belongs to no line."""
        family = SAME.get(self.fault, self.fault) if self.fault is not None else None
        faults = {line for fault, line in case.faults if SAME.get(fault, fault) is family}
        rules = {line for code, line in case.rules if code in self.codes}
        named = faults | rules
        return bool(named) and (
            not self.lines or any(first <= line <= last for first, last in self.lines for line in named)
        )

    def __str__(self) -> str:
        where = f":{self.lines[0][0]}" if self.lines else ""
        return f"{self.fault or '-'}{where} {self.codes[0]} ({self.confidence:.2f}, {self.status})"


@dataclass(frozen=True, slots=True)
class FieldResult:
    """What a diagnosis says of one program, or why there is none."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    case: str
    depth: str
    code: str
    """Which reenact: a hash over its source."""
    started_as: str
    """A hash over how the program was started: another start is another measurement."""
    could_not_run: str = ""
    """Why there is no diagnosis: packages, data, no checkout, the box."""
    judgement: str = ""
    sentence: str = ""
    findings: tuple[NamedFault, ...] = ()
    doubts: tuple[NamedFault, ...] = ()
    symptoms: tuple[NamedFault, ...] = ()
    trainings: int = 0
    seconds: float = 0.0
    notes: tuple[str, ...] = ()
    output: str = ""
    """The end of what was printed, where there is no diagnosis."""
    repair: str = ""
    """What a repair decided; empty where none was asked for, or none came to an end."""
    repair_says: str = ""

    def named(self, threshold: float) -> tuple[NamedFault, ...]:
        """What was named above the threshold: findings, and crashes that were explained."""
        crashes = (
            one for one in self.symptoms if one.confidence >= threshold and not CRASHES.isdisjoint(one.codes)
        )
        return (*self.findings, *crashes)


_RESULTS = TypeAdapter(FieldResult)


def read_result(facts: Mapping[str, JsonValue]) -> FieldResult:
    """A result from its JSON. Raises ValidationError."""
    return _RESULTS.validate_python(facts)


class Results:
    """A folder of results, written as they come."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, case: str, depth: str, code: str, started_as: str) -> FieldResult | None:
        """The result of this very measurement, or none."""
        try:
            found = read_result(json.loads(self._file(case, depth, code).read_bytes()))
        except (OSError, ValueError, ValidationError):
            return None
        return found if found.started_as == started_as else None

    def put(self, result: FieldResult) -> None:
        """Written beside its place and moved there. Raises StorageError."""
        target = self._file(result.case, result.depth, result.code)
        beside = target.with_suffix(f".{os.getpid()}.part")
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            beside.write_text(json.dumps(asdict(result), indent=1), encoding="utf-8")
            beside.replace(target)
        except OSError as error:
            raise StorageError(
                f"A result could not be kept: {error.strerror or error}. Received: {target}."
            ) from error

    def _file(self, case: str, depth: str, code: str) -> Path:
        return self.folder / f"{depth}-{code}" / f"{case}.json"
