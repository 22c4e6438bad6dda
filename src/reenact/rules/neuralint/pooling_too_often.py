"""NL025 pooling-too-often

What
    In a network of ten or more convolution and pooling layers every convolution is followed by
    max-pooling at once.
Why
    Pooling throws places away; in a deep network several convolutions should look at a map before it is
    made smaller.
Symptom
    Maps shrink to a few places after a handful of layers; adding layers does not help.
Example
    import keras

    model = keras.Sequential([
        keras.layers.Input((64, 64, 3)),
        keras.layers.Conv2D(4, 3, activation="relu"),
        keras.layers.MaxPooling2D(2),
        keras.layers.Conv2D(8, 3, activation="relu"),
        keras.layers.MaxPooling2D(2),
        keras.layers.Conv2D(16, 3, activation="relu"),
        keras.layers.MaxPooling2D(2),
        keras.layers.Conv2D(16, 3, padding="same", activation="relu"),
        keras.layers.MaxPooling2D(2),
        keras.layers.Conv2D(32, 3, padding="same", activation="relu"),
        keras.layers.MaxPooling2D(2),
        keras.layers.Flatten(),
        keras.layers.Dense(10, activation="softmax"),
    ])
Instead
          keras.layers.Input((64, 64, 3)),
    +     keras.layers.Conv2D(4, 3, activation="relu"),
Fix safety
    Unsafe: the network becomes another one and must be trained again.
Sources
    {paper}, f025 of the release.
"""

from reenact.rules import Evidence, Fault, Findings, Needs, Rule, Severity, Status
from reenact.rules.neuralint._layers import convolutions, is_deep, is_max_pooling, rows, until_weights


class PoolingTooOften(Rule):
    code, name, family, fault = "NL025", "pooling-too-often", "neuralint", Fault.LAD
    needs, status, severity, confidence = Needs.SOURCE, Status.PREVIEW, Severity.NOTE, 0.15
    why = "Deep networks do well with several convolutions between two poolings."

    def check(self, evidence: Evidence) -> Findings:
        if not is_deep(evidence):
            return
        behind = [(one, until_weights(row, at)) for row in rows(evidence) for at, one in enumerate(row)]
        pooled = [one for one, rest in behind if one.family == "conv" and any(map(is_max_pooling, rest))]
        count = len(convolutions(evidence))
        if count > 1 and len(pooled) == count:
            saw = f"each of {count} convolutions is followed by max-pooling"
            yield self.finding(evidence, saw, layer=pooled[1])
