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
from reenact.faults.fixes.gradients import let_go_of_graph
from reenact.program.syntax.pieces import (
    place_of,
)
from reenact.program.training.kept_graphs import given_at, kept_graphs

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
        place = given_at(evidence.files, name) or event.place
        yield detector.finding(
            evidence,
            saw,
            fixes=let_go_of_graph(evidence, place),
            place=place,
            certainty=Certainty.PROOF,
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
        for node, kept in kept_graphs(index):
            yield detector.finding(
                evidence,
                f"{kept} {keeps}",
                fixes=let_go_of_graph(evidence, place_of(node)),
                place=place_of(node),
            )
