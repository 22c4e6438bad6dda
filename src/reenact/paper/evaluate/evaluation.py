"""What is to be evaluated, and all that was found of it; what was not asked for is none or empty."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import ClassVar

from reenact.paper.criterion import Value
from reenact.paper.evaluate.align import AlignScore
from reenact.paper.evaluate.execution import EditScore, ExecutedScore
from reenact.paper.evaluate.lineage import LineageScore
from reenact.paper.evaluate.people import Form, HumanScore, Panel
from reenact.paper.evaluate.quality import Quality
from reenact.paper.evaluate.rubric import Scored
from reenact.paper.options import Goal
from reenact.result import Result


@dataclass(frozen=True, slots=True)
class EvaluateOptions:
    """What the user of `reenact evaluate` may ask for; only the code must be named."""

    code: Path
    goal: Goal = field(default_factory=Goal)
    align: bool = False
    """Judge the Align-Score."""
    reference: Path | None = None
    """Folder of a reference implementation: adds the code and mixed levels."""
    rubric: Path | None = None
    """A rubric tree in PaperBench's JSON."""
    resources: bool = False
    """Data and models are provided: getting them weighs nothing."""
    forms: tuple[Path, ...] = ()
    """Filled forms of the human rubric."""
    judgements: Path | None = None
    """A table of several judges' ratings, for their agreement."""
    expert: Path | None = None
    """An expert's list of the papers that matter, the most relevant first."""
    chosen: Path | None = None
    """The lineage to compare with it; none: it is chosen now."""
    exemplars: int = 3
    runs: tuple[str, ...] = ()
    """Ids of runs of `reenact paper` whose edits are counted."""
    metrics: tuple[Path, ...] = ()
    """metrics.json of runs; one that is not there is a run that failed."""
    execute: int = 0
    """Seeds with which the code is run here."""
    data: Path | None = None
    """The user's folder of data, seen read-only at DATA_DIR."""
    run_wall_s: float = 3600.0
    """Seconds that one run may take."""
    metric: str = ""
    value: float | None = None
    """What the reference implementation reaches of that metric."""

    @property
    def needs_model(self) -> bool:
        return self.align or self.rubric is not None

    @property
    def needs_paper(self) -> bool:
        return self.needs_model or (self.expert is not None and self.chosen is None)


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
        return marks + (self.rubric.unknown if self.rubric is not None else 0)

    @property
    def is_silent(self) -> bool:
        """Whether a judge was asked and gave nothing at all."""
        asked = bool(self.align) or self.rubric is not None
        tree = self.rubric.scored if self.rubric is not None else None
        given = any(one.judged for one in self.align) or (tree is not None and tree.score is not None)
        return asked and not given
