"""What the probe reads off the tensor that a loss is given, and off the labels of batches."""

from __future__ import annotations

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
    [((6, 1), (6,), [[6, 1], [6]]), ((6,), (6,), [[6], [6]]), ((6, 1), (6, 1), [[6, 1], [6, 1]])],
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
    output, mask, target = torch.randn(4, 1, requires_grad=True), torch.ones(4, 1), torch.randn(4, 1)
    read = injected.part("torch.facts")._loss_by_hand
    assert read((mask * (output - target)).mean().grad_fn) is None
    assert read(((output - target) * mask).mean().grad_fn) is None
    assert read(((output - target) * (output - target)).mean().grad_fn).name == "mse"
