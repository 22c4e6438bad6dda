"""DD002 numerical-error-forward

What
    The output of a layer holds NaN or infinite values, or is all zero in at least half of the steps
    looked at. The tool looks at the end of every epoch on one batch, this rule at the sampled steps.
Why
    What is no number, or nothing, is passed on to all layers behind.
Symptom
    The loss is NaN or stays where it is.
Example
    import keras
    from reenact.testing.toys import curve

    x, y = curve()
    model = keras.Sequential([
        keras.layers.Dense(16, activation="relu"),
        keras.layers.Dense(1),
    ])
    model.compile(keras.optimizers.SGD(1000.0), "mean_squared_error")
    model.fit(x, y, epochs=10, validation_split=0.2)
Instead
    - model.compile(keras.optimizers.SGD(1000.0), "mean_squared_error")
    + model.compile(keras.optimizers.Adam(0.01), "mean_squared_error")
Fix safety
    Unsafe: whatever the tree suggests makes another training.
Sources
    {paper}. Symptom "numerical problem"; zero means all values, not their mean.
"""

from reenact.rules import Evidence, Findings, Needs, Rule, Severity
from reenact.rules.deepdiagnosis._advice import for_numbers, report
from reenact.rules.measured import bad, behind_weights, first_hit, output_rows, zero


class NumericalErrorForward(Rule):
    code, name, family, fault = "DD002", "numerical-error-forward", "deepdiagnosis", None
    needs, severity, confidence = Needs.TRACE, Severity.ERROR, 0.9
    why = "What is no number, or nothing, is passed on to all layers behind."

    def check(self, evidence: Evidence) -> Findings:
        wrong = ("output NaN or infinite", self.confidence, bad(output_rows, "bad_share"))
        empty = ("output all zero", self.confidence, zero(output_rows, "mean_abs"))
        hit = first_hit(evidence, behind_weights(evidence), wrong, empty)
        if hit is not None:
            yield report(self, evidence, hit.saw, for_numbers(evidence, hit.layer, hit.step), hit.step)
