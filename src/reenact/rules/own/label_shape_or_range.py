"""RE902 label-shape-or-range

What
    The loss was given labels of a shape, a type or a range that it does not take: one-hot rows where
    class numbers belong or the reverse, a class number beyond the width of the output, another number of
    rows.
Why
    Each loss knows one form of labels, and the output must have a unit for every class.
Symptom
    The program ends with an exception that speaks of the target.
Example
    import torch
    from torch import nn
    from reenact.testing.toys import blobs

    x, y = map(torch.from_numpy, blobs())
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()
Instead
    - model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2))
    + model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
Fix safety
    There is nothing to change automatically: widen the output, encode the labels, or take the loss for
    their form.
Sources
    Documentation of the losses of PyTorch and Keras.
"""

from reenact.rules import Evidence, Findings
from reenact.rules.own._crash import CrashRule
from reenact.rules.own._crash_advice import label_advice
from reenact.rules.own._crash_kind import CrashKind
from reenact.rules.own._crash_values import outside
from reenact.rules.own._label_place import labels_made_at


class LabelShapeOrRange(CrashRule):
    code, name, family = "RE902", "label-shape-or-range", "reenact"
    kind = CrashKind.LABEL
    why = "Each loss takes labels of one form, and one unit of the output for every class."

    def check(self, evidence: Evidence) -> Findings:
        labels, output = evidence.labels, evidence.output
        width = f"; the output has {output.width} units" if output is not None and output.width else ""
        classes = f"; labels have {labels.classes} classes" if labels is not None and labels.classes else ""
        made = labels_made_at(evidence)
        where = f"; the labels are made at line {made.line}" if made is not None else ""
        why = label_advice(evidence.crash) if evidence.crash is not None else ""
        yield from self.crashed(evidence, width + classes + _range(evidence) + where, why=why)


def _range(evidence: Evidence) -> str:
    """The labels at the call that raised, where one of them has no unit of the output."""
    beyond = outside(evidence.crash) if evidence.crash is not None else None
    if beyond is None:
        return ""
    labels, size = beyond
    return f"; labels at this call are {labels.minimum} to {labels.maximum}, allowed are 0 to {size - 1}"
