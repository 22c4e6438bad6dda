"""RE059 bootstrap-through-terminal

What
    A program notes where episodes end, and the target of its value function is the reward and the discounted
    value of the next state all the same: the end enters no target.
Why
    After the last state there is nothing to come. A value that is added there teaches that failing costs
    nothing.
Symptom
    Values grow towards reward / (1 - discount) in every state; the policy does not learn to avoid the end.
Example
    import torch
    from torch import nn

    critic = nn.Linear(4, 1)
    optimizer = torch.optim.Adam(critic.parameters(), lr=0.01)
    gamma, memory = 0.9, []
    for step in range(200):
        state, following = torch.randn(4), torch.randn(4)
        memory.append((state, following, following.sum(), following[0] > 0))
    for update in range(40):
        states, following, rewards, dones = map(torch.stack, zip(*memory))
        with torch.no_grad():
            target = rewards + gamma * critic(following).squeeze(-1)
        loss = (critic(states).squeeze(-1) - target).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
Instead
    -         target = rewards + gamma * critic(following).squeeze(-1)
    +         target = rewards + gamma * critic(following).squeeze(-1) * (~dones).float()
Fix safety
    There is nothing to change automatically: which ends are terminal, and which a time limit, is known to the
    author.
Sources
    Sutton and Barto, "Reinforcement Learning", 2018, section 6.1; Pardo et al., "Time Limits in Reinforcement
    Learning", ICML 2018.
"""

import ast
import re
from collections.abc import Iterator

from reenact.program.read.index import FileIndex
from reenact.rules import Certainty, Evidence, Findings, Needs, Rule, Severity
from reenact.rules.own._flow import reached_by, words
from reenact.rules.own._lines import called, indexes, place_in

ENDS = re.compile(r"(?:^|_)(?:dones?|d|terminated|terminations?|terminals?|terms?)(?:_|$)")
"""What says that an episode is over."""
HOLDS = re.compile(
    r"done|term|mask|alive|not_?final|non_?final|cont|valid|over|end|last|absorb|discounts", re.I
)
"""Names under which the end may enter a target."""
DISCOUNT = re.compile(r"gamma|discount", re.IGNORECASE)
KEEPS = ("append", "push", "add", "store", "put", "extend", "remember")


class BootstrapThroughTerminal(Rule):
    code, name, family, fault = "RE059", "bootstrap-through-terminal", "reenact", None
    needs = Needs.SOURCE
    severity = Severity.ERROR
    is_root_cause = True
    confidence = 0.9
    certainty = Certainty.STRONG
    why = "After the last state of an episode there is no value to add."

    def check(self, evidence: Evidence) -> Findings:
        files = list(indexes(evidence))
        targets = [(index, node) for index in files for node in _targets(index)]
        if not targets or not any(_notes_ends(index) for index in files):
            return
        enters = {index.path: reached_by(index, HOLDS) | {"d"} for index in files}
        if any(enters[index.path].intersection(_decides(index, node)) for index, node in targets):
            return
        fixed = [(index, node) for index, node in targets if not _runs_on(index, node)]
        for index, node in fixed[:1]:
            saw = f"{ast.unparse(node)[:60]}: no end of an episode enters, though the program notes them"
            yield self.finding(evidence, saw, place=place_in(index, node))


def _targets(index: FileIndex) -> Iterator[ast.BinOp]:
    """Sums of something and a discounted value."""
    for node in ast.walk(index.tree):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            for side in (node.left, node.right):
                if isinstance(side, ast.BinOp) and isinstance(side.op, ast.Mult) and _discounted(side):
                    yield node
                    break


def _discounted(product: ast.BinOp) -> bool:
    """Whether a product has a discount among its factors, and nothing that decays it further."""
    return any(DISCOUNT.search(word) for side in _factors(product) for word in words(side))


def _factors(node: ast.expr) -> Iterator[ast.expr]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        yield from _factors(node.left)
        yield from _factors(node.right)
    else:
        yield node


def _decides(index: FileIndex, node: ast.expr) -> Iterator[str]:
    """What a target is made of, and the conditions that it stands under within its loop or function."""
    yield from words(node)
    above = index.parents.get(node)
    while above is not None and not isinstance(above, ast.For | ast.While | ast.FunctionDef):
        if isinstance(above, ast.If | ast.IfExp):
            yield from words(above.test)
        above = index.parents.get(above)


def _runs_on(index: FileIndex, node: ast.expr) -> bool:
    """Whether a sum takes itself up again, as returns do that are summed backward over one episode."""
    above = index.parents.get(node)
    while isinstance(above, ast.expr):
        above = index.parents.get(above)
    if not isinstance(above, ast.Assign | ast.AugAssign | ast.AnnAssign):
        return False
    target = above.targets[0] if isinstance(above, ast.Assign) else above.target
    own = {word for word in words(target) if not DISCOUNT.search(word)}
    return not own.isdisjoint(words(node))


def _notes_ends(index: FileIndex) -> bool:
    """Whether the ends of episodes are kept beside the rewards."""
    for call in index.calls:
        owner = call.func.value if isinstance(call.func, ast.Attribute) else None
        kept = [*call.args, *([owner] if owner is not None else [])] if called(call) in KEEPS else []
        if any(ENDS.search(word) for one in kept for word in words(one)):
            return True
    unpacked = (node.targets[0] for node in ast.walk(index.tree) if isinstance(node, ast.Assign))
    return any(
        isinstance(one, ast.Tuple)
        and len(one.elts) >= 4
        and any(ENDS.search(word) for word in words(one.elts[-1]))
        for one in unpacked
    )
