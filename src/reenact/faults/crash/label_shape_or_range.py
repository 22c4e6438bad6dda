"""CR02 label-shape-or-range

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
    Unsafe: the output gets a unit for each class, or labels that begin with one begin with zero. Else encode
    the labels, or take the loss for their form.
Sources
    Documentation of the losses of PyTorch and Keras.
"""

from reenact.faults import (
    Category,
    Certainty,
    Detector,
    Evidence,
    Fault,
    Findings,
    Needs,
    Observes,
    Severity,
)
from reenact.faults.facts.crash import crashed
from reenact.faults.facts.crash_advice import label_advice
from reenact.faults.fixes.crashes import unit_for_each_class
from reenact.faults.fixes.drafting import with_fixes
from reenact.probe.crash_kind import CrashKind
from reenact.probe.crash_values import outside
from reenact.program.training.rows.origins import labels_made_at

FAULT = Fault(
    code="CR02",
    name="label-shape-or-range",
    category=Category.CRASH,
    page=__doc__,
)


@FAULT.detector(
    "RE902",
    "label-shape-or-range",
    "reenact",
    needs=Needs.CRASH,
    observes=Observes.CRASH,
    why="Each loss takes labels of one form, and one unit of the output for every class.",
    severity=Severity.ERROR,
    confidence=0.95,
    certainty=Certainty.PROOF,
    is_root_cause=True,
)
def label_shape_or_range(detector: Detector, evidence: Evidence) -> Findings:
    """The loss was given labels of a shape, a type or a range that it does not take: one-hot rows
    where class numbers belong or the reverse, a class number beyond the width of the output,
    another number of rows.

    Documentation of the losses of PyTorch and Keras.
    """
    labels = evidence.labels
    output = evidence.output
    width = f"; the output has {output.width} units" if output is not None and output.width else ""
    classes = (
        f"; labels have {labels.classes} classes" if labels is not None and labels.classes else ""
    )
    made = labels_made_at(evidence.files)
    where = f"; the labels are made at line {made.line}" if made is not None else ""
    why = label_advice(evidence.crash) if evidence.crash is not None else ""
    saw = width + classes + _range(evidence) + where
    for finding in crashed(detector, evidence, CrashKind.LABEL, saw, why=why):
        yield with_fixes(finding, unit_for_each_class(evidence))


def _range(evidence: Evidence) -> str:
    """The labels at the call that raised, where one of them has no unit of the output."""
    beyond = outside(evidence.crash) if evidence.crash is not None else None
    if beyond is None:
        return ""
    labels, size = beyond
    return (
        f"; labels at this call are {labels.minimum} to {labels.maximum}, allowed are 0 to "
        f"{size - 1}"
    )
