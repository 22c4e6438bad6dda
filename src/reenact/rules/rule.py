"""The shape of a rule: what it is called, what it needs, and `check`.

A rule is one file under `rules/<family>/`. The docstring of the file is its documentation: sections What,
Why, Symptom, Example, Instead, Fix safety, Sources. Example is a program on which it fires, Instead one on
which it is silent; both are run by the tests."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from enum import Flag, StrEnum, auto
from typing import ClassVar

from reenact.program.fault import Fault
from reenact.program.hyperparameter import Hyperparameter, Kind
from reenact.program.patch import Patch, change_for
from reenact.rules.evidence import Evidence
from reenact.rules.finding import Certainty, Finding, Severity, Suggestion
from reenact.rules.layer_view import LayerView
from reenact.types import JsonValue, Place


class Needs(Flag):
    """Parts of the evidence without which a rule has nothing to say."""

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


class Status(StrEnum):
    """Whether a rule takes part without being asked."""

    STABLE = "stable"
    PREVIEW = "preview"
    """Only when it is selected by code or family: right too seldom, or of its tool's time."""


class Rule(ABC):
    """One check."""

    code: ClassVar[str]
    """Two letters for the family and three digits; never given to another rule."""
    name: ClassVar[str]
    """Reads after "allow ..."."""
    family: ClassVar[str]
    """Name of the tool whose rule it is; `reenact` for our own."""
    fault: ClassVar[Fault | None]
    """The fault type it speaks of; None for a symptom that several may explain."""
    needs: ClassVar[Needs]
    severity: ClassVar[Severity] = Severity.WARNING
    status: ClassVar[Status] = Status.STABLE
    confidence: ClassVar[float] = 0.6
    """How often it is right when it fires, before anything is tried."""
    certainty: ClassVar[Certainty] = Certainty.HINT
    """What its observation is worth by itself. Proof only where it is silent on every sound program."""
    is_root_cause: ClassVar[bool] = False
    """Names the culprit though no fault type fits it: a crash, weights that nobody trains."""
    why: ClassVar[str]
    """One sentence that every finding carries."""

    @abstractmethod
    def check(self, evidence: Evidence) -> Iterable[Finding]:
        """All findings of this rule; called only when what it needs is there."""

    def finding(
        self,
        evidence: Evidence,
        saw: str,
        *,
        layer: LayerView | None = None,
        kind: Kind | None = None,
        values: Sequence[JsonValue] = (),
        suggestions: Sequence[Suggestion] = (),
        place: Place | None = None,
        fault: Fault | None = None,
        confidence: float | None = None,
        certainty: Certainty | None = None,
        step: int | None = None,
    ) -> Finding:
        """A finding at a layer, or at the hyperparameter of a kind, with values to give it, best first."""
        param = evidence.hyperparameter(kind, layer) if kind is not None else None
        written = evidence.place_of(kind, layer) if kind is not None else None
        return Finding(
            code=self.code,
            name=self.name,
            family=self.family,
            fault=fault or self.fault,
            severity=self.severity,
            saw=saw,
            why=self.why,
            confidence=self.confidence if confidence is None else confidence,
            place=place or written or (layer.place if layer is not None else None),
            layer=layer.name if layer is not None else "",
            layer_index=layer.index if layer is not None else None,
            step=step,
            hyperparameter=param.id if param is not None else None,
            suggestions=(*suggestions, *(suggest(param, values) if param is not None else ())),
            is_root_cause=self.is_root_cause or (fault or self.fault) is not None,
            certainty=certainty or self.certainty,
        )


class Culprit(Rule):
    """A rule that names what is wrong though no fault type fits it."""

    fault: ClassVar[Fault | None] = None
    severity = Severity.ERROR
    is_root_cause = True
    confidence, certainty = 0.9, Certainty.STRONG


def suggest(param: Hyperparameter, values: Sequence[JsonValue]) -> Iterator[Suggestion]:
    """Give a hyperparameter each of these values in turn, unless it has it already or cannot be turned."""
    if not param.changeable:
        return
    for value in values:
        if value != param.in_force:
            yield Suggestion(Patch((change_for(param, value),)), param.id, param.in_force, value)


def available(evidence: Evidence) -> Needs:
    """The parts of the evidence that are there."""
    tried = evidence.experiments
    parts = {
        Needs.SOURCE: evidence.static is not None,
        Needs.GRAPH: evidence.graph is not None,
        Needs.TRACE: evidence.trace is not None and evidence.trace.step_count > 0,
        Needs.EXPERIMENTS: bool(tried.one_batch or tried.learning_rates or tried.behaviour),
        Needs.CRASH: evidence.crash is not None,
    }
    return Needs(sum(need.value for need, there in parts.items() if there))


def run_rules(rules: Iterable[Rule], evidence: Evidence) -> tuple[Finding, ...]:
    """Every finding of every rule whose needs are met, in the order of the rules."""
    there = available(evidence)
    return tuple(finding for rule in rules if rule.needs in there for finding in rule.check(evidence))
