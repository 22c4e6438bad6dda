"""UM006 learning-rate-low

What
    The learning rate is below 1e-7, or negative.
Why
    Steps so small are lost in rounding: the weights stay where they start. With a negative rate every
    step climbs.
Symptom
    The loss does not move; or it rises steadily.
Example
    import torch
    from torch import nn

    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-9)
Instead
    - optimizer = torch.optim.Adam(model.parameters(), lr=1e-9)
    + optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
Fix safety
    Unsafe: another learning rate is another training.
Sources
    {paper}; the bound is that of the release. A schedule is judged by its highest rate, so that a warm-up is
    left alone.
"""

from reenact.rules import Certainty, Evidence, Fault, Findings, Kind, Needs, Rule, Severity

SMALLEST = 1e-7


class LearningRateLow(Rule):
    code, name, family, fault = "UM006", "learning-rate-low", "umlaut", Fault.HLR
    needs, severity, confidence, certainty = Needs.SOURCE, Severity.ERROR, 0.9, Certainty.STRONG
    why = "Steps so small leave the weights where they start, and negative ones climb."

    def check(self, evidence: Evidence) -> Findings:
        rate = _highest(evidence)
        if rate is not None and rate < SMALLEST:
            saw, kind, values = f"learning rate {rate:g}", Kind.LEARNING_RATE, (0.001, 0.0001)
            yield self.finding(evidence, saw, kind=kind, values=values)


def _highest(evidence: Evidence) -> float | None:
    if evidence.trace is not None and evidence.trace.step_count:
        known = evidence.trace.steps.series("learning_rate").known.values
        if len(known):
            return float(known.max())
    scheduled = evidence.hyperparameter(Kind.SCHEDULER)
    return None if scheduled is not None and not scheduled.absent else evidence.learning_rate
