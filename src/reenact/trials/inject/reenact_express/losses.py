"""Losses as functions of targets and predictions, one value a sample or finer, as Keras computes them."""

from __future__ import annotations

EPSILON = 1e-7


def compile_loss(torch, loss, normalised=False):
    """The mean loss of a batch, weighted where weights are given. `normalised`: predictions add up to one."""
    settings = {key: value for key, value in loss.items() if key != "name"}
    quick = _QUICK.get(loss["name"]) if not settings.get("label_smoothing") else None
    unweighted = None if quick is None else quick(torch, normalised, settings.get("from_logits", False))
    values = _BUILDERS[loss["name"]](torch, **settings)

    def mean(y, predicted, sample_weight=None):
        if sample_weight is None and unweighted is not None:
            return unweighted(y, predicted)
        found = values(y, predicted)
        if sample_weight is None:
            return found.mean()
        while sample_weight.dim() < found.dim():
            sample_weight = sample_weight.unsqueeze(-1)
        return (found * sample_weight).mean()

    return mean


def fit_targets(name, y, predicted):
    """Targets of the rank and type that the loss needs; done once, for all of them."""
    if name == "sparse_categorical_crossentropy":
        y = y.squeeze(-1) if y.dim() == predicted.dim() and y.shape[-1] == 1 else y
        return y.long()
    if y.dim() == predicted.dim() - 1 and predicted.shape[-1] == 1:
        y = y.unsqueeze(-1)
    elif y.dim() == predicted.dim() + 1 and y.shape[-1] == 1:
        y = y.squeeze(-1)
    return y.to(predicted.dtype)


def _mean_squared_error(_):
    def values(y, p):
        gap = y - p
        return (gap * gap).mean(-1)

    return values


def _mean_absolute_error(_):
    return lambda y, p: (y - p).abs().mean(-1)


def _mean_absolute_percentage_error(_):
    return lambda y, p: 100.0 * ((y - p) / y.abs().clamp(min=EPSILON)).abs().mean(-1)


def _mean_squared_logarithmic_error(torch):
    def log(x):
        return torch.log(x.clamp(min=EPSILON) + 1.0)

    return lambda y, p: ((log(p) - log(y)) ** 2).mean(-1)


def _binary_crossentropy(torch, from_logits=False, label_smoothing=0.0):
    functional = torch.nn.functional

    def values(y, p):
        if label_smoothing:
            y = y * (1.0 - label_smoothing) + 0.5 * label_smoothing
        if from_logits:
            return functional.binary_cross_entropy_with_logits(p, y, reduction="none").mean(-1)
        return functional.binary_cross_entropy(p.clamp(EPSILON, 1.0 - EPSILON), y, reduction="none").mean(-1)

    return values


def _log_probabilities(torch, p, from_logits):
    if from_logits:
        return torch.log_softmax(p, -1)
    return (p / p.sum(-1, keepdim=True)).clamp(EPSILON, 1.0 - EPSILON).log()


def _categorical_crossentropy(torch, from_logits=False, label_smoothing=0.0):
    def values(y, p):
        if label_smoothing:
            y = y * (1.0 - label_smoothing) + label_smoothing / y.shape[-1]
        return -(y * _log_probabilities(torch, p, from_logits)).sum(-1)

    return values


def _sparse_categorical_crossentropy(torch, from_logits=False):
    def values(y, p):
        logs = _log_probabilities(torch, p, from_logits)
        return -logs.gather(-1, y.unsqueeze(-1)).squeeze(-1)

    return values


def _signs(y):
    """Labels of 0 and 1 as -1 and 1; others stay."""
    binary = ((y == 0) | (y == 1)).all()
    return (2.0 * y - 1.0) * binary + y * ~binary


def _hinge(_):
    return lambda y, p: (1.0 - _signs(y) * p).clamp(min=0.0).mean(-1)


def _squared_hinge(_):
    return lambda y, p: ((1.0 - _signs(y) * p).clamp(min=0.0) ** 2).mean(-1)


def _poisson(torch):
    return lambda y, p: (p - y * torch.log(p + EPSILON)).mean(-1)


def _kl_divergence(torch):
    def values(y, p):
        y, p = y.clamp(EPSILON, 1.0), p.clamp(EPSILON, 1.0)
        return (y * torch.log(y / p)).sum(-1)

    return values


def _log_cosh(torch):
    log_2 = 0.6931471805599453

    def values(y, p):
        gap = p - y
        return (torch.logaddexp(gap, -gap) - log_2).mean(-1)

    return values


def _huber(torch, delta=1.0):
    def values(y, p):
        gap = (y - p).abs()
        return torch.where(gap <= delta, 0.5 * gap * gap, delta * gap - 0.5 * delta * delta).mean(-1)

    return values


def _quick_squares(torch, *_):
    loss = torch.nn.functional.mse_loss
    return lambda y, p: loss(p, y)


def _quick_binary(torch, _, from_logits):
    functional = torch.nn.functional
    if from_logits:
        return lambda y, p: functional.binary_cross_entropy_with_logits(p, y)
    return lambda y, p: functional.binary_cross_entropy(p.clamp(EPSILON, 1.0 - EPSILON), y)


def _quick_logs(torch, normalised, from_logits):
    """Dividing by the sum changes nothing, nor its gradient, where a softmax came before."""
    if from_logits:
        return lambda p: torch.log_softmax(p, -1)
    if normalised:
        return lambda p: p.clamp(EPSILON, 1.0 - EPSILON).log()
    return lambda p: _log_probabilities(torch, p, False)


def _quick_categorical(torch, normalised, from_logits):
    logs = _quick_logs(torch, normalised, from_logits)
    return lambda y, p: (y * logs(p)).sum() * (-p.shape[-1] / p.numel())


def _quick_sparse(torch, normalised, from_logits):
    logs, loss = _quick_logs(torch, normalised, from_logits), torch.nn.functional.nll_loss
    return lambda y, p: loss(logs(p).flatten(0, -2), y.flatten())


_QUICK = {
    "mean_squared_error": _quick_squares,
    "binary_crossentropy": _quick_binary,
    "categorical_crossentropy": _quick_categorical,
    "sparse_categorical_crossentropy": _quick_sparse,
}
"""Fewer operations for the same mean, where nothing is weighted: the usual case."""
_BUILDERS = {
    "mean_squared_error": _mean_squared_error,
    "mean_absolute_error": _mean_absolute_error,
    "mean_absolute_percentage_error": _mean_absolute_percentage_error,
    "mean_squared_logarithmic_error": _mean_squared_logarithmic_error,
    "binary_crossentropy": _binary_crossentropy,
    "categorical_crossentropy": _categorical_crossentropy,
    "sparse_categorical_crossentropy": _sparse_categorical_crossentropy,
    "hinge": _hinge,
    "squared_hinge": _squared_hinge,
    "poisson": _poisson,
    "kl_divergence": _kl_divergence,
    "log_cosh": _log_cosh,
    "huber": _huber,
}
