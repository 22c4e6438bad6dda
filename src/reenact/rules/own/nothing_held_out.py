"""RE017 nothing-held-out."""

from __future__ import annotations

from collections.abc import Iterator

from reenact.rules import Evidence, Fault, Finding, Kind, Knob, Needs, Rule, Severity
from reenact.rules.own._places import says

EVALUATES = (".evaluate(", ".predict(", ".eval()", "no_grad", "inference_mode", "test_loader", "val_loader")


class NothingHeldOut(Rule):
    """RE017 nothing-held-out

    What
        Nothing is held out: no validation data, no evaluation.
    Why
        How good a model is on what it was trained on says little; without other data nobody sees it overfit,
        and nobody can choose settings.
    Symptom
        A training curve and nothing to compare it with.
    Example
        import keras
        from keras import layers
        from reenact.testing.toys import blobs

        x, y = blobs()
        model = keras.Sequential([
            layers.Input((8,)),
            layers.Dense(32, activation="relu", kernel_regularizer=keras.regularizers.L2(0.5)),
            layers.Dropout(0.9),
            layers.Dense(2),
            layers.Dense(16, activation="relu"),
            layers.Dense(3, activation="softmax"),
        ])
        model.compile("adadelta", "sparse_categorical_crossentropy", metrics=["accuracy"])
        model.fit(x, y, batch_size=16, epochs=20, verbose=0)
    Instead
        import keras
        from keras import layers
        from reenact.testing.toys import blobs

        x, y = blobs()
        model = keras.Sequential([
            layers.Input((8,)),
            layers.Dense(32, activation="relu", kernel_regularizer=keras.regularizers.L2(0.0001)),
            layers.Dropout(0.2),
            layers.Dense(16, activation="relu"),
            layers.Dense(3, activation="softmax"),
        ])
        model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
        model.fit(x, y, batch_size=16, epochs=20, validation_split=0.2, verbose=0)
    Fix safety
        Unsafe: with `validation_split` fewer rows are left to train on.
    Sources
        Humbatova et al., ICSE 2020 (missing validation data).
    """

    code, name, family, fault = "RE017", "nothing-held-out", "reenact", Fault.VRM
    needs = Needs.SOURCE
    severity = Severity.NOTE
    confidence = 0.45
    why = "Without held-out data nobody can tell learning from remembering."

    def check(self, evidence: Evidence) -> Iterator[Finding]:
        knob = evidence.knob(Kind.VALIDATION)
        if knob is None or not knob.absent or _seen(evidence):
            return
        sure = 0.3 if says(evidence, *EVALUATES) else None
        saw = "no data is held out from training"
        yield self.finding(evidence, saw, kind=Kind.VALIDATION, values=_values(knob), confidence=sure)


def _values(knob: Knob) -> tuple[float, ...]:
    return (0.2,) if knob.library == "keras" else ()


def _seen(evidence: Evidence) -> bool:
    """Whether anything was evaluated in the watched run."""
    trace = evidence.trace
    if trace is None:
        return False
    held = any(facts.split != "train" for facts in trace.data)
    return held or any(name.startswith(("val_", "test_")) for name in trace.metric_names())
