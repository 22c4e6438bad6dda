"""NL004 constant-weight-init

What
    All weights of a layer start with one and the same value.
Why
    Units that start equal get equal gradients and stay equal: a layer of a hundred units has the power of
    one. With zeros nothing flows back at all.
Symptom
    The loss stays near that of guessing; rows of a weight matrix remain identical.
Example
    import keras

    model = keras.Sequential([
        keras.layers.Input((8,)),
        keras.layers.Dense(16, activation="relu", kernel_initializer="ones"),
        keras.layers.Dense(3, activation="softmax"),
    ])
Instead
    -     keras.layers.Dense(16, activation="relu", kernel_initializer="ones"),
    +     keras.layers.Dense(16, activation="relu", kernel_initializer="he_normal"),
Fix safety
    Unsafe: the network becomes another one and must be trained again.
Sources
    {paper}, f004 of the release. The output layer may start at zero without harm as long as the layers before
    it do not, hence the lower confidence there.
"""

from reenact.rules import Certainty, Evidence, Fault, Findings, Kind, LayerView, Needs, Rule, Severity
from reenact.rules.measured import zero_start
from reenact.rules.neuralint._layers import is_keras

CONSTANT = frozenset({"zeros", "ones", "constant", "zero", "one"})
KERAS_STARTS = ("glorot_uniform", "he_uniform")
TORCH_STARTS = ("kaiming_uniform_", "xavier_uniform_")


class ConstantWeightInit(Rule):
    code, name, family, fault = "NL004", "constant-weight-init", "neuralint", Fault.WCI
    needs, severity, confidence, certainty = Needs.SOURCE, Severity.ERROR, 0.9, Certainty.STRONG
    why = "Units that start equal stay equal, so the layer learns a single feature."

    def check(self, evidence: Evidence) -> Findings:
        values = KERAS_STARTS if is_keras(evidence) else TORCH_STARTS
        for layer in evidence.weighted:
            saw = _constant(evidence, layer)
            kernel = layer.kernel()
            zeros = kernel is not None and kernel.minimum == kernel.maximum == 0
            sure = 0.45 if layer.role == "output" else self.confidence
            sure *= zero_start(evidence, layer) if zeros else 1.0
            if saw and sure:
                kind = Kind.WEIGHT_INIT
                yield self.finding(evidence, saw, layer=layer, kind=kind, values=values, confidence=sure)


def _constant(evidence: Evidence, layer: LayerView) -> str:
    kernel = layer.kernel()
    if kernel is not None:
        same = kernel.minimum == kernel.maximum and not all(size <= 1 for size in kernel.shape)
        return f"all weights of {layer.name} start at {kernel.minimum:g}" if same else ""
    param = evidence.hyperparameter(Kind.WEIGHT_INIT, layer)
    word = str(param.in_force).rpartition(".")[2].lower().strip("_") if param is not None else ""
    return f"{layer.name} starts with {param.in_force}" if param is not None and word in CONSTANT else ""
