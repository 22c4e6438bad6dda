"""An observation: what one detector saw at one place, and what that is worth by itself."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePosixPath
from typing import TypedDict

from reenact.faults.fault_type import FaultType
from reenact.program.hyperparameter import HyperparameterId
from reenact.program.patch import Patch
from reenact.result import rounded
from reenact.types import JsonValue, Place


class Severity(StrEnum):
    """How much a finding matters."""

    ERROR = "error"
    """The training cannot do what it is meant to."""
    WARNING = "warning"
    """It will do it worse, or later."""
    NOTE = "note"
    """Worth knowing; often intended."""


class Certainty(StrEnum):
    """What an observation is worth by itself, before anything is tried."""

    PROOF = "proof"
    """It establishes the fault: no training can show that there is none."""
    STRONG = "strong"
    """It is about this very fault, and seldom seen without it."""
    HINT = "hint"
    """It is seen with this fault, and often without it."""


class Observes(StrEnum):
    """What an observation is of. Two detectors that observe the same are one witness."""

    TEXT = "text"
    """What is written in the program."""
    GRAPH = "graph"
    """Layers, loss and optimizer as they were when the program ran."""
    DATA = "data"
    """Values of inputs and labels."""
    LOSSES = "losses"
    """Loss and metrics over the steps."""
    GRADIENTS = "gradients"
    """Gradients and the updates that they make."""
    WEIGHTS = "weights"
    """Values of parameters."""
    OUTPUTS = "outputs"
    """What layers give out."""
    EXPERIMENT = "experiment"
    """What the model did when it was tried on made inputs, one batch or other learning rates."""
    CRASH = "crash"
    """An exception that ended the program."""
    OPINION = "opinion"
    """Nothing: a model thinks so that read the program."""


class SuggestionJson(TypedDict):
    """A change that should help, as JSON."""

    patch: Patch
    knob: str | None
    old: JsonValue
    new: JsonValue
    does: str | None


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A change that should help."""

    patch: Patch
    hyperparameter: HyperparameterId | None
    """The hyperparameter it turns, when it is one."""
    old: JsonValue
    new: JsonValue
    does: str = ""
    """Of an edit of code, what it does, in one clause; empty for a hyperparameter."""

    def json_fields(self) -> SuggestionJson:
        return {
            "patch": self.patch,
            "knob": str(self.hyperparameter) if self.hyperparameter is not None else None,
            "old": self.old,
            "new": self.new,
            "does": self.does or None,
        }


@dataclass(frozen=True, slots=True)
class Refused:
    """A fault whose cure is mechanical, in a program where it cannot be written safely."""

    reason: str
    """One plain sentence."""


class ObservationJson(TypedDict):
    """An observation as JSON."""

    code: str
    name: str
    family: str
    fault: FaultType | None
    fault_name: str | None
    severity: Severity
    saw: str
    why: str
    certainty: Certainty
    confidence: float
    file: PurePosixPath | None
    line: int | None
    column: int | None
    layer: str | None
    layer_index: int | None
    step: int | None
    knob: str | None
    suggestions: tuple[Suggestion, ...]


@dataclass(frozen=True, slots=True)
class Observation:
    """What one detector saw at one place."""

    code: str
    """Of the detector, such as RE010; also the name and the family are the detector's."""
    name: str
    family: str
    fault: FaultType | None
    """None where it is a symptom that no single fault type explains."""
    severity: Severity
    saw: str
    """What was seen, with its numbers."""
    why: str
    """Why that is wrong, in one sentence."""
    confidence: float
    """How often an observation like this one is right, between 0 and 1: the detector's own
    judgement.
    """
    place: Place | None = None
    layer: str = ""
    """Name of the layer; empty for what belongs to the training."""
    layer_index: int | None = None
    """Its place in `model.layers`, from 0."""
    step: int | None = None
    """The step at which it was first seen."""
    hyperparameter: HyperparameterId | None = None
    """The hyperparameter at fault, when it is one."""
    suggestions: tuple[Suggestion, ...] = ()
    """Changes worth trying, the best first."""
    candidates: tuple[Suggestion, ...] = ()
    """Edits of code that should take the fault away, the likeliest first: one is right where the same
    detector is silent on the edited program.
    """
    refused: tuple[Refused, ...] = ()
    """Why an edit of code is not offered."""
    is_root_cause: bool = True
    """False for a symptom: it is wrong to see, but several things may cause it."""
    certainty: Certainty = Certainty.HINT
    fault_name: str = ""
    """What is wrong, by the name that `reenact.faults` has for it."""
    observes: Observes = Observes.TEXT
    """What the observation is of."""
    detects: FaultType | None = None
    """The fault type that its detector is about; another one is inferred by it."""
    in_the_run: bool = False
    """Whether the detector judges by what happened in the watched run."""
    of_held_out_rows: bool = False
    """Whether it is about rows that are not trained on: a training that learns says nothing
    against it.
    """
    is_calibrated: bool = False
    """Whether its confidence is a measured share already, not a detector's judgement."""

    def json_fields(self) -> ObservationJson:
        place = self.place
        return {
            "code": self.code,
            "name": self.name,
            "family": self.family,
            "fault": self.fault,
            "fault_name": self.fault_name or None,
            "severity": self.severity,
            "saw": self.saw,
            "why": self.why,
            "certainty": self.certainty,
            "confidence": rounded(self.confidence, 3),
            "file": place.file if place is not None else None,
            "line": place.line if place is not None else None,
            "column": self.column,
            "layer": self.layer or None,
            "layer_index": self.layer_index,
            "step": self.step,
            "knob": str(self.hyperparameter) if self.hyperparameter is not None else None,
            "suggestions": self.suggestions,
        }

    @property
    def direction(self) -> int:
        """Whether its first suggestion turns a number up (1) or down (-1); 0 where it is no number."""
        if not self.suggestions:
            return 0
        old, new = self.suggestions[0].old, self.suggestions[0].new
        if not isinstance(old, int | float) or not isinstance(new, int | float):
            return 0
        return (new > old) - (new < old)

    @property
    def column(self) -> int | None:
        """Where it stands in its line, from 1."""
        if self.place is not None:
            return self.place.column + 1
        return None
