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
from reenact.rules.own._series import finite

ACCURATE, LEFT = 0.9, 0.3
ADDED = 0.01
"""Share of a plain loss by which the loss of the program differs, where it has other terms."""
ENOUGH, FEW_LEFT = 100, 0.7
"""Steps that should do; where there was no time for them, the loss need not have fallen as far."""
FALLS = 0.05
"""Share of the loss that the last quarter of the steps took away, where it still falls."""


class CannotOverfitOneBatch(Rule):
    code, name, family, fault = "RE020", "cannot-overfit-one-batch", "reenact", None
    needs = Needs.EXPERIMENTS
    severity = Severity.ERROR
    confidence = 0.75
    why = "Almost any model can overfit a few rows; one that cannot has a broken part."

    def check(self, evidence: Evidence) -> Findings:
        tried = evidence.experiments.one_batch
        if tried is None or len(tried.losses) < 20:
            return
        known = finite(list(tried.losses))
        broken = len(known) < len(tried.losses) or not known
        left = known[-1] / max(1e-12, abs(known[0])) if known else 1.0
        least = LEFT if tried.steps >= ENOUGH else FEW_LEFT
        poor = left > least if tried.accuracy is None else tried.accuracy < ACCURATE and left > least
        poor = poor and not (tried.steps < ENOUGH and _still_falls(known))
        if broken or (poor and abs(known[-1]) > 1e-3):
            score = "" if tried.accuracy is None else f", accuracy {tried.accuracy:.2f}"
            end = "no number" if broken else f"{known[-1]:.3g}"
            saw = f"{tried.steps} steps on one batch took the loss from {tried.losses[0]:.3g} to {end}{score}"
            floor = tried.accuracy is None and not broken and _has_a_floor(evidence)
            yield self.finding(evidence, saw, confidence=0.4 if floor else None)


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


def _still_falls(losses: list[float]) -> bool:
    """Whether more steps would have brought it lower."""
    quarter = losses[-1 - max(1, len(losses) // 4)] if len(losses) > 4 else losses[0]
    return quarter - losses[-1] > FALLS * abs(quarter)
