"""LY16 input-ignored

What
    A model is given several inputs, and one of them does not matter: its rows can be exchanged, and every
    output stays as it is.
Why
    What that input says cannot be learned. Most often `forward` computes something from it and then goes on
    with another variable; after a training, a branch may also have died.
Symptom
    Training works, no better than without the input.
Example
    import torch
    from torch import nn
    from torch.utils.data import DataLoader, TensorDataset

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.image, self.text = nn.Linear(6, 16), nn.Linear(4, 16)
            self.head = nn.Linear(32, 2)

        def forward(self, image, text):
            seen, read = self.image(image).relu(), self.text(text).relu()
            return self.head(torch.cat([seen, seen], 1))

    torch.manual_seed(0)
    x = torch.randn(96, 10)
    y = (x[:, 0] + x[:, 6] > 0).long()
    model = Model()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(20):
        for rows, labels in DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(rows[:, :6], rows[:, 6:]), labels).backward()
            optimizer.step()
Instead
    -         return self.head(torch.cat([seen, seen], 1))
    +         return self.head(torch.cat([seen, read], 1))
Fix safety
    There is nothing to change automatically: where the input belongs is known to the author alone.
Sources
    Breiman, "Random Forests", 2001, section 10 (importance by permuted inputs).
"""

import ast
import statistics

from reenact.faults import (
    Category,
    Detector,
    Evidence,
    Fault,
    Findings,
    Needs,
    Observes,
    Severity,
)
from reenact.faults.facts.series import finite
from reenact.program.syntax.lines import first_place, nodes

LATE, WORSE = 20, 1.05
UNSURE = 0.4
"""Confidence where the loss compares with nothing that stays, such as a policy's or a value's."""
FAULT = Fault(
    code="LY16",
    name="input-ignored",
    category=Category.LAYERS,
    page=__doc__,
)


@FAULT.detector(
    "RE064",
    "input-ignored",
    "reenact",
    needs=Needs.EXPERIMENTS,
    observes=Observes.EXPERIMENT,
    why="What an input says cannot be learned when no output depends on it.",
    is_root_cause=True,
)
def input_ignored(detector: Detector, evidence: Evidence) -> Findings:
    """A model is given several inputs, and one of them does not matter: its rows can be exchanged,
    and every output stays as it is.

    Breiman, "Random Forests", 2001, section 10 (importance by permuted inputs).
    """
    if evidence.optimizers > 1:
        # What a model is given may matter to another one's loss.
        return
    tried = reversed(evidence.experiments.behaviour)
    by_model = {(tested.model, name): tested for tested in tried for name in tested.ignored_inputs}
    for (model, name), tested in by_model.items():
        saw = f"no output of {model} depends on its input {name}{tested.when}"
        owners = (one for one in nodes(evidence.files, ast.ClassDef) if one.name == model)
        inside = (node for owner in owners for node in owner.body)
        place = first_place(one for one in inside if getattr(one, "name", "") == "forward")
        yield detector.finding(evidence, saw, place=place)


@FAULT.detector(
    "TC004",
    "ignores-its-inputs",
    "deepchecker",
    needs=Needs.EXPERIMENTS,
    observes=Observes.EXPERIMENT,
    why="The model ignores its inputs.",
    severity=Severity.ERROR,
    confidence=0.8,
)
def ignores_its_inputs(detector: Detector, evidence: Evidence) -> Findings:
    """The model learns a batch just as well when all its inputs are zero.

    {paper}, fitting a batch with zeroed inputs. The paper compares the last hundred losses by a
    rank test; here their medians are.
    """
    saw = ignores_inputs(evidence)
    if saw:
        yield detector.finding(
            evidence,
            saw,
            confidence=None if evidence.compares else UNSURE,
        )


def ignores_inputs(evidence: Evidence) -> str:
    """What was seen of a model that learns a batch as well without its inputs; empty where it
    does not.
    """
    tried = evidence.experiments.one_batch
    both = (tried.losses, tried.zeroed_losses) if tried is not None else ((), ())
    seen, blind = (finite(list(losses[-LATE:])) for losses in both)
    if len(seen) < LATE // 2 or len(blind) < LATE // 2:
        return ""
    with_inputs = statistics.median(seen)
    without = statistics.median(blind)
    if without > WORSE * with_inputs or with_inputs <= 1e-3:
        return ""
    return f"loss {with_inputs:.3g} on one batch, {without:.3g} with its inputs set to zero"
