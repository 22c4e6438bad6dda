"""RE005 inputs-unscaled

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
import re
from dataclasses import replace
from itertools import takewhile

from reenact.rules import Certainty, Evidence, Fault, Findings, Kind, Needs, Rule
from reenact.rules.own._label_place import inputs_made_at
from reenact.rules.own._lines import nodes, place_in, value_of
from reenact.rules.own._parts import Found, called, is_call, owner_of
from reenact.rules.own._places import at_hyperparameter, framework, named_hyperparameter
from reenact.rules.own._series import learned
from reenact.rules.umlaut._data import reads_symbols

LARGE = 10.0
SCALERS = re.compile(r"^(?:\w+Scaler|Normalizer|PowerTransformer|QuantileTransformer)$")
SCALING = ("Rescaling", "Normalization", "BatchNorm", "BatchNormalization", "LayerNorm", "InstanceNorm")


class InputsUnscaled(Rule):
    code, name, family, fault = "RE005", "inputs-unscaled", "reenact", Fault.CPP
    needs = Needs.GRAPH
    why = "Initialisers and learning rates are made for inputs of about unit size."

    def check(self, evidence: Evidence) -> Findings:
        for place, words in _dropped(evidence):
            saw = f"what {words} gives is not kept: the inputs stay as they were"
            yield self.finding(evidence, saw, place=place, confidence=0.95, certainty=Certainty.PROOF)
            return
        inputs = evidence.inputs
        if inputs is None or inputs.mean is None or inputs.std is None or inputs.maximum is None:
            return
        low = inputs.minimum or 0.0
        if evidence.optimizers > 1 or not far_from_unit_size(evidence):
            return
        picture = low >= 0 and 100 < inputs.maximum <= 255 and len(inputs.shape) > 2
        sure = 0.85 if picture or max(abs(inputs.mean), inputs.std) > 5 * LARGE else 0.7
        saw = f"inputs {low:.3g} to {inputs.maximum:.3g}, mean {inputs.mean:.3g}, deviation {inputs.std:.3g}"
        certain = Certainty.STRONG if sure > 0.8 and not learned(evidence) else None
        sure = 0.5 * sure if learned(evidence) else sure
        finding = self.finding(evidence, saw, confidence=sure, certainty=certain)
        values = ("scale", "standardize") if picture else ("standardize", "scale")
        param = named_hyperparameter(evidence, Kind.PREPROCESSING, "scale")
        finding = at_hyperparameter(finding, param, values)
        made = inputs_made_at(evidence)
        passes = evidence.happened("training-pass")
        if made is None and framework(evidence) == "torch" and (param is None or param.absent):
            made = passes[0].place if passes else None
        yield replace(finding, place=made) if made is not None else finding


def _dropped(evidence: Evidence) -> Found:
    """Where a scaler of scikit-learn is asked for scaled rows and nobody takes them; it scales nothing in
    place unless it was made to."""
    for index, node in nodes(evidence, ast.Expr):
        call = node.value
        if is_call(call, "fit_transform", "transform"):
            owner = owner_of(call)
            made = value_of(index, owner) if owner is not None else None
            if SCALERS.search(called(made)) and "copy=False" not in ast.unparse(made or call):
                yield place_in(index, call), ast.unparse(call)


def far_from_unit_size(evidence: Evidence) -> bool:
    """Whether inputs that are quantities reach the first weights far from unit size."""
    inputs = evidence.inputs
    if inputs is None or inputs.mean is None or inputs.std is None:
        return False
    large = abs(inputs.mean) > LARGE or inputs.std > LARGE
    # Whether the model scales its inputs itself.
    ahead = takewhile(lambda layer: not layer.weighted or layer.type.startswith(SCALING), evidence.layers)
    scaled = any(layer.type.startswith(SCALING) for layer in ahead)
    return large and not scaled and not reads_symbols(evidence)
