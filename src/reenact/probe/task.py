"""Infers what a model is asked to learn from its labels, the width of its output and its loss."""

from __future__ import annotations

from collections.abc import Sequence

from reenact.program.graph import LossFacts, TaskType, TensorFacts

_CATEGORICAL = frozenset({
    "cross_entropy", "nll", "categorical_crossentropy", "sparse_categorical_crossentropy",
    "categorical_focal_crossentropy", "multi_margin",
})  # fmt: skip
_BINARY = frozenset({"binary_cross_entropy", "binary_cross_entropy_with_logits", "binary_crossentropy",
                     "binary_focal_crossentropy", "soft_margin", "hinge", "squared_hinge"})  # fmt: skip
_MULTI_LABEL = frozenset({"multilabel_soft_margin", "multilabel_margin"})
_MANY = 64
"""More distinct whole numbers than this in one column are quantities, not classes, unless the loss says
otherwise.
"""


def infer_task(
    labels: TensorFacts | None, output_shape: Sequence[int | None] | None, loss: LossFacts | None
) -> TaskType:
    """The labels decide where they can; the loss only where they leave it open, since the loss may be the
    fault.
    """
    name = loss.name if loss is not None else ""
    if labels is None or not labels.rows_seen:
        return _by_loss(name, _width(output_shape))
    if labels.one_hot:
        return TaskType.MULTI_CLASS
    if not labels.integral:
        return (
            TaskType.REGRESSION
            if name not in _BINARY | _MULTI_LABEL
            else _by_loss(name, _width(output_shape))
        )
    if _columns(labels) > 1 and "int" not in labels.dtype:
        binary = set(labels.class_values or ()) <= {0, 1}
        return TaskType.MULTI_LABEL if binary else TaskType.REGRESSION
    return _whole_numbers(labels, name, _width(output_shape))


def _whole_numbers(labels: TensorFacts, name: str, width: int | None) -> TaskType:
    """One whole number a row: a class, or a quantity that happens to be whole."""
    two = set(labels.class_values or ()) <= {0, 1} or set(labels.class_values or ()) == {-1, 1}
    if name in _CATEGORICAL:
        return TaskType.BINARY if two and width == 1 else TaskType.MULTI_CLASS
    if two:
        return TaskType.BINARY
    if name in _BINARY:
        return TaskType.BINARY if (labels.classes or 0) <= 2 else TaskType.MULTI_CLASS
    few = labels.classes is not None and labels.classes <= _MANY
    unsaid = width is None and not name and "int" in labels.dtype
    if few and (unsaid or (width or 1) > 1):
        return TaskType.MULTI_CLASS
    return TaskType.REGRESSION


def _by_loss(name: str, width: int | None) -> TaskType:
    if name in _CATEGORICAL:
        return TaskType.MULTI_CLASS
    if name in _MULTI_LABEL or (name in _BINARY and (width or 1) > 1):
        return TaskType.MULTI_LABEL
    if name in _BINARY:
        return TaskType.BINARY
    return TaskType.REGRESSION if name else TaskType.UNKNOWN


def _width(shape: Sequence[int | None] | None) -> int | None:
    return shape[-1] if shape and len(shape) > 1 else (1 if shape else None)


def _columns(labels: TensorFacts) -> int:
    columns = 1
    for size in labels.shape[1:]:
        columns *= size or 1
    return columns
