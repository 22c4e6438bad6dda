"""DD003 dead-node

What
    At the end of training at least 70 percent of the outputs of a ReLU are zero or below.
Why
    A unit that is never positive has no gradient and cannot come back.
Symptom
    The loss stops early, or never moves.
Example
    import keras
    from reenact.testing.toys import blobs

    x, y = blobs(spread=2.0)
    model = keras.Sequential([
        keras.layers.Dense(16, activation="relu", bias_initializer=keras.initializers.Constant(-9.0)),
        keras.layers.Dense(3, activation="softmax"),
    ])
    model.compile(keras.optimizers.Adam(0.01), "sparse_categorical_crossentropy", metrics=["accuracy"])
    model.fit(x, y, epochs=10, validation_split=0.2)
Instead
    -     keras.layers.Dense(16, activation="relu", bias_initializer=keras.initializers.Constant(-9.0)),
    +     keras.layers.Dense(16, activation="relu"),
Fix safety
    Unsafe: whatever the tree suggests makes another training.
Sources
    {paper}. Symptom "dead node". Many healthy networks are that sparse: only where whole units are silent for
    the whole batch is the finding more than a hint.
"""

from dataclasses import replace

from reenact.rules import Evidence, Findings, Needs, Rule
from reenact.rules.deepdiagnosis._advice import for_idle_units, report
from reenact.rules.measured import epoch_ends, output_rows
from reenact.rules.own._model import owner_of

DEAD = 0.7
HINT = 0.2


class DeadNode(Rule):
    code, name, family, fault = "DD003", "dead-node", "deepdiagnosis", None
    needs, confidence = Needs.TRACE, 0.8
    why = "A unit that is never positive has no gradient."

    def check(self, evidence: Evidence) -> Findings:
        for layer in evidence.layers:
            rows = epoch_ends(evidence, output_rows(evidence, layer))
            if not len(rows):
                continue
            units = rows["dead_unit_share"][-1]
            share = rows["nonpositive_share"][-1] if layer.own_activation == "relu" else units
            if share >= DEAD:
                saw = f"{float(share):.0%} of the outputs of layer {layer.name} are not positive"
                found = report(self, evidence, saw, for_idle_units(evidence, owner_of(evidence, layer)))
                yield found if units >= DEAD else replace(found, confidence=min(found.confidence, HINT))
                return
