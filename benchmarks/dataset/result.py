"""What came of one training, as it is kept: one JSON file a training, depth or budget, and
reenact.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import ClassVar, Generic, TypeVar

from pydantic import ConfigDict, TypeAdapter, ValidationError

from reenact.errors import StorageError
from reenact.faults.fault_type import FaultType
from reenact.trials.statistics import compare

LACKING = ("packages", "data", "no checkout")
"""What a machine lacks, as `could_not_run` begins with it. Anything else is a diagnosis that
did not come.
"""


@dataclass(frozen=True, slots=True)
class NamedFault:
    """One thing that was named, with every place it was given."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    codes: tuple[str, ...]
    """The rules that saw it."""
    places: tuple[tuple[str, int, int], ...]
    """File name, first and last line; none where it belongs to no line."""
    confidence: float
    saw: str = ""
    fault: FaultType | None = None
    """Its type; a rule without one names itself."""
    layer: str = ""
    status: str = ""
    fix: str = ""
    """What was done with the fix that it has; empty where it has none."""
    dropped: tuple[str, ...] = ()
    """Why edits that were suggested are no fix."""

    @property
    def lines(self) -> tuple[tuple[int, int], ...]:
        """First and last line of each place, whatever its file."""
        return tuple(sorted({(first, last) for _, first, last in self.places}))


@dataclass(frozen=True, slots=True)
class TrainingDiagnosis:
    """What a diagnosis says of one training, or why there is none."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    training: str
    """Its id."""
    depth: str
    code: str
    """Which reenact: a hash over its source."""
    started_as: str
    """A hash over how the program was started: another start is another measurement."""
    model: str = ""
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
        return self.depth + _tag(self.model)

    @property
    def started(self) -> bool:
        """Whether this machine has what the program needs."""
        return not self.could_not_run.startswith(LACKING)


BETTER = ("repaired", "improved", "better-fault-remains", "too-small")
"""What a repair decides when the fresh seeds are significantly better."""
ALPHA = 0.05
NOT_TRAINED = "not-trained"
"""What stands for a decision where no training could be compared."""


@dataclass(frozen=True, slots=True)
class TrainingRepair:
    """What came of the repair of one training, or why there is none."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    training: str
    """Its id."""
    budget: str
    """As the user writes it; empty: the usual one."""
    seeds: int
    """Fresh seeds that judge."""
    code: str
    started_as: str
    model: str = ""
    could_not_run: str = ""
    decision: str = ""
    """That of the repair; `not-trained` where it refused, as for a program that crashes."""
    sentence: str = ""
    metric: str = ""
    before: tuple[float | None, ...] = ()
    """The metric, a fresh seed each, oriented so that larger is better; none for a failed
    training.
    """
    after: tuple[float | None, ...] = ()
    author: tuple[float | None, ...] = ()
    """The same of the author's fix, over the same seeds; empty where there is none to compare
    with.
    """
    as_good: bool | None = None
    """Whether the repair misses the author's fix by less than what matters; none where that is
    not known.
    """
    diff: str = ""
    notes: tuple[str, ...] = ()
    trainings: int = 0
    seconds: float = 0.0
    output: str = ""
    """The end of what was printed, where there is no answer."""

    @property
    def how(self) -> str:
        return f"repair-{self.budget or 'usual'}-{self.seeds}" + _tag(self.model)

    @property
    def trains(self) -> bool:
        return bool(self.decision) and self.decision != NOT_TRAINED

    @property
    def better(self) -> bool:
        """Whether it is claimed, and the fresh seeds say so too."""
        sides = (self.before, self.after)
        before, after = ([-math.inf if one is None else one for one in side] for side in sides)
        return (
            self.decision in BETTER and len(before) > 1 and compare(before, after).p_value < ALPHA
        )


def _tag(model: str) -> str:
    """A short name for a model, which may hold a path."""
    return f"-{hashlib.sha256(model.encode()).hexdigest()[:8]}" if model else ""


Outcome = TypeVar("Outcome", TrainingDiagnosis, TrainingRepair)


class Results(Generic[Outcome]):
    """A folder of results of one sort, written as they come."""

    def __init__(self, folder: Path, sort: type[Outcome]) -> None:
        self.folder = folder
        self._sort: TypeAdapter[Outcome] = TypeAdapter(sort)

    def get(self, blank: Outcome) -> Outcome | None:
        """The result of the measurement that begins like this, or none."""
        try:
            found: Outcome = self._sort.validate_json(self._file(blank).read_bytes())
        except (OSError, ValueError, ValidationError):
            return None
        return found if found.started_as == blank.started_as else None

    def put(self, result: Outcome) -> None:
        """Written next to its place and moved there. Raises StorageError."""
        target = self._file(result)
        part = target.with_suffix(f".{os.getpid()}.part")
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            part.write_text(json.dumps(asdict(result), indent=1), encoding="utf-8")
            part.replace(target)
        except OSError as error:
            raise StorageError(
                f"A result could not be kept: {error.strerror or error}. Received: {target}."
            ) from error

    def _file(self, result: Outcome) -> Path:
        return self.folder / f"{result.how}-{result.code}" / f"{result.training}.json"
