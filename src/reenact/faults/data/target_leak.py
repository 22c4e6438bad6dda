"""DA10 target-leak

What
    A feature of a forecast is made of values that come later: a centred moving average or filter beside the
    series that is forecast, a lag that is shifted the wrong way, a window that reaches to its own target.
Why
    The model is given a part of the answer, which nobody has when the forecast is wanted.
Symptom
    Errors far below those of the last value, in training and validation; useless forecasts afterwards.
Example
    import numpy as np
    import torch
    from torch import nn

    rng = np.random.default_rng(0)
    level = rng.normal(size=600).cumsum() / 10
    trend = np.convolve(level, np.ones(5) / 5, mode="same")
    features = np.stack([level, trend], axis=1)
    x, next_level = torch.tensor(features[:-1]).float(), torch.tensor(level[1:]).float()
    model = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(60):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x[:400])[:, 0], next_level[:400]).backward()
        optimizer.step()
Instead
    - trend = np.convolve(level, np.ones(5) / 5, mode="same")
    + trend = np.convolve(level, np.ones(5) / 5)[:len(level)]
Fix safety
    Safe for the training; measured results change, they were wrong.
Sources
    Kapoor and Narayanan, "Leakage and the Reproducibility Crisis in Machine-Learning-Based Science", 2023
    (temporal leakage).
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
from reenact.faults.facts.imbalances import imbalances
from reenact.program.syntax.pieces import (
    place_of,
)
from reenact.program.training.rows.look_ahead import look_ahead
from reenact.program.training.rows.windows import windows_with_target

FAULT = Fault(
    code="DA10",
    name="target-leak",
    category=Category.DATA,
    page=__doc__,
)


@FAULT.detector(
    "RE063",
    "target-leak",
    "reenact",
    needs=Needs.SOURCE,
    observes=Observes.TEXT,
    why="A feature that is made of later values knows a part of the answer.",
    severity=Severity.ERROR,
    confidence=0.85,
    certainty=Certainty.STRONG,
    is_root_cause=True,
)
def target_leak(detector: Detector, evidence: Evidence) -> Findings:
    """A feature of a forecast is made of values that come later: a centred moving average or filter
    beside the series that is forecast, a lag that is shifted the wrong way, a window that reaches
    to its own target.

    Kapoor and Narayanan, "Leakage and the Reproducibility Crisis in Machine-Learning-Based
    Science", 2023 (temporal leakage).
    """
    for index in evidence.files:
        for node, saw in (*look_ahead(index), *windows_with_target(index)):
            yield detector.finding(evidence, saw, place=place_of(node))
            return


@FAULT.detector(
    "RE114",
    "label-among-the-inputs",
    "reenact",
    needs=Needs.ACCOUNTS,
    observes=Observes.DATA,
    why="What knows a part of the answer is not there when the answer is wanted.",
    severity=Severity.ERROR,
    certainty=Certainty.STRONG,
    is_root_cause=True,
)
def label_among_the_inputs(detector: Detector, evidence: Evidence) -> Findings:
    """A column of the inputs is the label, or one of several series averages later values of the one
    that is forecast, in every row that was seen.

    Kapoor and Narayanan, "Leakage and the Reproducibility Crisis in Machine-Learning-Based
    Science", 2023 (temporal leakage).
    """
    yield from imbalances(detector, evidence)
