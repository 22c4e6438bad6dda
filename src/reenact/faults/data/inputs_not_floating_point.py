"""DA05 inputs-not-floating-point

What
    Inputs are whole numbers, or of another floating type than the weights, and no embedding looks them
    up.
Why
    Layers multiply inputs with floating weights. torch refuses other types; Keras converts them silently,
    which often means that they were never scaled.
Symptom
    The program ends in its first step with a message about types; or nothing, until values to 255 do
    their harm.
Example
    import keras
    from reenact.testing.toys import blobs

    x, y = blobs(spread=2.0)
    x = (1.5 * x).round().astype("int64")
    model = keras.Sequential([
        keras.layers.Dense(16, activation="relu"),
        keras.layers.Dense(3, activation="softmax"),
    ])
    model.compile(keras.optimizers.Adam(0.01), "sparse_categorical_crossentropy", metrics=["accuracy"])
    model.fit(x, y, epochs=10, validation_split=0.2)
Instead
    - x = (1.5 * x).round().astype("int64")
    + x = (1.5 * x).round().astype("float32")
Fix safety
    Unsafe: the data changes, and with it what is learned; do the same to data that comes later.
Sources
    Schoop et al., "UMLAUT", CHI 2021. Whole numbers that an embedding or a preprocessing layer takes are
    what they should be, and are left alone.
"""

import re

from reenact.faults import (
    Category,
    Detector,
    Evidence,
    Fault,
    FaultType,
    Findings,
    Kind,
    Needs,
    Observes,
)
from reenact.faults.facts.input_values import PREPARING, reads_symbols, training_inputs

TYPES = re.compile(r"same dtype|scalar type|should be the same", re.IGNORECASE)
FAULT = Fault(
    code="DA05",
    name="inputs-not-floating-point",
    category=Category.DATA,
    page=__doc__,
)


@FAULT.detector(
    "UM003",
    "input-not-floating",
    "umlaut",
    needs=Needs.GRAPH,
    observes=Observes.DATA,
    why="Layers compute with floating numbers.",
    study=FaultType.CPP,
    confidence=0.3,
)
def input_not_floating(detector: Detector, evidence: Evidence) -> Findings:
    """Inputs are whole numbers, or of another floating type than the weights, and no embedding
    looks them up.

    {paper}. Whole numbers that an embedding or a preprocessing layer takes are what they should be,
    and are left alone.
    """
    crash = evidence.crash
    if crash is not None and crash.layer and crash.layer_inputs and TYPES.search(crash.message):
        dtype = crash.layer_inputs[0].dtype.removeprefix("torch.")
        place = crash.layer_place or crash.place
        yield detector.finding(
            evidence, f"{crash.layer} was given {dtype}", place=place, confidence=0.9
        )
        return
    if reads_symbols(evidence) or any(one.type in PREPARING for one in evidence.layers):
        return
    for facts in training_inputs(evidence):
        if not facts.dtype.startswith(("float", "bfloat", "complex")):
            yield detector.finding(
                evidence,
                f"inputs are {facts.dtype}",
                kind=Kind.PREPROCESSING,
            )
            return
