"""The share of right answers in one batch, where the labels are classes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from reenact_probe.types import Library, Tensor

if TYPE_CHECKING:
    from reenact_probe.experiment_tape import Call

LOGITS = frozenset(["binary_cross_entropy_with_logits", "soft_margin_loss", "multilabel_soft_margin_loss"])


class Pair:
    """A prediction and what it is compared with, as the program handed them to a loss."""

    def __init__(self, prediction: Tensor, target: Tensor, logits: bool, last_axis: bool) -> None:
        self.prediction = prediction
        self.target = target
        self.logits = logits
        """Positive means yes; otherwise above one half does."""
        self.last_axis = last_axis
        """Classes lie along the last axis, as in Keras; along the second one otherwise."""

    def accuracy(self, now: Callable[[Tensor], Tensor]) -> float | None:
        """As a number, or none for a regression; `now` gives what a tensor was when last computed."""
        prediction, target = now(self.prediction).detach(), now(self.target).detach()
        same_rank = prediction.dim() == target.dim()
        if same_rank and target.dim() > 1 and target.shape[-1] == 1 and prediction.shape[-1] > 1:
            target = target.squeeze(-1)
        if not prediction.dim() or not target.numel() or bool((target != target.round()).any()):
            return None
        axis = -1 if self.last_axis else 1
        if prediction.dim() == target.dim() + 1 and prediction.dim() > 1 and prediction.shape[axis] > 1:
            return _share(prediction.argmax(axis) == target)
        if self.last_axis and prediction.numel() == target.numel():
            target = target.reshape(prediction.shape)
        if prediction.shape != target.shape or bool(((target != 0) & (target != 1)).any()):
            return None
        if target.dim() > 1 and target.shape[axis] > 1 and bool((target.sum(axis) == 1).all()):
            return _share(prediction.argmax(axis) == target.argmax(axis))
        return _share((prediction > (0.0 if self.logits else 0.5)) == (target > 0.5))


def pair_of_call(torch: Library, call: Call) -> Pair | None:
    """The pair that a functional loss was given, or none."""
    tensors = [value for value in (*call.args, *call.kwargs.values()) if isinstance(value, torch.Tensor)]
    return Pair(tensors[0], tensors[1], call.name in LOGITS, False) if len(tensors) >= 2 else None


def _share(right: Tensor) -> float:
    return float(right.float().mean())
