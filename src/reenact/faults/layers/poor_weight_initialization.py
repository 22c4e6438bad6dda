"""LY05 poor-weight-initialization

What
    Weights that start all equal, or many times larger or smaller than the size of the layer asks for.
Why
    Equal weights get equal gradients and stay equal: a layer of one unit. Too large weights saturate or
    explode, too small ones let the signal vanish on its way.
Symptom
    No progress from the first step on, a first loss far above that of guessing, or gradients that shrink
    from layer to layer.
Example
    import torch
    from torch import nn
    from reenact.testing.toys import blobs

    x, y = map(torch.from_numpy, blobs())
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
    nn.init.constant_(model[0].weight, 0.5)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(30):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
Instead
    - nn.init.constant_(model[0].weight, 0.5)
Fix safety
    Unsafe: another start is another training.
Sources
    Glorot and Bengio, AISTATS 2010; He et al., "Delving Deep into Rectifiers", ICCV 2015; Schoenholz et
    al., "Deep Information Propagation", ICLR 2017.
"""

import math
import statistics
from collections.abc import Iterable, Iterator

from reenact.faults import (
    Category,
    Certainty,
    Detector,
    Evidence,
    Fault,
    FaultType,
    Findings,
    JsonValue,
    Kind,
    LayerView,
    Needs,
    Observes,
    Severity,
    Status,
)
from reenact.faults.facts.measured import zero_start
from reenact.faults.facts.model import times_usual
from reenact.faults.facts.places import at_all_layers, at_hyperparameter, of_all_layers, raw_inputs
from reenact.faults.facts.series import finite, guessing, learned, losses
from reenact.program.syntax.lines import calls, first_place
from reenact.program.syntax.pieces import calls_in

FAR = 3.0
TINY = 0.1
LARGE_BIAS = 0.5
EXPLODES = 100.0
"""Deviation of an output in the first pass that no model with inputs of unit size begins with."""
CONSTANT = frozenset({"zeros", "ones", "constant", "zero", "one"})
KERAS_STARTS = ("glorot_uniform", "he_uniform")
TORCH_STARTS = ("kaiming_uniform_", "xavier_uniform_")
LOW, HIGH = 0.3, 2.0
"""The lower bound is that of half a unit after relu has cut the signal."""
FAULT = Fault(
    code="LY05",
    name="poor-weight-initialization",
    category=Category.LAYERS,
    page=__doc__,
)


@FAULT.detector(
    "RE024",
    "poor-initialisation",
    "reenact",
    needs=Needs.GRAPH,
    observes=Observes.WEIGHTS,
    why=(
        "Equal weights stay equal; too large ones saturate and too small ones let the signal "
        "vanish."
    ),
    study=FaultType.WCI,
    severity=Severity.ERROR,
    confidence=0.8,
)
def poor_initialisation(detector: Detector, evidence: Evidence) -> Findings:
    """Weights that start all equal, or many times larger or smaller than the size of the layer asks
    for.

    Glorot and Bengio, AISTATS 2010; He et al., "Delving Deep into Rectifiers", ICCV 2015;
    Schoenholz et al., "Deep Information Propagation", ICLR 2017.
    """
    known = finite(losses(evidence)[:1])
    guess = guessing(evidence)
    # Well-made weights begin near the loss of guessing.
    badly = bool(known) and guess is not None and known[0] > FAR * guess
    doubt = 0.5 if learned(evidence) and not badly else 1.0
    yield from _together(detector, evidence, _starts(detector, evidence, doubt))
    for layer in evidence.weighted:
        bias = layer.bias()
        if layer.kernel() is None or layer.family in ("embedding", "recurrent"):
            continue
        if (
            bias is not None
            and bias.std == 0
            and abs(bias.mean) >= LARGE_BIAS
            and layer.role == "hidden"
        ):
            zeros = ("zeros",) if evidence.framework == "keras" else ("zeros_",)
            saw = f"all biases start at {bias.mean:g}"
            kind = Kind.BIAS_INIT
            sure = (0.8 if abs(bias.mean) > 5 else 0.5) * doubt
            finding = detector.finding(
                evidence,
                saw,
                layer=layer,
                kind=kind,
                values=zeros,
                study=FaultType.BCI,
                confidence=sure,
            )
            yield at_all_layers(evidence, finding, kind, zeros)
    drawn = _drawn_too_wide(evidence)
    if drawn:
        saw = (
            f"{drawn[0]} and {len(drawn) - 1} more begin so wide that outputs grow from layer to "
            f"layer"
        )
        made = list(calls(evidence.files, "Parameter"))
        plain = [call for call in made if any(calls_in(one, "randn") for one in call.args[:1])]
        yield detector.finding(
            evidence,
            saw,
            place=first_place(plain or made),
        )


@FAULT.detector(
    "NL004",
    "constant-weight-init",
    "neuralint",
    needs=Needs.SOURCE,
    observes=Observes.TEXT,
    why="Units that start equal stay equal, so the layer learns a single feature.",
    study=FaultType.WCI,
    severity=Severity.ERROR,
    confidence=0.9,
    certainty=Certainty.STRONG,
)
def constant_weight_init(detector: Detector, evidence: Evidence) -> Findings:
    """All weights of a layer start with one and the same value.

    {paper}, f004 of the release. The output layer may start at zero without harm as long as the
    layers before it do not, hence the lower confidence there.
    """
    values = KERAS_STARTS if evidence.framework == "keras" else TORCH_STARTS
    for layer in evidence.weighted:
        saw = _constant(evidence, layer)
        kernel = layer.kernel()
        zeros = kernel is not None and kernel.minimum == kernel.maximum == 0
        sure = 0.45 if layer.role == "output" else detector.confidence
        sure *= zero_start(evidence, layer) if zeros else 1.0
        if saw and sure:
            kind = Kind.WEIGHT_INIT
            yield detector.finding(
                evidence,
                saw,
                layer=layer,
                kind=kind,
                values=values,
                confidence=sure,
            )


@FAULT.detector(
    "TC008",
    "activations-out-of-scale",
    "deepchecker",
    needs=Needs.TRACE,
    observes=Observes.OUTPUTS,
    why="Signals that grow or shrink from layer to layer saturate or vanish.",
    severity=Severity.NOTE,
    status=Status.PREVIEW,
    confidence=0.15,
)
def activations_out_of_scale(detector: Detector, evidence: Evidence) -> Findings:
    """The outputs of a hidden activation have a deviation outside 0.5 to 2.

    {paper}, scale of activations, bounds 0.5 and 2. The paper tests variances; here the median over
    the run is compared.
    """
    for layer in evidence.layers:
        if (
            not layer.own_activation
            or layer.role == "output"
            or layer is evidence.output_activation
        ):
            continue
        spreads = finite(list(evidence.watched.layer(layer.name, "std").values))
        middle = statistics.median(spreads) if spreads else 1.0
        if not LOW <= middle <= HIGH:
            saw = f"the outputs of {layer.name} have deviation {middle:.3g}"
            yield detector.finding(evidence, saw, layer=layer)


def _drawn_too_wide(evidence: Evidence) -> list[str]:
    """Matrices that a program's own layers draw far too wide, where the first pass shows what comes
    of it; an embedding or a token is drawn as wide, and does no harm.
    """
    trace = evidence.trace
    if trace is None or not trace.step_count:
        return []
    firsts = [trace.layer(name, "std").values[:1] for name in trace.layer_names]
    largest = max((float(first[0]) for first in firsts if len(first)), default=0.0)
    known = {weight.path or weight.name for layer in evidence.weighted for weight in layer.weights}
    found = []
    for facts in trace.parameter_facts:
        start = trace.parameter(facts.name, "weight_std").values[:1]
        own = len(facts.shape) == 2 and min(facts.shape) > 1 and facts.name not in known
        if own and len(start) and float(start[0]) > FAR * math.sqrt(2 / min(facts.shape)):
            found.append(facts.name)
    if largest > EXPLODES and len(found) > 1 and not raw_inputs(evidence):
        return found
    return []


def _usual(layer: LayerView, library: str) -> tuple[JsonValue, ...]:
    relu = layer.activation in ("relu", "leaky_relu", "elu", "gelu", "silu")
    if library == "keras":
        if relu:
            return ("he_normal", "glorot_uniform")
        return ("glorot_uniform", "he_normal")
    if relu:
        return ("kaiming_uniform_", "xavier_uniform_")
    return ("xavier_uniform_", "kaiming_uniform_")


def _starts(
    detector: Detector, evidence: Evidence, doubt: float
) -> Iterator[tuple[LayerView, str, float]]:
    """Layers whose weights start in an unusual way, what is unusual, and how sure it is a fault."""
    for layer in evidence.weighted:
        kernel = layer.kernel()
        if kernel is None or layer.family in ("embedding", "recurrent"):
            continue
        times = times_usual(layer, evidence.framework)
        if kernel.std == 0 and len(kernel.shape) > 1 and max(kernel.shape) > 1:
            harm = zero_start(evidence, layer) if kernel.mean == 0 else 1.0
            if harm:
                yield layer, f"all weights start at {kernel.mean:g}", 0.97 * harm
        elif times is not None and times > FAR:
            saw = f"weights start with deviation {kernel.std:.3g}, {times:.1f} times the usual"
            yield layer, saw, detector.confidence * doubt
        elif times is not None and times < TINY:
            saw = f"weights start with deviation {kernel.std:.3g}, 1/{1 / times:.0f} of the usual"
            # On purpose at heads of policies and residual branches.
            yield layer, saw, 0.5 * doubt


def _together(
    detector: Detector,
    evidence: Evidence,
    starts: Iterable[tuple[LayerView, str, float]],
) -> Findings:
    """One finding for all layers that one line of the text gives their start."""
    of_all = of_all_layers(evidence, Kind.WEIGHT_INIT)
    found = list(starts)
    if len(found) > 1 and of_all is not None:
        layer, saw, sure = max(found, key=lambda start: start[2])
        saw = f"{saw}, in layer {layer.name} and {len(found) - 1} more"
        finding = detector.finding(evidence, saw, confidence=sure)
        yield at_hyperparameter(
            finding,
            of_all,
            _usual(layer, evidence.framework),
        )
        return
    for layer, saw, sure in found:
        kind = Kind.WEIGHT_INIT
        values = _usual(layer, evidence.framework)
        yield detector.finding(
            evidence,
            saw,
            layer=layer,
            kind=kind,
            values=values,
            confidence=sure,
        )


def _constant(evidence: Evidence, layer: LayerView) -> str:
    kernel = layer.kernel()
    if kernel is not None:
        same = kernel.minimum == kernel.maximum and not all(size <= 1 for size in kernel.shape)
        if same:
            return f"all weights of {layer.name} start at {kernel.minimum:g}"
        return ""
    param = evidence.hyperparameter(Kind.WEIGHT_INIT, layer)
    word = str(param.in_force).rpartition(".")[2].lower().strip("_") if param is not None else ""
    if param is not None and word in CONSTANT:
        return f"{layer.name} starts with {param.in_force}"
    return ""
