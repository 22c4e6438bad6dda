"""RE049 wrong-sign

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
    There is nothing to change automatically: look at the signs of the terms of the loss.
Sources
    Williams, "Simple statistical gradient-following algorithms for connectionist reinforcement learning",
    1992 (REINFORCE climbs); Sutton and Barto, "Reinforcement Learning", section 13.3.
"""

import ast
import re
from collections.abc import Iterator

from reenact.program.read.index import FileIndex
from reenact.rules import Certainty, Culprit, Evidence, Findings, Kind, Needs
from reenact.rules.own._divergence import NAMED, divergences, terms
from reenact.rules.own._lines import indexes, place_in, value_of
from reenact.rules.own._parts import called, is_call, is_sum, last_word, owner_of, subject_of, within

NEAR = 0.1
LOG_PROBABILITY = re.compile(r"log_?p(?:rob|i)?s?\b|log_?probs?|\.log_prob\(|(?:\b|_)lps?\b", re.IGNORECASE)
REWARD = re.compile(
    r"advantage|\badvs?\b|return|reward|\bdelta|td_error|\bG\b|discount|\brets?\b", re.IGNORECASE
)
NEGATIVE = re.compile(r"(?:logp\w*|log_probs?|adv\w*|returns?|rewards?)\s*=\s*-")
"""Factors of a policy gradient that are given the minus sign themselves."""
REDUCED = ("mean", "sum")
ADVANTAGE = re.compile(r"^adv", re.IGNORECASE)
EXPECTED = re.compile(r"^(?:self\.)?(?:values?|baselines?|critic|v|vals?|state_values?)\b", re.IGNORECASE)
RETURNED = re.compile(r"return|reward|\brets?\b|target|\bG\b|discount", re.IGNORECASE)


class WrongSign(Culprit):
    code, name, family = "RE049", "wrong-sign", "reenact"
    needs = Needs.SOURCE
    why = "An optimizer lowers what it is given: here the wrong thing."

    def check(self, evidence: Evidence) -> Findings:
        if _mirrored(evidence):
            saw = "what goes backward is the negative of the loss on these labels"
            place = evidence.loss.place if evidence.loss is not None else None
            yield self.finding(evidence, saw, place=place, kind=Kind.LOSS, certainty=Certainty.PROOF)
            return
        for index in indexes(evidence):
            for term in _below_zero(index):
                saw = f"{ast.unparse(term)[:60]} is added: this divergence is never above zero"
                yield self.finding(evidence, saw, place=place_in(index, term))
            reversed_here = list(_reversed(index))
            raised = list(_raised(index))
            # Two wrong signs make a right one.
            for node in reversed_here if not raised else ():
                saw = f"{ast.unparse(node)[:60]} is above zero for actions that did worse than expected"
                yield self.finding(evidence, saw, place=place_in(index, node))
            for node in raised if not reversed_here else ():
                saw = f"{ast.unparse(node)[:60]} is lowered: there is no minus sign"
                yield self.finding(evidence, saw, place=place_in(index, node))


def _mirrored(evidence: Evidence) -> bool:
    """Whether the loss of most looked-at steps is minus the loss by our own arithmetic."""
    if evidence.trace is None or evidence.optimizers > 1:
        return False
    steps = evidence.trace.steps
    both = [
        (float(loss), float(own))
        for loss, own in zip(steps["loss"], steps["label_loss"], strict=True)
        if loss == loss and own == own and own > 0
    ]
    opposite = sum(abs(loss + own) < NEAR * own for loss, own in both)
    return len(both) >= 3 and opposite > 0.9 * len(both)


def _raised(index: FileIndex) -> Iterator[ast.Assign]:
    """Assignments of a policy loss that nothing negates."""
    if "maximize=True" in index.text or not any(called(call) == "backward" for call in index.calls):
        return
    for node in (one for one in within(index.tree, ast.Assign) if len(one.targets) == 1):
        value, name = node.value, ast.unparse(node.targets[0])
        added = [term for sign, term in terms(value) if sign > 0]
        raised = any(_is_policy_gradient(index, term) for term in added)
        if "loss" in name.lower() and raised and not _negated(index, name, value):
            yield node


def _reversed(index: FileIndex) -> Iterator[ast.Assign]:
    """Advantages that are expected values less returns, in a program whose policy loss has its minus."""
    for node in (one for one in within(index.tree, ast.Assign) if len(one.targets) == 1):
        value = node.value
        while is_call(value, "detach", "flatten", "squeeze", "reshape", "view"):
            value = owner_of(value) or value.args[0]
        if ADVANTAGE.search(last_word(node.targets[0])) and is_sum(value, ast.Sub):
            left, right = ast.unparse(value.left), ast.unparse(value.right)
            if EXPECTED.search(left) and RETURNED.search(right) and not RETURNED.search(left):
                yield node


def _below_zero(index: FileIndex) -> Iterator[ast.expr]:
    """Divergences of the wrong sign that nothing subtracts or negates later."""
    taken = [one.right for one in within(index.tree, ast.BinOp) if isinstance(one.op, ast.Sub)]
    taken += [one.operand for one in within(index.tree, ast.UnaryOp) if isinstance(one.op, ast.USub)]
    if "elbo" in index.text.lower() or "maximize=True" in index.text:
        return
    if not any(NAMED.search(ast.unparse(one)) for one in taken):
        yield from (one.node for one in divergences(index) if not one.positive)


def _is_policy_gradient(index: FileIndex, value: ast.expr) -> bool:
    """`(log_prob * advantage).mean()`, or the smaller of two such products as PPO takes it."""
    if is_call(value, *REDUCED):
        value = subject_of(value, ("torch",)) or value
    if is_call(value, "min", "minimum") and len(value.args) == 2:
        value = value_of(index, value.args[0])
    if not is_sum(value, ast.Mult):
        return False
    left, right = (f"{ast.unparse(side)} {_meaning(index, side)}" for side in (value.left, value.right))
    sides = ((left, right), (right, left))
    return any(LOG_PROBABILITY.search(one) and REWARD.search(other) for one, other in sides)


def _meaning(index: FileIndex, side: ast.expr) -> str:
    """What a factor was made of, two assignments back."""
    made = value_of(index, side)
    roots = list(within(made, ast.Name)) if made is not side else []
    return " ".join([ast.unparse(made), *(ast.unparse(value_of(index, root)) for root in roots[:1])])


def _negated(index: FileIndex, name: str, value: ast.expr) -> bool:
    if any(isinstance(node.op, ast.USub) for node in within(value, ast.UnaryOp)):
        return True
    later = re.compile(rf"-\s*(?:1(?:\.0)?\s*\*\s*)?{re.escape(name)}\b")
    return bool(later.search(index.text)) or bool(NEGATIVE.search(index.text))
