"""UM013 no-validation

What
    Nothing is held out: the program never measures the model on rows it was not trained on.
Why
    Without such rows nobody can tell learning from memorising.
Symptom
    A training loss near zero and no idea what it is worth.
Example
    import keras
    from reenact.testing.toys import blobs

    x, y = blobs(spread=2.0)
    model = keras.Sequential([
        keras.layers.Dense(16, activation="relu"),
        keras.layers.Dense(3, activation="softmax"),
    ])
    model.compile(keras.optimizers.Adam(0.01), "sparse_categorical_crossentropy", metrics=["accuracy"])
    model.fit(x, y, epochs=10)
Instead
    - model.fit(x, y, epochs=10)
    + model.fit(x, y, epochs=10, validation_split=0.2)
Fix safety
    Safe for the weights, except that fewer rows are trained on when a part is split off.
Sources
    {paper}. In the release this check is a stub; here a run that evaluates on anything, or a text that speaks
    of a test or validation set, keeps it silent.
"""

from reenact.rules import Evidence, Fault, Findings, Kind, Needs, Rule, Severity
from reenact.rules.neuralint._layers import mentions
from reenact.rules.umlaut._data import saw_others, shared_rows


class NoValidation(Rule):
    code, name, family, fault = "UM013", "no-validation", "umlaut", Fault.VRM
    needs, severity, confidence = Needs.SOURCE, Severity.NOTE, 0.35
    why = "Only rows that were not trained on tell what a model is worth."

    def check(self, evidence: Evidence) -> Findings:
        param = evidence.hyperparameter(Kind.VALIDATION)
        seen = saw_others(evidence) or bool(evidence.happened("evaluation"))
        if param is None or not param.absent or (seen and shared_rows(evidence.watched) != 1.0):
            return
        if evidence.trace is None and mentions(evidence, "eval", "valid", "test_", "_test", "score("):
            return
        saw = "no validation data, and no evaluation on other rows than those of the training"
        yield self.finding(evidence, saw, kind=Kind.VALIDATION, values=(0.2, 0.1))
