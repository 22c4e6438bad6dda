"""A detector: a function that looks for one fault in one kind of evidence.

It says what it needs, what it observes, how much that is worth, and which publication it comes from. Its
function is given the detector and the evidence, and makes findings by `detector.finding`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from enum import Flag, StrEnum, auto
from typing import TypeAlias

from reenact.faults.entry import FaultEntry
from reenact.faults.evidence import Evidence
from reenact.faults.fault_type import FaultType
from reenact.faults.finding import Finding, finding_of
from reenact.faults.observation import (
    Certainty,
    Observation,
    Observes,
    Refused,
    Severity,
    Suggestion,
)
from reenact.program.hyperparameter import Hyperparameter, Kind
from reenact.program.layer_view import LayerView
from reenact.program.patch import Patch, change_for
from reenact.types import JsonValue, Place


class Needs(Flag):
    """Parts of the evidence without which a detector has nothing to say."""

    SOURCE = auto()
    """The program's text: hyperparameters and layers as written."""
    GRAPH = auto()
    """The live model, with data facts and the task."""
    TRACE = auto()
    """Steps, layers and metrics of a watched run."""
    EXPERIMENTS = auto()
    """One-batch overfit, learning-rate range, behaviour of the live model."""
    CRASH = auto()
    """A run that ended with an exception."""
    ACCOUNTS = auto()
    """The books of a watched run, also of one without a single step."""


class Status(StrEnum):
    """Whether a detector takes part without being asked."""

    STABLE = "stable"
    PREVIEW = "preview"
    """Only when it is selected by code or family: right too seldom, or of its tool's time."""


@dataclass(frozen=True, eq=False, slots=True)
class Detector:
    """One way to see one fault."""

    fault: FaultEntry
    code: str
    """Two letters for the family and three digits; never given to another detector."""
    name: str
    """Reads after "allow ..."."""
    family: str
    """The published tool that it is taken from; `reenact` for our own."""
    needs: Needs
    observes: Observes
    why: str
    """One sentence that every finding carries."""
    look: Look
    """Called only when what it needs is there."""
    study: FaultType | None = None
    """The fault type of the study that it speaks of; None for a symptom that several may
    explain.
    """
    severity: Severity = Severity.WARNING
    status: Status = Status.STABLE
    confidence: float = 0.6
    """How often it is right when it fires, before anything is tried."""
    certainty: Certainty = Certainty.HINT
    """What its observation is worth by itself. Proof only where it is silent on every sound
    program.
    """
    is_root_cause: bool = False
    """Names the culprit, not a symptom that several faults may have."""
    judges_rows: bool = False
    """It judges the rows themselves: of made-up data it has nothing to say."""
    of_held_out_rows: bool = False
    """It is about rows that are not trained on: a training that learns says nothing against it."""

    @property
    def doc(self) -> str:
        """What it looks for and where it comes from: the docstring of its function."""
        return inspect.cleandoc(self.look.__doc__ or "")

    def check(self, evidence: Evidence) -> Iterable[Finding]:
        """Every finding of this detector."""
        return self.look(self, evidence)

    def finding(
        self,
        evidence: Evidence,
        saw: str,
        *,
        layer: LayerView | None = None,
        kind: Kind | None = None,
        values: Sequence[JsonValue] = (),
        suggestions: Sequence[Suggestion] = (),
        fixes: Sequence[Cure] = (),
        place: Place | None = None,
        study: FaultType | None = None,
        confidence: float | None = None,
        certainty: Certainty | None = None,
        observes: Observes | None = None,
        step: int | None = None,
    ) -> Finding:
        """A finding at a layer, or at the hyperparameter of a kind, with values to give it, best
        first.

        `fixes` are edits of code, the likeliest first, and why others are not offered.
        `study`, `confidence`, `certainty` and `observes` are given where they are not the
        detector's own.
        """
        param = evidence.hyperparameter(kind, layer) if kind is not None else None
        written = evidence.place_of(kind, layer) if kind is not None else None
        turned = suggest(param, values) if param is not None else ()
        observation = Observation(
            code=self.code,
            name=self.name,
            family=self.family,
            fault_name=self.fault.name,
            fault=study or self.study,
            observes=observes or self.observes,
            severity=self.severity,
            saw=saw,
            why=self.why,
            confidence=self.confidence if confidence is None else confidence,
            place=place or written or (layer.place if layer is not None else None),
            layer=layer.name if layer is not None else "",
            layer_index=layer.index if layer is not None else None,
            step=step,
            hyperparameter=param.id if param is not None else None,
            suggestions=(*suggestions, *turned),
            candidates=tuple(one for one in fixes if isinstance(one, Suggestion)),
            refused=tuple(one for one in fixes if isinstance(one, Refused)),
            is_root_cause=self.is_root_cause or study is not None,
            certainty=certainty or self.certainty,
            detects=self.study,
            in_the_run=bool(self.needs & (Needs.TRACE | Needs.ACCOUNTS)),
            of_held_out_rows=self.of_held_out_rows,
        )
        return finding_of(observation)


Cure: TypeAlias = Suggestion | Refused
"""An edit of code that should take a fault away, or why there is none."""
Look: TypeAlias = Callable[[Detector, Evidence], Iterable[Finding]]
"""The function of a detector."""


def suggest(param: Hyperparameter, values: Sequence[JsonValue]) -> Iterator[Suggestion]:
    """Give a hyperparameter each of these values in turn, unless it has it already or cannot be
    turned.
    """
    if not param.changeable:
        return
    for value in values:
        if value != param.in_force:
            yield Suggestion(
                Patch((change_for(param, value),)),
                param.id,
                param.in_force,
                value,
            )


def available(evidence: Evidence) -> Needs:
    """The parts of the evidence that are there."""
    tried = evidence.experiments
    parts = {
        Needs.SOURCE: evidence.static is not None,
        Needs.GRAPH: evidence.graph is not None,
        Needs.TRACE: evidence.step_count > 0,
        Needs.EXPERIMENTS: bool(tried.one_batch or tried.learning_rates or tried.behaviour),
        Needs.CRASH: evidence.crash is not None,
        Needs.ACCOUNTS: evidence.trace is not None and bool(evidence.accounts),
    }
    return Needs(sum(need.value for need, there in parts.items() if there))


def run_detectors(
    detectors: Iterable[Detector],
    evidence: Evidence,
) -> tuple[Finding, ...]:
    """Every finding of every detector whose needs are met, in the order of the detectors."""
    with _beyond_numbers(evidence):
        there = available(evidence)
        ready = (one for one in detectors if one.needs in there)
        return tuple(finding for one in ready for finding in one.check(evidence))


def _beyond_numbers(evidence: Evidence) -> AbstractContextManager[object]:
    """Losses, norms and weights of a run may be infinite or NaN: what is computed of them is so
    too, and no comparison with it holds. The user need not read numpy's warnings of that.
    """
    if evidence.trace is None:
        return nullcontext()
    import numpy as np

    return np.errstate(all="ignore")
