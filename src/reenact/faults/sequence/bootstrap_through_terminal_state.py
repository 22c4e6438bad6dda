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
    Unsafe: it changes what is trained. The value is multiplied by what the end leaves of it; whether an end
    is a time limit, after which there is a value, is known to the author.
Sources
    Sutton and Barto, "Reinforcement Learning", 2018, section 6.1; Pardo et al., "Time Limits in
    Reinforcement Learning", ICML 2018.
"""

import ast
from collections.abc import Iterator, Sequence
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
from reenact.faults.fixes.sequence import end_of_episode
from reenact.program.flow.uses import spread, stores
from reenact.program.syntax.excerpt import excerpt
from reenact.program.syntax.index import FileIndex
from reenact.program.syntax.pieces import (
    called,
    elements,
    file_of,
    function_of,
    is_sum,
    names,
    place_of,
    within,
)

FEWEST = 4
"""State, reward, next state and end: what a step is remembered by at least."""
ENDS_OF_STEP = {4: (2,), 5: (2, 3)}
"""Where `env.step()` of gym, with four results or five, says that an episode is over."""
Form = tuple[int, int]
"""How many things a step is remembered by, and the place of its end among them."""
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
    files = list(evidence.files)
    forms = {form for index in files for form in _kept(index)}
    targets = [one for index in files for one in _targets(index, forms)] if forms else []
    if any(_enters(*one) for one in targets):
        return
    for node, _, ends in targets[:1]:
        saw = f"{excerpt(node)}: no end of an episode enters, though the program notes them"
        yield detector.finding(
            evidence,
            saw,
            fixes=end_of_episode(evidence, node, ends),
            place=place_of(node),
        )


def _kept(index: FileIndex) -> Iterator[Form]:
    """Steps that are kept with a truth among them: the end of the episode."""
    ends = {name for target, value in stores(index.tree) for name in _of_step(target, value)}
    for call in index.calls:
        kept = elements(call.args[0]) if len(call.args) == 1 else call.args
        for place, value in enumerate(kept if len(kept) >= FEWEST else ()):
            if names(value) & ends or within(value, ast.Compare):
                yield len(kept), place


def _of_step(target: ast.expr, value: ast.expr) -> Iterator[str]:
    parts = elements(target)
    for place in ENDS_OF_STEP.get(len(parts), ()) if called(value) == "step" else ():
        yield from names(parts[place])


def _targets(index: FileIndex, forms: set[Form]) -> Iterator[tuple[ast.BinOp, set[str], set[str]]]:
    """Sums of one thing that a step is remembered by and a product with a value of another; all
    that a step is remembered by, and its end.
    """
    for target, value in stores(index.tree):
        parts = elements(target)
        known = names(target)
        kept = [part for place, part in enumerate(parts) if (len(parts), place) in forms]
        ends = {name for part in kept for name in names(part)}
        if not ends or called(value) == "step":
            continue
        for node in within(function_of(target), ast.BinOp):
            for plain, product in ((node.left, node.right), (node.right, node.left)):
                rewards = names(plain) & known
                states = (_made_of(node, [product], known) & known) - rewards
                sums = is_sum(node, ast.Add) and is_sum(product, ast.Mult)
                if sums and rewards and states - ends:
                    yield node, known, ends


def _enters(node: ast.BinOp, known: set[str], ends: set[str]) -> bool:
    """Whether the end of an episode goes into a target, or decides on it within its loop or
    function.
    """
    stop = (ast.For, ast.While, ast.FunctionDef)
    above = takewhile(lambda one: not isinstance(one, stop), file_of(node).ancestors(node))
    tests = [one.test for one in above if isinstance(one, ast.If | ast.IfExp)]
    return bool(ends & _made_of(node, [node, *tests], known))


def _made_of(node: ast.expr, parts: Sequence[ast.expr], known: set[str]) -> set[str]:
    """The variables that parts of an expression are made of, back to what is known of a step."""
    # Of `later[ends] = 0` the place as well.
    pairs = [(names(target), names(value)) for target, value in stores(function_of(node))]
    links = [(stored - known, stored | read) for stored, read in pairs]
    return spread({name for part in parts for name in names(part)}, links)
