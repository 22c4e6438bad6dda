"""Builds the model graph from the JSON of a trace. The file may be untrusted: every field is
checked.
"""

import math
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, TypeVar

from reenact.errors import InputError
from reenact.probe.trace import Root
from reenact.program.graph import LossFacts, ModelGraph, TaskType, TensorFacts
from reenact.types import Place

Json = Mapping[str, Any]
T = TypeVar("T")
_CATEGORICAL = frozenset(
    {
        "cross_entropy",
        "nll",
        "categorical_crossentropy",
        "sparse_categorical_crossentropy",
        "categorical_focal_crossentropy",
        "multi_margin",
    }
)
_BINARY = frozenset(
    {
        "binary_cross_entropy",
        "binary_cross_entropy_with_logits",
        "binary_crossentropy",
        "binary_focal_crossentropy",
        "soft_margin",
        "hinge",
        "squared_hinge",
    }
)
_MULTI_LABEL = frozenset({"multilabel_soft_margin", "multilabel_margin"})
_MANY = 64
"""More distinct whole numbers than this in one column are quantities, not classes, unless the loss
says otherwise.
"""


@cache
def _adapter(kind: Any) -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter(kind)


def typed(kind: type[T], content: Any) -> T:
    """A value of this type from its JSON. Raises ValueError where they do not fit."""
    value: T = _adapter(kind).validate_python(content)  # type: ignore[arg-type]
    return value


def read_graph(content: Json, data: Sequence[TensorFacts], root: Root) -> ModelGraph:
    """The graph as a type; places are named as `root` says."""
    try:
        parts = dict(
            content,
            layers=[placed(layer, root) for layer in content["layers"]],
        )
        for name in ("loss", "optimizer"):
            parts[name] = placed(content[name], root) if content.get(name) else None
        if parts["loss"]:
            parts["loss"]["called"] = read_place(
                parts["loss"].get("called"),
                root,
            )
        parts["unregistered_at"] = read_place(content.get("unregistered_at"), root)
        loss = typed(LossFacts, parts["loss"]) if parts["loss"] else None
        labels = next(
            (facts for facts in data if facts.role == "label" and facts.split == "train"),
            None,
        )
        shapes = [layer.get("output_shape") for layer in content["layers"]]
        output = next(
            (shape for shape in reversed(shapes) if shape),
            None,
        )
        return typed(
            ModelGraph,
            dict(parts, data=data, task=infer_task(labels, output, loss)),
        )
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        why = f"The model graph of this trace is not one that reenact wrote ({error!r})."
        raise InputError(why) from error


def placed(content: Json, root: Root) -> Json:
    """An object whose `place` is a place."""
    return dict(
        content,
        place=read_place(content.get("place"), root),
    )


def read_place(
    content: Sequence[Any] | None,
    root: Root,
) -> Place | None:
    """`[file, line, column, end line, end column]` as a place."""
    if not content:
        return None
    file, line, column, end_line, end_column = content
    return Place(
        root.name(str(file)),
        int(line),
        int(column),
        int(end_line),
        int(end_column),
    )


def infer_task(
    labels: TensorFacts | None,
    output_shape: Sequence[int | None] | None,
    loss: LossFacts | None,
) -> TaskType:
    """What a model is asked to learn, from its labels, the width of its output and its loss.

    The labels decide where they can; the loss only where they leave it open, since the loss may be
    the fault.
    """
    name = loss.name if loss is not None else ""
    width = None
    if output_shape:
        width = output_shape[-1] if len(output_shape) > 1 else 1
    if labels is None or not labels.rows_seen:
        return _by_loss(name, width)
    if labels.one_hot:
        return TaskType.MULTI_CLASS
    if not labels.integral:
        if name in _BINARY | _MULTI_LABEL:
            return _by_loss(name, width)
        return TaskType.REGRESSION
    if math.prod(size or 1 for size in labels.shape[1:]) > 1 and "int" not in labels.dtype:
        binary = set(labels.class_values or ()) <= {0, 1}
        if binary:
            return TaskType.MULTI_LABEL
        return TaskType.REGRESSION
    return _whole_numbers(labels, name, width)


def _whole_numbers(labels: TensorFacts, name: str, width: int | None) -> TaskType:
    """One whole number a row: a class, or a quantity that happens to be whole."""
    two = set(labels.class_values or ()) <= {0, 1} or set(labels.class_values or ()) == {-1, 1}
    if name in _CATEGORICAL:
        if two and width == 1:
            return TaskType.BINARY
        return TaskType.MULTI_CLASS
    if two:
        return TaskType.BINARY
    if name in _BINARY:
        if (labels.classes or 0) <= 2:
            return TaskType.BINARY
        return TaskType.MULTI_CLASS
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
