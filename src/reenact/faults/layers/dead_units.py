"""LY01 dead-units

What
    Nearly all units of a layer give zero for every row.
Why
    The gradient of a unit that gives zero is zero: it never comes back. A layer of such units lets
    nothing through, and all layers before it stop learning.
Symptom
    The loss stays where guessing would be; gradients of the first layers are exactly zero.
Example
    import keras
    from reenact.testing.toys import blobs

    x, y = blobs(spread=2.0)
    model = keras.Sequential([
        keras.layers.Dense(16, activation="relu", kernel_initializer="zeros"),
        keras.layers.Dense(3, activation="softmax"),
    ])
    model.compile(keras.optimizers.Adam(0.01), "sparse_categorical_crossentropy", metrics=["accuracy"])
    model.fit(x, y, epochs=10, validation_split=0.2)
Instead
    -     keras.layers.Dense(16, activation="relu", kernel_initializer="zeros"),
    +     keras.layers.Dense(16, activation="relu"),
Fix safety
    Unsafe: another start, activation or learning rate is another training.
Sources
    Lu et al., "Dying ReLU and Initialization", 2020; SageMaker Debugger (DeadRelu).
"""

import math
import statistics

from reenact.faults import (
    Category,
    Detector,
    Evidence,
    Fault,
    FaultType,
    Finding,
    Findings,
    JsonValue,
    Kind,
    LayerView,
    Needs,
    Observes,
    Severity,
)
from reenact.faults.facts.advice import for_idle_units, report
from reenact.faults.facts.measured import (
    behind_weights,
    epoch_ends,
    first_found,
    inputs_scaled,
    largest_step,
    output_rows,
    zero,
)
from reenact.faults.facts.model import owner_of
from reenact.faults.facts.places import at_all_layers, at_named, raw_inputs, usual_rates
from reenact.faults.facts.progress import everywhere, gradient_trouble, zero_gradients
from reenact.faults.facts.series import finite
from reenact.program.flow.library_names import last_name

MOST = 0.95
MANY = 0.8
LARGEST_STEP = 0.1
UNSURE = 0.3
"""Where raw inputs or large steps are the likelier killers."""
BIASES = ("bias", "in_proj_bias")
FEWEST = 16
"""Smaller tensors are all of one sign by chance."""
DEAD = 0.7
HINT = 0.2
FAULT = Fault(
    code="LY01",
    name="dead-units",
    category=Category.LAYERS,
    page=__doc__,
)


@FAULT.detector(
    "RE022",
    "dead-layer",
    "reenact",
    needs=Needs.TRACE,
    observes=Observes.OUTPUTS,
    why="Units that give zero get no gradient and never come back.",
    study=FaultType.WCI,
    severity=Severity.ERROR,
)
def dead_layer(detector: Detector, evidence: Evidence) -> Findings:
    """Nearly all units of a layer give zero for every row.

    Lu et al., "Dying ReLU and Initialization", 2020; SageMaker Debugger (DeadRelu).
    """
    for layer in evidence.layers:
        shares = finite(list(evidence.watched.layer(layer.name, "dead_unit_share").values))
        if len(shares) < 3 or layer.role == "output" or layer.family == "norm":
            continue
        late = statistics.median(shares[-max(1, len(shares) // 3) :])
        if late >= MANY:
            yield _dead(
                detector,
                evidence,
                layer,
                late,
                from_start=shares[0] >= MANY,
            )
            return


@FAULT.detector(
    "AT003",
    "dying-relu",
    "autotrainer",
    needs=Needs.TRACE,
    observes=Observes.GRADIENTS,
    why="A ReLU that is never positive passes no gradient.",
    study=FaultType.ACH,
    severity=Severity.ERROR,
    confidence=0.45,
)
def dying_relu(detector: Detector, evidence: Evidence) -> Findings:
    """The gradient is exactly zero for at least 70 percent of all weights of a network with ReLUs,
    while no epoch reached an accuracy of 0.6. For a regression the share of the first loss that is
    gone stands for the accuracy.

    {paper}. Embeddings do not count: most of their gradient is zero by nature. The first repairs
    are another activation in all hidden layers, then normalisation and initial values.
    """
    share = zero_gradients(evidence)
    if share is None or gradient_trouble(evidence) != "dying":
        return
    saw = f"gradient exactly zero for {share:.0%} of the weights"
    layer = next(layer for layer in evidence.weighted if layer.activation == "relu")
    kind = Kind.ACTIVATION
    cures = everywhere(evidence, "selu", "leaky_relu", "elu")
    pushed = largest_step(evidence) > LARGEST_STEP
    sure = UNSURE if pushed or inputs_scaled(evidence) is False else detector.confidence
    yield detector.finding(
        evidence,
        saw,
        layer=layer,
        kind=kind,
        suggestions=cures,
        confidence=sure,
    )


@FAULT.detector(
    "TC009",
    "weights-dead",
    "deepchecker",
    needs=Needs.TRACE,
    observes=Observes.WEIGHTS,
    why="A layer of zeros passes nothing on, and negative weights leave every relu at zero.",
    study=FaultType.WCI,
)
def weights_dead(detector: Detector, evidence: Evidence) -> Findings:
    """Nearly all weights of a layer are zero, or nearly all are negative.

    {paper}, dead and negative weights, shares above 95 %.
    """
    for number, facts in enumerate(evidence.watched.parameter_facts):
        rows = evidence.watched.parameters.where(parameter=number)
        # The biases of an attention have two axes, and that of its keys never gets a gradient.
        is_bias = last_name(facts.name.replace("/", ".")) in BIASES or len(facts.shape) < 2
        if is_bias or math.prod(facts.shape) < FEWEST or len(rows) < 3:
            continue
        for what, word in (("tiny", "zero"), ("negative", "negative")):
            shares = finite(list(rows[f"weight_{what}_share"]))
            if shares and shares[-1] > MOST:
                saw = f"{shares[-1]:.0%} of {facts.name} is {word}"
                yield detector.finding(evidence, saw, kind=Kind.WEIGHT_INIT)
                break


@FAULT.detector(
    "DD003",
    "dead-node",
    "deepdiagnosis",
    needs=Needs.TRACE,
    observes=Observes.OUTPUTS,
    why="A unit that is never positive has no gradient.",
    confidence=0.8,
)
def dead_node(detector: Detector, evidence: Evidence) -> Findings:
    """At the end of training at least 70 percent of the outputs of a ReLU are zero or below.

    {paper}. Symptom "dead node". Many healthy networks are that sparse: only where whole units are
    silent for the whole batch is the finding more than a hint.
    """
    for layer in evidence.layers:
        rows = epoch_ends(evidence, output_rows(evidence, layer))
        if not len(rows):
            continue
        units = rows["dead_unit_share"][-1]
        share = rows["nonpositive_share"][-1] if layer.own_activation == "relu" else units
        if share >= DEAD:
            saw = f"{float(share):.0%} of the outputs of layer {layer.name} are not positive"
            found = report(
                detector,
                evidence,
                saw,
                for_idle_units(evidence, owner_of(evidence, layer)),
            )
            yield (
                found
                if units >= DEAD
                else found.refined(
                    confidence=min(found.confidence, HINT),
                )
            )
            return


@FAULT.detector(
    "DL002",
    "zero-layer-output",
    "deeplocalize",
    needs=Needs.TRACE,
    observes=Observes.OUTPUTS,
    why="A layer of zeros passes on neither data nor gradient.",
    severity=Severity.ERROR,
    confidence=0.85,
)
def zero_layer_output(detector: Detector, evidence: Evidence) -> Findings:
    """A layer gives nothing but zeros in at least half of the steps looked at, five or more. The
    tool looks at every batch, this rule at every sampled step.

    {paper}. Second symptom. The release calls a mean of exactly zero a zero tensor; here the mean
    of the absolute values counts, so that a centred tensor is none.
    """
    symptom = ("output all zero", detector.confidence, zero(output_rows, "mean_abs"))
    yield from first_found(detector, evidence, behind_weights(evidence), symptom)


def _dead(
    detector: Detector,
    evidence: Evidence,
    layer: LayerView,
    late: float,
    *,
    from_start: bool,
) -> Finding:
    when = "from the start" if from_start else "in the end"
    saw = f"{late:.0%} of the units give zero for every row, {when}"
    sure = 0.9 if late >= MOST else 0.55
    owner = owner_of(evidence, layer)
    kernel = owner.kernel()
    if raw_inputs(evidence) and (kernel is None or kernel.std != 0):
        finding = detector.finding(
            evidence,
            saw,
            layer=owner,
            study=FaultType.CPP,
            confidence=sure,
        )
        return at_named(
            evidence,
            finding,
            Kind.PREPROCESSING,
            "scale",
            ("standardize", "scale"),
        )
    keras = evidence.framework == "keras"
    bias = owner.bias()
    kind = Kind.WEIGHT_INIT
    fault = FaultType.WCI
    values: tuple[JsonValue, ...] = ("he_normal" if keras else "kaiming_normal_",)
    if not from_start:
        kind = Kind.LEARNING_RATE
        fault = FaultType.HLR
        values = usual_rates(evidence)
    elif bias is not None and bias.mean < -1:
        kind = Kind.BIAS_INIT
        fault = FaultType.BCI
        values = ("zeros" if keras else "zeros_",)
    finding = detector.finding(
        evidence,
        saw,
        layer=owner,
        kind=kind,
        values=values,
        study=fault,
        confidence=sure if from_start else 0.8 * sure,
    )
    if from_start:
        return at_all_layers(evidence, finding, kind, values)
    return finding
