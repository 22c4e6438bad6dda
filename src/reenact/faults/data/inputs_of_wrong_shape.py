"""DA04 inputs-of-wrong-shape

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
    Schoop et al., "UMLAUT", CHI 2021. The release complains of every picture that is not square; here the
    layout must look exchanged: the two sides that are equal are not those that the convolution walks
    along.
"""

from reenact.faults import (
    Category,
    Certainty,
    Detector,
    Evidence,
    Fault,
    FaultType,
    Findings,
    Needs,
    Observes,
    Severity,
)
from reenact.faults.facts.input_values import training_inputs
from reenact.program.layer_view import Shape

FAULT = Fault(
    code="DA04",
    name="inputs-of-wrong-shape",
    category=Category.DATA,
    page=__doc__,
)


@FAULT.detector(
    "UM002",
    "input-wrong-shape",
    "umlaut",
    needs=Needs.GRAPH,
    observes=Observes.DATA,
    why="The convolution takes a side of the picture for its channels.",
    study=FaultType.CPP,
    severity=Severity.ERROR,
    confidence=0.85,
    certainty=Certainty.STRONG,
)
def input_wrong_shape(detector: Detector, evidence: Evidence) -> Findings:
    """Pictures are laid out with channels first and read with channels last, or the other way
    round.

    {paper}. The release complains of every picture that is not square; here the layout must look
    exchanged: the two sides that are equal are not those that the convolution walks along.
    """
    first = next(
        (layer for layer in evidence.layers if layer.weighted),
        None,
    )
    if first is None or first.family != "conv" or "2" not in first.type:
        return
    # How a convolution reads its input: as it says itself, else as its library does.
    library = "channels_last" if evidence.framework == "keras" else ""
    layout = first.settings.get("data_format")
    last = (layout if isinstance(layout, str) else library) == "channels_last"
    for facts in training_inputs(evidence):
        if len(facts.shape) == 4 and _exchanged(facts.shape[1:], last):
            order = "channels last" if last else "channels first"
            saw = f"inputs of shape {facts.shape[1:]} are read with {order}"
            yield detector.finding(evidence, saw, layer=first)
            return


def _exchanged(shape: Shape, channels_last: bool) -> bool:
    first, middle, last = shape
    channels, side = (first, last) if channels_last else (last, first)
    return channels in (1, 3, 4) and middle == side and side not in (None, channels)
