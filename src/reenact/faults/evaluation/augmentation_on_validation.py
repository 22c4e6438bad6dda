"""EV06 augmentation-on-validation

What
    Validation data are changed at random like the training data: the text says so, or the same rows came
    back changed from one evaluation to the next, under the same labels.
Why
    Augmentation makes training harder on purpose. Validation through it measures other data than the model
    will be asked about, and other data each time.
Symptom
    Validation results that are too low and differ from epoch to epoch.
Example
    import torch
    from torch.utils.data import DataLoader, Dataset, random_split

    class Rows(Dataset):
        def __init__(self, transform):
            self.rows, self.transform = torch.randn(100, 4), transform
        def __len__(self):
            return 100
        def __getitem__(self, number):
            return self.transform(self.rows[number])

    def add_noise(row):
        return row + 0.3 * torch.randn_like(row)

    data = Rows(transform=add_noise)
    train_set, val_set = random_split(data, [80, 20])
Instead
    - data = Rows(transform=add_noise)
    - train_set, val_set = random_split(data, [80, 20])
    + train_set, val_set = random_split(Rows(transform=add_noise), [80, 20])
    + val_set.dataset = Rows(transform=torch.clone)
Fix safety
    Safe for the training; validation results change, they were of other data.
Sources
    Documentation of torchvision.transforms, "Training references" (one preset for training, one for
    evaluation).
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
    TaskType,
)
from reenact.faults.fixes.splits import plain_for_validation
from reenact.probe.trace import Event
from reenact.program.syntax.pieces import (
    place_of,
)
from reenact.program.training.rows.augmented import augmented, change_of, judged_rows_made_at

CHANGED, OWN = 0.5, 0.25
"""Share of the rows that came back changed; where their labels follow a pattern, the rows may have
been made again, unless so many are still most like what they were before.
"""
FAULT = Fault(
    code="EV06",
    name="augmentation-on-validation",
    category=Category.EVALUATION,
    page=__doc__,
)


@FAULT.detector(
    "RE056",
    "augmentation-on-validation",
    "reenact",
    needs=Needs.SOURCE,
    observes=Observes.TEXT,
    why="Validation then measures other data than the model will be asked about.",
    confidence=0.85,
    certainty=Certainty.STRONG,
    is_root_cause=True,
)
def augmentation_on_validation(detector: Detector, evidence: Evidence) -> Findings:
    """Validation data are changed at random like the training data: the text says so, or the same
    rows came back changed from one evaluation to the next, under the same labels.

    Documentation of torchvision.transforms, "Training references" (one preset for training, one for
    evaluation).
    """
    written = list(augmented(evidence.files))
    for node, saw in written:
        yield detector.finding(
            evidence,
            saw,
            fixes=plain_for_validation(evidence, node, change_of(node)),
            place=place_of(node),
        )
    seen = "" if written else _changed(evidence)
    if seen:
        yield detector.finding(evidence, seen, place=judged_rows_made_at(evidence.files))


def _changed(evidence: Evidence) -> str:
    """What was seen of rows that came back changed under the same labels; empty where none did.
    Noise that a loss is there to take away, and a program without labels that stay, are left alone.
    """
    again = evidence.happened("evaluated-again")
    if (
        not again
        or evidence.task is TaskType.UNKNOWN
        or evidence.optimizers > 1
        or not evidence.compares
    ):
        return ""
    changed = []
    for event in again:
        if event.facts.get("labels") is not True:
            continue
        same = _number(event, "same")
        own = _number(event, "own")
        rows = _number(event, "rows")
        drawn = event.facts.get("drawn") is True
        if same < 1 - CHANGED and (drawn or own > max(OWN, 5 / max(1.0, rows))):
            changed.append((same, rows))
    if not changed or 2 * len(changed) < len(again):
        return ""
    same, rows = changed[-1]
    seen = f"of {rows:.0f} validation rows {1 - same:.0%} came back changed in a later evaluation"
    return f"{seen}, all under the same labels"


def _number(event: Event, name: str) -> float:
    """A fact of an event as a number; 0 where it is not there."""
    return float(str(event.facts.get(name) or 0))
