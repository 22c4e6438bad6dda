"""RE056 augmentation-on-validation

What
    Validation data are changed at random like the training data.
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
from collections.abc import Iterator

from reenact.program.read.index import FileIndex
from reenact.rules import Certainty, Evidence, Findings, Needs, Place, Rule
from reenact.rules.own._lines import called, indexes, place_in, value_of

RANDOM = re.compile(r"random|augment|jitter|noise|cutout|erase|mixup", re.IGNORECASE)
HELD_OUT = re.compile(r"(?:^|_)(?:val|valid|validation|test|eval|dev)(?:_|$)", re.IGNORECASE)


class AugmentationOnValidation(Rule):
    code, name, family, fault = "RE056", "augmentation-on-validation", "reenact", None
    needs = Needs.SOURCE
    is_root_cause = True
    confidence = 0.85
    certainty = Certainty.STRONG
    why = "Validation then measures other data than the model will be asked about."

    def check(self, evidence: Evidence) -> Findings:
        for index in indexes(evidence):
            for place, saw in _augmented(index):
                yield self.finding(evidence, saw, place=place)


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
