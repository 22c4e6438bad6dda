"""The assertions for users' own tests: what they find, what they say, and that they leave no
trace.
"""

from __future__ import annotations

import copy
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import reenact
from reenact.errors import InputError
from reenact.pytest import assert_learns, assert_no_findings

# One worker imports Keras and the compiler of torch, not all of them.
pytestmark = pytest.mark.xdist_group("torch_itself")


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)


@pytest.fixture
def batch() -> tuple[torch.Tensor, torch.Tensor]:
    return torch.randn(16, 4), torch.randint(0, 3, (16,))


def network(last: nn.Module | None = None) -> nn.Module:
    return nn.Sequential(
        nn.Linear(4, 32),
        nn.BatchNorm1d(32),
        nn.ReLU(),
        nn.Dropout(0.1),
        last or nn.Linear(32, 3),
    )


class Forgetful(nn.Module):
    """Cuts the way back to its first layer, and answers the same whatever it is asked."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(4, 8)
        self.second = nn.Linear(8, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        seen: torch.Tensor = self.second(torch.zeros_like(self.first(x)))
        return seen


class Stepping(nn.Module):
    """As Lightning has it."""

    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Linear(4, 1)

    def training_step(self, batch: Any, index: int) -> dict[str, torch.Tensor]:
        return {
            "loss": (self.net(batch["rows"]) - batch["rows"].sum(1, keepdim=True)).square().mean()
        }


class Detached(nn.Module):
    """Learns all the same: its second layer does the work."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(4, 64)
        self.second = nn.Linear(64, 3)
        self.unused = nn.Linear(3, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = self.second(torch.relu(self.first(x)).detach())
        return out


class LikeHuggingFace(nn.Module):
    """Takes a dict, and gives its loss when labels are in it."""

    def __init__(self, *, looks: bool = True) -> None:
        super().__init__()
        self.words, self.head = nn.Embedding(20, 16), nn.Linear(16, 3)
        self.looks = looks

    def forward(
        self, input_ids: torch.Tensor, labels: torch.Tensor | None = None
    ) -> dict[str, Any]:
        seen = input_ids if self.looks else input_ids * 0
        logits = self.head(self.words(seen).mean(1))
        loss = None if labels is None else nn.functional.cross_entropy(logits, labels)
        return {"loss": loss, "logits": logits}


@pytest.mark.release
def test_a_layer_that_is_called_and_gets_no_gradient_fails(
    batch: tuple[torch.Tensor, torch.Tensor],
) -> None:
    with pytest.raises(
        AssertionError,
        match=r"RE013 .*\n.*no gradient reaches first.weight, first.bias",
    ) as found:
        assert_learns(Detached(), batch)

    assert "unused" not in str(found.value)


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("loss", "steps"),
    [(None, 300), (nn.functional.cross_entropy, 60), (nn.CrossEntropyLoss(), 60)],
    ids=["fitting", "function", "module"],
)
def test_softmax_before_a_loss_that_expects_logits_fails(
    batch: tuple[torch.Tensor, torch.Tensor], loss: Any, steps: int
) -> None:
    model = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 3), nn.Softmax(1))

    with pytest.raises(
        AssertionError, match="the model ends in softmax, and the loss expects logits"
    ):
        assert_learns(model, batch, loss=loss, steps=steps)


def test_softmax_before_a_loss_that_takes_probabilities_passes() -> None:
    rows, classes = torch.randn(8, 4), torch.randint(0, 3, (8,))
    model = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 3), nn.Softmax(1))

    assert_learns(
        model,
        (rows, classes),
        loss=lambda got, y: nn.functional.nll_loss(got.log(), y),
        steps=300,
    )


@pytest.mark.parametrize("loss", [None, nn.functional.cross_entropy], ids=["own", "given"])
def test_a_dict_is_a_batch(loss: Any) -> None:
    given = {
        "input_ids": torch.randint(0, 20, (8, 5)),
        "labels": torch.randint(0, 3, (8,)),
    }

    assert_learns(LikeHuggingFace(), given, loss=loss)
    with pytest.raises(AssertionError, match="RE020"):
        assert_learns(LikeHuggingFace(looks=False), given, loss=loss)


def test_a_dict_without_labels_or_a_loss_is_refused() -> None:
    with pytest.raises(InputError, match="gives no loss for this dict"):
        assert_learns(LikeHuggingFace(), {"input_ids": torch.randint(0, 20, (8, 5))})


def test_a_sound_model_learns(batch: tuple[torch.Tensor, torch.Tensor]) -> None:
    assert_learns(network(), batch)


def test_the_model_and_all_random_numbers_stay_as_they_were(
    batch: tuple[torch.Tensor, torch.Tensor],
) -> None:
    model = network().eval()
    model[0].weight.grad = torch.ones_like(model[0].weight)
    before = copy.deepcopy(model.state_dict())
    states = (
        torch.random.get_rng_state(),
        random.getstate(),
        np.random.get_state()[1].tolist(),
    )
    assert_learns(model, batch)
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    assert not model.training
    assert torch.equal(model[0].weight.grad, torch.ones_like(model[0].weight))
    assert torch.equal(torch.random.get_rng_state(), states[0])
    assert (random.getstate(), np.random.get_state()[1].tolist()) == states[1:]


def test_a_model_that_cannot_learn_is_explained(
    batch: tuple[torch.Tensor, torch.Tensor],
) -> None:
    with pytest.raises(AssertionError) as error:
        assert_learns(Forgetful(), batch)
    output = str(error.value)
    assert output.startswith(
        "Forgetful does not learn one batch.\nRE020 cannot-overfit-one-batch\n  saw   100 steps"
    )
    assert "no gradient reaches first.weight, first.bias, second.weight" in output
    assert "reenact explain RE020" in output
    assert "TC004 ignores-its-inputs" in output


def test_a_loss_that_is_no_number_is_reported(
    batch: tuple[torch.Tensor, torch.Tensor],
) -> None:
    with pytest.raises(AssertionError, match="the loss is not a number before step 1"):
        assert_learns(network(), batch, loss=lambda output, _: output.sum() * float("nan"))


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("last", "targets"),
    [
        (nn.Linear(32, 1), torch.linspace(-1, 1, 16)),
        (nn.Linear(32, 1), torch.tensor([0.0, 1.0] * 8)),
        (nn.Linear(32, 3), torch.linspace(-1, 1, 48).reshape(16, 3)),
    ],
)
def test_the_loss_fits_the_targets(last: nn.Module, targets: torch.Tensor) -> None:
    torch.manual_seed(0)
    model = network(last)
    for part in model.modules():
        if isinstance(part, nn.Linear):
            part.reset_parameters()
    assert_learns(model, (torch.randn(16, 4), targets), steps=300)


def test_a_module_with_a_step_of_its_own_is_trained_by_it() -> None:
    assert_learns(Stepping(), {"rows": torch.randn(16, 4)}, steps=400)


@pytest.mark.parametrize(
    ("model", "given", "sentence"),
    [
        (object(), (1, 2), "A model is a torch module"),
        (nn.Linear(2, 2), torch.ones(2), "A batch is a pair"),
        (
            nn.ReLU(),
            (torch.ones(2, 2), torch.ones(2, 2)),
            "no weight that may be trained",
        ),
        (
            nn.Linear(2, 2),
            (torch.ones(2, 2), torch.ones(7)),
            "No loss is known for these shapes",
        ),
    ],
)
def test_what_cannot_be_tried_is_stated(model: Any, given: Any, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        assert_learns(model, given)


@pytest.mark.release
def test_a_keras_model_learns_by_its_own_loss() -> None:
    import keras

    rows = np.random.default_rng(0).normal(size=(12, 4)).astype("float32")
    classes = np.arange(12) % 3
    last = keras.layers.Dense(3, activation="softmax")
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(16, activation="relu"), last])
    model.compile("sgd", "sparse_categorical_crossentropy")
    before = [weight.copy() for weight in model.get_weights()]
    assert_learns(model, (rows, classes), steps=60)
    assert all(
        np.array_equal(now, then) for now, then in zip(model.get_weights(), before, strict=True)
    )
    last.trainable = False
    last.kernel.assign(last.kernel * 0)
    with pytest.raises(AssertionError, match="Sequential does not learn one batch"):
        assert_learns(model, (rows, classes), rates=[1e-2], steps=25)


def train(model: nn.Module, rate: float, *, clears: bool = True) -> None:
    x = torch.randn(120, 4)
    y = (x.sum(1) > 0).long()
    optimizer = torch.optim.SGD(model.parameters(), lr=rate)
    for _ in range(6):
        for rows in torch.randperm(120).split(20):
            if clears:
                optimizer.zero_grad()
            nn.functional.cross_entropy(model(x[rows]), y[rows]).backward()
            optimizer.step()


def test_findings_of_a_watched_training_fail_with_what_was_seen(tmp_path: Path) -> None:
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    with reenact.watch(model, folder=tmp_path / "bad", preset="deep") as watching:
        train(model, 100.0)
    for given in (watching, watching.trace, tmp_path / "bad", str(tmp_path / "bad")):
        with pytest.raises(AssertionError, match="RE019 learning-rate-outside-range") as error:
            assert_no_findings(given, select=["RE019"])
        assert "reenact explain RE019" in str(error.value)
    assert_no_findings(watching, ignore=["RE", "UM", "DL", "DD", "NL", "AT", "TC"])


def test_gradients_that_are_never_cleared_are_seen_without_any_source(
    tmp_path: Path,
) -> None:
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    with reenact.watch(model, folder=tmp_path / "added") as watching:
        train(model, 0.1, clears=False)

    with pytest.raises(AssertionError, match="RE010 gradients-not-cleared"):
        assert_no_findings(watching)


def test_a_healthy_training_passes(tmp_path: Path) -> None:
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    with reenact.watch(model, folder=tmp_path / "good", preset="deep") as watching:
        train(model, 0.1)
    assert_no_findings(watching)


def test_a_watch_that_saw_nothing_is_no_proof(tmp_path: Path) -> None:
    with reenact.watch(folder=tmp_path / "empty") as watching:
        pass
    with pytest.raises(AssertionError, match="Nothing was trained"):
        assert_no_findings(watching)
