"""Reads a compiled Keras model into a plan of plain data, or says what it does not know.

A plan is a dict: `steps` (one operation each, with its settings, where its inputs come from, and the numbers
of its weights), `regularised` (number of the weight, l1, l2), `loss`, `input` (its type).
"""

from __future__ import annotations

import importlib

from reenact_express.layers import LayerReader
from reenact_express.refused import Refused

LOSSES = {
    "MeanSquaredError": "mean_squared_error",
    "MeanAbsoluteError": "mean_absolute_error",
    "BinaryCrossentropy": "binary_crossentropy",
    "CategoricalCrossentropy": "categorical_crossentropy",
    "SparseCategoricalCrossentropy": "sparse_categorical_crossentropy",
    "MeanAbsolutePercentageError": "mean_absolute_percentage_error",
    "MeanSquaredLogarithmicError": "mean_squared_logarithmic_error",
    "Hinge": "hinge",
    "SquaredHinge": "squared_hinge",
    "Poisson": "poisson",
    "KLDivergence": "kl_divergence",
    "LogCosh": "log_cosh",
    "Huber": "huber",
}
_SETTINGS = frozenset(("from_logits", "label_smoothing", "axis", "delta"))


def recognise(keras, model):
    """The plan of a built and compiled model, and its variables in the order of the plan's numbers: first the
    trainable ones. Raises Refused.
    """
    kind = type(model)
    sequential = kind is keras.Sequential
    functional = importlib.import_module("keras.src.models.functional").Functional
    if not sequential and kind is not functional:
        raise Refused(f"the model is of a class of its own ({kind.__name__})")
    own = [
        name for name in ("train_step", "test_step", "compute_loss", "compute_metrics") if name in vars(model)
    ]
    if own:
        raise Refused(f"the model has a {own[0]} of its own")
    graph = model._functional if sequential else model
    if graph is None or len(graph.inputs) != 1 or len(graph.outputs) != 1:
        raise Refused("the model has several inputs or outputs")
    variables = list(model.trainable_variables)
    trainable = len(variables)
    variables += [variable for variable in model.non_trainable_variables if "seed" not in variable.name]
    if any(variable.dtype != "float32" for variable in variables):
        raise Refused("weights are not of type float32")
    numbers = {id(variable): number for number, variable in enumerate(variables)}
    reader = LayerReader(keras, numbers)
    plan = {
        "steps": reader.steps(graph),
        "regularised": reader.regularised,
        "loss": read_loss(keras, model),
        "input": str(graph.inputs[0].dtype),
        "trainable": trainable,
    }
    if len(reader.regularised) != len(model.losses):
        raise Refused("the model adds losses of its own")
    return plan, variables


def read_loss(keras, model):
    """Name and settings of the loss."""
    compiled = model._compile_loss
    flat = getattr(compiled, "_flat_losses", None)
    if not flat or len(flat) != 1 or flat[0].loss_weights is not None:
        raise Refused("there is no single plain loss")
    loss = flat[0].loss
    name = LOSSES.get(type(loss).__name__)
    if type(loss).__module__ != "keras.src.losses.losses":
        name = None
    if name is None and type(loss).__name__ == "LossFunctionWrapper":
        name = _plain_function(keras, loss.fn)
    if name is None:
        raise Refused(f"the loss {getattr(loss, 'name', loss)} is not known")
    settings = {key: value for key, value in loss._fn_kwargs.items() if value is not None}
    if set(settings) - _SETTINGS or settings.get("axis", -1) != -1:
        raise Refused(f"the loss {name} has settings that are not known")
    if str(loss.reduction) not in ("sum_over_batch_size", "mean"):
        raise Refused(f"the loss is reduced by {loss.reduction}")
    return {"name": name, **{key: value for key, value in settings.items() if key != "axis"}}


def _plain_function(keras, function):
    name = getattr(function, "__name__", "")
    known = name in LOSSES.values() and getattr(keras.losses, name, None) is function
    return name if known else None
