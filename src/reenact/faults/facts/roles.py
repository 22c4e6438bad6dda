"""What a value is used for: the loss that is stepped, the targets of a loss, what reaches either.

Decided by the framework's own calls (`backward`, `cross_entropy`, `step`), never by what the author
calls a variable.
"""

import ast
from collections.abc import Iterator

from reenact.faults.facts.flow import assigned, elements, given, variables_read, variables_stored
from reenact.faults.facts.parts import (
    all_parts,
    called,
    is_call,
    last_word,
    owner_of,
    within,
)
from reenact.program.syntax.excerpt import same
from reenact.program.syntax.index import FileIndex

LOSS_FUNCTIONS = frozenset(
    (
        "binary_cross_entropy",
        "binary_cross_entropy_with_logits",
        "cosine_embedding_loss",
        "cross_entropy",
        "ctc_loss",
        "gaussian_nll_loss",
        "hinge_embedding_loss",
        "huber_loss",
        "kl_div",
        "l1_loss",
        "margin_ranking_loss",
        "mse_loss",
        "multi_margin_loss",
        "multilabel_margin_loss",
        "multilabel_soft_margin_loss",
        "nll_loss",
        "poisson_nll_loss",
        "smooth_l1_loss",
        "soft_margin_loss",
        "triplet_margin_loss",
        "triplet_margin_with_distance_loss",
    )
)
"""Of `torch.nn.functional`."""
LOSS_CLASSES = frozenset(
    (
        "AdaptiveLogSoftmaxWithLoss",
        "BCELoss",
        "BCEWithLogitsLoss",
        "BinaryCrossentropy",
        "BinaryFocalCrossentropy",
        "CTCLoss",
        "CategoricalCrossentropy",
        "CategoricalFocalCrossentropy",
        "CosineEmbeddingLoss",
        "CosineSimilarityLoss",
        "CrossEntropyLoss",
        "GaussianNLLLoss",
        "HingeEmbeddingLoss",
        "Huber",
        "HuberLoss",
        "KLDivLoss",
        "KLDivergence",
        "L1Loss",
        "LogCosh",
        "MSELoss",
        "MarginRankingLoss",
        "MeanAbsoluteError",
        "MeanAbsolutePercentageError",
        "MeanSquaredError",
        "MeanSquaredLogarithmicError",
        "MultiLabelMarginLoss",
        "MultiLabelSoftMarginLoss",
        "MultiMarginLoss",
        "NLLLoss",
        "Poisson",
        "PoissonNLLLoss",
        "SmoothL1Loss",
        "SoftMarginLoss",
        "SparseCategoricalCrossentropy",
        "TripletMarginLoss",
        "TripletMarginWithDistanceLoss",
    )
)
"""Of `torch.nn` and `keras.losses`."""
LOSS_STEPS = ("training_step", "compute_loss", "train_step")
"""Methods that a framework calls for the loss of a batch."""
SCHEDULES = (
    "ChainedScheduler",
    "ConstantLR",
    "CosineAnnealingLR",
    "CosineAnnealingWarmRestarts",
    "CyclicLR",
    "ExponentialLR",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "MultiplicativeLR",
    "OneCycleLR",
    "PolynomialLR",
    "ReduceLROnPlateau",
    "SequentialLR",
    "StepLR",
)
"""Of `torch.optim.lr_scheduler`."""
ROUNDS = 6


def is_loss_class(name: str) -> bool:
    """Whether a class of a framework by this name is a loss."""
    return name in LOSS_CLASSES


def is_loss_call(index: FileIndex, node: ast.AST | None) -> bool:
    """Whether a call gives a loss: a function of the framework, or an object of a class of losses."""
    if not isinstance(node, ast.Call):
        return False
    if called(node) in LOSS_FUNCTIONS:
        return True
    if isinstance(node.func, ast.Call):
        return is_loss_class(called(node.func))
    name = last_word(node.func)
    return bool(name) and index.once((is_loss_call, name), lambda: _is_loss_object(index, name))


def _is_loss_object(index: FileIndex, name: str) -> bool:
    return any(is_loss_class(called(value)) for value in _given(index, name))


def schedules(index: FileIndex) -> list[ast.expr]:
    """What is made from an optimizer and is none itself: `scheduler` of `StepLR(opt, 3)`."""
    return list(index.once((schedules,), lambda: list(_schedules(index))))


def _schedules(index: FileIndex) -> Iterator[ast.expr]:
    cleared = [owner_of(call) for call in index.calls if called(call) == "zero_grad"]
    for target, value in _assignments(index):
        if not isinstance(value, ast.Call) or any(same(target, one) for one in cleared):
            continue
        given = [*value.args, *(word.value for word in value.keywords)]
        made = any(same(one, owner) for one in given for owner in cleared)
        if called(value) in SCHEDULES or (made and not elements(target)):
            yield target


def losses(index: FileIndex) -> list[ast.expr]:
    """What is differentiated: the value itself, and what it was assigned on its way there."""
    return list(index.once((losses,), lambda: list(_with_assigned(index, _stepped(index)))))


def targets(index: FileIndex) -> list[ast.expr]:
    """The second arguments of losses: what outputs are compared with."""
    found = [
        call.args[1] if len(call.args) > 1 else _keyword(call, "target", "y_true", "labels")
        for call in index.calls
        if is_loss_call(index, call)
    ]
    return [one for one in found if one is not None]


def names_that_reach(index: FileIndex, ends: list[ast.expr]) -> set[str]:
    """Variables and attributes whose values go into one of these expressions."""
    reached: set[str] = set()
    for one in ends:
        reached |= variables_read(one)
    for _ in range(ROUNDS):
        before = len(reached)
        for target, value in _assignments(index):
            if reached & set(variables_stored(target)):
                reached |= variables_read(value)
        for function in within(index.tree, ast.FunctionDef):
            for given_back in within(function, ast.Return) if function.name in reached else ():
                reached |= variables_read(given_back)
        if len(reached) == before:
            break
    return reached


def reaches_loss(index: FileIndex, node: ast.expr) -> bool:
    """Whether a value goes into what is differentiated, as part of it or by a variable."""
    ends = losses(index)
    if any(part is node for one in ends for part in all_parts(one)):
        return True
    reached = index.once((reaches_loss,), lambda: names_that_reach(index, ends))
    parent = index.parents.get(node)
    while parent is not None and not isinstance(parent, ast.stmt):
        parent = index.parents.get(parent)
    stored = (
        {name for target, _ in assigned(parent) for name in variables_stored(target)}
        if parent
        else ()
    )
    return bool(reached.intersection(stored))


def _stepped(index: FileIndex) -> Iterator[ast.expr]:
    for call in index.calls:
        if called(call) == "backward":
            owner = owner_of(call)
            inner = owner.args[0] if is_call(owner, "scale") and owner.args else None
            yield from (one for one in (inner or owner, *call.args[:1]) if one is not None)
        elif called(call) in ("gradient", "grad", "scale_loss") and call.args:
            yield call.args[0]
    for function in within(index.tree, ast.FunctionDef):
        if function.name in LOSS_STEPS:
            yield from (one.value for one in within(function, ast.Return) if one.value is not None)


def _with_assigned(index: FileIndex, ends: Iterator[ast.expr]) -> Iterator[ast.expr]:
    waiting = list(ends)
    followed: set[str] = set()
    for _ in range(ROUNDS):
        yield from waiting
        fresh = {name for one in waiting for name in _whole_names(one)} - followed
        followed |= fresh
        waiting = [
            value
            for target, value in _assignments(index)
            if fresh.intersection(variables_stored(target))
        ]
        if not waiting:
            return


def _whole_names(node: ast.expr) -> Iterator[str]:
    """Variables that stand for the value, or for a term of a sum."""
    if isinstance(node, ast.BinOp):
        yield from _whole_names(node.left)
        yield from _whole_names(node.right)
    elif isinstance(node, ast.UnaryOp):
        yield from _whole_names(node.operand)
    elif is_call(node, "mean", "sum") and (owner := owner_of(node)) is not None:
        yield from _whole_names(owner)
    elif word := last_word(node):
        yield word


def _assignments(index: FileIndex) -> list[tuple[ast.expr, ast.expr]]:
    return list(
        index.once(
            (_assignments,),
            lambda: [pair for node in all_parts(index.tree) for pair in assigned(node)],
        )
    )


def _given(index: FileIndex, name: str) -> list[ast.expr]:
    return index.once((_given, name), lambda: list(given(index, name)))


def _keyword(call: ast.Call, *words: str) -> ast.expr | None:
    return next((one.value for one in call.keywords if one.arg in words), None)
