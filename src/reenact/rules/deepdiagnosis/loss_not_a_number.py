"""DD006 loss-not-a-number

What
    The loss of a training step is NaN or infinite.
Why
    No gradient comes from it, and the next step spoils all weights.
Symptom
    The loss is printed as `nan` or `inf`.
Example
    import keras
    from reenact.testing.toys import curve

    x, y = curve()
    y[::50] = float("nan")
    model = keras.Sequential([
        keras.layers.Dense(16, activation="tanh"),
        keras.layers.Dense(1),
    ])
    model.compile(keras.optimizers.Adam(0.01), "mean_squared_error")
    model.fit(x, y, epochs=10, validation_split=0.2)
Instead
      y[::50] = float("nan")
    + x, y = x[y[:, 0] == y[:, 0]], y[y[:, 0] == y[:, 0]]
Fix safety
    Unsafe: whatever the tree suggests makes another training.
Sources
    {paper}. Symptom "invalid loss".
"""

from reenact.rules import Evidence, Findings, Needs, Rule, Severity
from reenact.rules.deepdiagnosis._advice import for_invalid, report
from reenact.rules.measured import invalid_loss


class LossNotANumber(Rule):
    code, name, family, fault = "DD006", "loss-not-a-number", "deepdiagnosis", None
    needs, severity, confidence = Needs.TRACE, Severity.ERROR, 0.95
    why = "A loss that is no number gives no gradient."

    def check(self, evidence: Evidence) -> Findings:
        step = invalid_loss(evidence)
        if step is not None:
            advice = for_invalid(evidence, step)
            yield report(self, evidence, f"loss NaN or infinite at step {step}", advice, step)
