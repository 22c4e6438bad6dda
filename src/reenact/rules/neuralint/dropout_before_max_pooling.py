"""NL018 dropout-before-max-pooling

What
    Dropout stands directly, or with an activation between, in front of max-pooling.
Why
    The maximum of a window is taken among what dropout left: values are dropped with less probability
    than the rate says, and in evaluation maxima are larger than any seen in training.
Symptom
    Regularisation is weaker than intended.
Example
    import keras

    model = keras.Sequential([
        keras.layers.Input((28, 28, 1)),
        keras.layers.Conv2D(8, 3, activation="relu"),
        keras.layers.Dropout(0.3),
        keras.layers.MaxPooling2D(2),
        keras.layers.Flatten(),
        keras.layers.Dense(10, activation="softmax"),
    ])
Instead
          keras.layers.Conv2D(8, 3, activation="relu"),
    +     keras.layers.MaxPooling2D(2),
    -     keras.layers.MaxPooling2D(2),
Fix safety
    Unsafe: the network becomes another one and must be trained again.
Sources
    {paper}, f018 of the release.
"""

from reenact.rules import Evidence, Fault, Findings, Needs, Rule, Severity
from reenact.rules.neuralint._layers import dropout_before, is_max_pooling


class DropoutBeforeMaxPooling(Rule):
    code, name, family, fault = "NL018", "dropout-before-max-pooling", "neuralint", Fault.LAD
    needs, severity, confidence = Needs.SOURCE, Severity.NOTE, 0.3
    why = "Pooling picks what dropout has left, which undoes part of it."

    def check(self, evidence: Evidence) -> Findings:
        return dropout_before(self, evidence, is_max_pooling)
