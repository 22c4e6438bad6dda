"""EV10 averaged-model-without-update-bn

What
    Weights that `torch.optim.swa_utils.AveragedModel` has averaged are evaluated, the model has batch
    normalisation, and nothing computes its running statistics for the averaged weights. Left alone:
    `use_buffers=True`, and programs that pass data through the average in training mode themselves.
Why
    `AveragedModel` averages weights alone. Its running statistics are copies of those of the model that it
    was last given: each normalisation shifts and scales by what other weights produced.
Symptom
    The average is no better than the model that it averages, or worse.
Example
    import torch
    from torch import nn
    from torch.optim.swa_utils import AveragedModel, update_bn
    from reenact.testing.toys import blobs

    x, y = map(torch.from_numpy, blobs(spread=2.0))
    first = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.ReLU())
    second = nn.Sequential(nn.Linear(16, 16), nn.BatchNorm1d(16), nn.ReLU())
    model = nn.Sequential(first, second, nn.Linear(16, 3))
    averaged = AveragedModel(model)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(60):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x[:240]), y[:240]).backward()
        optimizer.step()
        averaged.update_parameters(model)
    averaged.eval()
    with torch.no_grad():
        print("val_accuracy", (averaged(x[240:]).argmax(1) == y[240:]).float().mean().item())
Instead
          averaged.update_parameters(model)
    + update_bn(x[:240].split(60), averaged)
Fix safety
    Safe for the training; results of the average change, they were wrong.
Sources
    Documentation of torch.optim.swa_utils.update_bn; Izmailov et al., "Averaging Weights Leads to Wider
    Optima and Better Generalization", UAI 2018, section 3.2 (batch normalization).
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
)
from reenact.faults.fixes.modes import update_statistics
from reenact.program.syntax.pieces import (
    place_of,
)
from reenact.program.training.averaged_models import with_other_statistics

FAULT = Fault(
    code="EV10",
    name="averaged-model-without-update-bn",
    category=Category.EVALUATION,
    page=__doc__,
)


@FAULT.detector(
    "RE067",
    "statistics-of-other-weights",
    "reenact",
    needs=Needs.SOURCE,
    observes=Observes.TEXT,
    why="The running statistics of the average belong to other weights than its own.",
    confidence=0.9,
    certainty=Certainty.STRONG,
    is_root_cause=True,
)
def statistics_of_other_weights(detector: Detector, evidence: Evidence) -> Findings:
    """Weights that `AveragedModel` has averaged are evaluated, the model has batch normalisation, and
    nothing computes its running statistics for the averaged weights.

    Documentation of torch.optim.swa_utils.update_bn; Izmailov et al., "Averaging Weights Leads to
    Wider Optima and Better Generalization", UAI 2018, section 3.2.
    """
    if evidence.program is None:
        return
    for call in with_other_statistics(evidence.program):
        saw = (
            "the averaged model has batch normalisation and is evaluated with the running "
            "statistics of another model: update_bn is never called"
        )
        yield detector.finding(
            evidence,
            saw,
            fixes=update_statistics(evidence, place_of(call)),
            place=place_of(call),
        )
