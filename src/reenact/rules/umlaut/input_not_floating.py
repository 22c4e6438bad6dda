"""UM003 input-not-floating

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
    {paper}. Whole numbers that an embedding or a preprocessing layer takes are what they should be, and are
    left alone.
"""

import re

from reenact.rules import Evidence, Fault, Findings, Kind, Needs, Rule
from reenact.rules.umlaut._data import PREPARING, reads_symbols, training_inputs

TYPES = re.compile(r"same dtype|scalar type|should be the same", re.IGNORECASE)


class InputNotFloating(Rule):
    code, name, family, fault = "UM003", "input-not-floating", "umlaut", Fault.CPP
    needs, confidence = Needs.GRAPH, 0.3
    why = "Layers compute with floating numbers."

    def check(self, evidence: Evidence) -> Findings:
        crash = evidence.crash
        if crash is not None and crash.layer and crash.layer_inputs and TYPES.search(crash.message):
            dtype = crash.layer_inputs[0].dtype.removeprefix("torch.")
            place = crash.layer_place or crash.place
            yield self.finding(evidence, f"{crash.layer} was given {dtype}", place=place, confidence=0.9)
            return
        if reads_symbols(evidence) or any(one.type.startswith(PREPARING) for one in evidence.layers):
            return
        for facts in training_inputs(evidence):
            if not facts.dtype.startswith(("float", "bfloat", "complex")):
                yield self.finding(evidence, f"inputs are {facts.dtype}", kind=Kind.PREPROCESSING)
                return
