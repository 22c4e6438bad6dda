"""Builds the model graph from the JSON that the probe wrote. The file may be untrusted: every field is
checked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from reenact.errors import InputError
from reenact.probe.root import Root
from reenact.probe.task import infer_task
from reenact.program.graph import Layer, LossFacts, ModelGraph, OptimizerFacts, TensorFacts, WeightFacts
from reenact.types import Place

Json = Mapping[str, Any]


def read_graph(found: Json, data: Sequence[TensorFacts], root: Root) -> ModelGraph:
    """The graph as a type; places are named as `root` says."""
    try:
        return _graph(found, data, root)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise InputError(
            f"The model graph of this trace is not one that reenact wrote ({error!r})."
        ) from error


def _graph(found: Json, data: Sequence[TensorFacts], root: Root) -> ModelGraph:
    layers = tuple(_layer(layer, root) for layer in found["layers"])
    loss = _loss(found["loss"], root) if found.get("loss") else None
    labels = next((facts for facts in data if facts.role == "label" and facts.split == "train"), None)
    output = next((layer.output_shape for layer in reversed(layers) if layer.output_shape), None)
    batch = found.get("batch_size")
    return ModelGraph(
        framework=str(found["framework"]),
        model=str(found["model"]),
        layers=layers,
        loss=loss,
        optimizer=_optimizer(found["optimizer"], root) if found.get("optimizer") else None,
        data=tuple(data),
        task=infer_task(labels, output, loss),
        batch_size=int(batch) if batch is not None else None,
        parameters=int(found["parameters"]),
        trainable_parameters=int(found["trainable_parameters"]),
        unregistered=tuple(str(name) for name in found.get("unregistered", ())),
    )


def _layer(found: Json, root: Root) -> Layer:
    activation = found.get("activation")
    output = found.get("output_shape")
    return Layer(
        name=str(found["name"]),
        type=str(found["type"]),
        place=read_place(found.get("place"), root),
        input_shapes=tuple(_shape(shape) for shape in found.get("input_shapes") or ()),
        output_shape=_shape(output) if output is not None else None,
        activation=str(activation) if activation is not None else None,
        settings=dict(found.get("settings") or {}),
        weights=tuple(_weight(weight) for weight in found.get("weights") or ()),
        calls=int(found.get("calls", 1)),
    )


def _weight(found: Json) -> WeightFacts:
    return WeightFacts(
        name=str(found["name"]),
        shape=tuple(int(size) for size in found["shape"]),
        trainable=bool(found["trainable"]),
        mean=float(found["mean"]),
        std=float(found["std"]),
        minimum=float(found["minimum"]),
        maximum=float(found["maximum"]),
        path=str(found.get("path", "")),
    )


def _loss(found: Json, root: Root) -> LossFacts:
    logits = found.get("from_logits")
    return LossFacts(
        name=str(found["name"]),
        from_logits=bool(logits) if logits is not None else None,
        settings=dict(found.get("settings") or {}),
        place=read_place(found.get("place"), root),
    )


def _optimizer(found: Json, root: Root) -> OptimizerFacts:
    rate, given = found.get("learning_rate"), found.get("parameters_given")
    return OptimizerFacts(
        name=str(found["name"]),
        learning_rate=float(rate) if rate is not None else None,
        settings=dict(found.get("settings") or {}),
        place=read_place(found.get("place"), root),
        parameters_given=int(given) if given is not None else None,
    )


def read_tensor_facts(found: Json) -> TensorFacts:
    """Facts of inputs or labels."""
    counts, values = found.get("class_counts"), found.get("class_values")
    classes = found.get("classes")
    return TensorFacts(
        split=str(found["split"]),
        role=str(found["role"]),
        shape=_shape(found["shape"]),
        dtype=str(found["dtype"]),
        minimum=_number(found.get("minimum")),
        maximum=_number(found.get("maximum")),
        mean=_number(found.get("mean")),
        std=_number(found.get("std")),
        nan_share=float(found["nan_share"]),
        constant_features=int(found["constant_features"]),
        classes=int(classes) if classes is not None else None,
        class_counts=tuple(int(count) for count in counts) if counts is not None else None,
        rows_seen=int(found["rows_seen"]),
        class_values=tuple(int(value) for value in values) if values is not None else None,
        integral=bool(found.get("integral", False)),
        one_hot=bool(found.get("one_hot", False)),
    )


def read_place(found: Sequence[Any] | None, root: Root) -> Place | None:
    """`[file, line, column, end line, end column]` as a place."""
    if not found:
        return None
    file, line, column, end_line, end_column = found
    return Place(root.name(str(file)), int(line), int(column), int(end_line), int(end_column))


def _shape(found: Sequence[Any]) -> tuple[int | None, ...]:
    return tuple(None if size is None else int(size) for size in found)


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float | str) else None
