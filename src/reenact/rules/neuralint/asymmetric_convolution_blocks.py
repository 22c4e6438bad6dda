"""NL026 asymmetric-convolution-blocks

What
    In a network of ten or more convolution and pooling layers two convolutions in a row, with no pooling
    between them, differ in window or filters.
Why
    Networks of equal blocks are easier to deepen and to reason about; NeuraLint asks for them in deep
    networks.
Symptom
    None that can be relied on: bottleneck blocks differ on purpose.
Example
    import keras

    model = keras.Sequential([
        keras.layers.Input((64, 64, 3)),
        keras.layers.Conv2D(4, 3, activation="relu"),
        keras.layers.Conv2D(4, 3, activation="relu"),
        keras.layers.Conv2D(4, 3, activation="relu"),
        keras.layers.MaxPooling2D(2),
        keras.layers.Conv2D(8, 3, activation="relu"),
        keras.layers.Conv2D(8, 3, activation="relu"),
        keras.layers.Conv2D(8, 3, activation="relu"),
        keras.layers.MaxPooling2D(2),
        keras.layers.Conv2D(16, 3, activation="relu"),
        keras.layers.Conv2D(32, 3, activation="relu"),
        keras.layers.MaxPooling2D(2),
        keras.layers.Flatten(),
        keras.layers.Dense(10, activation="softmax"),
    ])
Instead
    -     keras.layers.Conv2D(32, 3, activation="relu"),
    +     keras.layers.Conv2D(16, 3, activation="relu"),
Fix safety
    Unsafe: the network becomes another one and must be trained again.
Sources
    {paper}, f026 of the release.
"""

from reenact.rules import Evidence, Fault, Findings, LayerView, Needs, Rule, Severity, Status
from reenact.rules.neuralint._layers import filters, is_deep, is_pooling, rows, until_weights, window


class AsymmetricConvolutionBlocks(Rule):
    code, name, family, fault = "NL026", "asymmetric-convolution-blocks", "neuralint", Fault.LCF
    needs, status, severity, confidence = Needs.SOURCE, Status.PREVIEW, Severity.NOTE, 0.1
    why = "Convolutions of one block usually have one size."

    def check(self, evidence: Evidence) -> Findings:
        if not is_deep(evidence):
            return
        for row in rows(evidence):
            for number, layer in enumerate(row):
                between = until_weights(row, number)
                rest = row[number + 1 + len(between) :]
                block = [part for part in (layer, *rest[:1]) if part.family == "conv"]
                if len(block) == 2 and not any(map(is_pooling, between)):
                    yield from self._compared(evidence, *block)

    def _compared(self, evidence: Evidence, first: LayerView, second: LayerView) -> Findings:
        one, two = (window(first), filters(first)), (window(second), filters(second))
        if None not in (*one, *two) and one != two:
            saw = f"{first.name} has window and filters {one}, {second.name} {two}"
            yield self.finding(evidence, saw, layer=second)
