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
from reenact.faults.facts.random_changes import RANDOM_CHANGES
from reenact.faults.fixes.splits import plain_for_validation
from reenact.probe.trace import Event
from reenact.program.flow.uses import value_of
from reenact.program.syntax.excerpt import excerpt, same
from reenact.program.syntax.lines import first_place, nodes
from reenact.program.syntax.pieces import (
    Found,
    Node,
    called,
    calls_in,
    elements,
    file_of,
    given_to,
    is_call,
    last_word,
    place_of,
    within,
)
from reenact.program.training.rows.splits import evaluated

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
    written = list(_augmented(evidence))
    for node, saw in written:
        yield detector.finding(
            evidence,
            saw,
            fixes=plain_for_validation(evidence, node, _change_of(node)),
            place=place_of(node),
        )
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
    made = [
        node.value
        for node in nodes(evidence.files, ast.Assign)
        if is_call(node.value)
        and called(node.value) not in NUMBERS
        and not evaluated(file_of(node)).isdisjoint(map(last_word, _stored(node)))
    ]
    return first_place(one for one in made if _changes(one) is not None) or first_place(made)


def _augmented(evidence: Evidence) -> Found:
    """Splits of one augmented data set, and data sets for validation that augment."""
    for node in nodes(evidence.files, ast.Assign):
        targets = _stored(node)
        made = node.value
        if is_call(made, "random_split") and made.args:
            change = _changes(value_of(made.args[0]))
            if change is not None and len(targets) > 1 and not _given_another(targets[1:]):
                parts = " and ".join(map(excerpt, targets[1:]))
                yield node, f"{parts}: rows of a data set with {excerpt(change)}"
        elif len(targets) == 1 and last_word(targets[0]) in evaluated(file_of(node)):
            change = _changes(made)
            if change is not None:
                yield node, f"{excerpt(targets[0])} is made with {excerpt(change)}"


def _change_of(node: Node) -> ast.expr | None:
    """What changes the rows at random in a statement that makes a data set, or splits one."""
    made = node.value if isinstance(node, ast.Assign) else None
    if is_call(made, "random_split") and made.args:
        made = value_of(made.args[0])
    return _changes(made) if made is not None else None


def _stored(node: ast.Assign) -> list[ast.expr]:
    return elements(node.targets[0]) or [node.targets[0]]


def _given_another(parts: list[ast.expr]) -> bool:
    """Whether a part gets a data set or a transform of its own later."""
    statements = within(file_of(parts[0]).tree, ast.Assign)
    stored = (target for node in statements for target in _stored(node))
    return any(
        attribute.attr in OF_PARTS and any(same(attribute.value, part) for part in parts)
        for target in stored
        for attribute in within(target, ast.Attribute)
    )


def _changes(made: ast.expr) -> ast.expr | None:
    """What a data set changes its rows at random by; none where it is given nothing like that."""
    if not isinstance(made, ast.Call) or called(made) == "DataLoader":
        return None
    return next(filter(_is_random, given_to(made)), None)


def _is_random(given: ast.expr) -> bool:
    """Whether something is a class that changes rows at random, holds one, or is a function that
    draws numbers.
    """
    value = value_of(given)
    functions = (one.node for one in file_of(given).functions)
    own = [one for one in functions if getattr(one, "name", None) == last_word(value)]
    bodies = [value] if isinstance(value, ast.Lambda) else own
    return bool(calls_in(value, *RANDOM_CHANGES)) or any(calls_in(one, *DRAWS) for one in bodies)
