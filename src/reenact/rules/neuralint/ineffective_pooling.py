"""NL027 ineffective-pooling

What
    In a network of ten or more convolution and pooling layers convolutions stand behind the last
    max-pooling.
Why
    Pooling that ends too early leaves the last maps large.
Symptom
    None that can be relied on: many networks end with convolutions or with an average.
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
        keras.layers.Conv2D(16, 3, activation="relu"),
        keras.layers.Flatten(),
        keras.layers.Dense(10, activation="softmax"),
    ])
Instead
          keras.layers.Conv2D(16, 3, activation="relu"),
          keras.layers.Conv2D(16, 3, activation="relu"),
    +     keras.layers.MaxPooling2D(2),
Fix safety
    Unsafe: the network becomes another one and must be trained again.
Sources
    {paper}, f027 of the release. A network without any pooling is the matter of lack-of-pooling; a global
    average at the end counts as pooling here.
"""

from reenact.rules import Evidence, Fault, Findings, Needs, Rule, Severity, Status
from reenact.rules.neuralint._layers import convolutions, is_deep, is_pooling, strided


class IneffectivePooling(Rule):
    code, name, family, fault = "NL027", "ineffective-pooling", "neuralint", Fault.LRM
    needs, status, severity, confidence = Needs.SOURCE, Status.PREVIEW, Severity.NOTE, 0.1
    why = "Maps of the last convolutions are not made smaller any more."

    def check(self, evidence: Evidence) -> Findings:
        pools = [number for number, layer in enumerate(evidence.layers) if is_pooling(layer)]
        if not is_deep(evidence) or not pools:
            return
        late = [layer for layer in evidence.layers[pools[-1] + 1 :] if layer.family == "conv"]
        if late and late[0] in convolutions(evidence) and not any(map(strided, late)):
            saw = f"{len(late)} convolutions follow the last pooling layer"
            yield self.finding(evidence, saw, layer=late[0])
