"""Whether a program uses a name of its framework: what it calls, passes by keyword or gives as a word."""

import ast

from reenact.faults import Evidence
from reenact.faults.facts.lines import calls, nodes
from reenact.program.flow.constants import constant_of
from reenact.program.syntax.pieces import given_as, is_constant, last_word

SIZES = ("1d", "2d", "3d")
BATCH_NORMS = frozenset(
    (
        "BatchNorm",
        "BatchNormalization",
        "SyncBatchNorm",
        *(f"{lazy}BatchNorm{size}" for lazy in ("", "Lazy") for size in SIZES),
    )
)
"""Classes of PyTorch and Keras."""
POOLS = frozenset(
    (
        *(
            f"{form}{kind}Pool{size}"
            for form in ("", "Adaptive")
            for kind in ("Max", "Avg")
            for size in SIZES
        ),
        *(
            f"{form}{kind}_pool{size}"
            for form in ("", "adaptive_")
            for kind in ("max", "avg")
            for size in SIZES
        ),
        *(
            f"{form}{kind}Pooling{number}D"
            for form in ("", "Global")
            for kind in ("Max", "Average")
            for number in (1, 2, 3)
        ),
        "max_pool",
        "average_pool",
    )
)
DROPOUTS = frozenset(
    (
        "dropout",
        "dropout1d",
        "dropout2d",
        "dropout3d",
    )
)
"""Of `torch.nn.functional`."""
WEIGHTED_FUNCTIONS = frozenset(
    (
        "linear",
        "bilinear",
        "embedding",
        "embedding_bag",
        *(f"conv{size}" for size in SIZES),
        *(f"conv_transpose{size}" for size in SIZES),
    )
)
"""Of `torch.nn.functional`, and given weights."""


def uses(evidence: Evidence, *names: str) -> bool:
    """Whether one of these is called, handed on (`nn.Softmax`) or given as a word (`"softmax"`)."""
    return any(
        last_word(part) in names or is_constant(part, *names) for part in nodes(evidence, ast.expr)
    )


def has_keyword(evidence: Evidence, *names: str) -> bool:
    """Whether any call is given one of these arguments."""
    return bool(given_as(calls(evidence), *names))


def is_set(evidence: Evidence, name: str) -> bool:
    """Whether any call is given this argument as true."""
    values = map(constant_of, given_as(calls(evidence), name))
    return any(is_constant(value, True) for value in values)


def has_own_call(evidence: Evidence) -> bool:
    """Whether a model of Keras has a `call` of its own."""
    return any(
        isinstance(part, ast.FunctionDef) and part.name == "call"
        for owner in nodes(evidence, ast.ClassDef)
        for part in owner.body
    )
