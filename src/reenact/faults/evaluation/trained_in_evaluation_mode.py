"""EV02 trained-in-evaluation-mode

What
    A model with dropout or batch norm is trained while it is in evaluation mode, mostly because nothing
    switches back after an evaluation.
Why
    Dropout does nothing then, and batch norm neither uses nor updates the statistics of the batch: the
    running ones stay what they were.
Symptom
    Training after the first evaluation is another one than before it; a model that overfits in spite of
    dropout.
Example
    import torch
    from torch import nn
    from reenact.testing.toys import blobs

    x, y = map(torch.from_numpy, blobs(spread=2.0))
    model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 3))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(60):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x[:240]), y[:240]).backward()
        optimizer.step()
        model.eval()
        with torch.no_grad():
            print("val_accuracy", (model(x[240:]).argmax(1) == y[240:]).float().mean().item())
Instead
      for epoch in range(60):
    +     model.train()
Fix safety
    Unsafe: it changes what is trained.
Sources
    Documentation of torch.nn.Module.train.
"""

from reenact.faults import (
    Category,
    Certainty,
    Detector,
    Evidence,
    Fault,
    FaultType,
    Findings,
    Kind,
    Needs,
    Observes,
)
from reenact.faults.facts.imbalances import imbalances
from reenact.faults.facts.places import at_named, has_modes
from reenact.faults.fixes.modes import train

FAULT = Fault(
    code="EV02",
    name="trained-in-evaluation-mode",
    category=Category.EVALUATION,
    page=__doc__,
)


@FAULT.detector(
    "RE012",
    "trained-in-evaluation-mode",
    "reenact",
    needs=Needs.TRACE,
    observes=Observes.OUTPUTS,
    why="In evaluation mode dropout is off and batch norm does not follow the data.",
    study=FaultType.MOD,
    confidence=0.85,
    certainty=Certainty.STRONG,
)
def trained_in_evaluation_mode(detector: Detector, evidence: Evidence) -> Findings:
    """A model with dropout or batch norm is trained while it is in evaluation mode, mostly because
    nothing switches back after an evaluation.

    Documentation of torch.nn.Module.train.
    """
    if evidence.optimizers > 1 or not has_modes(evidence) or _is_accounted(evidence):
        return
    modes = [float(mode) for mode in evidence.watched.steps["training"] if mode == mode]
    off = sum(mode == 0 for mode in modes)
    if not modes or modes[-1] != 0 or off < 0.3 * len(modes):
        return
    saw = f"{off} of {len(modes)} steps were taken in evaluation mode"
    yield at_named(
        evidence,
        detector.finding(evidence, saw, kind=Kind.MODE, fixes=train(evidence)),
        Kind.MODE,
        "train",
        ("train",),
    )


@FAULT.detector(
    "RE123",
    "stepped-in-evaluation-mode",
    "reenact",
    needs=Needs.ACCOUNTS,
    observes=Observes.OUTPUTS,
    why="In evaluation mode dropout is off and batch norm does not follow the data.",
    study=FaultType.MOD,
    confidence=0.85,
    certainty=Certainty.STRONG,
)
def stepped_in_evaluation_mode(detector: Detector, evidence: Evidence) -> Findings:
    """The passes whose losses were stepped ran in evaluation mode, whatever mode other passes ran
    in.

    Documentation of torch.nn.Module.train.
    """
    fixes = train(evidence)
    yield from imbalances(detector, evidence, fixes=lambda _: fixes)


def _is_accounted(evidence: Evidence) -> bool:
    """Whether it is known of which passes the losses were that were stepped: the mode of the last
    pass seen may be that of an evaluation with gradients.
    """
    books = evidence.watched.books
    models = books.models if books is not None else None
    return models is not None and any(one.modes.on or one.modes.off for one in models.stepped)
