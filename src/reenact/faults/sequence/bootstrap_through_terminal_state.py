"""SQ06 bootstrap-through-terminal-state

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
    Sutton and Barto, "Reinforcement Learning", 2018, section 6.1; Pardo et al., "Time Limits in
    Reinforcement Learning", ICML 2018.
"""

import ast
import re
from collections.abc import Iterator
from itertools import takewhile

from reenact.faults import (
    Category,
    Certainty,
    Detector,
    Evidence,
    Fault,
    Findings,
    Needs,
    Observes,
    Severity,
)
from reenact.faults.facts.flow import reached_by
from reenact.faults.facts.lines import indexes, place_in
from reenact.faults.facts.parts import called, is_sum, owner_of, within, words
from reenact.program.syntax.index import FileIndex

ENDS = re.compile(r"(?:^|_)(?:dones?|d|terminated|terminations?|terminals?|terms?)(?:_|$)")
"""What says that an episode is over."""
HOLDS = re.compile(
    r"(?i)done|term|mask|alive|no[nt]_?final|cont|valid|over|end|last|absorb|discounts"
)
"""Names under which the end may enter a target."""
DISCOUNT = re.compile(r"gamma|discount", re.IGNORECASE)
KEEPS = ("append", "push", "add", "store", "put", "extend", "remember")
FAULT = Fault(
    code="SQ06",
    name="bootstrap-through-terminal-state",
    category=Category.SEQUENCE,
    page=__doc__,
)


@FAULT.detector(
    "RE059",
    "bootstrap-through-terminal",
    "reenact",
    needs=Needs.SOURCE,
    observes=Observes.TEXT,
    why="After the last state of an episode there is no value to add.",
    severity=Severity.ERROR,
    confidence=0.9,
    certainty=Certainty.STRONG,
    is_root_cause=True,
)
def bootstrap_through_terminal(detector: Detector, evidence: Evidence) -> Findings:
    """A program notes where episodes end, and the target of its value function is the reward and
    the discounted value of the next state all the same: the end enters no target.

    Sutton and Barto, "Reinforcement Learning", 2018, section 6.1; Pardo et al., "Time Limits in
    Reinforcement Learning", ICML 2018.
    """
    files = list(indexes(evidence))
    targets = [(index, node) for index in files for node in _targets(index)]
    if not targets or not any(_notes_ends(index) for index in files):
        return
    enters = {index.path: reached_by(index, HOLDS) | {"d"} for index in files}
    if any(enters[index.path].intersection(_decides(index, node)) for index, node in targets):
        return
    for index, node in [one for one in targets if not _runs_on(*one)][:1]:
        saw = (
            f"{ast.unparse(node)[:60]}: no end of an episode enters, though the program notes them"
        )
        yield detector.finding(
            evidence,
            saw,
            place=place_in(index, node),
        )


def _targets(index: FileIndex) -> Iterator[ast.BinOp]:
    """Sums of something and a value with a discount among its factors."""
    for node in within(index.tree, ast.BinOp):
        products = [side for side in (node.left, node.right) if is_sum(side, ast.Mult)]
        if is_sum(node, ast.Add) and any(
            DISCOUNT.search(word) for one in products for word in words(one)
        ):
            yield node


def _decides(index: FileIndex, node: ast.expr) -> Iterator[str]:
    """What a target is made of, and the conditions that it stands under within its loop or
    function.
    """
    yield from words(node)
    ends = (ast.For, ast.While, ast.FunctionDef)
    for above in takewhile(
        lambda one: not isinstance(one, ends),
        index.ancestors(node),
    ):
        if isinstance(above, ast.If | ast.IfExp):
            yield from words(above.test)


def _runs_on(index: FileIndex, node: ast.expr) -> bool:
    """Whether a sum takes itself up again, as returns do that are summed backward over one
    episode.
    """
    above = next(
        (one for one in index.ancestors(node) if not isinstance(one, ast.expr)),
        index.tree,
    )
    if not isinstance(above, ast.Assign | ast.AugAssign | ast.AnnAssign):
        return False
    target = above.targets[0] if isinstance(above, ast.Assign) else above.target
    own = {word for word in words(target) if not DISCOUNT.search(word)}
    return not own.isdisjoint(words(node))


def _notes_ends(index: FileIndex) -> bool:
    """Whether the ends of episodes are kept beside the rewards."""
    keeping = [call for call in index.calls if called(call) in KEEPS]
    kept = [one for call in keeping for one in (*call.args, owner_of(call)) if one is not None]
    stored = [node.targets[0] for node in within(index.tree, ast.Assign)]
    kept += [one.elts[-1] for one in stored if isinstance(one, ast.Tuple) and len(one.elts) >= 4]
    return any(ENDS.search(word) for one in kept for word in words(one))
