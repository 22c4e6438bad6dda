"""DA01 inputs-not-scaled

What
    The model is given raw numbers: pixels of 0..255, or features whose mean or spread is above ten.
Why
    Initialisers and learning rates are made for inputs of about unit size. Large inputs make large
    gradients in the first layer and none behind a saturated or dead one.
Symptom
    The first losses are huge, units die or saturate in the first steps, and the accuracy is that of
    guessing.
Example
    import torch
    from torch import nn
    from reenact.testing.toys import images

    x, y = map(torch.from_numpy, images())
    x = 255 * x
    model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(144, 3))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(30):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
Instead
      x = 255 * x
    + x = x / 255
Fix safety
    Unsafe: the same scaling must be applied wherever the model is used.
Sources
    LeCun et al., "Efficient BackProp", 1998, section 4.3; Humbatova et al., ICSE 2020 (missing
    preprocessing).
"""

import ast
from collections.abc import Iterator
from itertools import takewhile

from reenact.faults import (
    Category,
    Certainty,
    Detector,
    Evidence,
    Fault,
    FaultType,
    Findings,
    Kind,
    Needs,
    Observes,
    Severity,
    TensorFacts,
)
from reenact.faults.facts.imbalances import imbalances
from reenact.faults.facts.input_values import (
    SCALING_LAYERS,
    reads_symbols,
    scales_itself,
    training_inputs,
)
from reenact.faults.facts.measured import among, inputs_scaled, output_rows
from reenact.faults.facts.places import at_hyperparameter, named_hyperparameter
from reenact.faults.facts.series import learned
from reenact.program.flow.constants import constant_of
from reenact.program.flow.uses import value_of
from reenact.program.syntax.excerpt import excerpt
from reenact.program.syntax.lines import nodes
from reenact.program.syntax.pieces import (
    is_call,
    is_constant,
    keyword,
    owner_of,
    place_of,
)
from reenact.program.training.rows.origins import inputs_made_at

LARGE = 10.0
SCALERS = (
    "MaxAbsScaler",
    "MinMaxScaler",
    "Normalizer",
    "PowerTransformer",
    "QuantileTransformer",
    "RobustScaler",
    "StandardScaler",
)
FAR = 10.0
LARGEST_OUTPUT = 10.0
SURE = 0.95
FAULT = Fault(
    code="DA01",
    name="inputs-not-scaled",
    category=Category.DATA,
    page=__doc__,
)


@FAULT.detector(
    "RE005",
    "inputs-unscaled",
    "reenact",
    needs=Needs.GRAPH,
    observes=Observes.DATA,
    why="Initialisers and learning rates are made for inputs of about unit size.",
    study=FaultType.CPP,
)
def inputs_unscaled(detector: Detector, evidence: Evidence) -> Findings:
    """The model is given raw numbers: pixels of 0..255, or features whose mean or spread is above
    ten.

    LeCun et al., "Efficient BackProp", 1998, section 4.3; Humbatova et al., ICSE 2020 (missing
    preprocessing).
    """
    for call in _dropped(evidence):
        saw = f"what {excerpt(call)} gives is not kept: the inputs stay as they were"
        place = place_of(call)
        yield detector.finding(
            evidence,
            saw,
            place=place,
            confidence=0.95,
            certainty=Certainty.PROOF,
        )
        return
    inputs = evidence.inputs
    if inputs is None or inputs.mean is None or inputs.std is None or inputs.maximum is None:
        return
    low = inputs.minimum or 0.0
    if evidence.optimizers > 1 or not far_from_unit_size(evidence):
        return
    picture = low >= 0 and 100 < inputs.maximum <= 255 and len(inputs.shape) > 2
    sure = 0.85 if picture or max(abs(inputs.mean), inputs.std) > 5 * LARGE else 0.7
    saw = (
        f"inputs {low:.3g} to {inputs.maximum:.3g}, mean {inputs.mean:.3g}, deviation "
        f"{inputs.std:.3g}"
    )
    certain = Certainty.STRONG if sure > 0.8 and not learned(evidence) else None
    sure = 0.5 * sure if learned(evidence) else sure
    finding = detector.finding(evidence, saw, confidence=sure, certainty=certain)
    values = ("scale", "standardize") if picture else ("standardize", "scale")
    param = named_hyperparameter(evidence, Kind.PREPROCESSING, "scale")
    finding = at_hyperparameter(finding, param, values)
    made = inputs_made_at(evidence.files)
    passes = evidence.happened("training-pass")
    if made is None and evidence.framework == "torch" and (param is None or param.absent):
        made = passes[0].place if passes else None
    yield finding.refined(place=made) if made is not None else finding


@FAULT.detector(
    "UM001",
    "input-not-normalised",
    "umlaut",
    needs=Needs.GRAPH,
    observes=Observes.DATA,
    why="Initial weights suit inputs of zero mean and unit variance: scale them.",
    study=FaultType.CPP,
)
def input_not_normalised(detector: Detector, evidence: Evidence) -> Findings:
    """Inputs reach beyond -1 to 1 and are not standardised either.

    {paper}. The release complains of every value beyond -1 to 1, also of data scaled to mean 0 and
    deviation 1; that is fine here, and so are inputs that an embedding looks up or that the model
    scales itself.
    """
    if evidence.optimizers > 1 or reads_symbols(evidence) or scales_itself(evidence):
        return
    for facts in training_inputs(evidence):
        saw = _unscaled(facts)
        if saw:
            kind = Kind.PREPROCESSING
            values = ("standardize", "scale")
            # A range of a few units seldom hurts.
            sure = 0.75 if max(abs(facts.mean or 0.0), facts.std or 0.0) >= FAR else 0.4
            yield detector.finding(
                evidence,
                saw,
                kind=kind,
                values=values,
                confidence=sure,
            )
            return


@FAULT.detector(
    "AT008",
    "abnormal-data",
    "autotrainer",
    needs=Needs.GRAPH | Needs.TRACE,
    observes=Observes.LOSSES,
    why="Inputs far from one make activations saturate and steps overshoot.",
    study=FaultType.CPP,
    severity=Severity.ERROR,
    confidence=0.75,
)
def abnormal_data(detector: Detector, evidence: Evidence) -> Findings:
    """The inputs are not scaled, and the first layer with weights gives numbers of ten or more on
    average; or the inputs hold NaN.

    The extension of AutoTrainer (Zhang, Zhai, Ma and Shen, ICSE 2021) in its released monitor. It
    judges any hidden output of ten or more; here the inputs must be the reason. Inputs count as
    scaled in -1..1, with a mean near zero and a deviation near one, or behind a layer that scales
    them.
    """
    facts = evidence.inputs
    first = next(iter(evidence.weighted), None)
    if facts is None or first is None:
        return
    values = among(evidence, Kind.PREPROCESSING, ("standardize", "scale"))
    if facts.nan_share > 0:
        saw = f"{facts.nan_share:.2%} of the input values are NaN"
        yield detector.finding(
            evidence,
            saw,
            kind=Kind.PREPROCESSING,
            confidence=SURE,
        )
        return
    sizes = output_rows(evidence, first)["mean_abs"]
    if inputs_scaled(evidence) is False and len(sizes) and sizes[0] >= LARGEST_OUTPUT:
        saw = f"inputs from {facts.minimum:.4g} to {facts.maximum:.4g}"
        saw += f", output of layer {first.name} {sizes[0]:.4g} on average"
        yield detector.finding(
            evidence,
            saw,
            kind=Kind.PREPROCESSING,
            values=values,
            place=inputs_made_at(evidence.files),
        )


@FAULT.detector(
    "RE115",
    "noise-lost-in-its-inputs",
    "reenact",
    needs=Needs.ACCOUNTS,
    observes=Observes.DATA,
    why="What is to be found is too small beside what hides it.",
    severity=Severity.ERROR,
    certainty=Certainty.STRONG,
    is_root_cause=True,
)
def noise_lost_in_its_inputs(detector: Detector, evidence: Evidence) -> Findings:
    """Inputs are so much larger than the noise that was added to them that they say nothing about it.

    Ho, Jain and Abbeel, "Denoising Diffusion Probabilistic Models", NeurIPS 2020 (data scaled to
    [-1, 1]).
    """
    yield from imbalances(detector, evidence)


def _dropped(evidence: Evidence) -> Iterator[ast.expr]:
    """Where a scaler of scikit-learn is asked for scaled rows and nobody takes them; it scales
    nothing in place unless it was made to.
    """
    for node in nodes(evidence.files, ast.Expr):
        owner = owner_of(node.value)
        made = value_of(owner) if owner is not None else None
        kept = not is_call(node.value, "fit_transform", "transform")
        if kept or not is_call(made, *SCALERS):
            continue
        if not is_constant(constant_of(keyword(made, "copy")), False):
            yield node.value


def far_from_unit_size(evidence: Evidence) -> bool:
    """Whether inputs that are quantities reach the first weights far from unit size."""
    inputs = evidence.inputs
    if inputs is None or inputs.mean is None or inputs.std is None:
        return False
    large = abs(inputs.mean) > LARGE or inputs.std > LARGE
    # Whether the model scales its inputs itself.
    ahead = takewhile(
        lambda layer: not layer.weighted or layer.type in SCALING_LAYERS,
        evidence.layers,
    )
    scaled = any(layer.type in SCALING_LAYERS for layer in ahead)
    return large and not scaled and not reads_symbols(evidence)


def _unscaled(facts: TensorFacts) -> str:
    low = facts.minimum
    high = facts.maximum
    mean = facts.mean
    std = facts.std
    if low is None or high is None or mean is None or std is None or (low >= -1 and high <= 1):
        return ""
    if abs(mean) <= 1 and std <= 2:
        return ""
    return f"inputs from {low:g} to {high:g}, mean {mean:.3g}, deviation {std:.3g}"
