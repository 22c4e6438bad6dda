"""`keras.wrappers.scikit_learn`: estimators that build, train and ask a Keras model, as Keras 2
had them.
"""

from __future__ import annotations

import importlib
import inspect
from typing import Any

import numpy

from reenact_probe.types import Facts

_sklearn: Any = importlib.import_module("sklearn.base")


class _Wrapper(_sklearn.BaseEstimator):
    """What both have in common: arguments go to `build_fn` where it names them, else to `fit`."""

    def __init__(self, build_fn: Any = None, **sk_params: Any) -> None:
        self.build_fn = build_fn
        self.sk_params = sk_params

    def get_params(self, deep: bool = True) -> Facts:  # noqa: ARG002 - the form of scikit-learn
        return {**self.sk_params, "build_fn": self.build_fn}

    def set_params(self, **params: Any) -> Any:
        self.build_fn = params.pop("build_fn", self.build_fn)
        self.sk_params = {**self.sk_params, **params}
        return self

    def fit(self, x: Any, y: Any, **kwargs: Any) -> Any:
        build = self.build_fn or type(self).__call__
        names = inspect.signature(build).parameters
        building = {key: value for key, value in self.sk_params.items() if key in names}
        self.model = build(self, **building) if self.build_fn is None else build(**building)
        fitting = {key: value for key, value in self.sk_params.items() if key not in names}
        self.history = self.model.fit(
            x,
            self._targets(numpy.asarray(y)),
            **{**fitting, **kwargs},
        )
        return self.history

    def _targets(self, y: Any) -> Any:
        return y


class KerasClassifier(_sklearn.ClassifierMixin, _Wrapper):
    """Of classes by any name, or of one-hot rows."""

    def _targets(self, y: Any) -> Any:
        if y.ndim == 2 and y.shape[1] > 1:
            self.classes_ = numpy.arange(y.shape[1])
            return y
        self.classes_, numbers = numpy.unique(
            y.reshape(-1),
            return_inverse=True,
        )
        if getattr(self.model, "loss", "") == "categorical_crossentropy":
            return numpy.eye(len(self.classes_))[numbers]
        return numbers

    def predict_proba(self, x: Any, **_: Any) -> Any:
        shares = self.model.predict(x, verbose=0)
        if shares.shape[1] == 1:
            return numpy.hstack([1 - shares, shares])
        return shares

    def predict(self, x: Any, **_: Any) -> Any:
        return self.classes_[self.predict_proba(x).argmax(axis=-1)]


class KerasRegressor(_sklearn.RegressorMixin, _Wrapper):
    """Of numbers."""

    def predict(self, x: Any, **_: Any) -> Any:
        return numpy.squeeze(
            self.model.predict(x, verbose=0),
            axis=-1,
        )
