"""DD011 numerical-error-weights."""

from __future__ import annotations

from functools import partial

from reenact.rules import Evidence, Findings, LayerView, Needs, Rule, Severity
from reenact.rules.deepdiagnosis._advice import for_gradients, for_numbers, report
from reenact.rules.measured import WINDOW, first_bad, first_hit, kernel_rows, learned, mostly_zero_since


class NumericalErrorWeights(Rule):
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
        Wardat, Cruz, Le and Rajan, "DeepDiagnosis: Automatically Diagnosing Faults and Recommending
        Actionable Fixes in Deep Learning Programs", ICSE 2022. Symptoms "numerical error in weights" and "in
        delta weights", layers from back to front; zero means all values, not their mean.
    """

    code, name, family, fault = "DD011", "numerical-error-weights", "deepdiagnosis", None
    needs = Needs.TRACE
    severity = Severity.ERROR
    confidence = 0.9
    why = "Weights that are no numbers, or get no gradient, do not learn."

    def check(self, evidence: Evidence) -> Findings:
        done = learned(evidence)

        def bad(column: str, layer: LayerView) -> int | None:
            return first_bad(kernel_rows(evidence, layer), column)

        def zero(column: str, layer: LayerView) -> int | None:
            return None if done else mostly_zero_since(kernel_rows(evidence, layer), column, WINDOW)

        layers, sure = evidence.weighted[::-1], self.confidence
        nan, nil = partial(bad, "weight_bad_share"), partial(zero, "weight_mean_abs")
        weights = first_hit(layers, [("weights NaN or infinite", sure, nan), ("weights all zero", sure, nil)])
        nan, nil = partial(bad, "grad_bad_share"), partial(zero, "grad_mean_abs")
        slope = first_hit(layers, [("gradient NaN or infinite", sure, nan), ("gradient all zero", sure, nil)])
        if weights is not None and (slope is None or weights.step <= slope.step):
            advice = for_numbers(evidence, weights.layer, weights.step)
            yield report(self, evidence, weights.saw, advice, weights.step)
        elif slope is not None:
            yield report(self, evidence, slope.saw, for_gradients(evidence, slope.layer), slope.step)
