"""What an epoch or an evaluation says: the loss and Keras's own metrics of many samples at once."""

from __future__ import annotations

import math

from reenact_express.refused import Refused

CLOSE = 1e-5
"""How far a quick metric may be from Keras's."""


class Logs:
    """The logs of one model. Keras's metrics add up what they are given, so they may be given everything at
    once. The first time the usual ones are also computed here, beside Keras; where both agree, Keras is not
    asked again: with small data its metrics cost more than the training.
    """

    def __init__(self, model):
        self.model = model
        compiled = model._compile_metrics
        self.metrics = list(compiled.metrics) if compiled is not None and compiled.built else []
        for metric in self.metrics:
            _check(metric)
        self._quick = {}
        """Functions by name of log, once Keras has been seen to agree; none where it did not."""

    def of(self, loss, count, y, predicted, sample_weight):
        """Plain numbers by name, the order Keras's own."""
        key = (tuple(y.shape[1:]), sample_weight is None)
        if self._quick.get(key) is not None:
            return self._quickly(self._quick[key], loss, y, predicted)
        found = self._from_keras(loss, count, y, predicted, sample_weight)
        if key not in self._quick:
            self._quick[key] = self._agreeing(found, loss, y, predicted) if sample_weight is None else None
        return found

    def _from_keras(self, loss, count, y, predicted, sample_weight):
        model = self.model
        model.reset_metrics()
        model._loss_tracker.update_state(loss, sample_weight=count)
        if model._compile_metrics is not None:
            model._compile_metrics.update_state(y, predicted, sample_weight)
        return {name: float(value) for name, value in model.get_metrics_result().items()}

    @staticmethod
    def _quickly(functions, loss, y, predicted):
        return {
            name: float(loss) if function is None else float(function(y, predicted))
            for name, function in functions.items()
        }

    def _agreeing(self, found, loss, y, predicted):
        """A function for every log, or none when one of them is not known or comes out differently."""
        functions = {"loss": None} | {
            metric.name: _QUICK.get(getattr(getattr(metric, "_fn", None), "__name__", ""))
            for metric in self.metrics
        }
        if set(functions) != set(found) or list(functions.values()).count(None) != 1:
            return None
        ordered = {name: functions[name] for name in found}
        ours = self._quickly(ordered, loss, y, predicted)
        same = all(
            math.isclose(ours[name], found[name], rel_tol=CLOSE, abs_tol=CLOSE)
            or (math.isnan(ours[name]) and math.isnan(found[name]))
            for name in found
        )
        return ordered if same else None


def _check(metric):
    """Metrics of the program's own may mean one number a batch."""
    function = getattr(metric, "_fn", None)
    own = function is not None and not getattr(function, "__module__", "").startswith("keras.")
    if own or not type(metric).__module__.startswith("keras."):
        raise Refused(f"the metric {metric.name} is not one of Keras's own")


def _alike(y, p):
    """Targets of the rank of the predictions."""
    if y.dim() == p.dim() - 1 and p.shape[-1] == 1:
        y = y.unsqueeze(-1)
    return y.to(p.dtype)


def _binary_accuracy(y, p):
    return ((p > 0.5) == (_alike(y, p) > 0.5)).float().mean()


def _categorical_accuracy(y, p):
    return (y.argmax(-1) == p.argmax(-1)).float().mean()


def _sparse_categorical_accuracy(y, p):
    y = y.squeeze(-1) if y.dim() == p.dim() and y.shape[-1] == 1 else y
    return (y.long() == p.argmax(-1)).float().mean()


def _mean_squared_error(y, p):
    gap = _alike(y, p) - p
    return (gap * gap).mean()


def _mean_absolute_error(y, p):
    return (_alike(y, p) - p).abs().mean()


_QUICK = {
    "binary_accuracy": _binary_accuracy,
    "categorical_accuracy": _categorical_accuracy,
    "sparse_categorical_accuracy": _sparse_categorical_accuracy,
    "mean_squared_error": _mean_squared_error,
    "mean_absolute_error": _mean_absolute_error,
}
