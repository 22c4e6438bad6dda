"""What Keras objects say of themselves, on any backend, as JSON of the model graph."""

from __future__ import annotations

from typing import Any

import numpy

from reenact_probe.torch.facts import is_plain, snake
from reenact_probe.torch.facts import weight_facts as weight
from reenact_probe.types import Facts, Module, Optimizer, Place

QUIET = frozenset(
    {
        "Flatten",
        "Reshape",
        "Permute",
        "InputLayer",
        "Dropout",
        "SpatialDropout1D",
        "SpatialDropout2D",
        "GaussianNoise",
        "GaussianDropout",
        "AlphaDropout",
        "RepeatVector",
        "Identity",
    }
)
_ACTIVATIONS = ("ReLU", "LeakyReLU", "PReLU", "ELU", "Softmax")
_LOSS_NAMES = {
    "mean_squared_error": "mse",
    "mean_absolute_error": "mae",
    "huber_loss": "huber",
}


def activation_of(layer: Module) -> str | None:
    """The non-linearity a layer applies itself, or is; none for a linear one."""
    if type(layer).__name__ in _ACTIVATIONS:
        return snake(type(layer).__name__)
    function = getattr(layer, "activation", None)
    name = getattr(function, "__name__", None) or snake(type(function).__name__)
    if callable(function) and name != "linear":
        return name
    return None


def settings_of(part: Any) -> Facts:
    """Plain values of a layer's or optimizer's configuration; initializers, activations and
    such by name.
    """
    try:
        config = part.get_config()
    except Exception:  # noqa: BLE001 - a part of the program's own may have none, or a broken one
        return {}
    return {key: _setting(value) for key, value in config.items() if _setting(value) is not None}


def _setting(value: Any) -> Any:
    if is_plain(value):
        return list(value) if isinstance(value, tuple) else value
    if isinstance(value, dict) and "class_name" in value:
        given = (value.get("config") or {}).items()
        inner = {key: item for key, item in given if is_plain(item) and item is not None}
        if inner:
            return {"class_name": str(value["class_name"]), **inner}
        return str(value["class_name"])
    return None


def weight_facts(layer: Module) -> list[Facts]:
    """Statistics of the variables that a layer holds itself; the cell of a recurrent layer is
    part of it.
    """
    parts = () if hasattr(layer, "cell") else layer._flatten_layers(include_self=False)
    inner = {id(variable) for part in parts for variable in part.weights}
    facts = []
    for variable in layer.weights:
        readable = hasattr(variable, "numpy") and getattr(variable, "_value", None) is not None
        if readable and id(variable) not in inner:
            values = numpy.asarray(variable.numpy(), dtype="f8")
            seen = (
                (
                    values.mean(),
                    values.std(),
                    values.min(),
                    values.max(),
                )
                if values.size
                else None
            )
            known = (variable.name, variable.path, variable.shape, variable.trainable)
            facts += [weight(*known, seen)] if seen is not None else []
    return facts


def layer_facts(
    layer: Module,
    place: Place | None,
    inputs: Any = None,
    output: Any = None,
    calls: int = 1,
) -> Facts:
    return {
        "name": layer.name,
        "type": type(layer).__name__,
        "place": place,
        "input_shapes": inputs if inputs is not None else _shapes(layer, "input"),
        "output_shape": output
        if output is not None
        else next(iter(_shapes(layer, "output")), None),
        "activation": activation_of(layer),
        "settings": settings_of(layer),
        "weights": weight_facts(layer),
        "calls": calls,
    }


def _shapes(layer: Module, side: str) -> list[Any]:
    """Symbolic shapes of a layer that was called in a functional or sequential model."""
    try:
        tensors = getattr(layer, side)
    except (AttributeError, ValueError):
        return []
    tensors = tensors if isinstance(tensors, (list, tuple)) else [tensors]
    return [list(tensor.shape) for tensor in tensors if hasattr(tensor, "shape")]


def leaves(model: Module) -> list[Module]:
    """The layers of a model in its own order, containers opened."""
    layers = []
    for layer in getattr(model, "layers", ()):
        inner = leaves(layer) if getattr(layer, "layers", None) else []
        layers += inner or [layer]
    return layers


def loss_facts(loss: Any, place: Place | None) -> Facts:
    """Facts of a loss: a Loss object, a function or a name."""
    name = loss
    settings = {}
    logits = None
    if not isinstance(loss, str):
        name = (
            getattr(loss, "name", None)
            or getattr(loss, "__name__", None)
            or snake(type(loss).__name__)
        )
        sources = (
            getattr(loss, "_fn_kwargs", None) or {},
            getattr(loss, "__dict__", {}),
        )
        given = [item for source in sources for item in source.items()]
        settings = {k: v for k, v in given if not k.startswith("_") and k != "name" and is_plain(v)}
        logits = settings.get("from_logits")
    name = _LOSS_NAMES.get(str(name), str(name))
    if logits is None and name.endswith("crossentropy"):
        logits = False
    return {
        "name": name,
        "from_logits": logits,
        "settings": settings,
        "place": place,
    }


def learning_rate(optimizer: Optimizer) -> float:
    """The rate of the step to come, as a number."""
    try:
        value = optimizer._get_current_learning_rate()
        value = getattr(value, "value", value)
        return float(value.item() if hasattr(value, "item") else value)
    except (AttributeError, TypeError, ValueError):
        return float("nan")


def optimizer_facts(optimizer: Optimizer, place: Place | None) -> Facts:
    return {
        "name": type(optimizer).__name__,
        "learning_rate": learning_rate(optimizer),
        "settings": settings_of(optimizer),
        "place": place,
        "parameters_given": len(getattr(optimizer, "_trainable_variables", ())),
    }
