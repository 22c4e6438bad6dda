"""RE056 augmentation-on-validation

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
    Documentation of torchvision.transforms, "Training references" (one preset for training, one
    for evaluation).
"""

import ast
import re
from collections.abc import Iterator, Mapping

from reenact.program.read.index import FileIndex
from reenact.rules import Certainty, Evidence, Findings, JsonValue, Needs, Place, Rule, TaskType
from reenact.rules.own._lines import called, indexes, place_in, value_of

RANDOM = re.compile(r"random|augment|jitter|noise|cutout|erase|mixup", re.IGNORECASE)
CHANGES = re.compile(r"transform|augment|random|noise|jitter", re.IGNORECASE)
HELD_OUT = re.compile(r"(?:^|_)(?:val|valid|validation|test|eval|dev)(?:_|$)", re.IGNORECASE)
NUMBERS = ("int", "len", "round", "max", "min", "range", "ceil", "floor")
"""Calls that count rows and hold none."""
CHANGED, OWN = 0.5, 0.25
"""Share of the rows that came back changed; where their labels follow a pattern, the rows may have been made
again, unless so many are still most like what they were before."""


class AugmentationOnValidation(Rule):
    code, name, family, fault = "RE056", "augmentation-on-validation", "reenact", None
    needs = Needs.SOURCE
    is_root_cause = True
    confidence = 0.85
    certainty = Certainty.STRONG
    why = "Validation then measures other data than the model will be asked about."

    def check(self, evidence: Evidence) -> Findings:
        written = [one for index in indexes(evidence) for one in _augmented(index)]
        for place, saw in written:
            yield self.finding(evidence, saw, place=place)
        seen = "" if written else _changed(evidence)
        if seen:
            yield self.finding(evidence, seen, place=_transformed(evidence))


def _changed(evidence: Evidence) -> str:
    """What was seen of rows that came back changed under the same labels; empty where none did. Noise that a
    loss is there to take away, and a program without labels that stay, are left alone."""
    again = evidence.trace.happened("evaluated-again") if evidence.trace is not None else ()
    judged = evidence.task in (
        TaskType.BINARY,
        TaskType.MULTI_CLASS,
        TaskType.MULTI_LABEL,
        TaskType.REGRESSION,
    )
    if not again or not judged or evidence.optimizers > 1 or not evidence.compares:
        return ""
    facts = [event.facts for event in again if event.facts.get("labels") is True]
    drawn = [one.get("drawn") is True for one in facts]
    shares = [(_number(one, "same"), _number(one, "own"), _number(one, "rows")) for one in facts]
    changed = [
        one
        for one, sure in zip(shares, drawn, strict=True)
        if one[0] < 1 - CHANGED and (sure or one[1] > max(OWN, 5 / max(1.0, one[2])))
    ]
    if not changed or 2 * len(changed) < len(again):
        return ""
    same, _, rows = changed[-1]
    seen = f"of {rows:.0f} validation rows {1 - same:.0%} came back changed in a later evaluation"
    return f"{seen}, all under the same labels"


def _number(facts: Mapping[str, JsonValue], name: str) -> float:
    value = facts.get(name)
    return float(value) if isinstance(value, int | float) else 0.0


def _transformed(evidence: Evidence) -> Place | None:
    """Where the data set for validation is given what changes its rows, else where it is made."""
    made: list[Place] = []
    for index in indexes(evidence):
        for node in ast.walk(index.tree):
            if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Call):
                continue
            names = [ast.unparse(one).rpartition(".")[2] for one in _elements(node.targets[0])]
            if any(HELD_OUT.search(name) for name in names) and called(node.value) not in NUMBERS:
                words = [*node.value.args, *(word.value for word in node.value.keywords)]
                given = [*map(ast.unparse, words), *(word.arg or "" for word in node.value.keywords)]
                if any(CHANGES.search(text) for text in given):
                    return place_in(index, node)
                made.append(place_in(index, node))
    return made[0] if made else None


def _augmented(index: FileIndex) -> Iterator[tuple[Place, str]]:
    """Splits of one augmented data set, and data sets for validation that augment."""
    for node in ast.walk(index.tree):
        if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Call):
            continue
        names, call = [ast.unparse(one) for one in _elements(node.targets[0])], node.value
        if called(call) == "random_split" and call.args:
            given = _augments(index, value_of(index, call.args[0]))
            if given and len(names) > 1 and not _is_replaced(index, names[1:]):
                held_out = " and ".join(names[1:])
                yield place_in(index, node), f"{held_out}: rows of a data set with {given}"
        elif len(names) == 1 and HELD_OUT.search(names[0].rpartition(".")[2]):
            given = _augments(index, call)
            if given:
                yield place_in(index, node), f"{names[0]} is made with {given}"


def _elements(target: ast.expr) -> list[ast.expr]:
    return list(target.elts) if isinstance(target, ast.Tuple | ast.List) else [target]


def _augments(index: FileIndex, made: ast.expr) -> str:
    """The argument by which a data set changes its rows at random, as it is written; empty for none."""
    for word in made.keywords if isinstance(made, ast.Call) else ():
        switched = RANDOM.search(word.arg or "") and ast.unparse(word.value) == "True"
        changes = (word.arg or "").startswith(("transform", "augment"))
        if switched or (changes and RANDOM.search(ast.unparse(value_of(index, word.value)))):
            return ast.unparse(word)[:60]
    return ""


def _is_replaced(index: FileIndex, names: list[str]) -> bool:
    """Whether a part gets a data set or a transform of its own later."""
    return any(re.search(rf"\b{re.escape(name)}\.(?:dataset|transforms?)\b.*=", index.text) for name in names)
