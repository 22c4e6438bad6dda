"""Data sets that change their rows at random, and which of them judge a model."""

import ast
from collections.abc import Sequence

from reenact.program.flow.uses import value_of
from reenact.program.syntax.excerpt import excerpt, same
from reenact.program.syntax.index import FileIndex
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
    within,
)
from reenact.program.training.rows.splits import evaluated
from reenact.types import Place

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


def judged_rows_made_at(files: Sequence[FileIndex]) -> Place | None:
    """Where the data set for validation is given what changes its rows, else where it is made."""
    made = [
        node.value
        for node in nodes(files, ast.Assign)
        if is_call(node.value)
        and called(node.value) not in NUMBERS
        and not evaluated(file_of(node)).isdisjoint(map(last_word, _stored(node)))
    ]
    return first_place(one for one in made if _changes(one) is not None) or first_place(made)


def augmented(files: Sequence[FileIndex]) -> Found:
    """Splits of one augmented data set, and data sets for validation that augment."""
    for node in nodes(files, ast.Assign):
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


def change_of(node: Node) -> ast.expr | None:
    """What changes the rows at random in a statement that makes a data set, or splits one."""
    made = node.value if isinstance(node, ast.Assign) else None
    if is_call(made, "random_split") and made.args:
        made = value_of(made.args[0])
    return _changes(made) if made is not None else None


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
