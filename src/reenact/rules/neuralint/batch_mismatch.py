"""NL014 batch-mismatch

What
    The model is written for batches of one size and is given batches of another, or a reshape has changed
    the number of rows.
Why
    Rows of the output no longer stand opposite the rows of the labels.
Symptom
    An error in the first step, or at the last, smaller batch of an epoch.
Example
    import keras
    from reenact.testing.toys import blobs

    x, y = blobs(spread=2.0)
    model = keras.Sequential([
        keras.layers.Input(batch_shape=(16, 8)),
        keras.layers.Dense(16, activation="relu"),
        keras.layers.Dense(3, activation="softmax"),
    ])
    model.compile(keras.optimizers.Adam(0.01), "sparse_categorical_crossentropy", metrics=["accuracy"])
    model.fit(x, y, epochs=10, batch_size=50)
Instead
    -     keras.layers.Input(batch_shape=(16, 8)),
    +     keras.layers.Input(shape=(8,)),
Fix safety
    Safe where the size of the batch was written without need; stateful recurrent layers do need it.
Sources
    {paper}, f014 of the release.
"""

import re

from reenact.rules import Evidence, Fault, Findings, JsonValue, Kind, Needs, Rule, Severity
from reenact.rules.neuralint._shape import trained

MISMATCH = re.compile(r"input batch_size \((\d+)\) to match target batch_size \((\d+)\)")


class BatchMismatch(Rule):
    code, name, family, fault = "NL014", "batch-mismatch", "neuralint", Fault.HBS
    needs, severity, confidence = Needs.SOURCE, Severity.ERROR, 0.9
    why = "The model expects another number of rows than a batch has."

    def check(self, evidence: Evidence) -> Findings:
        if trained(evidence):
            return
        param = evidence.hyperparameter(Kind.BATCH_SIZE)
        given = param.in_force if param is not None else None
        for layer in evidence.static.layers if evidence.static is not None else ():
            fixed = _fixed(layer.settings)
            if fixed is not None and isinstance(given, int) and fixed != given:
                saw = f"{layer.name} takes batches of {fixed}, training gives {given}"
                yield self.finding(evidence, saw, kind=Kind.BATCH_SIZE, values=(fixed,))
                return
        crash = evidence.crash
        found = MISMATCH.search(crash.message) if crash is not None and not crash.facts.own else None
        if crash is not None and found is not None:
            saw = f"{found.group(1)} rows of output for {found.group(2)} labels"
            yield self.finding(evidence, saw, place=crash.place)


def _fixed(settings: dict[str, JsonValue]) -> int | None:
    for name in ("batch_shape", "batch_input_shape", "batch_size"):
        value = settings.get(name)
        first = value[0] if isinstance(value, list) and value else value
        if isinstance(first, int) and not isinstance(first, bool):
            return first
    return None
