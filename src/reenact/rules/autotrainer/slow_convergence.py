"""AT005 slow-convergence

What
    No epoch brought one percent more accuracy, in training or validation, and none reached an accuracy of
    0.8 or more. At least three epochs must have been seen. For a regression the share of the first loss
    that is gone stands for the accuracy.
Why
    Steps that are too small for the way spend the epochs on its first part.
Symptom
    Accuracy creeps.
Example
    import torch
    from torch import nn
    from reenact.testing.toys import blobs

    x, y = map(torch.from_numpy, blobs())
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    for epoch in range(30):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
Instead
    - optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    + optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
Fix safety
    Unsafe: the repair makes another training.
Sources
    {paper}. The release calls a training slow as well that is perfect after its first epoch; a high accuracy,
    which no published threshold names, is an exception here. The first repair is another optimiser, the next
    a higher learning rate; the learning rate is named where the optimiser is Adam already or the steps are
    tiny beside the weights.
"""

from reenact.rules import Evidence, Fault, Findings, Kind, Needs, Rule
from reenact.rules.autotrainer._features import EVEN, gradient_trouble, lost, progress
from reenact.rules.measured import among, update_ratios

SMALLEST_STEP = 1e-5
UNSURE = 0.4


class SlowConvergence(Rule):
    code, name, family, fault = "AT005", "slow-convergence", "autotrainer", Fault.HLR
    needs, confidence = Needs.TRACE, 0.8
    why = "Steps that are too small for the way spend the epochs on its first part."

    def check(self, evidence: Evidence) -> Findings:
        so_far = progress(evidence)
        if not so_far.slow or lost(evidence) is not None or gradient_trouble(evidence) is not None:
            return
        first, last = so_far.train[0], so_far.train[-1]
        saw = f"{so_far.name} {first:.3g} at first, {last:.3g} after {len(so_far.train)} epochs"
        even = evidence.optimizer is not None and evidence.optimizer.name.lower() in EVEN
        largest = max(update_ratios(evidence).values(), default=0.0)
        if not even and largest >= SMALLEST_STEP:
            kind, values = Kind.OPTIMIZER, among(evidence, Kind.OPTIMIZER, ("adam", "rmsprop", "nadam"))
            yield self.finding(evidence, saw, kind=kind, values=values, fault=Fault.OCH, confidence=UNSURE)
            return
        faster = tuple(value for value in (0.001, 0.01, 0.1) if value > (evidence.learning_rate or 0.0))
        sure = self.confidence if largest < SMALLEST_STEP else UNSURE
        yield self.finding(evidence, saw, kind=Kind.LEARNING_RATE, values=faster, confidence=sure)
