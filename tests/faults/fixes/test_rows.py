"""Labels travel with their inputs, held-out rows are scaled as the others, rare classes weigh more."""

from __future__ import annotations

import pytest

from edited_programs import at, changed, edits, read, refusal, renamed
from reenact.faults.fixes.classes import weigh_classes
from reenact.faults.fixes.labels import one_order
from reenact.faults.fixes.scaling import fit_on_training_rows
from reenact.faults.fixes.splits import judge_other_rows, split_first, split_in_order
from reenact.program.syntax.lines import calls

SHUFFLED = """
import numpy as np

rng = np.random.default_rng(0)
rng.shuffle(x)  # rows
rng.shuffle(y)
"""


def test_one_draw_orders_rows_and_labels() -> None:
    (after,) = edits(SHUFFLED, lambda one: one_order(one, at(SHUFFLED, "shuffle(y)")))
    assert "order = rng.permutation(len(x))  # rows\nx, y = x[order], y[order]\n" in after
    names = {"rng": "a", "x": "b", "y": "c"}
    other = renamed(SHUFFLED, **names)
    (again,) = edits(other, lambda one: one_order(one, at(other, "shuffle(c)")))
    assert again.replace("order", "o") == renamed(after, **names).replace("order", "o")


def test_lists_have_no_order_of_numbers() -> None:
    text = "import random\nrandom.shuffle(x)\nrandom.shuffle(y)\n"
    reason = refusal(text, lambda one: one_order(one, at(text, "shuffle(y)")))
    assert reason == "The rows are lists, which no order of numbers can be applied to."


def test_a_permutation_is_drawn_once() -> None:
    text = "import torch\nx = x[torch.randperm(len(x))]\ny = y[torch.randperm(len(y))]\n"
    (after,) = edits(text, lambda one: one_order(one, at(text, "y = y")))
    assert "order = torch.randperm(len(x))\nx = x[order]\ny = y[order]\n" in after


def test_a_mask_is_turned_as_its_picture_is() -> None:
    text = (
        "def turned(image, mask):\n    if flips():\n        image = image.flip(-1)  # left\n"
        "    return image, mask\n"
    )
    lines = changed(text, lambda one: one_order(one, at(text, "image = ")))
    assert lines == ["+         mask = mask.flip(-1)"]


def test_two_splits_take_one_seed() -> None:
    text = (
        "from sklearn.model_selection import train_test_split\n"
        "a, b = train_test_split(x, random_state=0)\nc, d = train_test_split(y, random_state=1)\n"
    )
    (after,) = edits(text, lambda one: one_order(one, at(text, "c, d")))
    assert after.count("random_state=0") == 2


def test_loaders_side_by_side_draw_alike() -> None:
    text = (
        "import torch\nfrom torch.utils.data import DataLoader\n"
        "first = DataLoader(x, shuffle=True)\nsecond = DataLoader(y, shuffle=True)\n"
        "for a, b in zip(first, second):\n    pass\n"
    )
    (after,) = edits(text, lambda one: one_order(one, at(text, "for a")))
    assert after.count("generator=torch.Generator().manual_seed(0)") == 2


SPLIT = "from sklearn.model_selection import train_test_split\ntrain, test = train_test_split(x)\n"


def test_a_scaler_is_fitted_to_the_training_rows_alone() -> None:
    text = SPLIT + (
        "from sklearn.preprocessing import StandardScaler\nscaler = StandardScaler()\n"
        "a = scaler.fit_transform(train)\nb = scaler.fit_transform(test)  # held out\n"
    )
    (after,) = edits(text, lambda one: fit_on_training_rows(one, at(text, "b =")))
    assert "b = scaler.transform(test)  # held out\n" in after


def test_figures_of_rows_that_are_overwritten_are_taken_before() -> None:
    text = SPLIT + (
        "train = (train - train.mean(0)) / train.std(0)\ntest = (test - test.mean(0)) / test.std(0)\n"
    )
    (after,) = edits(text, lambda one: fit_on_training_rows(one, at(text, "test = (")))
    assert (
        "train_mean, train_std = train.mean(0), train.std(0)\n"
        "train = (train - train_mean) / train_std\ntest = (test - train_mean) / train_std\n"
    ) in after


def test_rows_that_judge_begin_where_training_ends() -> None:
    text = (
        "train = DataLoader(TensorDataset(x[:80], y[:80]))\n"
        "test = DataLoader(TensorDataset(x[60:], y[60:]))\n"
    )
    (after,) = edits(text, judge_other_rows)
    assert "TensorDataset(x[80:], y[80:])" in after
    assert refusal(after, judge_other_rows) == "Which rows to judge by is for the program to say."


def test_rows_are_drawn_again_after_the_split() -> None:
    text = (
        "from sklearn.model_selection import train_test_split\n"
        "many, labels = sampler.fit_resample(x, y)  # SMOTE\n"
        "a, b, c, d = train_test_split(many, labels, test_size=0.2)\n"
    )
    (after,) = edits(text, lambda one: split_first(one, at(text, "many")))
    assert (
        "a, b, c, d = train_test_split(x, y, test_size=0.2)\na, c = sampler.fit_resample(a, c)\n"
    ) in after


@pytest.mark.parametrize(
    ("made", "edited"),
    [
        ("nn.CrossEntropyLoss()", "nn.CrossEntropyLoss(weight=torch.tensor([0.556, 5.0]))"),
        ("nn.BCEWithLogitsLoss()", "nn.BCEWithLogitsLoss(pos_weight=torch.tensor([9.0]))"),
    ],
)
def test_rare_classes_weigh_more(made: str, edited: str) -> None:
    text = f"import torch\nfrom torch import nn\nloss_of = {made}\n"
    (after,) = edits(text, lambda one: weigh_classes(one, (90, 10), (0, 1)))
    assert f"loss_of = {edited}\n" in after
    assert edits(after, lambda one: weigh_classes(one, (90, 10), (0, 1))) == []


def test_classes_that_are_no_numbers_from_zero_are_refused() -> None:
    text = "from torch import nn\nloss_of = nn.CrossEntropyLoss()\n"
    reason = refusal(text, lambda one: weigh_classes(one, (90, 10), (1, 2)))
    assert reason.startswith("The labels are not the numbers from 0 on")


def test_windows_that_overlap_are_split_in_order() -> None:
    text = (
        "from sklearn.model_selection import train_test_split\n"
        "a, b = train_test_split(windows, test_size=0.2, random_state=0)  # of the series\n"
    )
    (call,) = calls(read(text).files, "train_test_split")
    (after,) = edits(text, lambda one: split_in_order(one, call))
    assert "train_test_split(windows, test_size=0.2, shuffle=False)  # of the series\n" in after
