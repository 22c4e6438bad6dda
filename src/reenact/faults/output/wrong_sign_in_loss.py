"""OU06 wrong-sign-in-loss

What
    What goes backward is the negative of the loss, a policy gradient without its minus sign, or a KL
    divergence with the wrong one.
Why
    An optimizer lowers what it is given. A loss of the wrong sign is raised; the probability of actions
    that pay is lowered.
Symptom
    The loss falls without end while everything gets worse; the return falls below that of random play.
Example
    import torch
    from torch.distributions import Categorical

    policy = torch.nn.Linear(4, 2)
    optimizer = torch.optim.Adam(policy.parameters(), lr=0.01)
    for episode in range(100):
        states, returns = torch.randn(8, 4), torch.randn(8)
        draws = Categorical(logits=policy(states))
        log_probs = draws.log_prob(draws.sample())
        loss = (log_probs * returns).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
Instead
    -     loss = (log_probs * returns).mean()
    +     loss = -(log_probs * returns).mean()
Fix safety
    Unsafe: it changes what is trained, to what was meant: the term gets the other sign.
Sources
    Williams, "Simple statistical gradient-following algorithms for connectionist reinforcement learning",
    1992 (REINFORCE climbs); Sutton and Barto, "Reinforcement Learning", section 13.3.
"""

import ast
from collections.abc import Iterator

from reenact.faults import (
    Category,
    Certainty,
    Detector,
    Evidence,
    Fault,
    Findings,
    Kind,
    Needs,
    Observes,
    Severity,
)
from reenact.faults.facts.imbalances import imbalances
from reenact.faults.fixes.outputs import (
    lower_the_loss,
    real_for_generator,
    turn_sign,
    turn_term,
)
from reenact.program.flow.constants import read_through
from reenact.program.flow.signs import is_lessened, is_maximised, terms
from reenact.program.flow.uses import answers, number, origins, value_of, values_of
from reenact.program.syntax.excerpt import excerpt, same
from reenact.program.syntax.index import FileIndex
from reenact.program.syntax.pieces import (
    Found,
    calls_in,
    elements,
    is_call,
    is_minus,
    is_sum,
    owner_of,
    place_of,
    subject_of,
    within,
)
from reenact.program.training.divergence import divergences
from reenact.program.training.roles import is_loss_call, losses

NEAR = 0.1
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
FAULT = Fault(
    code="OU06",
    name="wrong-sign-in-loss",
    category=Category.OUTPUT,
    page=__doc__,
)


@FAULT.detector(
    "RE049",
    "wrong-sign",
    "reenact",
    needs=Needs.SOURCE,
    observes=Observes.TEXT,
    why="An optimizer lowers what it is given: here the wrong thing.",
    severity=Severity.ERROR,
    confidence=0.9,
    certainty=Certainty.STRONG,
    is_root_cause=True,
)
def wrong_sign(detector: Detector, evidence: Evidence) -> Findings:
    """What goes backward is the negative of the loss, a policy gradient without its minus sign, or
    a KL divergence with the wrong one.

    Williams, "Simple statistical gradient-following algorithms for connectionist reinforcement
    learning", 1992 (REINFORCE climbs); Sutton and Barto, "Reinforcement Learning", section 13.3.
    """
    if _mirrored(evidence):
        saw = "what goes backward is the negative of the loss on these labels"
        place = evidence.loss.place if evidence.loss is not None else None
        yield detector.finding(
            evidence,
            saw,
            fixes=lower_the_loss(evidence),
            place=place,
            kind=Kind.LOSS,
            certainty=Certainty.PROOF,
        )
        return
    for index in evidence.files:
        for look in (_below_zero, _entropy_lowered, _found_out, _raised):
            for term, saw in look(index):
                yield detector.finding(
                    evidence,
                    f"{excerpt(term)} {saw}",
                    fixes=(
                        real_for_generator(evidence, place_of(term))
                        if look is _found_out
                        else turn_sign(evidence, place_of(term))
                    ),
                    place=place_of(term),
                )


@FAULT.detector(
    "RE141",
    "term-turned-round",
    "reenact",
    needs=Needs.ACCOUNTS,
    observes=Observes.GRADIENTS,
    why="An optimizer lowers what it is given: here the wrong thing.",
    severity=Severity.ERROR,
    confidence=0.9,
    certainty=Certainty.STRONG,
    is_root_cause=True,
)
def term_turned_round(detector: Detector, evidence: Evidence) -> Findings:
    """By the graph of the loss: a divergence is subtracted, or the probability of what pays is lowered.

    Kingma and Welling, "Auto-encoding variational Bayes", ICLR 2014, equation 10; Williams, "Simple
    statistical gradient-following algorithms for connectionist reinforcement learning", 1992.
    """
    yield from imbalances(
        detector,
        evidence,
        fixes=lambda place: turn_term(evidence, place),
    )


def _mirrored(evidence: Evidence) -> bool:
    """Whether the loss of most looked-at steps is minus the loss by our own arithmetic."""
    if evidence.trace is None or evidence.optimizers > 1:
        return False
    steps = evidence.trace.steps
    pairs = zip(steps["loss"].tolist(), steps["label_loss"].tolist(), strict=True)
    both = [(loss, own) for loss, own in pairs if loss == loss and own > 0]
    return len(both) >= 3 and sum(abs(loss + own) < NEAR * own for loss, own in both) > 0.9 * len(
        both
    )


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


def _raised(index: FileIndex) -> Found:
    """Policy gradients in what goes backward that nothing negates."""
    if is_maximised(index) or calls_in(index.tree, "rsample"):
        return
    added = {term: None for loss in losses(index) for term in _lowered(loss)}
    # A part is the whole without its mean.
    product = {_product(term): term for term in reversed(added) if _is_policy_gradient(term)}
    for term in product.values():
        if not is_lessened(term):
            yield term, "is lowered: there is no minus sign"


def _entropy_lowered(index: FileIndex) -> Found:
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


def _found_out(index: FileIndex) -> Found:
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


def _below_zero(index: FileIndex) -> Found:
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
