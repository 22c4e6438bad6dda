"""What the learned detector says of a watched training, as findings beside those of the rules."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from reenact.diagnosis.learned.features import features
from reenact.diagnosis.learned.forest import Forest, load
from reenact.program.fault import Fault
from reenact.program.hyperparameter import Hyperparameter, Kind
from reenact.rules.evidence import Evidence
from reenact.rules.finding import Finding, Severity, Suggestion
from reenact.rules.layer_view import LayerView
from reenact.rules.rule import suggest

FAMILY = "learned"
LEAST = 0.5
"""Below it the detector keeps silent."""
MOST_SUGGESTIONS = 4


@dataclass(frozen=True, slots=True)
class FaultClass:
    """One answer of the detector."""

    code: str
    name: str
    fault: Fault
    """The fault type its findings carry."""
    joined: frozenset[Fault]
    """Fault types that it stands for."""
    kinds: tuple[Kind, ...]
    """Hyperparameters at fault, the likeliest first."""
    why: str
    word: str
    """What the reader calls it."""


def _fault_class(
    code: str, name: str, faults: str, kinds: tuple[Kind, ...], word: str, had: str
) -> FaultClass:
    joined = tuple(Fault(text) for text in faults.split())
    why = f"Trainings that looked like this one in the detector's school {had}."
    return FaultClass(code, f"learned-{name}", joined[0], frozenset(joined), kinds, why, word)


CLASSES = (
    _fault_class("LD001", "learning-rate", "HLR", (Kind.LEARNING_RATE,), "learning rate",
                 "had a wrong learning rate"),
    _fault_class("LD002", "optimizer", "OCH", (Kind.OPTIMIZER,), "optimiser", "had an unsuitable optimiser"),
    _fault_class("LD003", "activation", "ACH ARM AAL", (Kind.ACTIVATION,), "activation",
                 "had a wrong activation"),
    _fault_class("LD004", "loss", "LCH", (Kind.LOSS,), "loss", "had an unsuitable loss"),
    _fault_class("LD005", "epochs", "HNE", (Kind.EPOCHS,), "number of epochs", "were stopped too soon"),
    _fault_class("LD006", "batch-size", "HBS", (Kind.BATCH_SIZE,), "batch size", "had unsuitable batches"),
    _fault_class("LD007", "weight-init", "WCI", (Kind.WEIGHT_INIT,), "initial weights",
                 "began with unsuitable weights"),
    _fault_class("LD008", "regularisation", "RAW HWD", (Kind.WEIGHT_REGULARIZER, Kind.WEIGHT_DECAY),
                 "regularisation", "were held back too much"),
)  # fmt: skip
"""The fault classes the detector can name; their codes are literals for ever."""
BY_CODE = {one.code: one for one in CLASSES}


def learned_findings(
    evidence: Evidence, forest: Forest | None = None, least: float = LEAST
) -> tuple[Finding, ...]:
    """Findings with a calibrated confidence of at least `least`, the surest first; none without a trace."""
    if evidence.trace is None or not evidence.trace.step_count:
        return ()
    probabilities = (forest or load()).probabilities(features(evidence))
    sure = sorted(((value, code) for code, value in probabilities.items() if value >= least), reverse=True)
    return tuple(_finding(evidence, BY_CODE[code], value) for value, code in sure if code in BY_CODE)


def _finding(evidence: Evidence, one: FaultClass, confidence: float) -> Finding:
    layer = _layer(evidence, one)
    param = _hyperparameter(evidence, one, layer)
    return Finding(
        code=one.code,
        name=one.name,
        family=FAMILY,
        fault=one.fault,
        severity=Severity.WARNING,
        saw=f"the trace looks like that of a training with a wrong {one.word} (probability {confidence:.2f})",
        why=one.why,
        confidence=confidence,
        place=param.place if param is not None else None,
        layer=layer.name if layer is not None else "",
        layer_index=layer.index if layer is not None else None,
        hyperparameter=param.id if param is not None else None,
        suggestions=tuple(_suggestions(param))[:MOST_SUGGESTIONS],
    )


def _layer(evidence: Evidence, one: FaultClass) -> LayerView | None:
    """Of a fault that belongs to layers, one that looks wrong by itself; none where all look alike."""
    if one.kinds[0] is not Kind.ACTIVATION:
        return None
    hidden = [layer for layer in evidence.weighted if layer.role == "hidden" and layer.family == "dense"]
    bent = [layer for layer in hidden if layer.activation in (None, "linear", "sigmoid", "softmax")]
    return bent[0] if bent else evidence.output


def _hyperparameter(evidence: Evidence, one: FaultClass, layer: LayerView | None) -> Hyperparameter | None:
    """The hyperparameter of the class that is written, else the one that could be."""
    found = [param for kind in one.kinds for param in evidence.hyperparameters_of(kind, layer)]
    return next((param for param in found if not param.absent), next(iter(found), None))


def _suggestions(param: Hyperparameter | None) -> Iterator[Suggestion]:
    if param is not None:
        yield from suggest(param, param.alternatives)
