"""DD001 labels-out-of-output-range

What
    Labels lie where the activation of the last layer cannot reach: outside 0..1 for a sigmoid, outside
    -1..1 for a tanh, below 0 for a ReLU, below -1 for an ELU, below -0.28 for a SiLU. Or the loss
    compares probabilities of classes, and the output is linear or rectified.
Why
    A prediction that cannot reach its target leaves a loss that no training removes.
Symptom
    The loss falls for a while and then stays well above zero.
Example
    import keras
    from reenact.testing.toys import curve

    x, y = curve()
    model = keras.Sequential([
        keras.layers.Dense(16, activation="relu"),
        keras.layers.Dense(1, activation="sigmoid"),
    ])
    model.compile(keras.optimizers.Adam(0.01), "mean_squared_error")
    model.fit(x, y, epochs=10, validation_split=0.2)
Instead
    -     keras.layers.Dense(1, activation="sigmoid"),
    +     keras.layers.Dense(1),
Fix safety
    Unsafe: whatever the tree suggests makes another training.
Sources
    {paper}. Symptom "out of range". The release knows a softmax only as a layer of its own, so it fires on
    every Dense layer with activation="softmax", and always advises a softmax; here the loss decides what is
    wanted. Its test of the spread of a linear output is left out: such an output can reach any label.
"""

import math

from reenact.rules import Evidence, Fault, Findings, Kind, Needs, Rule
from reenact.rules.deepdiagnosis._advice import bare_output, report
from reenact.rules.finding import Certainty, Severity
from reenact.rules.losses import LossFamily, Wanted
from reenact.rules.measured import among, softmax_of_classes

LOW = {"relu": 0, "softplus": 0, "elu": -1, "silu": -0.2785, "swish": -0.2785, "gelu": -0.17, "mish": -0.3089}
RANGES = {"sigmoid": (0.0, 1.0), "softmax": (0.0, 1.0), "tanh": (-1.0, 1.0)}
RANGES |= {name: (low, math.inf) for name, low in LOW.items()}
NEARLY = 1e-3


class LabelsOutOfOutputRange(Rule):
    code, name, family, fault = "DD001", "labels-out-of-output-range", "deepdiagnosis", None
    needs, severity, confidence, certainty = Needs.GRAPH, Severity.ERROR, 0.85, Certainty.STRONG
    why = "A prediction that cannot reach its target leaves a loss that no training removes."

    def check(self, evidence: Evidence) -> Findings:
        advice = bare_output(evidence)
        if evidence.loss_family is LossFamily.CATEGORICAL:
            if advice is not None:
                yield report(self, evidence, "output is not a distribution over classes", advice)
            return
        bounds, labels, output = RANGES.get(evidence.last_activation or ""), evidence.labels, evidence.output
        if bounds is None or labels is None or output is None or evidence.wanted_output is Wanted.LOGITS:
            return
        if labels.minimum is None or labels.maximum is None or evidence.loss_family is LossFamily.OTHER:
            return
        if softmax_of_classes(evidence):
            return
        reached = labels.minimum >= bounds[0] - NEARLY and labels.maximum <= bounds[1] + NEARLY
        if reached or evidence.compares_wider:
            return
        gives = f"{evidence.last_activation}, which gives {bounds[0]:g} to {bounds[1]:g}"
        saw = f"labels from {labels.minimum:.4g} to {labels.maximum:.4g} under a {gives}"
        if evidence.loss_family is LossFamily.BINARY:
            yield self.finding(evidence, saw, kind=Kind.PREPROCESSING, fault=Fault.CPP)
            return
        kind, values = Kind.ACTIVATION, among(evidence, Kind.ACTIVATION, ("linear",), output)
        yield self.finding(evidence, saw, layer=output, kind=kind, values=values, fault=Fault.ACH)
