"""Our own metrics against those of scikit-learn, and their constant answers."""

from __future__ import annotations

import math

import pytest

from reenact.paper.measure.inside.quantities import quantities

torch = pytest.importorskip("torch")


def test_classes_against_scikit_learn() -> None:
    from sklearn import metrics

    chance = torch.Generator().manual_seed(0)
    scores = torch.randn(200, 3, generator=chance)
    labels = torch.randint(0, 3, (200,), generator=chance)
    found = {name: pair[0] for name, pair in quantities(scores, labels).items()}
    chosen, shares = scores.argmax(dim=1), scores.softmax(dim=1)
    assert found["accuracy"] == pytest.approx(metrics.accuracy_score(labels, chosen))
    assert found["error"] == pytest.approx(1 - found["accuracy"])
    assert found["nll"] == pytest.approx(metrics.log_loss(labels, shares), rel=1e-5)
    assert found["perplexity"] == pytest.approx(math.exp(found["nll"]))
    assert found["macro f1"] == pytest.approx(metrics.f1_score(labels, chosen, average="macro"))
    assert found["weighted f1"] == pytest.approx(
        metrics.f1_score(labels, chosen, average="weighted")
    )
    assert found["balanced accuracy"] == pytest.approx(
        metrics.balanced_accuracy_score(labels, chosen)
    )
    chosen_alone = quantities(chosen, labels)
    assert chosen_alone["accuracy"][0] == pytest.approx(found["accuracy"])


def test_two_classes_against_scikit_learn() -> None:
    from sklearn import metrics

    chance = torch.Generator().manual_seed(1)
    logits = torch.randn(100, generator=chance)
    labels = (torch.rand(100, generator=chance) < 0.3).long()
    found = {name: pair[0] for name, pair in quantities(logits, labels).items()}
    assert found["auc"] == pytest.approx(metrics.roc_auc_score(labels, logits))
    assert found["f1"] == pytest.approx(metrics.f1_score(labels, logits > 0))
    assert found["precision"] == pytest.approx(metrics.precision_score(labels, logits > 0))
    assert found["recall"] == pytest.approx(metrics.recall_score(labels, logits > 0))
    shares = logits.sigmoid()
    assert quantities(shares, labels)["brier"][0] == pytest.approx(
        metrics.brier_score_loss(labels, shares)
    )
    assert quantities(shares, labels)["nll"][0] == pytest.approx(found["nll"], rel=1e-5)


def test_numbers_against_scikit_learn() -> None:
    from sklearn import metrics

    chance = torch.Generator().manual_seed(2)
    wanted = torch.randn(50, 1, generator=chance)
    predicted = wanted + 0.3 * torch.randn(50, 1, generator=chance)
    found = quantities(predicted, wanted)
    assert found["mse"][0] == pytest.approx(metrics.mean_squared_error(wanted, predicted), rel=1e-5)
    assert found["rmse"][0] == pytest.approx(math.sqrt(found["mse"][0]))
    assert found["mae"][0] == pytest.approx(
        metrics.mean_absolute_error(wanted, predicted), rel=1e-5
    )
    assert found["r2"][0] == pytest.approx(metrics.r2_score(wanted, predicted), rel=1e-5)


def test_constant_answers() -> None:
    labels = torch.tensor([0, 0, 0, 1])
    found = quantities(torch.randn(4, 2), labels)
    assert found["accuracy"][1] == pytest.approx(0.75)
    assert found["error"][1] == pytest.approx(0.25)
    assert found["nll"][1] == pytest.approx(-(0.75 * math.log(0.75) + 0.25 * math.log(0.25)))
    wanted = torch.tensor([0.5, 1.5, 2.5, 7.5])
    numbers = quantities(torch.zeros(4), wanted)
    assert numbers["mse"][1] == pytest.approx(float(wanted.var(unbiased=False)))
    assert numbers["r2"][1] == 0.0


def test_labels_that_are_left_out_and_classes_in_the_second_dimension() -> None:
    scores = torch.zeros(2, 3, 2)
    scores[:, 1] = 1.0
    labels = torch.tensor([[1, -100], [1, 0]])
    assert quantities(scores, labels)["accuracy"][0] == pytest.approx(2 / 3)
    assert quantities(torch.zeros(5), torch.zeros(3)) == {}
