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

from reenact.rules import Evidence, Fault, Findings, Needs, Rule, Severity, Status
from reenact.rules.neuralint._layers import filters, is_deep, is_pooling, rows, until_weights, window


class AsymmetricConvolutionBlocks(Rule):
    code, name, family, fault = "NL026", "asymmetric-convolution-blocks", "neuralint", Fault.LCF
    needs, status, severity, confidence = Needs.SOURCE, Status.PREVIEW, Severity.NOTE, 0.1
    why = "Convolutions of one block usually have one size."

    def check(self, evidence: Evidence) -> Findings:
        for row in rows(evidence) if is_deep(evidence) else ():
            for number, layer in enumerate(row):
                between = until_weights(row, number)
                block = (layer, *row[number + 1 + len(between) :][:1])
                sizes = [(window(part), filters(part)) for part in block if part.family == "conv"]
                known = len(sizes) == 2 and None not in (*sizes[0], *sizes[1])
                if known and sizes[0] != sizes[1] and not any(map(is_pooling, between)):
                    saw = f"{layer.name} has window and filters {sizes[0]}, {block[1].name} {sizes[1]}"
                    yield self.finding(evidence, saw, layer=block[1])
