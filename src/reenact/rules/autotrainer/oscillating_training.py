"""AT004 oscillating-training

What
    In at least a fifth of the epochs, and twice, the training accuracy falls by 0.03 or more from a peak
    to the valley behind. For a regression the share of the first loss that is gone stands for the
    accuracy.
Why
    Steps that are too large undo each other.
Symptom
    Loss and accuracy swing from epoch to epoch.
Example
    import torch
    from torch import nn
    from reenact.testing.toys import curve

    x, y = map(torch.from_numpy, curve())
    model = nn.Sequential(nn.Linear(4, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=1.5, momentum=0.98)
    for epoch in range(60):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
Instead
    - optimizer = torch.optim.SGD(model.parameters(), lr=1.5, momentum=0.98)
    + optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
Fix safety
    Unsafe: the repair makes another training.
Sources
    {paper}. The tool calls it an oscillating loss and measures the accuracy. Not reported beside a gradient
    problem. The first repair is Adam, the next a lower learning rate; the learning rate is named where Adam
    is there, or single steps are larger than a tenth of the weights.
"""

from reenact.rules import Evidence, Fault, Findings, Kind, Needs, Rule
from reenact.rules.autotrainer._features import EVEN, SWING, gradient_trouble, lost, progress
from reenact.rules.measured import among, learned, update_ratios

LARGEST_STEP = 0.1
UNSURE = 0.4


class OscillatingTraining(Rule):
    code, name, family, fault = "AT004", "oscillating-training", "autotrainer", Fault.HLR
    needs, confidence = Needs.TRACE, 0.7
    why = "Steps that are too large undo each other."

    def check(self, evidence: Evidence) -> Findings:
        so_far = progress(evidence)
        if not so_far.restless or lost(evidence) is not None or gradient_trouble(evidence) is not None:
            return
        saw = f"{so_far.name} fell {so_far.drops} times by {SWING} or more in {len(so_far.train)} epochs"
        even = evidence.optimizer is not None and evidence.optimizer.name.lower() in EVEN
        largest = max(update_ratios(evidence).values(), default=0.0)
        if not even and largest <= LARGEST_STEP:
            kind, values = Kind.OPTIMIZER, among(evidence, Kind.OPTIMIZER, ("adam",))
            yield self.finding(evidence, saw, kind=kind, values=values, fault=Fault.OCH, confidence=UNSURE)
            return
        rate = evidence.learning_rate
        slower = (rate / 10, rate / 100) if rate else (0.001,)
        sure = self.confidence if largest > LARGEST_STEP and not learned(evidence) else UNSURE
        yield self.finding(evidence, saw, kind=Kind.LEARNING_RATE, values=slower, confidence=sure)
