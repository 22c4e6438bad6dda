"""AT007 improper-loss

What
    The labels are classes, and the loss is one for numbers; or there are more than two classes, one of
    them right, and the loss is a binary one; or a single output goes to a loss over classes.
Why
    A mean error on probabilities has almost no gradient where the model is most wrong; a loss over one
    class is always zero.
Symptom
    Accuracy rises slowly or not at all, and the loss says little of it.
Example
    import keras
    from reenact.testing.toys import blobs

    x, y = blobs(spread=2.0)
    y = keras.utils.to_categorical(y)
    model = keras.Sequential([
        keras.layers.Dense(16, activation="relu"),
        keras.layers.Dense(3, activation="softmax"),
    ])
    model.compile(keras.optimizers.Adam(0.01), "mean_squared_error", metrics=["accuracy"])
    model.fit(x, y, epochs=10, validation_split=0.2)
Instead
    - model.compile(keras.optimizers.Adam(0.01), "mean_squared_error", metrics=["accuracy"])
    + model.compile(keras.optimizers.Adam(0.01), "categorical_crossentropy", metrics=["accuracy"])
Fix safety
    Unsafe: the repair makes another training.
Sources
    The extension of AutoTrainer (Zhang, Zhai, Ma and Shen, ICSE 2021) in its released monitor. It knows
    losses by name and number of outputs only, so that every loss of a regression is improper; here the
    task decides. Adversarial networks, which use mean errors on purpose, are left alone.
"""

from reenact.rules import Evidence, Fault, Finding, Findings, Kind, Needs, Rule, Severity, TaskType
from reenact.rules.losses import LossFamily
from reenact.rules.measured import among

SURE = 0.9


class ImproperLoss(Rule):
    code, name, family, fault = "AT007", "improper-loss", "autotrainer", Fault.LCH
    needs, severity, confidence = Needs.GRAPH | Needs.TRACE, Severity.ERROR, 0.7
    why = "A loss for another kind of task has a gradient that leads elsewhere."

    def check(self, evidence: Evidence) -> Findings:
        family, output = evidence.loss_family, evidence.output
        if output is None or (evidence.watched.steps["optimizer"] > 0).any():
            return
        many, two = evidence.task is TaskType.MULTI_CLASS, evidence.task is TaskType.BINARY
        single = output.width == 1
        saw = f"{evidence.loss_name} under a {evidence.task.value} task with {output.width} outputs"
        if (many or two) and family is LossFamily.REGRESSION:
            yield self._changed(evidence, saw, many or not single, self.confidence)
        elif many and family is LossFamily.BINARY:
            yield self._changed(evidence, saw, True, self.confidence)
        elif (many or two) and single and family is LossFamily.CATEGORICAL:
            yield self._changed(evidence, saw, False, SURE)

    def _changed(self, evidence: Evidence, saw: str, several: bool, sure: float) -> Finding:
        labels = evidence.labels
        one_hot = labels is not None and labels.one_hot
        keras = "categorical_crossentropy" if one_hot else "sparse_categorical_crossentropy"
        wanted = (keras, "CrossEntropyLoss", "cross_entropy")
        if not several:
            wanted = ("binary_crossentropy", "BCEWithLogitsLoss", "binary_cross_entropy_with_logits")
        values = among(evidence, Kind.LOSS, wanted)
        return self.finding(evidence, saw, kind=Kind.LOSS, values=values, confidence=sure)
