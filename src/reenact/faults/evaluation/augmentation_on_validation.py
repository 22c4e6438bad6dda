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
from reenact.faults.facts.lines import first_place, indexes, place_in, value_of
from reenact.faults.facts.parts import Found, called, is_call, last_word, within
from reenact.faults.facts.splits import evaluated
from reenact.probe.trace import Event
from reenact.program.syntax.excerpt import excerpt, same
from reenact.program.syntax.index import FileIndex

RANDOM_CHANGES = frozenset(
    (
        "AugMix",
        "AutoAugment",
        "ColorJitter",
        "CutMix",
        "CutOut",
        "ElasticTransform",
        "GaussianNoise",
        "MixUp",
        "RandAugment",
        "RandomAdjustSharpness",
        "RandomAffine",
        "RandomApply",
        "RandomAutocontrast",
        "RandomBrightness",
        "RandomBrightnessContrast",
        "RandomChoice",
        "RandomContrast",
        "RandomCrop",
        "RandomEqualize",
        "RandomErasing",
        "RandomFlip",
        "RandomGrayscale",
        "RandomHorizontalFlip",
        "RandomInvert",
        "RandomPerspective",
        "RandomPosterize",
        "RandomResizedCrop",
        "RandomRotation",
        "RandomSolarize",
        "RandomTranslation",
        "RandomVerticalFlip",
        "RandomZoom",
        "TrivialAugmentWide",
    )
)
"""Classes of torchvision, albumentations and Keras."""
DRAWS = (
    "rand",
    "rand_like",
    "randint",
    "randn",
    "randn_like",
    "random",
    "standard_normal",
    "normal",
    "normal_",
    "uniform",
    "uniform_",
)
"""Functions of PyTorch, NumPy and the standard library that give something else each time."""
OF_PARTS = ("dataset", "transform", "transforms")
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
    made: list[tuple[FileIndex, ast.expr]] = []
    for index in indexes(evidence):
        for node in within(index.tree, ast.Assign):
            stored = {last_word(target) for target in _stored(node)}
            changes_rows = is_call(node.value) and called(node.value) not in NUMBERS
            if changes_rows and stored & evaluated(index):
                made.append((index, node.value))
    return first_place(one for one in made if _changes(*one) is not None) or first_place(made)


def _augmented(index: FileIndex) -> Found:
    """Splits of one augmented data set, and data sets for validation that augment."""
    for node in within(index.tree, ast.Assign):
        targets = _stored(node)
        made = node.value
        if is_call(made, "random_split") and made.args:
            change = _changes(index, value_of(index, made.args[0]))
            if change is not None and len(targets) > 1 and not _given_another(index, targets[1:]):
                parts = " and ".join(map(excerpt, targets[1:]))
                yield place_in(index, node), f"{parts}: rows of a data set with {excerpt(change)}"
        elif len(targets) == 1 and last_word(targets[0]) in evaluated(index):
            change = _changes(index, made)
            if change is not None:
                saw = f"{excerpt(targets[0])} is made with {excerpt(change)}"
                yield place_in(index, node), saw


def _stored(node: ast.Assign) -> list[ast.expr]:
    return elements(node.targets[0]) or [node.targets[0]]


def _given_another(index: FileIndex, parts: list[ast.expr]) -> bool:
    """Whether a part gets a data set or a transform of its own later."""
    stored = (target for node in within(index.tree, ast.Assign) for target in _stored(node))
    return any(
        attribute.attr in OF_PARTS and any(same(attribute.value, part) for part in parts)
        for target in stored
        for attribute in within(target, ast.Attribute)
    )


def _changes(index: FileIndex, made: ast.expr) -> ast.expr | None:
    """What a data set changes its rows at random by; none where it is given nothing like that."""
    if not isinstance(made, ast.Call) or called(made) == "DataLoader":
        return None
    given = (*made.args, *(word.value for word in made.keywords))
    return next((value for value in given if _is_random(index, value)), None)


def _is_random(index: FileIndex, given: ast.expr) -> bool:
    """Whether something is a class that changes rows at random, holds one, or is a function that
    draws numbers.
    """
    value = value_of(index, given)
    if any(called(call) in RANDOM_CHANGES for call in within(value, ast.Call)):
        return True
    bodies: list[ast.AST] = [value] if isinstance(value, ast.Lambda) else []
    if isinstance(value, ast.Name):
        bodies += [one.node for one in index.functions if getattr(one.node, "name", "") == value.id]
    return any(called(call) in DRAWS for body in bodies for call in within(body, ast.Call))
