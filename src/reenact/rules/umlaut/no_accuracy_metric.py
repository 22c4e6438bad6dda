"""UM014 no-accuracy-metric

What
    A classifier is trained, and nothing but its loss is reported.
Why
    A cross-entropy can fall while as many rows as before are put into the wrong class, and the other way
    round.
Symptom
    Progress is claimed that nobody can see in the predictions.
Example
    import keras
    from reenact.testing.toys import blobs

    x, y = blobs(spread=2.0)
    model = keras.Sequential([
        keras.layers.Dense(16, activation="relu"),
        keras.layers.Dense(3, activation="softmax"),
    ])
    model.compile(keras.optimizers.Adam(0.01), "sparse_categorical_crossentropy")
    model.fit(x, y, epochs=10, validation_split=0.2)
Instead
    - model.compile(keras.optimizers.Adam(0.01), "sparse_categorical_crossentropy")
    + model.compile(keras.optimizers.Adam(0.01), "sparse_categorical_crossentropy", metrics=["accuracy"])
Fix safety
    Safe: a metric changes nothing in the training.
Sources
    {paper}. In the release this check is a stub; here it asks of classifiers only.
"""

from reenact.rules import Evidence, Findings, Needs, Rule, Severity, TaskType

MEASURES = ("acc", "f1", "auc", "precision", "recall", "error", "correct", "iou", "dice", "score")


class NoAccuracyMetric(Rule):
    code, name, family, fault = "UM014", "no-accuracy-metric", "umlaut", None
    needs, severity, confidence = Needs.TRACE, Severity.NOTE, 0.3
    why = "A loss does not say how many rows are put into the right class."

    def check(self, evidence: Evidence) -> Findings:
        reported = [one.name.lower() for one in evidence.watched.metrics if one.source != "probe"]
        classes = evidence.task in (TaskType.BINARY, TaskType.MULTI_CLASS)
        if classes and reported and not any(word in name for name in reported for word in MEASURES):
            saw = f"{evidence.task.value} labels; reported: {', '.join(dict.fromkeys(reported))}"
            yield self.finding(evidence, saw)
