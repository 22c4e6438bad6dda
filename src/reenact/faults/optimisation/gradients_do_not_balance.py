"""OP17 gradients-do-not-balance

What
    The account of a training's gradients does not balance: backward passes that no step spends, no income
    at all, or a term of the loss whose gradient is lost beside that of another.
Why
    What is learned is what steps spend. Gradients that are cleared before a step, dropped by every step or
    drowned by another term were computed for nothing.
Symptom
    The training works, but as if a part of the batches or of the loss were not there.
Example
    import torch
    from torch import nn
    from reenact.testing.toys import blobs

    x, y = map(torch.from_numpy, blobs())
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(30):
        optimizer.zero_grad()
        for rows in torch.arange(len(x)).chunk(4):
            optimizer.zero_grad()
            (nn.functional.cross_entropy(model(x[rows]), y[rows]) / 4).backward()
        optimizer.step()
Instead
    -         optimizer.zero_grad()
Fix safety
    Unsafe: it changes what is trained. What clears gradients between the backward passes of one step goes
    before them; what else was meant is left to the author.
Sources
    Documentation of torch.optim.Optimizer.zero_grad; Chen et al., "GradNorm: gradient normalization for
    adaptive loss balancing", ICML 2018, section 3 (gradient norms of the terms of a loss).
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
    Severity,
)
from reenact.faults.facts.imbalances import unnamed_imbalances
from reenact.faults.fixes.drafting import with_fixes
from reenact.faults.fixes.layers import clear_once_a_step

FAULT = Fault(
    code="OP17",
    name="gradients-do-not-balance",
    category=Category.OPTIMISATION,
    page=__doc__,
)


@FAULT.detector(
    "RE100",
    "gradients-out-of-balance",
    "reenact",
    needs=Needs.ACCOUNTS,
    observes=Observes.GRADIENTS,
    why="Gradients that no step spends were computed for nothing.",
    severity=Severity.ERROR,
    confidence=0.7,
    certainty=Certainty.STRONG,
    is_root_cause=True,
)
def gradients_out_of_balance(detector: Detector, evidence: Evidence) -> Findings:
    """Backward passes that no step spends, no income at all, or a term of the loss whose gradient
    is lost beside that of another.

    Chen et al., "GradNorm: gradient normalization for adaptive loss balancing", ICML 2018.
    """
    fixes = clear_once_a_step(evidence)
    for finding in unnamed_imbalances(detector, evidence, BookName.GRADIENTS):
        yield with_fixes(finding, fixes)
