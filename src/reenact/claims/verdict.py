"""What became of a claim, in words, and each gate that it had to pass.

*Proven*: red on the program and green after the edit for the stated reason, the controls behave, the
check does not restate the edit, no one found a reason to leave it, and the metric moved as was expected
before, where it can move. *Likely*: the same, and the effect could not be measured; or it was, another
fix makes the check green too, and no one was asked for reasons against it. An effect alone proves the
edit and not the claim, for a change that helps need not repair anything. *Remark*: the property does
not hold, and no more than that was seen. *Refuted*: it holds on the unchanged program, or the edit
does not help, or it is gone after some steps, or the metric says the opposite. *Not tested*:
the check could not tell.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypedDict

from reenact.claims.claim import Claim, ClaimJson
from reenact.claims.look import CheckRun
from reenact.result import Result
from reenact.types import ExitCode


class ClaimStatus(StrEnum):
    """What became of a claim."""

    PROVEN = "proven"
    LIKELY = "likely"
    REMARK = "remark"
    REFUTED = "refuted"
    NOT_TESTED = "not tested"

    @property
    def counts(self) -> bool:
        """Whether it is a finding."""
        return self in (ClaimStatus.PROVEN, ClaimStatus.LIKELY)


class GateName(StrEnum):
    """What a claim has to pass, in this order."""

    SCRIPT = "the check may be run"
    RESTATED = "the check does not restate the edit"
    RED = "red on the program"
    GREEN = "green after the edit"
    REWRITTEN = "the same on rewritten programs"
    IRRELEVANT = "red after an irrelevant edit"
    MUTANTS = "green with other settings"
    PERSISTS = "the same later and with other seeds"
    SECOND = "green after another fix"
    REFUTERS = "no reason against it"
    FROZEN = "rows and evaluation as before"
    EFFECT = "the metric moves as expected"


NOT_PASSED = {
    GateName.SCRIPT: "The check cannot be used",
    GateName.RESTATED: "The check restates the edit",
    GateName.RED: "Not red on the program",
    GateName.GREEN: "Not green after the edit",
    GateName.REWRITTEN: "The check depends on how the program is written",
    GateName.IRRELEVANT: "An irrelevant edit changes what the check says",
    GateName.MUTANTS: "The check holds with these settings alone",
    GateName.PERSISTS: "It is not seen later, or not with other seeds",
    GateName.SECOND: "The check fits the wording of the edit alone",
    GateName.REFUTERS: "There is a reason to leave it",
    GateName.FROZEN: "The edit changes more than the claim is about",
}
"""The words for a gate that was not passed."""
REFUTING = frozenset({GateName.RED, GateName.GREEN, GateName.PERSISTS, GateName.REFUTERS})
"""Gates that speak of the claim where they are not passed; the others speak of its check."""
ASKED = (GateName.SECOND, GateName.REFUTERS)
"""Gates that need somebody who did not make the claim."""


class GateJson(TypedDict):
    """A gate for programs."""

    gate: str
    passed: bool | None
    saw: str


@dataclass(frozen=True, slots=True)
class Gate:
    """One gate: passed, not passed, or (none) not asked, with what was seen."""

    name: GateName
    passed: bool | None
    saw: str = ""

    def json_fields(self) -> GateJson:
        """What programs get."""
        return {"gate": self.name.value, "passed": self.passed, "saw": self.saw}


class Moved(StrEnum):
    """What the metric did after the edit, over fresh seeds."""

    AS_EXPECTED = "as expected"
    NOT = "it did not move"
    AGAINST = "against what was expected"
    UNMEASURED = "not measured"


@dataclass(frozen=True, slots=True)
class MetricEffect:
    """The metric before and after the edit over fresh seeds."""

    moved: Moved
    metric: str = ""
    before: tuple[float, ...] = ()
    after: tuple[float, ...] = ()
    p_value: float | None = None
    why: str = ""
    """Why it was not measured, or what speaks against it."""


class ClaimVerdictJson(TypedDict):
    """A tested claim for programs."""

    status: str
    reason: str
    claim: ClaimJson
    gates: list[GateJson]
    red: list[str]
    green: list[str]
    effect: MetricEffect | None
    diff: str


@dataclass(frozen=True, repr=False)
class ClaimVerdict(Result):
    """A claim, what was executed, and what became of it."""

    claim: Claim
    gates: tuple[Gate, ...]
    red: tuple[CheckRun, ...] = ()
    """What the check saw on the unchanged program, seed by seed."""
    green: tuple[CheckRun, ...] = ()
    """And after the edit."""
    effect: MetricEffect | None = None
    diff: str = ""
    """The edit, as a diff."""

    @property
    def failed(self) -> Gate | None:
        """The first gate that was not passed."""
        return next((one for one in self.gates if one.passed is False), None)

    @property
    def status(self) -> ClaimStatus:
        """See the words at the head of this file."""
        failed = self.failed
        if failed is not None:
            return ClaimStatus.REFUTED if failed.name in REFUTING else ClaimStatus.NOT_TESTED
        if not any(one.name is GateName.GREEN and one.passed for one in self.gates):
            return ClaimStatus.NOT_TESTED
        moved = self.effect.moved if self.effect is not None else Moved.UNMEASURED
        asked = all(self._passed(name) for name in ASKED)
        if moved is Moved.AGAINST:
            return ClaimStatus.REFUTED
        if moved is Moved.NOT:
            return ClaimStatus.REMARK
        if moved is Moved.AS_EXPECTED:
            if asked:
                return ClaimStatus.PROVEN
            second = self._passed(GateName.SECOND)
            return ClaimStatus.LIKELY if second else ClaimStatus.REMARK
        return ClaimStatus.LIKELY if asked else ClaimStatus.REMARK

    @property
    def reason(self) -> str:
        """Why, in one sentence."""
        failed = self.failed
        if failed is not None:
            return f"{NOT_PASSED[failed.name]}: {failed.saw.rstrip('.')}."
        if self.status is ClaimStatus.NOT_TESTED:
            return (
                f"Nothing was executed: {self.gates[-1].saw if self.gates else 'it was not asked'}."
            )
        moved = self.effect.moved if self.effect is not None else Moved.UNMEASURED
        held = "The property does not hold, and it does after the edit"
        if moved is Moved.AS_EXPECTED:
            doubt = "" if self._asked else " No one was asked for reasons against it."
            if not self._passed(GateName.SECOND):
                doubt = (
                    " That shows that the edit helps, not that the claim is right: no one wrote "
                    "another fix (--second) or looked for reasons against it."
                )
            return f"{held}; the metric moves as expected.{doubt}"
        if moved is Moved.NOT:
            return f"{held}; {self._metric} does not change by that."
        if moved is Moved.AGAINST:
            return f"{held}, but {self._metric} says the opposite of what was expected."
        why = self.effect.why if self.effect is not None else "no training was asked for"
        return f"{held}. What that costs was not measured: {why}."

    @property
    def _asked(self) -> bool:
        return all(self._passed(name) for name in ASKED)

    @property
    def _metric(self) -> str:
        return (
            self.effect.metric if self.effect is not None and self.effect.metric else "the metric"
        )

    def _passed(self, name: GateName) -> bool:
        return any(one.name is name and one.passed is True for one in self.gates)

    def json_fields(self) -> ClaimVerdictJson:
        """What programs get."""
        return {
            "status": self.status.value,
            "reason": self.reason,
            "claim": self.claim.json_fields(),
            "gates": [one.json_fields() for one in self.gates],
            "red": [one.sentence for one in self.red],
            "green": [one.sentence for one in self.green],
            "effect": self.effect,
            "diff": self.diff,
        }

    @property
    def exit_code(self) -> ExitCode:
        """1 for a finding, 3 where nothing could be judged."""
        if self.status.counts:
            return ExitCode.FOUND
        return ExitCode.INCONCLUSIVE if self.status is ClaimStatus.NOT_TESTED else ExitCode.OK

    @property
    def sentence(self) -> str:
        """What a reader gets first."""
        return f"{self.status.value.capitalize()}. {self.reason}"


def sentence_of(looks: Sequence[CheckRun]) -> str:
    """What the first of these runs saw."""
    return looks[0].sentence if looks else "it was not run"
