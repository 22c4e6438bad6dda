"""What came of a paper: the verdict, its evidence, and everything on the way."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TypedDict

from reenact.intake.papers.paper import Paper, Paragraph
from reenact.paper.criterion import Judged, Value
from reenact.paper.develop.development import Development, Round
from reenact.paper.estimate import PaperEstimate
from reenact.paper.fingerprint.fingerprint import Fingerprint
from reenact.paper.lineage.trace import Exemplar
from reenact.paper.measure.gap import Comparison
from reenact.paper.measure.gap_repair import GapRepair
from reenact.paper.measure.runs import FullRun
from reenact.paper.measure.verdict import Judgement, Ordering, Verdict
from reenact.paper.options import Goal
from reenact.paper.review.claims import PaperClaim
from reenact.paper.review.review import Review
from reenact.paper.verify.verify import JudgesAgreement
from reenact.result import Result
from reenact.types import JsonValue


class ReproductionJson(TypedDict):
    """The whole answer for programs."""

    title: str
    source: str
    form: str
    goal: str
    verdict: Verdict
    reason: str
    gap: float | None
    criteria: int
    passed: int
    gap_executed: float | None
    scale: float
    review: Review
    sections: list[JsonValue]
    claims: tuple[PaperClaim, ...]
    comparisons: tuple[Comparison, ...]
    orderings: tuple[Ordering, ...]
    exemplars: tuple[Exemplar, ...]
    fingerprint: Fingerprint
    judged: tuple[Judged, ...]
    judges: JudgesAgreement | None
    rounds: tuple[Round, ...]
    files: Mapping[str, str]
    runs: tuple[FullRun, ...]
    gap_repair: GapRepair | None
    tokens: int
    money: Decimal | None
    estimate: PaperEstimate | None
    seconds: float
    reused: int
    notes: tuple[str, ...]


@dataclass(frozen=True, repr=False)
class Reproduction(Result):
    """A paper, re-enacted."""

    paper: Paper
    goal: Goal
    judgement: Judgement
    review: Review
    claims: tuple[PaperClaim, ...]
    exemplars: tuple[Exemplar, ...]
    fingerprint: Fingerprint
    development: Development
    runs: tuple[FullRun, ...]
    comparisons: tuple[Comparison, ...]
    gap_repair: GapRepair | None
    """What a repair changed to close the gap; none when it was not tried."""
    scale: float
    """Share of the paper's training that was done."""
    tokens: int
    money: Decimal | None
    """US dollars; none when a price is unknown."""
    seconds: float
    run_id: str
    reused: int = 0
    """Steps taken over from earlier runs: what they cost and took is not in this one's figures."""
    reused_line: str = ""
    """The same, and what an interrupted run had done already, in a line; empty for nothing."""
    notes: tuple[str, ...] = ()
    orderings: tuple[Ordering, ...] = ()
    """What the claims say together: which is better than which, and by how much."""
    judges: JudgesAgreement | None = None
    """How far two judges agree; none where no judge was needed."""
    estimate: PaperEstimate | None = None
    """What it was to cost, as stated before the first request."""
    folder: Path | None = None
    written: tuple[str, ...] = ()

    def in_a_line(self) -> str:
        return f"{self.paper.title}: {self.verdict}"

    @property
    def verdict(self) -> Verdict:
        return self.judgement.verdict

    @property
    def judged(self) -> tuple[Judged, ...]:
        """The criteria as the kept version of the code fulfils them."""
        return self.development.judged

    def count(self, value: Value) -> int:
        return sum(one.value is value for one in self.judged)

    def every_note(self) -> tuple[str, ...]:
        """What was lost, assumed, left out or could not be done."""
        lost = tuple(f"Lost in reading: {one.what}" for one in self.paper.lost)
        return (*self.notes, *self.development.notes, *lost)

    @property
    def sentence(self) -> str:
        """The one line to read."""
        return f"{self.verdict.value[:1].upper()}{self.verdict.value[1:]}: {self.judgement.reason}"

    @property
    def reason(self) -> str:
        return self.judgement.reason[:500]

    @property
    def passed(self) -> int:
        """Criteria that the code fulfils."""
        return self.count(Value.PASS)

    @property
    def criteria(self) -> int:
        """Criteria that were judged."""
        return len(self.judged)

    def in_short(self) -> dict[str, JsonValue]:
        """What a list of runs shows."""
        verdict = self.verdict.value
        gap = self.judgement.gap
        counts = {
            "criteria": self.criteria,
            "passed": self.passed,
        }
        return {
            "verdict": verdict,
            "reason": self.reason,
            "gap": gap,
            **counts,
        }

    @property
    def sections(self) -> list[JsonValue]:
        """The paper's text with its ids: what claims and criteria rest on."""
        found: list[JsonValue] = []
        for section in self.paper.sections:
            parts = (
                one.sentences if isinstance(one, Paragraph) else (one,) for one in section.blocks
            )
            texts: JsonValue = [
                [
                    {
                        "id": one.id,
                        "text": one.text,
                    }
                    for one in part
                ]
                for part in parts
            ]
            found.append(
                {
                    "id": section.id,
                    "title": section.title,
                    "paragraphs": texts,
                }
            )
        return found

    def json_fields(self) -> ReproductionJson:
        """What programs get."""
        return {
            "title": self.paper.title,
            "source": self.paper.source,
            "form": self.paper.form,
            "goal": self.goal.text(),
            "verdict": self.verdict,
            "reason": self.reason,
            "gap": self.judgement.gap,
            "criteria": self.criteria,
            "passed": self.passed,
            "gap_executed": self.judgement.gap_executed,
            "scale": self.scale,
            "review": self.review,
            "sections": self.sections,
            "claims": self.claims,
            "comparisons": self.comparisons,
            "orderings": self.orderings,
            "exemplars": self.exemplars,
            "fingerprint": self.fingerprint,
            "judged": self.judged,
            "judges": self.judges,
            "rounds": self.development.rounds,
            "files": self.development.project.files,
            "runs": self.runs,
            "gap_repair": self.gap_repair,
            "tokens": self.tokens,
            "money": self.money,
            "estimate": self.estimate,
            "seconds": round(self.seconds, 1),
            "reused": self.reused,
            "notes": self.every_note(),
        }
