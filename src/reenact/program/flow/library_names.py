"""One name for one thing of a library: `tf.keras.layers.core.Dense` and `keras.layers.Dense` are the
same layer.
"""

import re
from functools import lru_cache

KERAS = re.compile(
    r"^(tensorflow(\.python|\.contrib|\.compat\.v[12])?\.keras|tf_keras|keras_core|keras(\.src|\.api|\._tf_keras\.keras)?)(\.|$)"
)
SHORTENED = (
    (re.compile(r"torch\.nn\.modules\."), "torch.nn."),
    (re.compile(r"torch\.optim\.(?!lr_scheduler)"), "torch.optim."),
    (re.compile(r"(pytorch_)?lightning(\.|$)"), "lightning."),
    (re.compile(r"transformers\."), "transformers."),
)
"""Homes whose inner modules do not matter."""
KERAS_TOP = {
    **dict.fromkeys(("Sequential", "Model", "Functional"), "models"),
    **dict.fromkeys(("Input", "InputLayer", "Layer"), "layers"),
    "Variable": "backend",
}
KERAS_FAMILIES = frozenset(
    {
        "layers",
        "models",
        "optimizers",
        "losses",
        "metrics",
        "activations",
        "initializers",
        "regularizers",
        "callbacks",
        "utils",
        "constraints",
        "applications",
        "preprocessing",
        "datasets",
        "ops",
        "random",
        "backend",
    }
)


@lru_cache(maxsize=4096)
def canonical(dotted: str) -> str:
    """The short public name of a library object: `keras.layers.Dense`, `lightning.Trainer`."""
    if KERAS.match(dotted):
        return _keras(KERAS.sub("", dotted, count=1))
    homes = (home for pattern, home in SHORTENED if pattern.match(dotted))
    home = next(homes, "")
    return home + last_name(dotted) if home else dotted


def _keras(rest: str) -> str:
    first = rest.partition(".")[0]
    last = last_name(rest)
    home = ""
    if first == rest:
        home = KERAS_TOP.get(last, "")
    elif first in ("engine", "legacy", "experimental"):
        home = KERAS_TOP.get(last, "layers")
    elif first == "optimizers" and ".schedules." in rest:
        home = "optimizers.schedules"
    elif first in KERAS_FAMILIES:
        home = first
    if home:
        return f"keras.{home}.{last}"
    return f"keras.{rest}".rstrip(".")


def last_name(dotted: str) -> str:
    return dotted.rpartition(".")[2]
