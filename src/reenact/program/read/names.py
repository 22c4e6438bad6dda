"""One name for one thing: `tf.keras.layers.core.Dense` and `keras.layers.Dense` are the same layer."""

from __future__ import annotations

import re
from functools import lru_cache

from reenact.program.words import words

KERAS = re.compile(
    r"^(tensorflow(\.python|\.contrib|\.compat\.v[12])?\.keras|tf_keras|keras_core|keras(\.src|\.api|\._tf_keras\.keras)?)(\.|$)"
)
LIGHTNING = re.compile(r"^(pytorch_lightning|lightning\.pytorch|lightning)(\.|$)")
KERAS_TOP = {
    "Sequential": "models",
    "Model": "models",
    "Functional": "models",
    "Input": "layers",
    "InputLayer": "layers",
    "Layer": "layers",
    "Variable": "backend",
}
KERAS_FAMILIES = frozenset(
    words(
        "layers models optimizers losses metrics activations initializers regularizers callbacks utils "
        "constraints applications preprocessing datasets ops random backend"
    )
)


@lru_cache(maxsize=4096)
def canonical(dotted: str) -> str:
    """The short public name of a library object: `keras.layers.Dense`, `torch.nn.Linear`,
    `lightning.Trainer`."""
    if KERAS.match(dotted):
        return _keras(KERAS.sub("", dotted, count=1))
    if dotted.startswith("torch."):
        return _torch(dotted)
    if LIGHTNING.match(dotted):
        return "lightning." + dotted.rpartition(".")[2]
    if dotted.startswith("transformers."):
        return "transformers." + dotted.rpartition(".")[2]
    return dotted


def _keras(rest: str) -> str:
    parts = rest.split(".") if rest else []
    if not parts:
        return "keras"
    last = parts[-1]
    if len(parts) == 1 and last in KERAS_TOP:
        return f"keras.{KERAS_TOP[last]}.{last}"
    if parts[0] in ("engine", "legacy", "experimental") and len(parts) > 1:
        return f"keras.{KERAS_TOP.get(last, 'layers')}.{last}"
    if parts[0] == "optimizers" and "schedules" in parts[1:-1]:
        return f"keras.optimizers.schedules.{last}"
    if parts[0] in KERAS_FAMILIES and len(parts) > 1:
        return f"keras.{parts[0]}.{last}"
    return "keras." + ".".join(parts)


def _torch(dotted: str) -> str:
    for prefix in ("torch.nn.functional", "torch.nn.init", "torch.nn.utils", "torch.nn.parallel"):
        if dotted.startswith(prefix + "."):
            return dotted
    if dotted.startswith("torch.nn.modules."):
        return "torch.nn." + dotted.rpartition(".")[2]
    if dotted.startswith("torch.optim.") and not dotted.startswith("torch.optim.lr_scheduler"):
        return "torch.optim." + dotted.rpartition(".")[2] if dotted.count(".") > 2 else dotted
    return dotted


def last_name(dotted: str) -> str:
    return dotted.rpartition(".")[2]


def plain_name(name: str) -> str:
    """For comparing: lower case, no underscores, no trailing `Loss`."""
    return name.lower().replace("_", "")
