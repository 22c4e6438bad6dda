"""LY17 parameters-do-not-balance

What
    Every weight that can learn is reached by the loss, owned by an optimizer, and moved by its steps for a
    gradient. In this training some are not, in a way that no other fault names: they are moved, and no step
    ever has a gradient for them.
Why
    A gradient of zero is not the same as no gradient. The optimizer still steps: weight decay shrinks what
    was meant to stay as it is, and momentum goes on.
Symptom
    A part that is thought frozen, or thought to learn, fades: its weights go to zero while the loss cannot
    say anything about them.
Example
    import torch
    from torch import nn
    from reenact.testing.toys import blobs

    x, y = map(torch.from_numpy, blobs())
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
    model[0].weight.register_hook(torch.zeros_like)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01, weight_decay=0.5)
    for epoch in range(60):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
Instead
    - model[0].weight.register_hook(torch.zeros_like)
Fix safety
    Unsafe: it changes what is trained. A part that is to stay as it is needs `requires_grad_(False)`.
Sources
    Documentation of torch.optim.Optimizer.zero_grad (`set_to_none`); Loshchilov and Hutter, "Decoupled
    Weight Decay Regularization", ICLR 2019.
"""

from reenact.accounts import BookName
from reenact.faults import (
    Category,
    Certainty,
    Detector,
    Evidence,
    Fault,
    Findings,
    Needs,
    Observes,
)
from reenact.faults.facts.imbalances import unnamed_imbalances

FAULT = Fault(
    code="LY17",
    name="parameters-do-not-balance",
    category=Category.LAYERS,
    page=__doc__,
)


@FAULT.detector(
    "RE122",
    "parameters-do-not-balance",
    "reenact",
    needs=Needs.ACCOUNTS,
    observes=Observes.WEIGHTS,
    why="What an optimizer moves is to be moved by the loss.",
    confidence=0.6,
    certainty=Certainty.STRONG,
    is_root_cause=True,
)
def parameters_do_not_balance(detector: Detector, evidence: Evidence) -> Findings:
    """The account of parameters does not balance, in a way that no fault names.

    Documentation of torch.optim.Optimizer.zero_grad (`set_to_none`).
    """
    yield from unnamed_imbalances(detector, evidence, BookName.PARAMETERS)
