"""UM005 learning-rate-high

What
    The learning rate is above 0.01.
Why
    Steps larger than the distance to the valley jump across it; the loss swings or grows.
Symptom
    The loss oscillates, rises or becomes NaN in the first steps.
Example
    import torch
    from torch import nn

    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.5)
Instead
    - optimizer = torch.optim.Adam(model.parameters(), lr=0.5)
    + optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
Fix safety
    Unsafe: another learning rate is another training.
Sources
    {paper}; the bound is that of the release. It suits Adam: SGD with 0.1 or Adadelta with 1 are usual, and
    reported with little confidence.
"""

from reenact.rules import Certainty, Evidence, Fault, Findings, Kind, Needs, Rule
from reenact.rules.own._series import guessing, losses, windows

LARGEST = 0.01
FAR_ABOVE = 0.9
"""Confidence in a rate ten times above what the optimizer is given anywhere."""
BETTER = 0.8
"""Share of the loss of a constant answer below which a training has settled."""


class LearningRateHigh(Rule):
    code, name, family, fault = "UM005", "learning-rate-high", "umlaut", Fault.HLR
    needs, confidence = Needs.SOURCE, 0.3
    why = "Adam is usually given 1e-5 to 1e-2; larger steps diverge."

    def check(self, evidence: Evidence) -> Findings:
        rate = evidence.step_rate
        if rate is not None and rate > LARGEST:
            sure = _confidence(evidence, rate)
            saw, kind, values = f"learning rate {rate:g}", Kind.LEARNING_RATE, (0.001, 0.01)
            certain = Certainty.STRONG if sure >= FAR_ABOVE else None
            yield self.finding(evidence, saw, kind=kind, values=values, confidence=sure, certainty=certain)


def _confidence(evidence: Evidence, rate: float) -> float:
    """The bound is one for Adam; other optimisers are at home with larger rates, and so is who clips."""
    if evidence.clips_gradients:
        return LearningRateHigh.confidence
    param = evidence.hyperparameter(Kind.OPTIMIZER)
    name = evidence.optimizer.name if evidence.optimizer is not None else str(param.in_force) if param else ""
    if name.lower() == "adadelta":
        return 0.1 if rate <= 1 else 0.3
    adapts = name.lower().startswith(("adam", "nadam", "radam", "rmsprop", "lion"))
    # The step of plain SGD is the rate times the gradient: small rows and flat losses want a rate that would
    # be far too high elsewhere, and with it the loss ends clearly below that of a constant answer.
    guess, course = guessing(evidence), windows(losses(evidence))
    if not adapts and guess and course and course[-1] < BETTER * guess:
        return LearningRateHigh.confidence
    usual = 0.1 if adapts else 1.0
    return FAR_ABOVE if rate >= 10 * usual else 0.6 if rate >= usual else LearningRateHigh.confidence
