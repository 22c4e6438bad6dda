"""What a value is used for: the loss that is stepped, the targets of a loss, what reaches either.

Decided by the framework's own calls (`backward`, `cross_entropy`, `step`), never by what the author
calls a variable.
"""

import ast
from collections.abc import Iterable, Iterator

from reenact.program.flow.uses import (
    answers,
    given,
    part_of,
    stores,
    variables_stored,
)
from reenact.program.syntax.excerpt import same
from reenact.program.syntax.index import FileIndex
from reenact.program.syntax.pieces import (
    all_parts,
    argument,
    called,
    elements,
    file_of,
    given_to,
    is_call,
    last_word,
    owner_of,
    returned,
    within,
)
from reenact.program.training.lexicon import (
    KERAS_LOSSES,
    TORCH_LOSS_CLASSES,
    TORCH_LOSS_FUNCTIONS,
    TORCH_SCHEDULERS,
)

LOSS_FUNCTIONS = frozenset((*TORCH_LOSS_FUNCTIONS, "triplet_margin_with_distance_loss"))
"""Of `torch.nn.functional`."""
LOSS_CLASSES = frozenset((*TORCH_LOSS_CLASSES, *KERAS_LOSSES, "CosineSimilarityLoss")) - {
    "CosineSimilarity"
}
"""Of `torch.nn` and `keras.losses`; `torch.nn` has a layer with the name of the one left out."""
LOSS_STEPS = ("training_step", "compute_loss", "train_step")
"""Methods that a framework calls for the loss of a batch."""
WITHOUT_GRADIENTS = ("no_grad", "inference_mode")
ROUNDS = 6


def is_loss_call(node: ast.AST | None) -> bool:
    """Whether a call gives a loss: a function of the framework, or an object of a class of losses."""
    if not isinstance(node, ast.Call):
        return False
    if called(node) in LOSS_FUNCTIONS:
        return True
    if isinstance(node.func, ast.Call):
        return called(node.func) in LOSS_CLASSES
    values = given(file_of(node), last_word(node.func))
    return any(called(value) in LOSS_CLASSES for value in values)


def schedules(index: FileIndex) -> list[ast.expr]:
    """What is made from an optimizer and is not one itself: `scheduler` of `StepLR(opt, 3)`."""
    cleared = [owner_of(call) for call in index.calls if called(call) == "zero_grad"]
    found = []
    for target, value in stores(index.tree):
        if isinstance(value, ast.Call) and not any(same(target, one) for one in cleared):
            made = any(same(one, owner) for one in given_to(value) for owner in cleared)
            if called(value) in TORCH_SCHEDULERS or (made and not elements(target)):
                found.append(target)
    return found


def losses(index: FileIndex) -> list[ast.expr]:
    """What is differentiated: the value itself, and what it was assigned on its way there."""
    return list(index.once((losses,), lambda: list(_with_assigned(index, _stepped(index)))))


def targets(index: FileIndex) -> list[ast.expr]:
    """The second arguments of losses: what outputs are compared with."""
    compared = (call for call in index.calls if is_loss_call(call))
    found = (argument(call, 1, "target", "y_true", "labels") for call in compared)
    return [one for one in found if one is not None]


def without_gradients(node: ast.AST) -> list[ast.expr]:
    """What a block or a function states by which no gradients are kept in it."""
    stated: list[ast.expr] = []
    if isinstance(node, ast.With):
        stated = [item.context_expr for item in node.items]
    elif isinstance(node, ast.FunctionDef):
        stated = node.decorator_list
    words = ((one, {last_word(part) for part in all_parts(one)}) for one in stated)
    return [one for one, said in words if not said.isdisjoint(WITHOUT_GRADIENTS)]


def is_without_gradients(node: ast.AST) -> bool:
    """Whether something runs under `no_grad()` or `inference_mode()`."""
    return any(map(without_gradients, file_of(node).ancestors(node)))


def _stepped(index: FileIndex) -> Iterator[ast.expr]:
    for call in index.calls:
        if called(call) == "backward":
            owner = owner_of(call)
            inner = owner.args[0] if is_call(owner, "scale") and owner.args else None
            yield from (one for one in (inner or owner, *call.args[:1]) if one is not None)
        elif called(call) in ("gradient", "grad", "scale_loss") and call.args:
            yield call.args[0]
    for function in within(index.tree, ast.FunctionDef):
        yield from returned(function) if function.name in LOSS_STEPS else ()


def _with_assigned(index: FileIndex, ends: Iterable[ast.expr]) -> Iterator[ast.expr]:
    waiting = list(ends)
    seen: set[ast.expr] = set()
    followed: set[str] = set()
    for _ in range(ROUNDS):
        yield from waiting
        seen.update(waiting)
        whole = [part for one in waiting for part in _whole_parts(one)]
        fresh = {last_word(part) for part in whole} - followed - {""}
        followed |= fresh
        found = [
            *_stored_as(index, fresh),
            *(value for part in whole for value in _given_back(part)),
        ]
        waiting = [value for value in dict.fromkeys(found) if value not in seen]


def _stored_as(index: FileIndex, names: set[str]) -> Iterator[ast.expr]:
    """What these variables are given; of several results of a function those that they stand for."""
    for target, value in stores(index.tree):
        if names.intersection(variables_stored(target)):
            yield value
        for place, part in enumerate(elements(target)):
            if names.intersection(variables_stored(part)):
                yield from part_of(value, place)


def _given_back(part: ast.expr) -> list[ast.expr]:
    """What a function of the program that makes it gives back."""
    values = answers(part) if isinstance(part, ast.Call) else []
    return [value for value in values if not elements(value)]


def _whole_parts(node: ast.expr) -> Iterator[ast.expr]:
    """The value itself, or the terms of a sum."""
    if isinstance(node, ast.BinOp):
        yield from _whole_parts(node.left)
        yield from _whole_parts(node.right)
    elif isinstance(node, ast.UnaryOp):
        yield from _whole_parts(node.operand)
    elif is_call(node, "mean", "sum") and (owner := owner_of(node)) is not None:
        yield from _whole_parts(owner)
    else:
        yield node
