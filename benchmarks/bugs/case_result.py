"""What came of one case, and whether it is true."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from benchmarks.bugs.cases import BugCase
from benchmarks.bugs.oracle import SHOWS, SHOWS_NOT
from benchmarks.bugs.variant import WITHOUT_FIXED
from reenact.bug.reproduction import Verdict


@dataclass(frozen=True)
class CaseResult:
    """One case run with one variant."""

    case: str
    variant: str
    verdict: Verdict
    reason: str
    attempts: int = 0
    shown: int = 0
    """Seeds that showed the symptom."""
    seeds: int = 0
    seconds: float = 0.0
    own_s: float = 0.0
    """Of these, our own work: not the model's, not waiting for a processor."""
    requests: int = 0
    """Questions to the model."""
    other_words: int = 0
    """Answers of a recording that were given to other words than were asked now."""
    tokens: int = 0
    money: Decimal | None = None
    """US dollars; none when a price is not known."""
    script: str = ""
    """What was handed over."""
    facts: str = ""
    """By which that is judged; empty for a script that is nothing but itself."""
    test: str = ""
    """The same as a test; empty where none was handed over."""
    in_suite: str = ""
    """What became of the test inside the project's own suite, on the buggy and the fixed revision;
    empty where it was not run there.
    """
    on_buggy: int | None = None
    """Exit code of what was handed over; 1: the bug shows, 0: not; none: it could not be run."""
    on_fixed: int | None = None
    reported: tuple[tuple[str, str], ...] = ()
    """Packages and versions as the report names them."""

    @property
    def works(self) -> bool:
        """Whether what was handed over fails where the bug is and passes where it is fixed."""
        return self.on_buggy == SHOWS and self.on_fixed == SHOWS_NOT

    @property
    def contradicted(self) -> bool:
        """Whether what was handed over says otherwise: no bug where it is, or one where it is
        fixed.
        """
        return self.on_buggy == SHOWS_NOT or self.on_fixed == SHOWS

    def false_claim(self, case: BugCase) -> bool:
        """Whether `reproduced` was claimed and is not so. Only claims count, not attempts."""
        if self.verdict is not Verdict.REPRODUCED:
            return False
        return case.expected is not Verdict.REPRODUCED or self.contradicted

    def true_verdict(self, case: BugCase) -> bool:
        """Whether it is the true one. Without the fix nothing confirms a silent bug: `shown` is
        true then.
        """
        unconfirmed = self.verdict is Verdict.SHOWN and self.variant == WITHOUT_FIXED
        if unconfirmed and case.expected is Verdict.REPRODUCED:
            return not self.contradicted
        return self.verdict is case.expected and not self.false_claim(case)
