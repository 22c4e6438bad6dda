"""Metrics of known families, computed from predictions and labels by our own code.

Each comes with what a constant answer reaches on the same labels: the majority class, the mean, the
median, the shares of the classes. Predictions may be scores with a dimension of classes (logits,
log-probabilities or probabilities), one score per row (binary), labels that were chosen already, or
real numbers.
"""

from __future__ import annotations

import math
from typing import Any

Quantities = dict[str, tuple[float, float]]
"""By name: the value of the predictions, and that of a constant answer; NaN where there is none."""
FEW = 2000
"""Classes up to which labels are taken for classes."""
NOUGHT = 1e-12


def quantities(predicted: Any, labels: Any) -> Quantities:
    """Everything that these two tensors may be the predictions and the labels of."""
    import torch

    predicted = predicted.detach().cpu()
    labels = labels.detach().cpu()
    found: Quantities = {}
    with torch.no_grad():
        if predicted.numel() == labels.numel():
            flat = predicted.reshape(-1).double()
            wanted = labels.reshape(-1).double()
            if not _is_boolean(predicted):
                found.update(_of_numbers(flat, wanted))
            if _are_classes(labels):
                found.update(
                    _of_single_scores(
                        flat,
                        wanted.long(),
                        _are_classes(predicted),
                    )
                )
        elif _are_classes(labels):
            scores = _rows_of_scores(predicted, labels)
            if scores is not None:
                found.update(
                    _of_scores(
                        scores,
                        labels.reshape(-1).long(),
                    )
                )
    return {name: pair for name, pair in found.items() if math.isfinite(pair[0])}


def _is_boolean(values: Any) -> bool:
    return str(values.dtype) == "torch.bool"


def _are_classes(values: Any) -> bool:
    """Whole numbers, not too many different ones, none of them far below nought."""
    if values.is_floating_point() and not bool((values == values.round()).all()):
        return False
    whole = values.reshape(-1).long()
    return bool(whole.numel()) and int(whole.min()) >= -100 and int(whole.max()) < FEW


def _rows_of_scores(predicted: Any, labels: Any) -> Any:
    """Scores as rows by classes, in the order of the flat labels; none where the shapes do not
    fit.
    """
    shape = tuple(predicted.shape)
    wanted = tuple(labels.shape)
    if shape[:-1] == wanted:
        return predicted.reshape(-1, shape[-1]).double()
    # Images and sequences as cross_entropy takes them: classes in the second dimension.
    if (
        len(shape) > 2
        and (
            shape[0],
            *shape[2:],
        )
        == wanted
    ):
        return predicted.movedim(1, -1).reshape(-1, shape[1]).double()
    if len(shape) > 1 and shape[-1] > 1 and predicted.numel() == labels.numel() * shape[-1]:
        return predicted.reshape(-1, shape[-1]).double()
    return None


def _of_numbers(predicted: Any, wanted: Any) -> Quantities:
    """Errors of real numbers; the constant answer is the mean, for absolute errors the median."""
    error = predicted - wanted
    mean_square = float((error**2).mean())
    deviation = wanted - wanted.mean()
    variance = float((deviation**2).mean())
    absolute = float(error.abs().mean())
    median = float((wanted - wanted.median()).abs().mean())
    found: Quantities = {
        "mse": (mean_square, variance),
        "half mse": (mean_square / 2, variance / 2),
        "rmse": (math.sqrt(mean_square), math.sqrt(variance)),
        "mae": (absolute, median),
    }
    rows = max(1, wanted.numel())
    found["sse"] = (mean_square * rows, variance * rows)
    if variance > NOUGHT:
        explained = 1 - float((error - error.mean()).pow(2).mean()) / variance
        found["r2"] = (1 - mean_square / variance, 0.0)
        found["explained variance"] = (explained, 0.0)
        found["nmse"] = (mean_square / variance, 1.0)
        found["nrmse"] = (math.sqrt(mean_square / variance), 1.0)
    size = float((wanted**2).mean())
    if size > NOUGHT:
        found["relative error"] = (
            math.sqrt(mean_square / size),
            math.sqrt(variance / size),
        )
    return found


def _of_single_scores(scores: Any, labels: Any, chosen: bool) -> Quantities:
    """Labels that were chosen already, or one score per row for the class 1."""
    counted = labels >= 0
    scores = scores[counted]
    labels = labels[counted]
    if not labels.numel():
        return {}
    found: Quantities = {}
    if chosen:
        found.update(_of_choices(scores.long(), labels))
    if set(labels.unique().tolist()) <= {0, 1}:
        found.update(_of_binary(scores, labels))
    return found


def _of_binary(scores: Any, labels: Any) -> Quantities:
    """Logits or probabilities of the class 1."""
    import torch

    found: Quantities = {}
    share = float(labels.double().mean())
    entropy = _entropy([share, 1 - share])
    is_share = bool(((scores >= 0) & (scores <= 1)).all())
    threshold = 0.5 if is_share else 0.0
    found.update(_of_choices((scores > threshold).long(), labels))
    found["auc"] = (_area(scores, labels), 0.5)
    if is_share:
        loss = torch.nn.functional.binary_cross_entropy(scores, labels.double())
        brier = float(((scores - labels.double()) ** 2).mean())
        found["brier"] = (brier, share * (1 - share))
    else:
        loss = torch.nn.functional.binary_cross_entropy_with_logits(scores, labels.double())
    found["nll"] = (float(loss), entropy)
    return found


def _of_scores(scores: Any, labels: Any) -> Quantities:
    """Logits, log-probabilities or probabilities of all classes."""
    import torch

    counted = (labels >= 0) & (labels < scores.shape[1])
    scores = scores[counted]
    labels = labels[counted]
    if not labels.numel():
        return {}
    found = _of_choices(scores.argmax(dim=1), labels)
    rank = (
        scores
        > scores.gather(
            1,
            labels[:, None],
        )
    ).sum(dim=1)
    most = _shares(labels)
    if scores.shape[1] > 5:
        best = (rank < 5).double()
        found["top-5 accuracy"] = (
            float(best.mean()),
            sum(most[:5]),
        )
        found["top-5 error"] = (
            1 - float(best.mean()),
            1 - sum(most[:5]),
        )
    found["mrr"] = (
        float((1.0 / (rank.double() + 1)).mean()),
        math.nan,
    )
    entropy = _entropy(most)
    losses = {"nll": torch.nn.functional.cross_entropy(scores, labels)}
    taken = scores.gather(1, labels[:, None])
    if bool((scores >= 0).all()) and bool((scores <= 1 + 1e-6).all()):
        losses["nll of probabilities"] = -taken.clamp_min(NOUGHT).log().mean()
    for name, loss in losses.items():
        value = float(loss)
        found[name] = (value, entropy)
        found[name.replace("nll", "perplexity")] = (
            math.exp(min(value, 50.0)),
            math.exp(entropy),
        )
        found[name.replace("nll", "bits")] = (
            value / math.log(2),
            entropy / math.log(2),
        )
    if scores.shape[1] == 2:
        found["auc"] = (
            _area(
                scores[:, 1] - scores[:, 0],
                labels,
            ),
            0.5,
        )
    return found


def _of_choices(chosen: Any, labels: Any) -> Quantities:
    """Accuracy, error and F1 of chosen classes; the constant answer is the majority class."""
    right = float((chosen == labels).double().mean())
    most = _shares(labels)[0]
    found: Quantities = {
        "accuracy": (right, most),
        "error": (1 - right, 1 - most),
    }
    classes = labels.unique().tolist()
    each = [_f1(chosen, labels, one) for one in classes]
    recalls = [float((chosen[labels == one] == one).double().mean()) for one in classes]
    sizes = [float((labels == one).double().mean()) for one in classes]
    majority = 2 * most / (1 + most)
    found["macro f1"] = (
        sum(each) / len(each),
        majority / len(each),
    )
    weighted = sum(f1 * size for f1, size in zip(each, sizes, strict=True))
    found["weighted f1"] = (weighted, majority * most)
    found["balanced accuracy"] = (
        sum(recalls) / len(recalls),
        1 / len(recalls),
    )
    if set(classes) <= {0, 1}:
        positive = float((labels == 1).double().mean())
        found["f1"] = (
            _f1(chosen, labels, 1),
            2 * positive / (1 + positive),
        )
        predicted = chosen == 1
        if bool(predicted.any()):
            found["precision"] = (
                float((labels[predicted] == 1).double().mean()),
                positive,
            )
        if bool((labels == 1).any()):
            found["recall"] = (
                float((chosen[labels == 1] == 1).double().mean()),
                1.0,
            )
    return found


def _f1(chosen: Any, labels: Any, one: int) -> float:
    hits = float(((chosen == one) & (labels == one)).sum())
    total = float((chosen == one).sum()) + float((labels == one).sum())
    return 2 * hits / total if total else 0.0


def _area(scores: Any, labels: Any) -> float:
    """Area under the ROC curve by ranks, ties counted half."""
    import torch

    positive = int((labels == 1).sum())
    negative = int(labels.numel()) - positive
    if not positive or not negative:
        return math.nan
    _, place, count = torch.unique(
        scores,
        sorted=True,
        return_inverse=True,
        return_counts=True,
    )
    ends = count.cumsum(0).double()
    ranks = (ends - (count.double() - 1) / 2)[place]
    above = float(ranks[labels == 1].sum()) - positive * (positive + 1) / 2
    return above / (positive * negative)


def _shares(labels: Any) -> list[float]:
    """Share of each class, the largest first."""
    counts = labels.unique(return_counts=True)[1].double()
    return sorted(
        (counts / counts.sum()).tolist(),
        reverse=True,
    )


def _entropy(shares: list[float]) -> float:
    return -sum(share * math.log(share) for share in shares if share > 0)
