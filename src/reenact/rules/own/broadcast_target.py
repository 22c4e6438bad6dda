"""RE033 broadcast-target

What
    Output and target have shapes that a loss of single values stretches to a common one: (rows, 1) and
    (rows,) become (rows, rows). The loss may be one of PyTorch's or written by hand.
Why
    Every output is then compared with the target of every row. What is best is the mean of all targets,
    whatever the input is.
Symptom
    The loss falls to the variance of the targets and stays there; PyTorch warns of a target size that
    differs from the input size.
Example
    import torch
    from torch import nn
    from reenact.testing.toys import curve

    x, y = map(torch.from_numpy, curve())
    model = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(60):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y[:, 0])
        loss.backward()
        optimizer.step()
Instead
    -     loss = nn.functional.mse_loss(model(x), y[:, 0])
    +     loss = nn.functional.mse_loss(model(x), y[:, 0].unsqueeze(1))
Fix safety
    Unsafe: it changes what is trained, to what was meant.
Sources
    Documentation of torch.nn.MSELoss and of the broadcasting rules of NumPy.
"""

import ast

from reenact.rules import Certainty, Evidence, Fault, Findings, Kind, LossFamily, Needs, Rule, Severity
from reenact.rules.own._made import loss_made
from reenact.types import Place

Shape = tuple[int, ...]


class BroadcastTarget(Rule):
    code, name, family, fault = "RE033", "broadcast-target", "reenact", Fault.CPP
    needs = Needs.GRAPH
    severity = Severity.ERROR
    confidence = 0.95
    certainty = Certainty.PROOF
    is_root_cause = True
    why = "Every output is compared with the targets of all rows, so that only their mean can be learned."

    def check(self, evidence: Evidence) -> Findings:
        loss, wide = evidence.loss, evidence.experiments.stretched
        if wide is not None:
            saw = f"output {wide.output} and target {wide.target} broadcast to {2 * (max(wide.output),)}"
            yield self.finding(evidence, saw, place=loss_made(evidence, wide.place))
            return
        if loss is None or loss.compared is None or evidence.loss_family is not LossFamily.REGRESSION:
            return
        output, target = loss.compared
        if _both_stretched(output, target):
            rows = max(output)
            edit = _edit(evidence, loss.called, len(output) > len(target))
            saw = f"output {output} and target {target} broadcast to {(rows, rows)}{edit}"
            place = _warned(evidence) or loss.called or evidence.place_of(Kind.LOSS)
            yield self.finding(evidence, saw, place=place)
        elif len(output) == len(target) == 2 and output[0] == target[0] > 1 == target[1] < output[1]:
            saw = f"one target a row, {target}, is compared with each of {output[1]} outputs, {output}"
            yield self.finding(
                evidence,
                saw,
                layer=evidence.output,
                kind=Kind.UNITS,
                values=(1,),
                fault=Fault.LCN,
                certainty=Certainty.STRONG,
                confidence=0.85,
            )


def _warned(evidence: Evidence) -> Place | None:
    """Where PyTorch itself warns of it."""
    warned = evidence.trace.happened("warning") if evidence.trace is not None else ()
    words = "Using a target size"
    return next((one.place for one in warned if words in str(one.facts.get("message", ""))), None)


def _both_stretched(output: Shape, target: Shape) -> bool:
    """A column and a row of the same length, longer than one."""
    column, row = (output, target) if len(output) > len(target) else (target, output)
    return len(column) == 2 and len(row) == 1 and column == (row[0], 1) and row[0] > 1


def _edit(evidence: Evidence, place: Place | None, target_lacks: bool) -> str:
    """What to write instead, where the call of the loss can be read."""
    file = evidence.program.file(place.file) if evidence.program is not None and place is not None else None
    if file is None or place is None:
        return ""
    try:
        calls = [node for node in ast.walk(ast.parse(file.text)) if isinstance(node, ast.Call)]
    except SyntaxError:
        return ""
    for call in calls:
        if (call.lineno, call.col_offset) == (place.line, place.column) and len(call.args) == 2:
            old = ast.unparse(call.args[1])
            return f"; change {old} to {old}.{'unsqueeze' if target_lacks else 'squeeze'}(1)"
    return ""
