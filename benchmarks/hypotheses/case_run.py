"""One claim, tested as `reenact test-hypothesis` does, in this process."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from pydantic import ConfigDict, TypeAdapter

from benchmarks.hypotheses.case import CHECK, EDIT, PROGRAM, ClaimCase
from reenact.api.hypotheses import test_hypothesis
from reenact.api.options import RunOptions
from reenact.claims.verdict import ClaimStatus, ClaimVerdict
from reenact.errors import Stopped
from reenact.types import Stop

ERROR = "error"
UNKNOWN = "not executed"
LONGEST = 300
"""Characters of what was seen that are kept."""
JOURNAL = "hypotheses-journal"


@dataclass(frozen=True, slots=True)
class Asked:
    """A case, and how it is tested."""

    case: ClaimCase
    effect: bool
    """Train both programs over fresh seeds."""
    journal: Path
    """Folder of the runs: looks and trainings that are known are not repeated."""
    fresh: bool = False
    model: str | None = None
    """Asked for a fix of its own and for reasons against the claim."""


@dataclass(frozen=True, slots=True)
class ClaimResult:
    """What became of one claim."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    case: str
    identity: str
    """Of the files of the case."""
    effect: bool
    """Whether it was to be measured."""
    status: str
    """A `ClaimStatus`, `error`, or `not executed`."""
    gate: str
    """The first gate that was not passed; empty where all were."""
    saw: str
    """What was seen there, or the reason."""
    moved: str = ""
    """What the metric did."""
    metric: str = ""
    before: tuple[float, ...] = ()
    after: tuple[float, ...] = ()
    p_value: float | None = None
    gates: dict[str, bool | None] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def counts(self) -> bool:
        """Whether it would be a finding."""
        return self.status in (ClaimStatus.PROVEN, ClaimStatus.LIKELY)


RESULT = TypeAdapter(ClaimResult)


def unknown(case: ClaimCase, effect: bool) -> ClaimResult:
    """Of a case that nobody has executed as it is now."""
    saw = "python -m benchmarks hypotheses --again executes it"
    return ClaimResult(case.id, case.identity, effect, UNKNOWN, "", saw)


def run_case(asked: Asked, stop: Stop) -> ClaimResult:
    """Raises Stopped where it was: that is no result."""
    case = asked.case
    begun = time.monotonic()
    found: ClaimVerdict | Exception
    try:
        found = test_hypothesis(
            PROGRAM,
            folder=case.folder,
            claim=case.says,
            edit=case.folder / EDIT,
            check=case.folder / CHECK,
            shows=case.shows,
            tolerance=case.tolerance,
            about=case.about.value,
            expects=case.expects.value,
            second=case.second,
            effect=asked.effect,
            model=asked.model,
            run=RunOptions(runs_dir=asked.journal, fresh=asked.fresh),
            cancel=stop,
        )
    except Stopped:
        raise
    except Exception as error:  # noqa: BLE001 - that it breaks on a claim is a result of that claim
        found = error
    if stop.asked:
        raise Stopped(f"{case.id} was stopped; the same command continues it.")
    return _result(asked, found, round(time.monotonic() - begun, 1))


def _result(asked: Asked, found: ClaimVerdict | Exception, seconds: float) -> ClaimResult:
    case = asked.case
    if isinstance(found, Exception):
        return ClaimResult(
            case=case.id,
            identity=case.identity,
            effect=asked.effect,
            status=ERROR,
            gate="",
            saw=f"{type(found).__name__}: {found}"[:LONGEST],
            seconds=seconds,
        )
    failed = found.failed
    effect = found.effect
    return ClaimResult(
        case=case.id,
        identity=case.identity,
        effect=asked.effect,
        status=found.status.value,
        gate=failed.name.value if failed is not None else "",
        saw=(failed.saw if failed is not None else found.reason)[:LONGEST],
        moved=effect.moved.value if effect is not None else "",
        metric=effect.metric if effect is not None else "",
        before=effect.before if effect is not None else (),
        after=effect.after if effect is not None else (),
        p_value=effect.p_value if effect is not None else None,
        gates={gate.name.value: gate.passed for gate in found.gates},
        seconds=seconds,
    )
