"""What is to be evaluated, and by what."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from reenact.paper.options import Goal


@dataclass(frozen=True, slots=True)
class Asked:
    """The wishes of the user of `reenact evaluate`; only the code must be named."""

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
    """A table of what several judges said, for their agreement."""
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
    metric: str = ""
    value: float | None = None
    """What the reference implementation reaches of that metric."""

    @property
    def needs_model(self) -> bool:
        return self.align or self.rubric is not None

    @property
    def needs_paper(self) -> bool:
        return self.needs_model or (self.expert is not None and self.chosen is None)
