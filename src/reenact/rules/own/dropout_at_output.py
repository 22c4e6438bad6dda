"""RE042 dropout-at-output

What
    Dropout stands behind the last layer with weights: it drops answers, not features.
Why
    A part of the scores is set to zero at random in every step, the right one as often as any other,
    and the loss punishes the model for it.
Symptom
    The training loss stays high and jumps from batch to batch, while the evaluation looks better than
    the training.
Example
    from torch import nn

    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3), nn.Dropout(0.5))
    loss_of = nn.CrossEntropyLoss()
Instead
    - model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3), nn.Dropout(0.5))
    + model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Dropout(0.5), nn.Linear(16, 3))
Fix safety
    Unsafe: changes training. Put the dropout in front of the last layer.
Sources
    Srivastava et al., "Dropout: A Simple Way to Prevent Neural Networks from Overfitting", JMLR 2014,
    section 4: units of the input and of hidden layers are dropped.
"""

from dataclasses import replace

from reenact.rules import Certainty, Evidence, Fault, Findings, Kind, Needs, Rule, Severity


class DropoutAtOutput(Rule):
    code, name, family, fault = "RE042", "dropout-at-output", "reenact", Fault.RCD
    needs, severity, confidence, certainty = Needs.SOURCE, Severity.ERROR, 0.85, Certainty.STRONG
    why = "What is dropped behind the last layer are answers, the right one as often as any other."

    def check(self, evidence: Evidence) -> Findings:
        output = evidence.output
        if output is None or output.family != "dense" or not evidence.loss_name:
            return
        classes = evidence.labels.classes if evidence.labels is not None else None
        if classes and output.width not in (1, classes):
            # Another layer answers; this one is only the last that was seen.
            return
        for layer in evidence.layers[evidence.layers.index(output) + 1 :]:
            rate = layer.settings.get("rate", layer.settings.get("p"))
            if layer.family == "dropout" and (not isinstance(rate, int | float) or rate > 0):
                saw = f"{layer.name} drops outputs of {output.name}, the last layer with weights"
                # The text alone seldom tells which layer answers in the end.
                found = self.finding(evidence, saw, layer=layer, kind=Kind.DROPOUT, values=(0.0,))
                doubted = replace(found, confidence=0.4, certainty=Certainty.HINT)
                yield doubted if evidence.graph is None else found
