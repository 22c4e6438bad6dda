"""Values worth trying for a hyperparameter, the most usual first. The search space of the study,
with what it lacked: learning rates on a logarithmic grid, epochs and widths by factors, activations
by the role of their layer.
"""

import math
from collections.abc import Callable, Sequence

from reenact.program.flow.ends import is_number
from reenact.program.hyperparameter import Kind
from reenact.program.training import lexicon
from reenact.program.training.analysis import Draft, Style
from reenact.program.training.vocabulary import plain_name
from reenact.types import JsonValue

RATES = (
    1e-3,
    1e-2,
    3e-3,
    3e-4,
    1e-4,
    3e-2,
    1e-1,
    1e-5,
    3e-5,
    1.0,
)
USUAL_RATE = dict.fromkeys(
    (
        "sgd",
        "adagrad",
        "asgd",
        "rprop",
    ),
    1e-2,
) | {
    "adadelta": 1.0,
    "lbfgs": 1.0,
}
"""By optimiser; 1e-3 for all others."""
BATCHES = (16, 32, 64, 128, 256, 512)
FACTORS = (2.0, 0.5, 4.0, 0.25)
EPOCH_FACTORS = (2.0, 4.0, 10.0, 0.5)
HIDDEN = ("relu", "leaky_relu", "elu", "gelu", "silu", "selu", "tanh", "sigmoid")
OUTPUT = ("softmax", "sigmoid", "linear", "tanh", "relu")
TORCH_OUTPUT = ("linear", "sigmoid", "softmax", "log_softmax", "tanh")
TORCH_LOSSES = (
    "CrossEntropyLoss",
    "MSELoss",
    "BCEWithLogitsLoss",
    "BCELoss",
    "NLLLoss",
    "L1Loss",
    "SmoothL1Loss",
    "HuberLoss",
    "MultiMarginLoss",
)
TORCH_OPTIMIZERS = (
    "Adam",
    "SGD",
    "AdamW",
    "RMSprop",
    "NAdam",
    "Adagrad",
    "Adamax",
    "Adadelta",
    "RAdam",
)
KERAS_OPTIMIZERS = (
    "Adam",
    "SGD",
    "RMSprop",
    "Nadam",
    "AdamW",
    "Adagrad",
    "Adamax",
    "Adadelta",
)
TORCH_INITS = (
    "kaiming_uniform_",
    "xavier_uniform_",
    "kaiming_normal_",
    "xavier_normal_",
    "orthogonal_",
    "trunc_normal_",
)
KERAS_INITS = (
    "glorot_uniform",
    "he_normal",
    "he_uniform",
    "glorot_normal",
    "lecun_normal",
    "lecun_uniform",
    "orthogonal",
    "random_normal",
    "random_uniform",
    "truncated_normal",
    "zeros",
    "ones",
)
TORCH_BIASES = (
    "zeros_",
    "uniform_",
    "normal_",
)
KERAS_BIASES = (
    "zeros",
    "ones",
    "random_normal",
    "random_uniform",
)
KERNELS = (3, 5, 7, 1)
FIXED_LISTS: dict[Kind, tuple[JsonValue, ...]] = {
    Kind.DROPOUT: (0.2, 0.5, 0.1, 0.3, 0.0),
    Kind.WEIGHT_DECAY: (1e-4, 0.0, 1e-3, 1e-2, 1e-5),
    Kind.MOMENTUM: (0.9, 0.0, 0.5, 0.95, 0.99),
    Kind.GRADIENT_CLIP: (1.0, 0.5, 5.0),
    Kind.SHUFFLE: (True, False),
    Kind.ZERO_GRAD: (True,),
    Kind.WEIGHT_REGULARIZER: ("l2", "l1", "l1_l2", None),
    Kind.NORMALIZATION: (None,),
}


def alternatives(draft: Draft) -> tuple[JsonValue, ...]:
    """Values worth trying instead of the one in force."""
    now = draft.param.in_force
    callee = draft.site.callee
    chosen: Sequence[JsonValue] = callee.choices if callee is not None else ()
    found = chosen or FIXED_LISTS.get(draft.kind) or BY_KIND[draft.kind](draft)
    if draft.kind is Kind.LOSS and draft.site.library == "keras":
        # `mae` is `mean_absolute_error`.
        classes = lexicon.KERAS_LOSS_CLASS_OF
        now = classes.get(str(now), str(now))
        return tuple(
            one
            for one in found
            if not same_value(
                classes.get(str(one), str(one)),
                now,
            )
        )
    return tuple(value for value in found if not same_value(value, now))


def same_value(value: JsonValue, now: JsonValue) -> bool:
    """Whether a value is the one in force: Adam is adam, no activation is a linear one."""
    if is_number(value) and is_number(now):
        return math.isclose(value, now, rel_tol=1e-9)  # type: ignore[arg-type]
    if now is None and value == "linear":
        return True
    if isinstance(value, str) and isinstance(now, str):
        return plain_name(value) == plain_name(now)
    return value == now


def _rates(draft: Draft) -> Sequence[JsonValue]:
    """Those next to what is usual for the optimiser first."""
    usual = USUAL_RATE.get(draft.param.layer_type.lower(), 1e-3)
    return sorted(
        RATES,
        key=lambda rate: (
            abs(round(math.log10(rate / usual) * 2)),
            -rate,
        ),
    )


def _scaled(draft: Draft, factors: Sequence[float] = FACTORS) -> list[JsonValue]:
    now = draft.param.in_force
    if not is_number(now) or draft.param.role == "output":
        return []
    values = [now * factor for factor in factors]  # type: ignore[operator]
    return list(
        dict.fromkeys(max(1, round(one)) if isinstance(now, int) else one for one in values)
    )


def _epochs(draft: Draft) -> Sequence[JsonValue]:
    scaled = _scaled(draft, EPOCH_FACTORS)
    now = draft.param.in_force
    if isinstance(now, int) and now < 5 and 10 not in scaled:
        return [*scaled, 10]
    return scaled


def _batches(draft: Draft) -> Sequence[JsonValue]:
    now = draft.param.in_force
    if not is_number(now) or not now:
        return BATCHES
    near = sorted(
        BATCHES,
        key=lambda size: abs(math.log2(size / max(1, now))),  # type: ignore[operator,type-var]
    )
    return list(
        dict.fromkeys(
            [
                *near[:4],
                *_scaled(draft),
            ]
        )
    )


def _activations(draft: Draft) -> Sequence[JsonValue]:
    if draft.site.library == "transformers":
        return ("gelu", "relu", "silu", "tanh")
    if draft.param.layer_type.startswith("Transformer"):
        return ("gelu", "relu")
    if draft.param.layer_type in ("RNN", "RNNCell"):
        return ("tanh", "relu")
    if draft.param.role == "output":
        if draft.site.library == "torch":
            return TORCH_OUTPUT
        return OUTPUT
    return HIDDEN


def _losses(draft: Draft) -> Sequence[JsonValue]:
    now = str(draft.param.value)
    if draft.site.library == "torch":
        function = now in lexicon.TORCH_LOSS_FUNCTIONS
        return [lexicon.TORCH_FUNCTION_OF_LOSS[name] if function else name for name in TORCH_LOSSES]
    if draft.site.style is Style.NAME and now in lexicon.KERAS_LOSSES:
        return list(lexicon.KERAS_LOSSES)
    return [words[0] for words in lexicon.KERAS_LOSSES.values()]


def _scaling(draft: Draft) -> Sequence[JsonValue]:
    if draft.param.absent:
        return ("standardize", "scale")
    if draft.site.style is Style.NAME:
        return (
            "StandardScaler",
            "MinMaxScaler",
            "MaxAbsScaler",
        )
    if draft.site.style is Style.VALUE:
        return (255.0, 127.5)
    return ()


def _schedulers(draft: Draft) -> Sequence[JsonValue]:
    torch = draft.site.library == "torch"
    if draft.site.library == "transformers":
        return (
            "linear",
            "cosine",
            "constant",
            "constant_with_warmup",
            "polynomial",
        )
    if draft.param.absent:
        if torch:
            return ("CosineAnnealingLR", "StepLR", "ExponentialLR")
        return ("ReduceLROnPlateau",)
    return (None,) if torch else ()


def _optimizers(draft: Draft) -> Sequence[JsonValue]:
    named = {
        "transformers": (
            "adamw_torch",
            "sgd",
            "adafactor",
            "rmsprop",
            "adagrad",
        ),
        "torch": TORCH_OPTIMIZERS,
    }
    if draft.site.library in named:
        return named[draft.site.library]
    if draft.site.style is Style.NAME:
        return KERAS_OPTIMIZERS
    return [name.lower() for name in KERAS_OPTIMIZERS]


BY_KIND: dict[Kind, Callable[[Draft], Sequence[JsonValue]]] = {
    Kind.LEARNING_RATE: _rates,
    Kind.EPOCHS: _epochs,
    Kind.BATCH_SIZE: _batches,
    Kind.UNITS: _scaled,
    Kind.FILTERS: _scaled,
    Kind.KERNEL_SIZE: lambda draft: (
        [[size] * len(now) for size in KERNELS]
        if isinstance(now := draft.param.in_force, list)
        else KERNELS
    ),
    Kind.ACTIVATION: _activations,
    Kind.LOSS: _losses,
    Kind.OPTIMIZER: _optimizers,
    Kind.WEIGHT_INIT: lambda draft: TORCH_INITS if draft.site.library == "torch" else KERAS_INITS,
    Kind.BIAS_INIT: lambda draft: TORCH_BIASES if draft.site.library == "torch" else KERAS_BIASES,
    Kind.SCHEDULER: _schedulers,
    Kind.VALIDATION: lambda draft: (
        (0.2, 0.1, 0.3) if draft.site.argument == "validation_split" else ()
    ),
    Kind.PREPROCESSING: _scaling,
    Kind.LAYER: lambda draft: () if draft.param.role == "output" else (None, {"repeat": 2}),
    Kind.MODE: lambda draft: (draft.param.id.layer,),
}
