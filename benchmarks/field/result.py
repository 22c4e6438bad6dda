"""What came of one program, as it is kept: one JSON file a case, depth or budget, and reenact."""

from __future__ import annotations

import json
import math
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import ClassVar, Generic, TypeVar

from pydantic import ConfigDict, TypeAdapter, ValidationError

from benchmarks.field.case import FieldCase
from reenact.errors import StorageError
from reenact.program.fault import Fault
from reenact.trials.statistics import compare

SAME = {Fault.ARM: Fault.ACH, Fault.AAL: Fault.ACH}
"""Missing, wrong and redundant activations are one thing seen from different sides."""
CRASHES = frozenset({"RE901", "RE902", "RE903", "RE904"})
"""Rules that explain a crash: above the threshold that is a finding, though it has no fault type."""


LACKING = ("packages", "data", "no checkout")
"""What a machine lacks, as `could_not_run` begins with it. Anything else is a diagnosis that did not come."""


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

    @property
    def how(self) -> str:
        return self.depth

    @property
    def started(self) -> bool:
        return not self.could_not_run.startswith(LACKING)

    def named(self, threshold: float) -> tuple[NamedFault, ...]:
        """What was named above the threshold: findings, and crashes that were explained."""
        crashes = (
            one for one in self.symptoms if one.confidence >= threshold and not CRASHES.isdisjoint(one.codes)
        )
        return (*self.findings, *crashes)


BETTER = ("repaired", "improved", "too-small")
"""What a repair decides when the fresh seeds are significantly better."""
ALPHA = 0.05
NOT_TRAINED = "not-trained"
"""What stands for a decision where no training could be compared."""


@dataclass(frozen=True, slots=True)
class FieldRepair:
    """What came of the repair of one program, or why there is none."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    case: str
    budget: str
    """As the user writes it; empty: the usual one."""
    seeds: int
    """Fresh seeds that judge."""
    code: str
    started_as: str
    could_not_run: str = ""
    decision: str = ""
    """That of the repair; `not-trained` where it refused, as for a program that crashes."""
    sentence: str = ""
    metric: str = ""
    before: tuple[float | None, ...] = ()
    """The metric, a fresh seed each, oriented so that larger is better; none for a failed training."""
    after: tuple[float | None, ...] = ()
    author: tuple[float | None, ...] = ()
    """The same of the author's fix, over the same seeds; empty where there is none to compare with."""
    as_good: bool | None = None
    """Whether the repair misses the author's fix by less than what matters; none where that is not known."""
    diff: str = ""
    notes: tuple[str, ...] = ()
    trainings: int = 0
    seconds: float = 0.0
    output: str = ""
    """The end of what was printed, where there is no answer."""

    @property
    def how(self) -> str:
        return f"repair-{self.budget or 'usual'}-{self.seeds}"

    @property
    def trains(self) -> bool:
        return bool(self.decision) and self.decision != NOT_TRAINED

    @property
    def better(self) -> bool:
        """Whether it is claimed, and the fresh seeds say so too."""
        sides = (self.before, self.after)
        before, after = ([-math.inf if one is None else one for one in side] for side in sides)
        return self.decision in BETTER and len(before) > 1 and compare(before, after).p_value < ALPHA


Kept = TypeVar("Kept", FieldResult, FieldRepair)


class Results(Generic[Kept]):
    """A folder of results of one kind, written as they come."""

    def __init__(self, folder: Path, kind: type[Kept]) -> None:
        self.folder = folder
        self._kind: TypeAdapter[Kept] = TypeAdapter(kind)

    def get(self, case: str, how: str, code: str, started_as: str) -> Kept | None:
        """The result of this very measurement, or none."""
        try:
            found: Kept = self._kind.validate_json(self._file(case, how, code).read_bytes())
        except (OSError, ValueError, ValidationError):
            return None
        return found if found.started_as == started_as else None

    def put(self, result: Kept) -> None:
        """Written beside its place and moved there. Raises StorageError."""
        target = self._file(result.case, result.how, result.code)
        beside = target.with_suffix(f".{os.getpid()}.part")
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            beside.write_text(json.dumps(asdict(result), indent=1), encoding="utf-8")
            beside.replace(target)
        except OSError as error:
            raise StorageError(
                f"A result could not be kept: {error.strerror or error}. Received: {target}."
            ) from error

    def _file(self, case: str, how: str, code: str) -> Path:
        return self.folder / f"{how}-{code}" / f"{case}.json"
