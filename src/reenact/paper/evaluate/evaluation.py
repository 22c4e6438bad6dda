"""All that was found of generated code, metric by metric; what was not asked for is none or empty."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import ClassVar

from reenact.paper.criterion import Value
from reenact.paper.evaluate.agreement import Agreement
from reenact.paper.evaluate.align import AlignScore
from reenact.paper.evaluate.edits import EditScore
from reenact.paper.evaluate.execute import ExecutedScore
from reenact.paper.evaluate.human import Form, HumanScore
from reenact.paper.evaluate.lineage import LineageScore
from reenact.paper.evaluate.quality import Quality
from reenact.paper.evaluate.rubric import Scored
from reenact.result import Result


@dataclass(frozen=True, slots=True)
class RubricScore:
    """A rubric tree with its leaves judged."""

    JSON: ClassVar = (
        "score=scored.score", "low=scored.low", "high=scored.high", "pruned", "pass=passed", "fail=failed",
        "cannot judge=unknown", "tree=scored",
    )  # fmt: skip

    scored: Scored | None
    """None when nothing of it has any weight."""
    pruned: int
    """Leaves that ask for more than writing code and were left out."""

    def count(self, value: Value) -> int:
        leaves = self.scored.leaves() if self.scored is not None else ()
        return sum(leaf.judged is not None and leaf.judged.value is value for leaf in leaves)

    @property
    def passed(self) -> int:
        return self.count(Value.PASS)

    @property
    def failed(self) -> int:
        return self.count(Value.FAIL)

    @property
    def unknown(self) -> int:
        return self.count(Value.UNKNOWN)


@dataclass(frozen=True, slots=True)
class Panel:
    """Judges beside one another."""

    pairs: tuple[Agreement, ...]
    alpha: float | None
    """Krippendorff's, over all of them."""
    items: int


@dataclass(frozen=True)
class Evaluation(Result):
    """The whole answer."""

    title: str
    """Of the paper; empty when none was named."""
    code: str
    quality: Quality
    align: tuple[AlignScore, ...] = ()
    rubric: RubricScore | None = None
    forms: tuple[Form, ...] = ()
    human: tuple[HumanScore, ...] = ()
    panel: Panel | None = None
    lineage: LineageScore | None = None
    edits: tuple[EditScore, ...] = ()
    executed: ExecutedScore | None = None
    notes: tuple[str, ...] = ()
    tokens: int = 0
    money: Decimal | None = Decimal(0)
    """US dollars; none when a price is unknown."""
    seconds: float = 0.0
    run_id: str = ""
    reused: str = ""
    """What was not made by this execution, in a line; empty for nothing."""

    @property
    def unjudged(self) -> int:
        """Marks and leaves that nobody could judge."""
        marks = sum(len(one.marks) - one.judged for one in self.align)
        return marks + (self.rubric.count(Value.UNKNOWN) if self.rubric is not None else 0)

    @property
    def is_silent(self) -> bool:
        """Whether a judge was asked and gave nothing at all."""
        asked = bool(self.align) or self.rubric is not None
        tree = self.rubric.scored if self.rubric is not None else None
        given = any(one.judged for one in self.align) or (tree is not None and tree.score is not None)
        return asked and not given
