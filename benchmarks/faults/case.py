"""What a fault of the benchmark is: the planted changes, the ground truths, what was published about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from benchmarks.faults.scores import Score, Truth
from reenact.faults.fault_type import FaultType
from reenact.program.graph import TaskType
from reenact.program.hyperparameter import Kind
from reenact.types import JsonValue

STUDY = 22
"""Faults of the study's localisation half."""
TOOLS = ("DeepFD", "DeepDiagnosis", "NeuraLint", "UMLAUT", "GPT-4")
NAME_NO_LAYERS = frozenset({"DeepFD"})
"""Published tools that give fault types alone."""


class Side(StrEnum):
    """Which of the two programs."""

    BUGGY = "buggy"
    FIXED = "fixed"


class Scale(StrEnum):
    """How much data, width and time."""

    LITE = "lite"
    """Seconds on one thread; what was changed for it stands in the case."""
    FIRST = "first"
    """Lite as it was first written: five programs trained for fewer epochs, until more of them
    helped the fixed ones too.
    """
    FULL = "full"
    """As published."""


@dataclass(frozen=True, slots=True)
class Planted:
    """One change between the fixed and the buggy program."""

    fault: FaultType
    layer: int | None
    kind: Kind
    line: int | None
    """In buggy.py; for what is missing there, the line that lacks it. None where there is no
    program.
    """
    old: JsonValue
    """As in buggy.py; none where it is absent there."""
    new: JsonValue
    lite_old: JsonValue
    """The same two at lite scale."""
    lite_new: JsonValue


@dataclass(frozen=True, slots=True)
class Repaired:
    """What a repair tool reached in the study (Table 9, budget 20)."""

    mean: float
    sigma: float
    significant: bool


@dataclass(frozen=True, slots=True)
class Published:
    """What the study printed about a fault."""

    truth: str
    """Ground truth as the localisation half writes it; empty outside of it."""
    outputs: Mapping[str, str]
    """Tool to output (Tables 10-14)."""
    credited: Mapping[str, str]
    """Outputs that were scored otherwise than printed."""
    before: Mapping[str, Score]
    """Table 5."""
    after: Mapping[str, Score]
    """Table 6; for M1-M3 the study took the alternatives of another fault."""
    seconds: Mapping[str, float | None]
    """Table 8; none where the tool was not applicable."""
    faulty_metric: float | None
    fixed_metric: float | None
    repairs: Mapping[str, Repaired | None]
    """Table 9; none where the tool was not applicable or ran out of time."""


@dataclass(frozen=True, slots=True)
class FaultCase:
    """One fault of the benchmark."""

    id: str
    fl_id: str | None
    """Number in the localisation half of the study."""
    title: str
    origin: str
    """`artificial` (a mutant of DeepCrime) or `real`."""
    study: bool
    """Whether it is one of the 22 of the localisation study."""
    repair_study: bool
    """Whether it is one of the 30 of the repair study."""
    source: str
    task: TaskType
    data: tuple[str, ...]
    """Data sets that will do, the best first; empty where the program makes its own."""
    metric: str
    larger_is_better: bool
    faults: tuple[Planted, ...]
    truth: Truth
    """The faults as the scorer takes them: one a type, with all its layers."""
    alternatives: tuple[Truth, ...]
    """Published alternative ground truths, each changed hyper-parameter one fault."""
    alternatives_as_published: tuple[Truth, ...]
    """The same with the layers as the study counts them; differs for D3 alone."""
    nodes: int | None
    """Size of the published neutrality graph (Table 4)."""
    parameters: int | None
    """Hyper-parameters that a repair may change (Table 4)."""
    lite_says: str
    """What lite scale changes, in words."""
    lite: tuple[tuple[str, str], ...]
    """What lite scale changes, as replacements of text in both programs, in order."""
    first: tuple[tuple[str, str], ...]
    """What it was before lite was corrected, as replacements after these."""
    written: bool
    """Whether there are programs to run."""
    published: Published
    notes: str


@dataclass(frozen=True, slots=True)
class PublishedMeans:
    """The averages that the study prints (Tables 7 and 8, Figure 3, sections 6.5 and 6.6)."""

    before: Mapping[str, Mapping[str, Score]]
    """`artificial`, `real` or `all`; then tool."""
    after: Mapping[str, Mapping[str, Score]]
    seconds: Mapping[str, float]
    """Mean time a fault."""
    false_alarms: Mapping[str, int]
    """Of the 22 programs, those set to use softmax whether they had it or not; filtered out by
    the study.
    """
    median_improvement_rate: Mapping[str, float]
    significant_of_30: Mapping[str, int]
    mean_sigma: Mapping[str, float]
