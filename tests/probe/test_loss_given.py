"""What the probe reads off the tensor that a loss is given, and off the labels of batches."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from reenact.probe import injected

torch = pytest.importorskip("torch")


@pytest.mark.parametrize(
    ("made", "bend"),
    [
        (lambda x: x.softmax(1), "softmax"),
        (lambda x: x.softmax(1)[:, :1].squeeze(1), "softmax"),
        (lambda x: x.softmax(1).log(), "log_softmax"),
        (lambda x: torch.sigmoid(x).view(-1), "sigmoid"),
        (lambda x: x, "none"),
        (lambda x: x.softmax(1) @ torch.ones(3, 3), "none"),
        (lambda x: x.detach(), ""),
    ],
)
def test_what_bends_the_tensor_itself(made, bend) -> None:  # type: ignore[no-untyped-def]
    output = torch.nn.Linear(2, 3)(torch.randn(5, 2))
    assert injected.part("torch.facts").bend_of(made(output)) == bend


@pytest.mark.parametrize(
    ("shape", "target", "compared"),
    [
        ((6, 1), (6,), [[6, 1], [6]]),
        ((6,), (6,), [[6], [6]]),
        ((6, 1), (6, 1), [[6, 1], [6, 1]]),
    ],
)
def test_shapes_before_they_were_broadcast(
    shape: tuple[int, ...], target: tuple[int, ...], compared: list[list[int]]
) -> None:
    output = torch.randn(shape, requires_grad=True) * 2
    with pytest.warns() if shape != target else pytest.MonkeyPatch.context():
        loss = torch.nn.functional.smooth_l1_loss(output, torch.randn(target))
    node = injected.part("torch.facts").read_loss(loss)
    assert (node.name, node.compared) == ("smooth_l1", compared)


@pytest.mark.parametrize(("ordered", "low", "high"), [(True, 0.8, 1.01), (False, 0.0, 0.5)])
def test_how_far_batches_lie_apart(ordered: bool, low: float, high: float) -> None:
    labels = np.arange(400) // 40
    labels = labels if ordered else np.random.default_rng(0).permutation(labels)
    facts = injected.part("data").TensorFacts()
    for start in range(0, 400, 20):
        facts.update(labels[start : start + 20], "int64")
        facts.count_classes(labels[start : start + 20])
    assert low < facts.as_dict("train", "label")["batch_spread"] < high


def test_one_batch_says_nothing_of_an_order() -> None:
    facts = injected.part("data").TensorFacts()
    facts.count_classes(np.arange(100) // 10)
    assert facts.batch_spread() is None


def test_a_difference_times_a_constant_is_no_squared_difference() -> None:
    """The constant has no place in the graph of gradients."""
    output, mask, target = (
        torch.randn(4, 1, requires_grad=True),
        torch.ones(4, 1),
        torch.randn(4, 1),
    )
    read = injected.part("torch.facts")._loss_by_hand
    assert read((mask * (output - target)).mean().grad_fn) is None
    assert read(((output - target) * mask).mean().grad_fn) is None
    assert read(((output - target) * (output - target)).mean().grad_fn).name == "mse"


PARTS = """
import torch, torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
x, mask, y = torch.randn(96, 8), torch.rand(96, 5), torch.arange(96) % 3
net = nn.Linear(8, 3)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
DATA
train, held_out = DataLoader(data[0], batch_size=16), DataLoader(data[1], batch_size=16)
for epoch in range(3):
    for batch in train:
        optimizer.zero_grad()
        TRAIN.backward()
        optimizer.step()
    net.eval()
    with torch.no_grad():
        for batch in held_out:
            net(batch[FIRST])
    net.train()
"""
THREE = PARTS.replace(
    "DATA",
    "data = [TensorDataset(x[a], mask[a], y[a]) for a in (slice(64), slice(64, 96))]",
)
NAMED = PARTS.replace(
    "DATA",
    (
        "data = [[{'rows': x[n], 'noise': mask[n], 'kind': y[n]} for n in range(*a)] for a in "
        "((64,), (64, 96))]"
    ),
)


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [(THREE, "0", "2"), (NAMED, "'rows'", "'kind'")],
    ids=["three", "named"],
)
def test_labels_are_the_part_that_the_loss_takes(
    forks: Any, text: str, first: str, last: str
) -> None:
    loss = f"F.cross_entropy(net(batch[{first}]), batch[{last}])"
    trace = forks.run(text.replace("TRAIN", loss).replace("FIRST", first)).trace
    assert trace.missing == ()
    labels = {facts.split: facts for facts in trace.graph.data if facts.role == "label"}
    assert {split: facts.class_values for split, facts in labels.items()} == dict.fromkeys(
        labels, (0, 1, 2)
    )
    assert len(labels) == 2


@pytest.mark.parametrize(
    ("target", "held"),
    [
        ("(mask > 0.5).float()[:, :3]", True),
        ("F.one_hot(y, 3).float()", False),
        ("mask[:, :3]", False),
    ],
)
def test_rows_of_several_classes_given_to_a_loss_of_one(
    forks: Any, target: str, held: bool
) -> None:
    text = THREE.replace(
        "TRAIN", "loss(net(batch[0]), batch[2]) + F.mse_loss(net(batch[0]), batch[2])"
    )
    text = text.replace("FIRST", "0").replace(
        "data =", f"y, loss = {target}, nn.CrossEntropyLoss()\ndata ="
    )
    trace = forks.run(text).trace
    found = trace.happened("several-classes")
    assert bool(found) is held
    if found:
        assert found[0].facts["held"] == pytest.approx(1.5, abs=0.3)
        assert found[0].place is not None
