"""NL002 lack-of-pooling

What
    A convolutional classifier has neither a pooling layer nor a convolution with a stride.
Why
    Pooling makes maps smaller step by step, so that later windows see more of the picture and the dense
    layer at the end stays small.
Symptom
    Most weights sit in the first dense layer; training is slow and overfits.
Example
    import keras

    model = keras.Sequential([
        keras.layers.Input((28, 28, 1)),
        keras.layers.Conv2D(8, 3, activation="relu"),
        keras.layers.Flatten(),
        keras.layers.Dense(10, activation="softmax"),
    ])
Instead
          keras.layers.Conv2D(8, 3, activation="relu"),
    +     keras.layers.MaxPooling2D(2),
Fix safety
    Unsafe: the network becomes another one and must be trained again.
Sources
    {paper}, f002 of the release. The release looks for different spellings of 1-D and 3-D pooling than it
    writes, and so always misses them; strides, which do the same work, are not in its rule.
"""

from reenact.rules import Evidence, Fault, Findings, Needs, Rule, Severity, Status
from reenact.rules.neuralint._layers import convolutions, is_pooling, mentions, strided


class LackOfPooling(Rule):
    code, name, family, fault = "NL002", "lack-of-pooling", "neuralint", Fault.LRM
    needs, status, severity, confidence = Needs.SOURCE, Status.PREVIEW, Severity.NOTE, 0.1
    why = "Without pooling or strides maps stay large and the first dense layer holds most weights."

    def check(self, evidence: Evidence) -> Findings:
        found = convolutions(evidence)
        dense = any(layer.family == "dense" for layer in evidence.layers)
        if not found or not dense or any(map(strided, found)) or any(map(is_pooling, evidence.layers)):
            return
        if evidence.graph is None and mentions(evidence, "pool"):
            return
        saw = f"{len(found)} convolution layers, no pooling and no stride"
        yield self.finding(evidence, saw, layer=found[-1])
