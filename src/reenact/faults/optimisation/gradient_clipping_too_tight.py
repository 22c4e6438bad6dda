"""OP06 gradient-clipping-too-tight

What
    Almost every step is clipped to a small part of its gradient, or gradients are clipped before a
    `GradScaler` has unscaled them.
Why
    Clipping is made for rare outliers. A limit far below the usual norm makes every step as long as the
    limit times the learning rate.
Symptom
    The loss hardly moves, at any learning rate that is usual.
Example
    import torch
    from torch import nn
    from reenact.testing.toys import blobs

    x, y = map(torch.from_numpy, blobs())
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for epoch in range(60):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.0001)
        optimizer.step()
Instead
    -     nn.utils.clip_grad_norm_(model.parameters(), 0.0001)
    +     nn.utils.clip_grad_norm_(model.parameters(), 1.0)
Fix safety
    Unsafe: steps become longer.
Sources
    Pascanu et al., "On the difficulty of training recurrent neural networks", ICML 2013, section 3.2.
"""

import ast
from collections.abc import Iterator, Sequence

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
    Place,
    Severity,
)
from reenact.faults.facts.imbalances import imbalances
from reenact.faults.facts.places import optimizer_name
from reenact.faults.facts.series import clip_factors, learned, losses, windows
from reenact.faults.fixes.gradients import unscale_before_clipping
from reenact.faults.fixes.numerics import limit_at_one
from reenact.program.flow.uses import value_of
from reenact.program.syntax.index import FileIndex
from reenact.program.syntax.lines import call_place, calls
from reenact.program.syntax.pieces import called, calls_in, given_as, owner_of, place_of

FACTOR = 30.0
"""Gradients are made so many times smaller, in the median."""
SLOW = 4
"""Times that: by then steps are so short that half of the loss left is their doing, whatever
was learned.
"""
OFTEN = 0.9
FEWEST, TWICE = 12, 2.0
"""Steps looked at, and times that gradients must differ in size, before it shows."""
CLIPS = ("clip_grad_norm_", "clip_grad_value_")
SCALE_FREE = (
    "adam",
    "adamw",
    "nadam",
    "radam",
    "adamax",
    "rmsprop",
    "adagrad",
    "adadelta",
    "lion",
    "muon",
)
"""Optimizers whose steps do not depend on the size of the gradients."""
FAULT = Fault(
    code="OP06",
    name="gradient-clipping-too-tight",
    category=Category.OPTIMISATION,
    page=__doc__,
)


@FAULT.detector(
    "RE043",
    "clip-factor",
    "reenact",
    needs=Needs.TRACE,
    observes=Observes.GRADIENTS,
    why="Every step is as short as the limit allows, however large the gradient is.",
    study=FaultType.GCL,
    severity=Severity.ERROR,
    confidence=0.85,
    certainty=Certainty.STRONG,
)
def clip_factor(detector: Detector, evidence: Evidence) -> Findings:
    """Almost every step is clipped to a small part of its gradient, or gradients are clipped before
    a `GradScaler` has unscaled them.

    Pascanu et al., "On the difficulty of training recurrent neural networks", ICML 2013, section
    3.2.
    """
    for index in evidence.files:
        for call in _clips_scaled(index):
            saw = f"{called(call)} clips what the scaler has scaled: call scaler.unscale_ before"
            place = place_of(call)
            yield detector.finding(
                evidence,
                saw,
                fixes=unscale_before_clipping(evidence, place),
                place=place,
                confidence=0.95,
                certainty=Certainty.PROOF,
            )
            return
    known = clip_factors(evidence)
    factors = sorted(factor for _, factor in known)
    if len(factors) < 5:
        return
    if _turned_round(known):
        saw = (
            f"gradients are scaled down the more the smaller they are, by up to {factors[-1]:.0f} "
            f"times"
        )
        by_hand = next(_scaled_by_hand(evidence), None)
        yield detector.finding(
            evidence,
            saw,
            fixes=limit_at_one(evidence, by_hand),
            place=by_hand,
            confidence=0.9,
            certainty=Certainty.PROOF,
        )
        return
    if optimizer_name(evidence) in SCALE_FREE:
        return
    share = sum(factor > 1 for factor in factors) / len(factors)
    median = factors[len(factors) // 2]
    curve = windows(losses(evidence))
    hardly_falls = len(curve) > 2 and curve[-1] > 0.5 * curve[0] > 0
    slow = median >= SLOW * FACTOR and hardly_falls
    if share >= OFTEN and median >= FACTOR and (slow or not learned(evidence)):
        saw = (
            f"{share:.0%} of the steps are clipped, in the median to 1/{median:.0f} of their "
            f"gradient"
        )
        where = evidence.place_of(Kind.GRADIENT_CLIP) or call_place(evidence.files, *CLIPS)
        yield detector.finding(
            evidence,
            saw,
            kind=Kind.GRADIENT_CLIP,
            values=(1.0, 5.0),
            place=where,
        )


def _turned_round(known: Sequence[tuple[float, float]]) -> bool:
    """Whether gradients are divided by the more the smaller they are: a limit divides large
    ones alone. A gradient of zero stays zero, whatever it is divided by.
    """
    nonzero = sorted(pair for pair in known if pair[0] > 0)
    norms = [norm for norm, _ in nonzero]
    factors = [factor for _, factor in nonzero]
    if len(norms) < FEWEST or norms[-1] < TWICE * norms[0] or max(factors) < TWICE * min(factors):
        return False
    half = len(factors) // 2
    # Every gradient below the middle is divided by more than nearly every one above it.
    return min(factors) > 1 and min(factors[: half // 2]) > max(factors[-(half // 2) :])


def _scaled_by_hand(evidence: Evidence) -> Iterator[Place]:
    """Where the factor is computed that gradients are multiplied by."""
    for call in calls(evidence.files, "mul_", "mul"):
        owner = owner_of(call)
        if isinstance(owner, ast.Attribute) and owner.attr == "data":
            owner = owner.value
        if isinstance(owner, ast.Attribute) and owner.attr == "grad" and call.args:
            yield place_of(value_of(call.args[0]))


def _clips_scaled(index: FileIndex) -> Iterator[ast.Call]:
    """Calls that clip gradients of a loss that a `GradScaler` has scaled, where nothing
    unscales them.
    """
    names = {called(call) for call in index.calls}
    scalers = calls_in(index.tree, "GradScaler")
    # One that can be switched off may be: it then scales nothing.
    off = not scalers or given_as(scalers, "enabled") or "unscale_" in names
    if not off and {"scale", "backward"} <= names:
        for call in index.calls:
            if called(call) in CLIPS:
                yield call


@FAULT.detector(
    "RE101",
    "small-gradients-clipped",
    "reenact",
    needs=Needs.ACCOUNTS,
    observes=Observes.GRADIENTS,
    why="A limit makes large gradients smaller and leaves small ones alone.",
    study=FaultType.GCL,
    severity=Severity.ERROR,
    confidence=0.9,
    certainty=Certainty.STRONG,
)
def small_gradients_clipped(detector: Detector, evidence: Evidence) -> Findings:
    """By the numbers before and after: gradients are scaled down the more the smaller they are.

    Pascanu et al., "On the difficulty of training recurrent neural networks", ICML 2013, section
    3.2.
    """
    by_hand = next(_scaled_by_hand(evidence), None)
    fixes = limit_at_one(evidence, by_hand)
    yield from imbalances(detector, evidence, fixes=lambda _: fixes)
