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

import ast
import re

from reenact.faults import (
    Category,
    Certainty,
    Detector,
    Evidence,
    Fault,
    Findings,
    Needs,
    Observes,
    Place,
    TaskType,
)
from reenact.faults.facts.flow import elements
from reenact.faults.facts.lines import first_place, indexes, nodes, place_in, value_of
from reenact.faults.facts.own_figures import HELD_OUT
from reenact.faults.facts.parts import Found, called, is_call, within
from reenact.probe.trace import Event
from reenact.program.syntax.index import FileIndex

RANDOM = re.compile(r"random|augment|jitter|noise|cutout|erase|mixup", re.IGNORECASE)
CHANGES = re.compile(r"transform|augment|random|noise|jitter", re.IGNORECASE)
NUMBERS = (
    "int",
    "len",
    "round",
    "max",
    "min",
    "range",
    "ceil",
    "floor",
    "train_test_split",
)
"""Calls that count rows, or share them out, and change none."""
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
    written = [one for index in indexes(evidence) for one in _augmented(index)]
    for place, saw in written:
        yield detector.finding(evidence, saw, place=place)
    seen = "" if written else _changed(evidence)
    if seen:
        yield detector.finding(evidence, seen, place=_transformed(evidence))


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


def _transformed(evidence: Evidence) -> Place | None:
    """Where the data set for validation is given what changes its rows, else where it is made."""
    stored = [one for one in nodes(evidence, ast.Assign) if any(map(_is_held_out, _stored(one[1])))]
    made = [one for one in stored if is_call(one[1].value) and called(one[1].value) not in NUMBERS]
    return first_place(
        (index, node) for index, node in made if _changes(node.value)
    ) or first_place(made)


def _changes(call: ast.expr) -> bool:
    given = (*call.args, *call.keywords) if isinstance(call, ast.Call) else ()
    return any(CHANGES.search(ast.unparse(one)) for one in given)


def _augmented(index: FileIndex) -> Found:
    """Splits of one augmented data set, and data sets for validation that augment."""
    for node in within(index.tree, ast.Assign):
        names = _stored(node)
        call = node.value
        if is_call(call, "random_split") and call.args:
            given = _augments(
                index,
                value_of(index, call.args[0]),
            )
            # A part may get a data set or a transform of its own later.
            later = rf"\b(?:{'|'.join(map(re.escape, names[1:]))})\.(?:dataset|transforms?)\b.*="
            if given and len(names) > 1 and not re.search(later, index.text):
                yield (
                    place_in(index, node),
                    f"{' and '.join(names[1:])}: rows of a data set with {given}",
                )
        elif len(names) == 1 and _is_held_out(names[0]):
            given = _augments(index, call)
            if given:
                yield place_in(index, node), f"{names[0]} is made with {given}"


def _stored(node: ast.Assign) -> list[str]:
    return [ast.unparse(one) for one in elements(node.targets[0]) or [node.targets[0]]]


def _is_held_out(name: str) -> bool:
    return bool(HELD_OUT.search(name.rpartition(".")[2]))


def _augments(index: FileIndex, made: ast.expr) -> str:
    """The argument by which a data set changes its rows at random, as it is written; empty for
    none.
    """
    for word in made.keywords if isinstance(made, ast.Call) else ():
        switched = RANDOM.search(word.arg or "") and ast.unparse(word.value) == "True"
        changes = (word.arg or "").startswith(("transform", "augment"))
        if switched or (changes and RANDOM.search(ast.unparse(value_of(index, word.value)))):
            return ast.unparse(word)[:60]
    return ""
