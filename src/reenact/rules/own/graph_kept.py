"""RE047 graph-kept

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
import re

from reenact.program.read.index import FileIndex
from reenact.rules import Certainty, Evidence, Findings, Needs, Rule, Severity
from reenact.rules.own._lines import called, function_of, indexes, place_in

LOSS = re.compile(r"loss|criterion|cross_entropy", re.IGNORECASE)
ENDS = frozenset({"item", "detach", "float", "tolist", "numpy", "cpu", "data"})


class GraphKept(Rule):
    code, name, family, fault = "RE047", "graph-kept", "reenact", None
    needs = Needs.SOURCE
    severity = Severity.ERROR
    is_root_cause = True
    confidence = 0.9
    certainty = Certainty.STRONG
    why = "The sum holds the graph of every loss: memory grows with every step."

    def check(self, evidence: Evidence) -> Findings:
        for index in indexes(evidence):
            gone_back = {name for call in index.calls for name in _goes_back(call)}
            for call in index.calls:
                if _is_kept(index, call):
                    saw = f"{ast.unparse(call)} keeps the graph of every step{_growth(evidence)}"
                    yield self.finding(evidence, saw, place=place_in(index, call))
            for node in ast.walk(index.tree):
                if not isinstance(node, ast.AugAssign) or not isinstance(node.op, ast.Add):
                    continue
                total, added = ast.unparse(node.target), _name(node.value)
                kept = added in gone_back or _is_evaluated(index, node)
                if kept and total not in gone_back and not _is_undone(index, total, node):
                    added = added or ast.unparse(node.value)
                    grows = _growth(evidence)
                    saw = f"{total} += {added} keeps the graph of every step{grows}"
                    yield self.finding(evidence, saw, place=place_in(index, node))


def _goes_back(call: ast.Call) -> list[str]:
    """Names of the losses that a call sends backward."""
    if called(call) != "backward":
        return []
    given = [*call.args]
    if isinstance(call.func, ast.Attribute):
        owner = call.func.value
        given += [owner, *(owner.args if isinstance(owner, ast.Call) else ())]
    return [one.id for one in given if isinstance(one, ast.Name)]


def _is_kept(index: FileIndex, call: ast.Call) -> bool:
    """Whether a loss that went backward goes into a list that no loop around makes again or empties."""
    if called(call) != "append" or not isinstance(call.func, ast.Attribute) or len(call.args) != 1:
        return False
    kept, loss = ast.unparse(call.func.value), call.args[0]
    loops = [loop for loop in index.loops if loop.lineno < call.lineno <= (loop.end_lineno or 0)]
    around = function_of(index, call)
    backward = {name for node in ast.walk(around) if isinstance(node, ast.Call) for name in _goes_back(node)}
    if not loops or not isinstance(loss, ast.Name) or loss.id not in backward:
        return False
    outer = min(loops, key=lambda loop: loop.lineno)
    if len(loops) == 1 and isinstance(outer, ast.For) and not isinstance(outer.iter, ast.Call):
        # One pass over a loader: the list ends with the epoch.
        return False
    inside = "\n".join(ast.unparse(one) for one in outer.body)
    again = re.search(
        rf"(?:^|\s){re.escape(kept)} = |{re.escape(kept)}\.(?:clear|pop)|del {re.escape(kept)}", inside
    )
    return again is None and not re.search(rf"\b{loss.id} = {loss.id}\.(?:{'|'.join(ENDS)})", inside)


def _is_evaluated(index: FileIndex, node: ast.AugAssign) -> bool:
    """Whether a loss is added where it is made, in a function that evaluates with gradients on and gives the
    sum away as it is."""
    value = node.value
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Mult | ast.Div):
        value = value.left
    around = function_of(index, node)
    if not isinstance(value, ast.Call) or not LOSS.search(called(value)) or isinstance(around, ast.Module):
        return False
    total, text = ast.unparse(node.target), ast.unparse(around)
    given = [one.value for one in ast.walk(around) if isinstance(one, ast.Return) and one.value is not None]
    away = [one for one in given if total in {ast.unparse(part) for part in ast.walk(one)}]
    freed = any(re.search(rf"\b(?:{'|'.join(ENDS)})\b", ast.unparse(one)) for one in away)
    trains = re.search(r"no_grad|inference_mode|set_grad_enabled|backward|\.step\(", text)
    return bool(away) and not freed and trains is None and ".eval()" in text


def _name(value: ast.expr) -> str:
    """The variable that is added as it is, or times a number."""
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Mult | ast.Div):
        value = value.left
    return value.id if isinstance(value, ast.Name) else ""


def _is_undone(index: FileIndex, total: str, node: ast.AugAssign) -> bool:
    """The variable is made again or let go in the same loop, or holds a plain number by then."""
    loops = [loop for loop in index.loops if loop.lineno <= node.lineno <= (loop.end_lineno or 0)]
    inner = max(loops, key=lambda loop: loop.lineno, default=None)
    if inner is None:
        return True
    made = [one for one in ast.walk(inner) if isinstance(one, ast.Assign)]
    names = {ast.unparse(target) for one in made for target in one.targets}
    return total in names or _name(node.value) in {
        ast.unparse(target)
        for one in made
        for target in one.targets
        if isinstance(one.value, ast.Call) and called(one.value) in ENDS
    }


def _growth(evidence: Evidence) -> str:
    """How much the process grew since its first looks, when that is worth telling."""
    if evidence.trace is None:
        return ""
    held = [float(size) for size in evidence.trace.steps["memory"] if size == size]
    grown = held[-1] - held[len(held) // 4] if len(held) > 8 else 0.0
    return f"; the process grew by {grown:.0f} MB" if grown > 20 else ""
