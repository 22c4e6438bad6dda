"""Terms of a loss that go into it with the wrong sign: policy gradients, entropies, divergences,
the loss of a generator."""

import ast
from collections.abc import Iterator

from reenact.program.flow.constants import read_through
from reenact.program.flow.signs import is_lessened, is_maximised, terms
from reenact.program.flow.uses import answers, number, origins, value_of, values_of
from reenact.program.syntax.excerpt import same
from reenact.program.syntax.index import FileIndex
from reenact.program.syntax.pieces import (
    Found,
    calls_in,
    elements,
    is_call,
    is_minus,
    is_sum,
    owner_of,
    subject_of,
    within,
)
from reenact.program.training.divergence import divergences
from reenact.program.training.roles import is_loss_call, losses

REDUCED = ("mean", "sum")


SHAPED = (
    "gather",
    "squeeze",
    "unsqueeze",
    "view",
    "reshape",
    "flatten",
    "sum",
    "to",
    "float",
)
"""Methods that give the same numbers in another shape."""


PROBABILITIES = ("exp", "softmax", "sigmoid")


ROUNDS = 8
"""Assignments that are followed in a row."""


def _lowered(
    loss: ast.expr,
    rounds: int = ROUNDS,
) -> Iterator[ast.expr]:
    """Terms that make a loss larger, and what those are made of."""
    for sign, term in terms(loss) if rounds else ():
        if sign > 0:
            yield term
            inner = subject_of(term) if is_call(term, *REDUCED) else None
            for value in [inner] if inner is not None else _inside(term):
                yield from _lowered(value, rounds - 1)


def raised(index: FileIndex) -> Found:
    """Policy gradients in what goes backward that nothing negates."""
    if is_maximised(index) or calls_in(index.tree, "rsample"):
        return
    added = {term: None for loss in losses(index) for term in _lowered(loss)}
    # A part is the whole without its mean.
    product = {_product(term): term for term in reversed(added) if _is_policy_gradient(term)}
    for term in product.values():
        if not is_lessened(term):
            yield term, "is lowered: there is no minus sign"


def entropy_lowered(index: FileIndex) -> Found:
    """Losses of a policy to which its entropy is added: lowered with the loss, nothing is tried
    any more.
    """
    if is_maximised(index) or not calls_in(index.tree, "log_prob"):
        return
    for loss in losses(index):
        signed = list(terms(loss))
        for sign, term in signed if len(signed) > 1 else ():
            if sign > 0 and _is_entropy(term) and not is_lessened(term):
                yield term, "is added to the loss: the policy's entropy is minimised"


def _is_entropy(term: ast.expr, rounds: int = ROUNDS) -> bool:
    """Whether it is `distribution.entropy()`, times something that is not negative."""
    if not rounds:
        return False
    if is_sum(term, ast.Mult):
        sides = (term.left, term.right)
        values = map(number, sides)
        minus = any(is_minus(read_through(side)) for side in sides)
        if minus or any(map(_is_negative, values)):
            return False
        return any(_is_entropy(side, rounds - 1) for side in sides)
    if is_call(term, *REDUCED, *SHAPED):
        inner = subject_of(term)
        return inner is not None and _is_entropy(inner, rounds - 1)
    if is_call(term, "entropy"):
        return not term.args
    made_of = [value for value in origins(term) if value is not term]
    return any(_is_entropy(value, rounds - 1) for value in made_of)


def _is_negative(known: ast.Constant | None) -> bool:
    return known is not None and float(str(known.value)) < 0


def found_out(index: FileIndex) -> Found:
    """Losses of a generator that ask the discriminator to find out what it made: it is called on
    what is detached, to learn this answer, and on what is not, with the same answer.
    """
    judged = [
        (loss, network)
        for loss in index.calls
        if is_loss_call(loss)
        and len(loss.args) == 2
        and is_call(value_of(loss.args[1]), "zeros", "zeros_like", "new_zeros")
        for network in within(value_of(loss.args[0]), ast.Call)
        if len(network.args) == 1
    ]
    taught = [network for _, network in judged if _is_detached(network.args[0])]
    for loss, network in judged:
        asked = any(same(network.func, other.func) for other in taught)
        if asked and not _is_detached(network.args[0]) and not is_lessened(loss):
            yield loss, "is minimised: the generator learns to be recognised as fake"


def _is_detached(node: ast.expr) -> bool:
    return bool(calls_in(node, "detach"))


def below_zero(index: FileIndex) -> Found:
    """Divergences of the wrong sign that nothing subtracts or negates later."""
    for term in () if is_maximised(index) else divergences(index):
        if not term.positive and not is_lessened(term.node):
            yield term.node, "is added: this divergence is never above zero"


def _is_policy_gradient(value: ast.expr) -> bool:
    """`(log_prob * advantage).mean()`, or the smaller of two such products as PPO takes it."""
    product = _product(value)
    return is_sum(product, ast.Mult) and any(
        _is_log_probability(factor) and _is_weight(other)
        for factor, other in (
            (product.left, product.right),
            (product.right, product.left),
        )
    )


def _product(value: ast.expr) -> ast.expr:
    """What a mean or a sum is taken of."""
    while is_call(value, *REDUCED) and (inner := subject_of(value)) is not None:
        value = inner
    if is_call(value, "min", "minimum") and len(value.args) == 2:
        return origins(value.args[0])[0]
    return value


def _is_log_probability(node: ast.expr, rounds: int = ROUNDS) -> bool:
    """Whether it is the logarithm of the probability of something, or the ratio of two."""
    if not rounds or isinstance(node, ast.Constant):
        return False
    if is_call(node, "log_prob", "log_softmax"):
        return True
    if is_call(node, "exp") and is_sum(ratio := subject_of(node), ast.Sub):
        return _is_log_probability(ratio.left, rounds - 1)
    if is_call(node, *SHAPED) and (owner := owner_of(node)) is not None:
        return _is_log_probability(owner, rounds)
    return any(_is_log_probability(value, rounds - 1) for value in _inside(node))


def _inside(node: ast.expr) -> list[ast.expr]:
    """What a value is made of without a change of its numbers."""
    if is_call(node, "stack", "cat"):
        return node.args[:1]
    if isinstance(node, ast.ListComp):
        return [node.elt]
    if isinstance(node, ast.Call):
        return answers(node)
    return elements(node) or list(values_of(node))


def _is_weight(node: ast.expr) -> bool:
    """Whether it says how good an action was: no number, no probability, not negative on purpose."""
    if number(node) is not None or _is_log_probability(node):
        return False
    values = origins(node)
    minus = [part for value in values for part in within(value, ast.UnaryOp) if is_minus(part)]
    negated = any(not isinstance(part.operand, ast.Constant) for part in minus)
    return not negated and not any(is_call(part, *PROBABILITIES) for part in (node, *values))
