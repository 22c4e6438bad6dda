"""UM012 suspicious-validation-accuracy

What
    Validation accuracy is nearly perfect, or clearly better than that of training, after some epochs.
Why
    Rows that stand in both parts, or labels that can be read off the inputs, make a model look better
    than it is.
Symptom
    Figures that do not come back on fresh data.
Example
    import keras
    from reenact.testing.toys import blobs

    x, y = blobs(spread=2.0)
    model = keras.Sequential([
        keras.layers.Dense(16, activation="relu"),
        keras.layers.Dense(3, activation="softmax"),
    ])
    model.compile(keras.optimizers.Adam(0.01), "sparse_categorical_crossentropy", metrics=["accuracy"])
    model.fit(x, y, epochs=10, validation_data=(x, y))
Instead
    - model.fit(x, y, epochs=10, validation_data=(x, y))
    + model.fit(x, y, epochs=10, validation_split=0.2)
Fix safety
    Unsafe: another split gives other figures, and truer ones.
Sources
    {paper}; the bounds 0.95 and 0.05 after three epochs are those of the release. An easy task or dropout in
    training explains both, so this counts for little unless rows are found in both parts.
"""

from reenact.rules import Evidence, Findings, Kind, Needs, Rule, Severity
from reenact.rules.umlaut._data import shared_rows

EPOCHS, PERFECT, LEAD, MANY = 3, 0.95, 0.05, 0.2


class SuspiciousValidationAccuracy(Rule):
    code, name, family, fault = "UM012", "suspicious-validation-accuracy", "umlaut", None
    needs, severity, confidence = Needs.TRACE, Severity.NOTE, 0.15
    why = "Validation should be a little worse than training, not better."

    def check(self, evidence: Evidence) -> Findings:
        trace = evidence.watched
        held = trace.metric("val_accuracy").known.values
        if not len(held):
            return
        shared = shared_rows(trace)
        last = float(held[-1])
        if shared >= MANY:
            saw = f"{shared:.0%} of the held-out rows are training rows; validation accuracy {last:.2f}"
            yield self.finding(evidence, saw, kind=Kind.VALIDATION, confidence=0.9)
            return
        own = trace.metric("accuracy").known.values
        lead = last - float(own[-1]) if len(own) else 0.0
        if len(held) >= EPOCHS and (last > PERFECT or lead > LEAD):
            yield self.finding(evidence, f"validation accuracy {last:.2f}, {lead:+.2f} against training")
