"""DD004 saturated-activation

What
    More than half of the values that enter a hidden sigmoid or tanh are beyond -5 and 5, in five steps
    looked at in a row. The tool looks at the end of every epoch on one batch, this rule at the sampled
    steps.
Why
    There the curve is flat: no gradient comes through.
Symptom
    The loss falls very slowly.
Example
    import keras
    from reenact.testing.toys import blobs

    x, y = blobs(spread=2.0)
    raw = 100 * x + 40
    x = raw - raw.mean(0)
    model = keras.Sequential([
        keras.layers.Dense(16, activation="tanh"),
        keras.layers.Dense(3, activation="softmax"),
    ])
    model.compile(keras.optimizers.Adam(0.01), "sparse_categorical_crossentropy", metrics=["accuracy"])
    model.fit(x, y, epochs=10, validation_split=0.2)
Instead
    - x = raw - raw.mean(0)
    + x = (raw - raw.mean(0)) / raw.std(0)
Fix safety
    Unsafe: whatever the tree suggests makes another training.
Sources
    {paper}. Symptom "saturated activation", with the bounds of the release. It tests the output too, where
    saturation is certainty; here hidden layers count.
"""

from reenact.rules import Evidence, Findings, LayerView, Needs, Rule
from reenact.rules.deepdiagnosis._advice import for_idle_units, report
from reenact.rules.measured import WINDOW, first_hit, output_rows
from reenact.rules.own._model import owner_of

SHARE = 0.5


class SaturatedActivation(Rule):
    code, name, family, fault = "DD004", "saturated-activation", "deepdiagnosis", None
    needs, confidence = Needs.TRACE, 0.75
    why = "Where the curve is flat no gradient comes through."

    def check(self, evidence: Evidence) -> Findings:
        last = evidence.output
        hidden = evidence.layers[: evidence.layers.index(last)] if last in evidence.layers else ()

        def full(at: Evidence, layer: LayerView) -> int | None:
            rows = output_rows(at, layer)
            over = (rows["saturated_share"] > SHARE).tolist()
            starts = range(len(over) - WINDOW + 1)
            first = next((start for start in starts if all(over[start : start + WINDOW])), None)
            return int(rows["step"][first]) if first is not None else None

        wanted = [layer for layer in hidden if layer.family != "recurrent"]
        hit = first_hit(evidence, wanted, ("more than half of the values saturated", self.confidence, full))
        if hit is not None:
            advice = for_idle_units(evidence, owner_of(evidence, hit.layer))
            yield report(self, evidence, hit.saw, advice, hit.step)
