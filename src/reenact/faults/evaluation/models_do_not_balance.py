"""EV11 models-do-not-balance

What
    The weights that are evaluated, kept and restored are to be those that they are taken for. In this
    training they are not, in a way that no other fault names: what is restored is the model's own tensors.
Why
    `model.state_dict()` holds the live tensors. They go on changing while the training does, so "the best
    weights" are the last ones, and loading them changes nothing.
Symptom
    The result after restoring the best weights is that of the last step.
Example
    import torch
    from torch import nn
    from reenact.testing.toys import blobs

    x, y = map(torch.from_numpy, blobs())
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    least = float("inf")
    for epoch in range(60):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        if loss.item() < least:
            least = loss.item()
            kept = {name: value.detach() for name, value in model.state_dict().items()}
        loss.backward()
        optimizer.step()
    model.load_state_dict(kept)
Instead
    -         kept = {name: value.detach() for name, value in model.state_dict().items()}
    +         kept = {name: value.clone() for name, value in model.state_dict().items()}
Fix safety
    Safe for the training: it changes what is restored.
Sources
    PyTorch tutorials, "Saving and Loading Models": `best_model_state = model.state_dict()` returns a
    reference, not a copy.
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
    code="EV11",
    name="models-do-not-balance",
    category=Category.EVALUATION,
    page=__doc__,
)


@FAULT.detector(
    "RE126",
    "models-do-not-balance",
    "reenact",
    needs=Needs.ACCOUNTS,
    observes=Observes.WEIGHTS,
    why="The weights that are used are not the ones they are taken for.",
    confidence=0.8,
    certainty=Certainty.STRONG,
    is_root_cause=True,
)
def models_do_not_balance(detector: Detector, evidence: Evidence) -> Findings:
    """The account of models does not balance, in a way that no fault names.

    PyTorch tutorials, "Saving and Loading Models".
    """
    yield from unnamed_imbalances(detector, evidence, BookName.MODELS)
