"""OP13 graph-kept-across-steps

What
    The loss of each step is added up, or kept in a list, as a tensor with its graph, only to be reported.
Why
    A sum of losses keeps the graph of every one of them: memory grows with every step.
Symptom
    Memory grows until the process is killed; steps become slower.
Example
    import torch
    from torch import nn
    from reenact.testing.toys import blobs

    x, y = map(torch.from_numpy, blobs())
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    total = 0.0
    for epoch in range(40):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        total += loss
    print("mean loss", float(total) / 40)
Instead
    -     total += loss
    +     total += loss.item()
Fix safety
    Safe: the reported number is the same.
Sources
    PyTorch FAQ, "My model reports out of memory" (do not accumulate history across the training loop).
"""

import ast

from reenact.faults import (
    Category,
    Certainty,
    Detector,
    Evidence,
    Fault,
    Findings,
    Needs,
    Observes,
    Place,
    Severity,
)
from reenact.faults.fixes.gradients import let_go_of_graph
from reenact.program.flow.constants import read_through
from reenact.program.flow.uses import assigned
from reenact.program.syntax.excerpt import excerpt, same
from reenact.program.syntax.pieces import (
    all_parts,
    called,
    calls_in,
    function_of,
    is_sum,
    last_word,
    loops_of,
    owner_of,
    place_of,
    returned,
    within,
)
from reenact.program.training.roles import is_loss_call

ENDS = ("item", "detach", "float", "tolist", "numpy", "cpu", "data")
SWITCHES = ("no_grad", "inference_mode", "set_grad_enabled", "backward", "step")
"""What evaluation without gradients, or a training, calls."""
FAULT = Fault(
    code="OP13",
    name="graph-kept-across-steps",
    category=Category.OPTIMISATION,
    page=__doc__,
)


@FAULT.detector(
    "RE047",
    "graph-kept",
    "reenact",
    needs=Needs.SOURCE,
    observes=Observes.TEXT,
    why="The sum holds the graph of every loss: memory grows with every step.",
    severity=Severity.ERROR,
    confidence=0.9,
    certainty=Certainty.STRONG,
    is_root_cause=True,
)
def graph_kept(detector: Detector, evidence: Evidence) -> Findings:
    """The loss of each step is added up, or kept in a list, as a tensor with its graph, only to be
    reported.

    PyTorch FAQ, "My model reports out of memory" (do not accumulate history across the training
    loop).
    """
    written = list(_written(detector, evidence))
    yield from written
    for event in evidence.happened("graphs-kept")[: not written]:
        name = str(event.facts.get("name") or "")
        nodes = event.facts.get("nodes")
        held = f"the graphs of {event.facts.get('held')} earlier passes"
        if isinstance(nodes, list):
            held = (
                f"graphs of earlier steps: that of the loss grew from {nodes[0]} to {nodes[1]} "
                f"nodes"
            )
        saw = f"{name or 'something'} holds {held}{_growth(evidence)}"
        place = _given(evidence, name) or event.place
        yield detector.finding(
            evidence,
            saw,
            fixes=let_go_of_graph(evidence, place),
            place=place,
            certainty=Certainty.PROOF,
        )


def _given(evidence: Evidence, name: str) -> Place | None:
    """Where a variable or attribute that holds graphs is given what holds them."""
    last = name.rpartition(".")[2]
    for index in evidence.files if last else ():
        for node in within(index.tree, ast.stmt):
            grown = node.value if isinstance(node, ast.Expr) else None
            owner = owner_of(grown) if called(grown) in ("append", "extend", "appendleft") else None
            targets = [
                owner,
                *(target for target, value in assigned(node) if _is_made(value)),
            ]
            held = (one.value if isinstance(one, ast.Subscript) else one for one in targets)
            if last in map(last_word, held):
                return place_of(node)
    return None


def _is_made(value: ast.expr) -> bool:
    """No `None`, number or empty list to begin with, and nothing that was cut off from its
    graph.
    """
    named = bool(within(read_through(value), ast.Name))
    return named and not _is_freed(value)


def _is_freed(value: ast.expr) -> bool:
    """Whether a value is cut off from its graph on the way."""
    return any(last_word(part) in ENDS for part in all_parts(value))


def _goes_back(call: ast.Call) -> list[str]:
    """Names of the losses that a call sends backward."""
    owner = owner_of(call)
    inner = owner.args if isinstance(owner, ast.Call) else []
    given = [*call.args, owner, *inner] if called(call) == "backward" else []
    return [one.id for one in given if isinstance(one, ast.Name)]


def _is_kept(call: ast.Call) -> bool:
    """Whether a loss that went backward goes into a list that no loop around makes again or
    empties.
    """
    owner = owner_of(call)
    if called(call) != "append" or owner is None or len(call.args) != 1:
        return False
    loss = call.args[0]
    loops = loops_of(call)
    around = within(function_of(call), ast.Call)
    backward = {name for node in around for name in _goes_back(node)}
    if not loops or not isinstance(loss, ast.Name) or loss.id not in backward:
        return False
    outer = min(loops, key=lambda loop: loop.lineno)
    if len(loops) == 1 and isinstance(outer, ast.For) and not isinstance(outer.iter, ast.Call):
        # One pass over a loader: the list ends with the epoch.
        return False
    return not any(_is_let_go(node, owner, loss) for one in outer.body for node in all_parts(one))


def _is_let_go(node: ast.AST, kept: ast.expr, loss: ast.Name) -> bool:
    """Whether a list is made again or emptied here, or the loss is cut off from its graph."""
    match node:
        case ast.Delete(targets):
            return any(same(target, kept) for target in targets)
        case ast.Call() if called(node) in ("clear", "pop"):
            return same(owner_of(node), kept)
    return isinstance(node, ast.Assign) and any(
        same(target, kept) or (same(target, loss) and called(value) in ENDS)
        for target, value in assigned(node)
    )


def _is_evaluated(node: ast.AugAssign) -> bool:
    """Whether a function that evaluates with gradients on adds up losses, and gives the sum
    away as it is.
    """
    value = _unscaled(node.value)
    around = function_of(node)
    if isinstance(around, ast.Module) or not is_loss_call(value):
        return False
    away = [
        answer
        for answer in returned(around)
        if any(same(part, node.target) for part in all_parts(answer))
    ]
    stated = map(last_word, getattr(around, "decorator_list", ()))
    switched = {*map(called, calls_in(around)), *stated}
    evaluates = "eval" in switched and switched.isdisjoint(SWITCHES)
    return evaluates and bool(away) and not any(map(_is_freed, away))


def _unscaled(value: ast.expr) -> ast.expr:
    """What is added, without the number that it is multiplied with or divided by."""
    if is_sum(value, ast.Mult, ast.Div):
        return value.left
    return value


def _name(value: ast.expr) -> str:
    """The variable that is added as it is, or times a number."""
    value = _unscaled(value)
    return value.id if isinstance(value, ast.Name) else ""


def _is_undone(node: ast.AugAssign) -> bool:
    """The variable is made again or let go in the same loop, or holds a plain number by then."""
    inner = max(loops_of(node), key=lambda loop: loop.lineno, default=None)
    if inner is None:
        return True
    added = _unscaled(node.value)
    return any(
        same(target, node.target) or (same(target, added) and called(one.value) in ENDS)
        for one in within(inner, ast.Assign)
        for target in one.targets
    )


def _growth(evidence: Evidence) -> str:
    """How much the process grew since its first looks, when that is worth telling."""
    sizes = evidence.trace.steps["memory"] if evidence.trace is not None else ()
    held = [float(size) for size in sizes if size == size]
    grown = held[-1] - held[len(held) // 4] if len(held) > 8 else 0.0
    if grown > 20:
        return f"; the process grew by {grown:.0f} MB"
    return ""


def _written(detector: Detector, evidence: Evidence) -> Findings:
    keeps = f"keeps the graph of every step{_growth(evidence)}"
    for index in evidence.files:
        gone_back = {name for call in index.calls for name in _goes_back(call)}
        for call in index.calls:
            if _is_kept(call):
                yield detector.finding(
                    evidence,
                    f"{excerpt(call)} {keeps}",
                    fixes=let_go_of_graph(evidence, place_of(call)),
                    place=place_of(call),
                )
        for node in within(index.tree, ast.AugAssign):
            if not isinstance(node.op, ast.Add):
                continue
            total = excerpt(node.target)
            added = _name(node.value)
            kept = added in gone_back or _is_evaluated(node)
            if kept and total not in gone_back and not _is_undone(node):
                saw = f"{total} += {added or excerpt(node.value)} {keeps}"
                yield detector.finding(
                    evidence,
                    saw,
                    fixes=let_go_of_graph(evidence, place_of(node)),
                    place=place_of(node),
                )
