"""UM002 input-wrong-shape

What
    Pictures are laid out with channels first and read with channels last, or the other way round.
Why
    The window then moves along the channels and one side of the picture, and the other side is taken for
    channels.
Symptom
    Learning is poor, or the first convolution ends the program with a message about channels.
Example
    import keras
    from reenact.testing.toys import images

    x, y = images()
    model = keras.Sequential([
        keras.layers.Conv2D(4, 3, padding="same", activation="relu"),
        keras.layers.Flatten(),
        keras.layers.Dense(3, activation="softmax"),
    ])
    model.compile(keras.optimizers.Adam(0.01), "sparse_categorical_crossentropy", metrics=["accuracy"])
    model.fit(x, y, epochs=10)
Instead
      x, y = images()
    + x = x.transpose(0, 2, 3, 1)
Fix safety
    Unsafe: the data changes, and with it what is learned; do the same to data that comes later.
Sources
    {paper}. The release complains of every picture that is not square; here the layout must look exchanged:
    the two sides that are equal are not those that the convolution walks along.
"""

from reenact.rules import Certainty, Evidence, Fault, Findings, Needs, Rule, Severity
from reenact.rules.layer_view import Shape
from reenact.rules.umlaut._data import training_inputs


class InputWrongShape(Rule):
    code, name, family, fault = "UM002", "input-wrong-shape", "umlaut", Fault.CPP
    needs, severity, confidence, certainty = Needs.GRAPH, Severity.ERROR, 0.85, Certainty.STRONG
    why = "The convolution takes a side of the picture for its channels."

    def check(self, evidence: Evidence) -> Findings:
        first = next((layer for layer in evidence.layers if layer.weighted), None)
        if first is None or first.family != "conv" or "2" not in first.type:
            return
        # How a convolution reads its input: as it says itself, else as its library does.
        library = "channels_last" if evidence.graph and evidence.graph.framework == "keras" else ""
        layout = first.settings.get("data_format")
        last = (layout if isinstance(layout, str) else library) == "channels_last"
        for facts in training_inputs(evidence):
            if len(facts.shape) == 4 and _exchanged(facts.shape[1:], last):
                order = "channels last" if last else "channels first"
                saw = f"inputs of shape {facts.shape[1:]} are read with {order}"
                yield self.finding(evidence, saw, layer=first)
                return


def _exchanged(shape: Shape, channels_last: bool) -> bool:
    first, middle, last = shape
    channels, side = (first, last) if channels_last else (last, first)
    return channels in (1, 3, 4) and middle == side and side not in (None, channels)
