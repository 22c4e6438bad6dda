"""TC014 train-eval-gap

What
    In evaluation mode the outputs of the model have quite another scale than in training mode.
Why
    Batch norm then works with running statistics that do not fit the data (a momentum near zero, tiny
    batches, too few steps), or dropout carries too much.
Symptom
    Good in training mode, useless in evaluation mode, on the same rows.
Example
    import torch
    from torch import nn
    from reenact.testing.toys import blobs

    x, y = map(torch.from_numpy, blobs(spread=2.0))
    x = 3 * x + 8
    norm = nn.BatchNorm1d(8, momentum=0.0001)
    model = nn.Sequential(norm, nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(40):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model.train()(x[:240]), y[:240]).backward()
        optimizer.step()
        with torch.no_grad():
            print("val_accuracy", (model.eval()(x[240:]).argmax(1) == y[240:]).float().mean().item())
Instead
    - norm = nn.BatchNorm1d(8, momentum=0.0001)
    + norm = nn.BatchNorm1d(8, momentum=0.1)
Fix safety
    Unsafe: another momentum, batch size or dropout rate is another training.
Sources
    {paper}, switch between training and evaluation. The paper compares losses and representations on the same
    rows; here the scale of the outputs of both kinds of passes is compared.
"""

import statistics

from reenact.probe.trace import EVALUATION, Trace
from reenact.rules import Evidence, Fault, Findings, Kind, Needs, Rule
from reenact.rules.own._places import has_modes
from reenact.rules.own._series import finite

TIMES = 2.5
FEWEST = 2
NEAR = 20
"""Steps between a training pass and the evaluation it is compared with."""


class TrainEvalGap(Rule):
    code, name, family, fault = "TC014", "train-eval-gap", "deepchecker", Fault.LNM
    needs, confidence = Needs.TRACE, 0.35
    why = "What was learned in one mode must hold in the other."

    def check(self, evidence: Evidence) -> Findings:
        if not has_modes(evidence) or evidence.optimizers > 1 or evidence.output is None:
            return
        times = _times(evidence.watched, evidence.output.name)
        if len(times) < FEWEST:
            return
        middle = statistics.median(times)
        if not 1 / TIMES <= middle <= TIMES:
            saw = f"in evaluation mode the outputs spread {middle:.2g} times as wide as in training mode"
            yield self.finding(evidence, saw, kind=Kind.NORMALIZATION)


def _times(trace: Trace, output: str) -> list[float]:
    """Spread of the output in each evaluation against the training step just before it."""
    spread = trace.layer(output, "std")
    mode = trace.layer(output, "training")
    judged, judging = trace.layer(output, "std", EVALUATION), trace.layer(output, "training", EVALUATION)
    found = []
    for step, there, mode_there in zip(judged.steps, judged.values, judging.values, strict=True):
        near = (spread.steps <= step) & (spread.steps >= step - NEAR) & (mode.values == 1)
        here = finite(list(spread.values[near]))
        if mode_there == 0 and there > 0 and here and here[-1] > 0:
            found.append(float(there) / here[-1])
    return finite(found)
