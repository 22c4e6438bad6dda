"""RE020 cannot-overfit-one-batch

What
    Trained on one batch over and over, the model does not come to know it.
Why
    Almost any model can overfit a handful of rows. One that cannot has a broken part: a
    loss that does not fit, no gradient, a dead or saturated layer, labels that do not belong to their
    rows.
Symptom
    The loss of the one batch stays high.
Example
    import torch
    from torch import nn
    from reenact.testing.toys import curve

    x, y = map(torch.from_numpy, curve())
    y = y[:, 0]
    model = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(60):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
Instead
    - y = y[:, 0]
Fix safety
    There is nothing to change here: look for the finding that explains it.
Sources
    Karpathy, "A Recipe for Training Neural Networks", 2019; TheDeepChecker, Ben Braiek and Khomh, TOSEM
    2022.
"""

from reenact.rules import Evidence, Findings, LossFamily, Needs, Rule, Severity
from reenact.rules.own._series import finite, learned

ACCURATE, LEFT = 0.9, 0.3
ADDED = 0.01
"""Share of a plain loss by which the loss of the program differs, where it has other terms."""
ENOUGH, FEW_LEFT = 100, 0.95
"""Steps that should do; where there was no time for them, only a loss that stands still says something."""
DOUBTED = 0.4
"""Confidence where the batch need not be memorised, or the training itself came to know its rows."""


class CannotOverfitOneBatch(Rule):
    code, name, family, fault = "RE020", "cannot-overfit-one-batch", "reenact", None
    needs, severity, confidence = Needs.EXPERIMENTS, Severity.ERROR, 0.75
    why = "Almost any model can overfit a few rows; one that cannot has a broken part."

    def check(self, evidence: Evidence) -> Findings:
        tried = evidence.experiments.one_batch
        if tried is None or len(tried.losses) < 20:
            return
        known = finite(list(tried.losses))
        broken = len(known) < len(tried.losses) or not known
        end = min(known[-max(1, len(known) // 4) :], default=1.0)
        left = end / max(1e-12, abs(known[0])) if known else 1.0
        least = LEFT if tried.steps >= ENOUGH else FEW_LEFT
        poor = left > least if tried.accuracy is None else tried.accuracy < ACCURATE and left > least
        if broken or (poor and abs(end) > 1e-3):
            score = "" if tried.accuracy is None else f", accuracy {tried.accuracy:.2f}"
            last = ("no number" if broken else f"{end:.3g}") + score
            saw = f"{tried.steps} steps on one batch took the loss from {tried.losses[0]:.3g} to {last}"
            floor = tried.accuracy is None and _has_a_floor(evidence)
            doubted = not broken and (floor or not evidence.compares or learned(evidence))
            yield self.finding(evidence, saw, confidence=DOUBTED if doubted else None)


def _has_a_floor(evidence: Evidence) -> bool:
    """Whether the loss need not come to zero: it is of no known kind, its targets are no certain answers, or
    other terms are added to it."""
    if evidence.loss is None:
        return False
    soft = evidence.loss_family is LossFamily.BINARY and not (evidence.labels and evidence.labels.integral)
    if soft or evidence.loss_family is LossFamily.OTHER or evidence.loss.settings.get("label_smoothing"):
        return True
    if evidence.trace is None or "label_loss" not in evidence.trace.steps.columns:
        return False
    steps = evidence.trace.steps
    pairs = [(a, b) for a, b in zip(steps["loss"], steps["label_loss"], strict=True) if a == a and b == b]
    return bool(pairs) and all(abs(a - b) > ADDED * abs(b) for a, b in pairs)
