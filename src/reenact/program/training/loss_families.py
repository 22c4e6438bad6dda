"""Losses by what they compare and what they want of the output, whatever PyTorch and Keras call them."""

import math
from enum import StrEnum


class LossFamily(StrEnum):
    """What a loss compares."""

    CATEGORICAL = "categorical"
    """One class of many."""
    BINARY = "binary"
    """Yes or no, for each output."""
    REGRESSION = "regression"
    MARGIN = "margin"
    """Hinges and the like."""
    OTHER = "other"


class Wanted(StrEnum):
    """What the output must be like for a loss to mean what it says."""

    SOFTMAX = "softmax"
    """Probabilities that add up to one."""
    LOG_SOFTMAX = "log_softmax"
    SIGMOID = "sigmoid"
    """Probabilities, one an output."""
    LOGITS = "logits"
    """Anything: the loss applies an activation itself."""
    ANY = "any"


_CATEGORICAL = {
    "cross_entropy": Wanted.LOGITS,
    "nll": Wanted.LOG_SOFTMAX,
    "categorical_crossentropy": Wanted.SOFTMAX,
    "sparse_categorical_crossentropy": Wanted.SOFTMAX,
    "categorical_focal_crossentropy": Wanted.SOFTMAX,
}
_BINARY = {
    "binary_cross_entropy": Wanted.SIGMOID,
    "binary_cross_entropy_with_logits": Wanted.LOGITS,
    "binary_crossentropy": Wanted.SIGMOID,
    "binary_focal_crossentropy": Wanted.SIGMOID,
}
_REGRESSION = frozenset(
    {
        "mse",
        "mean_squared_error",
        "l1",
        "mae",
        "mean_absolute_error",
        "huber",
        "smooth_l1",
        "log_cosh",
        "logcosh",
        "mean_absolute_percentage_error",
        "mean_squared_logarithmic_error",
        "mape",
        "msle",
    }
)
_MARGIN = frozenset(
    {
        "hinge",
        "squared_hinge",
        "categorical_hinge",
        "multi_margin",
        "multilabel_margin",
        "soft_margin",
        "multilabel_soft_margin",
        "margin_ranking",
        "hinge_embedding",
    }
)


_SPELLINGS = {
    "mse": "mean_squared_error",
    "mae": "mean_absolute_error",
    "m_s_e": "mean_squared_error",
    "b_c_e": "binary_cross_entropy",
    "b_c_e_with_logits": "binary_cross_entropy_with_logits",
    "n_l_l": "nll",
}
"""Names of losses that are abbreviated, in the words of live graphs."""


def loss_word(name: str) -> str:
    """`CrossEntropyLoss` and `SparseCategoricalCrossentropy` in the words of live graphs."""
    tail = name.rpartition(".")[2]
    if "_" not in tail and tail != tail.lower():
        tail = "".join(
            f"_{c.lower()}" if c.isupper() and i else c.lower() for i, c in enumerate(tail)
        )
    tail = tail.removesuffix("_loss")
    return _SPELLINGS.get(tail, tail)


def loss_family(name: str) -> LossFamily | None:
    """The family of a loss; none when there is no name."""
    families = zip(LossFamily, (_CATEGORICAL, _BINARY, _REGRESSION, _MARGIN), strict=False)
    known = next(
        (family for family, members in families if name in members),
        LossFamily.OTHER,
    )
    return known if name else None


_NOT_BELOW_ZERO = frozenset(
    {
        "kl_div",
        "kl_divergence",
        "kld",
        "kullback_leibler_divergence",
        "ctc",
        "triplet_margin",
        "triplet_margin_with_distance",
        "cosine_embedding",
        "dice",
        "tversky",
    }
)
_NO_LEAST = frozenset({"gaussian_nll", "poisson_nll", "poisson"})
"""Logarithms of densities, up to a constant: they may lie below zero, and smaller is better all
the same.
"""


def least_value(name: str) -> float | None:
    """The least that the formula of a loss can reach on what it is made for: minus infinity where
    it is known to have none, none where the loss is not known.
    """
    if name == "cosine_similarity":
        return -1.0
    if name in _NO_LEAST:
        return -math.inf
    known = loss_family(name) not in (None, LossFamily.OTHER)
    return 0.0 if known or name in _NOT_BELOW_ZERO else None


def wanted_output(name: str, from_logits: bool | None) -> Wanted:
    """What a loss wants of the output it is given."""
    wanted = _CATEGORICAL.get(name) or _BINARY.get(name) or Wanted.ANY
    if wanted in (Wanted.SOFTMAX, Wanted.SIGMOID) and from_logits:
        return Wanted.LOGITS
    return wanted
