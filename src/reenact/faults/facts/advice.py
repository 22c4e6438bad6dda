"""From a symptom to its likeliest cause: the decision tree of DeepDiagnosis, as its paper intends it.

The release cannot reach most of it: weights are replaced by their mean before variance and norm are taken,
the weights and the gradients of different layers are compared, and one test is always true. Four things are
ours: NaN among the inputs comes before all other causes; inputs of mean 0 and deviation 1 count as
normalised; the learning rate is judged by the measured step, which holds for every optimiser, and is too
small only when no layer moves; and what an output must be like depends on the loss."""

import math
from dataclasses import dataclass

from reenact.faults import (
    Detector,
    Evidence,
    FaultType,
    Finding,
    JsonValue,
    Kind,
    LayerView,
    TaskType,
)
from reenact.faults.facts.measured import among, inputs_scaled, update_ratios
from reenact.faults.facts.model import owner_of
from reenact.program.training.loss_families import LossFamily, Wanted

SMALLEST_VARIANCE, LARGEST_VARIANCE = 1e-5, 10.0
SMALLEST_RATIO, LARGEST_RATIO = 1e-5, 0.1
FEWEST_WEIGHTS = 4
"""The variance of fewer says nothing."""
RATES = (0.001, 0.01, 0.0001)
OUTPUTS = {
    Wanted.SOFTMAX: "softmax",
    Wanted.SIGMOID: "sigmoid",
    Wanted.LOG_SOFTMAX: "log_softmax",
}


@dataclass(frozen=True, slots=True)
class Advice:
    """What to change."""

    fault: FaultType
    text: str
    sure: float
    kind: Kind | None = None
    values: tuple[JsonValue, ...] = ()
    layer: LayerView | None = None


def report(
    detector: Detector,
    evidence: Evidence,
    saw: str,
    advice: Advice,
    step: int | None = None,
) -> Finding:
    """The finding of a symptom and of the advice that goes with it."""
    return detector.finding(
        evidence,
        f"{saw}; {advice.text}",
        layer=advice.layer,
        kind=advice.kind,
        values=advice.values,
        study=advice.fault,
        confidence=min(detector.confidence, advice.sure),
        step=step,
    )


def for_numbers(evidence: Evidence, layer: LayerView, step: int | None) -> Advice:
    """Outputs or weights that are no numbers."""
    found = broken_data(evidence) or poor_weights(evidence) or raw_data(evidence)
    return found or wrong_rate(evidence, step) or other_activation(evidence, layer)


def for_gradients(evidence: Evidence, layer: LayerView) -> Advice:
    """Weight gradients that are no numbers, or zero."""
    wrong = wrong_loss(evidence) if layer in evidence.weighted[-2:] else None
    return broken_data(evidence) or wrong or other_activation(evidence, layer)


def for_stillness(evidence: Evidence, step: int | None) -> Advice:
    """Tensors that do not change."""
    return poor_weights(evidence) or wrong_rate(evidence, step) or other_optimizer(evidence)


def for_invalid(evidence: Evidence, step: int | None) -> Advice:
    """A loss or an accuracy that is no number."""
    found = broken_data(evidence) or bare_output(evidence) or wrong_rate(evidence, step)
    return found or other_optimizer(evidence)


def for_no_progress(evidence: Evidence) -> Advice:
    """A loss that does not fall, an accuracy that does not rise."""
    return (
        poor_weights(evidence)
        or raw_data(evidence)
        or wrong_rate(evidence)
        or other_optimizer(evidence)
    )


def for_idle_units(evidence: Evidence, layer: LayerView) -> Advice:
    """Dead or saturated units."""
    found = raw_data(evidence) or poor_weights(evidence) or wrong_rate(evidence)
    text = f"add dropout, or the activation that layer {layer.name} lacks"
    return found or Advice(FaultType.LRM, text, 0.25, layer=layer)


def for_vanishing(evidence: Evidence, layer: LayerView) -> Advice:
    """Gradients that vanish before they reach the first layers."""
    if rate := wrong_rate(evidence):
        return rate
    flat = next(
        (one for one in evidence.weighted[:-1] if one.activation in ("sigmoid", "tanh")),
        None,
    )
    if flat is not None:
        return other_activation(evidence, flat)
    return Advice(
        FaultType.LAD,
        f"take layer {layer.name} away, or add one",
        0.25,
        Kind.LAYER,
        (None,),
        layer,
    )


def poor_weights(evidence: Evidence) -> Advice | None:
    """The first layer whose kernel begins with a variance out of bounds."""
    for layer in evidence.weighted:
        kernel = layer.kernel()
        if kernel is None or not kernel.trainable or math.prod(kernel.shape) < FEWEST_WEIGHTS:
            continue
        variance = kernel.std * kernel.std
        if math.isfinite(variance) and not SMALLEST_VARIANCE <= variance <= LARGEST_VARIANCE:
            wanted = ("glorot_uniform", "xavier_uniform", "he_normal", "kaiming_normal")
            values = among(evidence, Kind.WEIGHT_INIT, wanted, layer)
            text = f"the weights of layer {layer.name} begin with variance {variance:.3g}"
            return Advice(
                FaultType.WCI,
                text,
                0.8,
                Kind.WEIGHT_INIT,
                values,
                layer,
            )
    return None


def broken_data(evidence: Evidence) -> Advice | None:
    """Inputs that hold NaN: everything behind them does."""
    facts = evidence.inputs
    if facts is None or not facts.nan_share > 0:
        return None
    return Advice(
        FaultType.CPP,
        f"{facts.nan_share:.2%} of the input values are NaN",
        0.95,
        Kind.PREPROCESSING,
    )


def raw_data(evidence: Evidence) -> Advice | None:
    """Inputs that are not normalised."""
    facts = evidence.inputs
    if facts is None or inputs_scaled(evidence) is not False:
        return None
    text = f"inputs reach from {facts.minimum:.4g} to {facts.maximum:.4g}: normalise them"
    values = among(evidence, Kind.PREPROCESSING, ("standardize", "scale"))
    return Advice(FaultType.CPP, text, 0.7, Kind.PREPROCESSING, values)


def wrong_rate(evidence: Evidence, until: int | None = None) -> Advice | None:
    """Steps that are too large for a layer, or too small for all."""
    ratios = update_ratios(evidence, until)
    if not ratios:
        return None
    name, largest = max(ratios.items(), key=lambda item: item[1])
    if largest > LARGEST_RATIO:
        side = "lower"
        values = _rates(evidence.learning_rate, 0.1)
    elif largest < SMALLEST_RATIO:
        side = "raise"
        values = _rates(evidence.learning_rate, 10.0)
    else:
        return None
    text = f"a step moves layer {name} by {largest:.3g} of its weights: {side} the learning rate"
    return Advice(FaultType.HLR, text, 0.85, Kind.LEARNING_RATE, values)


def _rates(
    now: float | None,
    factor: float,
) -> tuple[float, ...]:
    """Usual rates on the wanted side of the one in force, or that times the factor."""
    if now is None:
        return RATES
    return tuple(rate for rate in RATES if (rate > now) is (factor > 1) and rate != now) or (
        now * factor,
    )


def bare_output(evidence: Evidence) -> Advice | None:
    """A linear or rectified output under a loss that wants probabilities."""
    wanted = OUTPUTS.get(evidence.wanted_output)
    if (
        wanted is None
        or evidence.output is None
        or evidence.last_activation not in (None, "linear", "relu")
    ):
        return None
    values = among(evidence, Kind.ACTIVATION, (wanted,), evidence.output)
    text = f"{evidence.loss_name} wants a {wanted} at the output"
    return Advice(
        FaultType.ACH,
        text,
        0.8,
        Kind.ACTIVATION,
        values,
        evidence.output,
    )


def wrong_loss(evidence: Evidence) -> Advice | None:
    """A loss for numbers under labels that are classes."""
    classes = evidence.task in (TaskType.BINARY, TaskType.MULTI_CLASS)
    if not classes or evidence.loss_family is not LossFamily.REGRESSION:
        return None
    wanted = (
        "categorical_crossentropy",
        "cross_entropy",
        "CrossEntropyLoss",
        "binary_crossentropy",
    )
    text = f"{evidence.loss_name} is no loss for classes"
    return Advice(
        FaultType.LCH,
        text,
        0.6,
        Kind.LOSS,
        among(evidence, Kind.LOSS, wanted),
    )


def other_activation(evidence: Evidence, layer: LayerView) -> Advice:
    """Another activation at a layer, or at the layer with weights that it bends."""
    host = owner_of(evidence, layer)
    last = OUTPUTS.get(evidence.wanted_output, "linear")
    wanted = (last,) if host.role == "output" else ("relu", "elu", "tanh")
    text = (
        f"another activation may help at layer {host.name}, which has {host.activation or 'none'}"
    )
    return Advice(
        FaultType.ACH,
        text,
        0.4,
        Kind.ACTIVATION,
        among(evidence, Kind.ACTIVATION, wanted, host),
        host,
    )


def other_optimizer(evidence: Evidence) -> Advice:
    values = among(evidence, Kind.OPTIMIZER, ("adam", "rmsprop", "sgd"))
    return Advice(
        FaultType.OCH,
        "another optimiser may help",
        0.3,
        Kind.OPTIMIZER,
        values,
    )
