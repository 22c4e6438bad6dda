"""What came of a paper: the verdict, its evidence, and everything on the way."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from decimal import Decimal
from pathlib import Path

from reenact.intake.papers.paper import Block, Paper, Paragraph
from reenact.paper.claim import Claim
from reenact.paper.criterion import Judged, Value
from reenact.paper.develop.development import Development
from reenact.paper.exemplar import Exemplar
from reenact.paper.fingerprint.fingerprint import Fingerprint
from reenact.paper.measure.gap import Comparison
from reenact.paper.measure.gap_repair import GapRepair
from reenact.paper.measure.runs import FullRun
from reenact.paper.measure.verdict import Judgement, Verdict
from reenact.paper.options import Goal
from reenact.paper.review.review import Review
from reenact.types import JsonValue


@dataclass(frozen=True)
class Reproduction:
    """A paper, re-enacted."""

    paper: Paper
    goal: Goal
    judgement: Judgement
    review: Review
    claims: tuple[Claim, ...]
    exemplars: tuple[Exemplar, ...]
    fingerprint: Fingerprint
    development: Development
    runs: tuple[FullRun, ...]
    comparisons: tuple[Comparison, ...]
    mending: GapRepair | None
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
    folder: Path | None = None
    written: tuple[str, ...] = ()

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

    def at(self, folder: Path, written: tuple[str, ...]) -> Reproduction:
        """The same, with where it was written."""
        return replace(self, folder=folder, written=written)

    def in_short(self) -> dict[str, JsonValue]:
        """What a list of runs shows."""
        return {
            "verdict": self.verdict.value,
            "reason": self.judgement.reason[:500],
            "gap": self.judgement.gap,
            "criteria": len(self.judged),
            "passed": self.count(Value.PASS),
        }

    def to_json(self) -> dict[str, JsonValue]:
        """Everything that a page or a program may want."""
        return {
            "title": self.paper.title,
            "source": self.paper.source,
            "form": self.paper.form,
            "goal": self.goal.text(),
            **self.in_short(),
            "gap_executed": self.judgement.gap_executed,
            "scale": self.scale,
            "review": asdict(self.review),
            "sections": _sections(self.paper),
            "claims": [asdict(one) for one in self.claims],
            "comparisons": [asdict(one) for one in self.comparisons],
            "exemplars": [asdict(one) for one in self.exemplars],
            "fingerprint": self.fingerprint.to_json(),
            "judged": [asdict(one) for one in self.judged],
            "rounds": [asdict(one) for one in self.development.rounds],
            "files": dict(self.development.project.files),
            "runs": [asdict(one) for one in self.runs],
            "mending": _mending(self.mending),
            "tokens": self.tokens,
            "money": None if self.money is None else str(self.money),
            "seconds": round(self.seconds, 1),
            "reused": self.reused,
            "notes": list(self.every_note()),
        }


def _mending(found: GapRepair | None) -> JsonValue:
    if found is None:
        return None
    return {
        "sentence": found.sentence,
        "hypotheses": list(found.hypotheses),
        "diff": found.diff,
        "kept_fixed": list(found.kept_fixed),
        "comparisons": [asdict(one) for one in found.comparisons],
    }


def _sections(paper: Paper) -> list[JsonValue]:
    """The paper's text with its ids: what claims and criteria rest on, for whoever shows them beside it."""
    return [
        {"id": section.id, "title": section.title, "paragraphs": [_pieces(block) for block in section.blocks]}
        for section in paper.sections
    ]


def _pieces(block: Block) -> list[JsonValue]:
    if isinstance(block, Paragraph):
        return [{"id": sentence.id, "text": sentence.text} for sentence in block.sentences]
    return [{"id": block.id, "text": block.text}]
