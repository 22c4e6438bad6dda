"""AT006 improper-activation

What
    The activation of the last layer is not what the loss wants: a cross-entropy of probabilities without
    a softmax, or a binary one without a sigmoid; or one that the loss applies itself is there a second
    time; or it is a softmax over a single output.
Why
    The loss then compares something that is no probability, and its gradient is wrong or flat.
Symptom
    The loss is NaN, cut off or stays high; accuracy stays at chance.
Example
    import keras
    from reenact.testing.toys import moons

    x, y = moons()
    model = keras.Sequential([
        keras.layers.Dense(16, activation="relu"),
        keras.layers.Dense(1, activation="relu"),
    ])
    model.compile(keras.optimizers.Adam(0.01), "binary_crossentropy", metrics=["accuracy"])
    model.fit(x, y, epochs=10, validation_split=0.2)
Instead
    -     keras.layers.Dense(1, activation="relu"),
    +     keras.layers.Dense(1, activation="sigmoid"),
Fix safety
    Unsafe: the repair makes another training.
Sources
    The extension of AutoTrainer (Zhang, Zhai, Ma and Shen, ICSE 2021) in its released monitor. It asks
    for a linear output under every mean error; sigmoids there are left to the range of the labels
    (DD001). Two outputs under a binary loss may have a softmax. An output that was measured to be what
    the loss wants is never reported, whatever its activation is called.
"""

from reenact.rules import Evidence, Fault, Finding, Findings, Kind, LayerView, Needs, Rule, TaskType
from reenact.rules.finding import Certainty, Severity
from reenact.rules.losses import Wanted
from reenact.rules.measured import among, output_rows

NEARLY, SUM = 1e-4, 0.1


class ImproperActivation(Rule):
    code, name, family, fault = "AT006", "improper-activation", "autotrainer", Fault.ACH
    needs, severity, confidence, certainty = Needs.GRAPH, Severity.ERROR, 0.85, Certainty.STRONG
    why = "The loss compares something that is no probability."

    def check(self, evidence: Evidence) -> Findings:
        output, has = evidence.output, evidence.last_activation or "linear"
        if output is None or output.family not in ("dense", "conv"):
            return
        numbers = evidence.task in (TaskType.UNKNOWN, TaskType.REGRESSION)
        if has == "softmax" and output.width == 1:
            saw = f"softmax over the single output of layer {output.name}, which is one for every input"
            yield self._changed(evidence, output, saw, "linear" if numbers else "sigmoid", Fault.ACH)
            return
        if numbers:
            return
        wanted = evidence.wanted_output
        if wanted is Wanted.LOGITS:
            if has in ("softmax", "sigmoid"):
                saw = f"{has} at the output of layer {output.name}, but {evidence.loss_name} takes logits"
                yield self._changed(evidence, output, saw, "linear", Fault.AAL)
            return
        if wanted is Wanted.ANY or has == wanted.value or self._fits(evidence, wanted, output, has):
            return
        saw = f"{has} at the output of layer {output.name} under {evidence.loss_name}"
        yield self._changed(evidence, output, saw, wanted.value, Fault.ACH)

    def _fits(self, evidence: Evidence, wanted: Wanted, output: LayerView, has: str) -> bool:
        """Whether an output does what is wanted under another name."""
        if evidence.task is TaskType.MULTI_LABEL and has == "sigmoid":
            return True
        if wanted is Wanted.SIGMOID and has == "softmax":
            return output.width != 1
        seen = [rows for layer in evidence.layers if len(rows := output_rows(evidence, layer))]
        if not seen:
            return False
        low, high, sums = (seen[-1][column] for column in ("minimum", "maximum", "row_sum"))
        if wanted is Wanted.LOG_SOFTMAX:
            return has == "linear" and bool((high <= NEARLY).all())
        inside = bool((low >= -NEARLY).all() and (high <= 1 + NEARLY).all())
        if wanted is Wanted.SIGMOID:
            return inside and has == "linear"
        known = sums[sums == sums]
        return inside and len(known) > 0 and bool((abs(known - 1) < SUM).all())

    def _changed(self, evidence: Evidence, output: LayerView, saw: str, name: str, fault: Fault) -> Finding:
        values = among(evidence, Kind.ACTIVATION, (name,), output)
        return self.finding(evidence, saw, layer=output, kind=Kind.ACTIVATION, values=values, fault=fault)
