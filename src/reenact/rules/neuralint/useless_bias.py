"""NL005 useless-bias

What
    A layer with a bias is followed by batch normalisation with nothing non-linear between them.
Why
    Batch normalisation takes away the mean of each unit, and with it whatever the bias added; its own
    shift does the work of a bias.
Symptom
    None in the numbers: a few weights are stored and never learn.
Example
    import keras

    model = keras.Sequential([
        keras.layers.Input((8,)),
        keras.layers.Dense(16),
        keras.layers.BatchNormalization(),
        keras.layers.Activation("relu"),
        keras.layers.Dense(3, activation="softmax"),
    ])
Instead
    -     keras.layers.Dense(16),
    +     keras.layers.Dense(16, use_bias=False),
Fix safety
    Safe for what is learned; shapes of saved weights change.
Sources
    {paper}, f005 of the release. The release also counts a normalisation up to three layers later, even
    behind an activation, where the bias does matter.
"""

from reenact.rules import Evidence, Findings, Needs, Rule, Severity, Status
from reenact.rules.neuralint._layers import rows


class UselessBias(Rule):
    code, name, family, fault = "NL005", "useless-bias", "neuralint", None
    needs, status, severity, confidence = Needs.SOURCE, Status.PREVIEW, Severity.NOTE, 0.15
    why = "Batch normalisation takes away what the bias adds."

    def check(self, evidence: Evidence) -> Findings:
        for row in rows(evidence):
            for number, layer in enumerate(row):
                has = layer.settings.get("use_bias", layer.settings.get("bias", True)) is True
                has = layer.bias() is not None if layer.weights else has
                if layer.family not in ("dense", "conv") or not has or layer.own_activation:
                    continue
                following = next((part for part in row[number + 1 :] if part.family != "dropout"), None)
                if following is not None and following.type.startswith(("BatchNorm", "LazyBatchNorm")):
                    saw = f"{layer.name} has a bias in front of {following.type}"
                    yield self.finding(evidence, saw, layer=layer)
