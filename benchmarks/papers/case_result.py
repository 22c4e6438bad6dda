"""What came of one case run with one variant, once."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from benchmarks.papers.cases import PaperCase
from benchmarks.papers.matching import Recalled
from benchmarks.papers.variant import REPAIR, Variant
from reenact.paper.measure.verdict import Verdict


@dataclass(frozen=True)
class CaseResult:
    """One case_run."""

    case: str
    variant: str
    run: int
    """Which of several, from 0."""
    verdict: Verdict
    reason: str
    executed: bool = False
    """Whether a full run ended well and left metrics."""
    measured: float | None = None
    """Of the number that the reference is of."""
    gap: float = 1.0
    """Mean over the claims that the goal asks for, 1 for what was not measured."""
    recalled: Recalled | None = None
    """Against the list made by hand; none when no fingerprint was taken."""
    passed: int = 0
    failed: int = 0
    unknown: int = 0
    """Criteria that nobody could judge."""
    lineage: tuple[str, ...] = ()
    """Keys of the cited papers that were looked into."""
    tokens_in: int = 0
    tokens_out: int = 0
    money: Decimal | None = None
    """US dollars that were paid; none when a price is not known."""
    at_o3: Decimal | None = None
    """What the same tokens cost at o3-mini's prices."""
    seconds: float = 0.0
    other_words: int = 0
    """Answers of a recording that were given to other words than were asked now."""

    def expected(self, case: PaperCase, variant: Variant) -> Verdict:
        """The true verdict of this variant: an omission shows where neither lineage nor repair may
        help. A baseline is held to the truth about the paper: how it gets there is its own affair.
        """
        without = case.omission.expected_without if case.omission is not None else None
        hidden = (
            without is not None and not variant.baseline and {"lineage", REPAIR} <= variant.gone
        )
        return without if without is not None and hidden else case.expected

    def true_verdict(self, case: PaperCase, variant: Variant) -> bool:
        return self.verdict is self.expected(case, variant)

    def false_claim(self, case: PaperCase, variant: Variant) -> bool:
        """Whether `reproduced` was claimed and is not so."""
        return self.verdict is Verdict.REPRODUCED and not self.true_verdict(case, variant)
