"""DD011 numerical-error-weights

What
    The weights of a layer, or their gradient, hold NaN or infinite values, or are all zero in at least
    half of the steps looked at. Zero counts only while the loss has not fallen to half. The tool looks at
    the end of every epoch on one batch, this rule at the sampled steps.
Why
    A weight that is no number cannot become one again; without a gradient it does not move.
Symptom
    The loss is NaN, or does not move.
Example
    import keras
    from reenact.testing.toys import blobs

    x, y = blobs(spread=2.0)
    model = keras.Sequential([
        keras.layers.Dense(16, activation="relu", kernel_initializer="zeros"),
        keras.layers.Dense(3, activation="softmax", kernel_initializer="zeros"),
    ])
    model.compile(keras.optimizers.Adam(0.01), "sparse_categorical_crossentropy", metrics=["accuracy"])
    model.fit(x, y, epochs=10, validation_split=0.2)
Instead
    -     keras.layers.Dense(16, activation="relu", kernel_initializer="zeros"),
    -     keras.layers.Dense(3, activation="softmax", kernel_initializer="zeros"),
    +     keras.layers.Dense(16, activation="relu"),
    +     keras.layers.Dense(3, activation="softmax"),
Fix safety
    Unsafe: whatever the tree suggests makes another training.
Sources
    {paper}. Symptoms "numerical error in weights" and "in delta weights", layers from back to front; zero
    means all values, not their mean.
"""

from reenact.rules import Evidence, Findings, Needs, Rule, Severity
from reenact.rules.deepdiagnosis._advice import for_gradients, for_numbers, report
from reenact.rules.measured import bad, first_hit, kernel_rows, learned, zero


class NumericalErrorWeights(Rule):
    code, name, family, fault = "DD011", "numerical-error-weights", "deepdiagnosis", None
    needs, severity, confidence = Needs.TRACE, Severity.ERROR, 0.9
    why = "Weights that are no numbers, or get no gradient, do not learn."

    def check(self, evidence: Evidence) -> Findings:
        layers, sure, done = evidence.weighted[::-1], self.confidence, learned(evidence)
        hits = []
        for what, column in (("weights", "weight"), ("gradient", "grad")):
            wrong = (f"{what} NaN or infinite", sure, bad(kernel_rows, f"{column}_bad_share"))
            empty = (f"{what} all zero", sure, zero(kernel_rows, f"{column}_mean_abs"))
            hits.append(first_hit(evidence, layers, wrong, *(() if done else (empty,))))
        weights, slope = hits
        if weights is not None and (slope is None or weights.step <= slope.step):
            advice = for_numbers(evidence, weights.layer, weights.step)
            yield report(self, evidence, weights.saw, advice, weights.step)
        elif slope is not None:
            yield report(self, evidence, slope.saw, for_gradients(evidence, slope.layer), slope.step)
