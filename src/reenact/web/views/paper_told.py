"""What the story of a paper stored, as its page reads it."""

from __future__ import annotations

from pydantic import BaseModel

from reenact.paper.measure.curves.curve import Curve
from reenact.report.svg import number
from reenact.web.views.paper_text import Criterion, Judged, TextSection


class Claim(BaseModel):
    """A number of the paper."""

    id: str
    metric: str
    value: float
    unit: str
    method: str
    dataset: str
    spread: float | None = None
    place: str
    quote: str

    @property
    def words(self) -> str:
        spread = "" if self.spread is None else f" ± {number(self.spread)}"
        return f"{number(self.value)}{spread}{self.unit}"


class Comparison(BaseModel):
    """A claim beside what was measured."""

    claim: Claim
    metric: str
    measured: float | None = None
    spread: float | None = None
    n: int
    gap: float
    grade: str
    differs: list[str] = []
    note: str = ""

    @property
    def words(self) -> str:
        if self.measured is None:
            return "-"
        spread = "" if self.spread is None else f" ± {number(self.spread)}"
        return f"{number(self.measured)}{spread}{self.claim.unit}"


class CodeFile(BaseModel):
    """A file of a cited paper's repository."""

    path: str
    text: str
    why: str


class Exemplar(BaseModel):
    """A cited paper that the work stands on."""

    key: str
    title: str
    why: str
    summary: str
    repository: str
    licence: str
    files: list[CodeFile]
    notes: list[str] = []


class Round(BaseModel):
    """One version of the code."""

    number: int
    stage: str
    runs: bool
    passed: list[str]
    failed: list[str]
    unknown: list[str]
    turned: list[str]
    problems: list[str]
    edits: int
    tries: int = 0


class FullRun(BaseModel):
    """One run of the whole experiment."""

    seed: int
    ok: bool
    metrics: dict[str, float]
    why: str
    wall_s: float
    output: str = ""
    curves: list[Curve] = []


class Fingerprint(BaseModel):
    """What was taken from the paper."""

    criteria: list[Criterion] = []


class Mending(BaseModel):
    """What a repair changed to close the gap."""

    sentence: str
    hypotheses: list[str] = []
    diff: str = ""
    kept_fixed: list[str] = []
    comparisons: list[Comparison] = []


class Told(BaseModel):
    """What the story stored."""

    title: str
    source: str
    goal: str = ""
    gap: float | None = None
    scale: float = 1.0
    comparisons: list[Comparison]
    exemplars: list[Exemplar]
    fingerprint: Fingerprint
    judged: list[Judged]
    rounds: list[Round]
    files: dict[str, str]
    runs: list[FullRun]
    sections: list[TextSection] = []
    mending: Mending | None = None
    notes: list[str]
