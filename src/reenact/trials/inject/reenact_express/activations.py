"""Activations by Keras's names, with Keras's constants."""

from __future__ import annotations


def activation(torch, name, slope=None):
    """A function of one tensor."""
    functional = torch.nn.functional
    known = {
        "linear": lambda x: x,
        "relu": torch.relu,
        "sigmoid": torch.sigmoid,
        "tanh": torch.tanh,
        "softmax": lambda x: torch.softmax(x, -1),
        "log_softmax": lambda x: torch.log_softmax(x, -1),
        "elu": functional.elu,
        "selu": functional.selu,
        "gelu": functional.gelu,
        "silu": functional.silu,
        "softplus": functional.softplus,
        "softsign": functional.softsign,
        "relu6": functional.relu6,
        "mish": functional.mish,
        "exponential": torch.exp,
        "hard_sigmoid": functional.hardsigmoid,
        "leaky_relu": lambda x: functional.leaky_relu(x, 0.2 if slope is None else slope),
    }
    return known[name]
