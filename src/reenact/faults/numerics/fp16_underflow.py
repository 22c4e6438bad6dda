"""NU02 fp16-underflow

What
    The weights are in half precision, and Adam keeps its state in it; or layers compute in half precision, no
    scaler multiplies the loss, and nearly all gradients are exactly zero.
Why
    Adam divides by the root of the squared gradients plus 1e-8. In half precision 1e-8 is zero, and so are
    the squares of gradients below 0.0002: zero is divided by zero, or a small step by nothing. Gradients
    below 6e-8 are zero themselves, and their layers never move.
Symptom
    The loss is NaN after the first step, or weights do not move.
Example
    import torch
    from torch import nn
    from reenact.testing.toys import blobs

    x, y = map(torch.from_numpy, blobs())
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3)).to(torch.float16)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(40):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x.to(torch.float16)).float(), y)
        loss.backward()
        optimizer.step()
Instead
    - model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3)).to(torch.float16)
    + model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
    -     loss = nn.functional.cross_entropy(model(x.to(torch.float16)).float(), y)
    +     loss = nn.functional.cross_entropy(model(x), y)
Fix safety
    Changes the training: keep the weights in float32, and compute under `torch.autocast` with a `GradScaler`,
    or in bfloat16.
Sources
    Micikevicius et al., "Mixed precision training", ICLR 2018, section 3.1 (a master copy of the
    weights).
"""

import ast
from statistics import median

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
from reenact.faults.facts.places import optimizer_name
from reenact.faults.facts.progress import zero_gradients
from reenact.faults.fixes.numerics import use_bfloat16
from reenact.program.flow.uses import value_of
from reenact.program.syntax.index import FileIndex
from reenact.program.syntax.lines import call_place, first_place
from reenact.program.syntax.pieces import (
    all_parts,
    given_to,
    is_call,
    last_word,
    names,
    within,
)

MOST = 0.9
"""Share of gradients that are zero where hardly one is left."""
HALF = 2**-24
"""The smallest number above zero in half precision."""
FEWEST_LOOKS = 8
ADAPTIVE = ("adam", "adamw", "nadam", "radam", "adamax", "rmsprop", "adagrad")
FAULT = Fault(
    code="NU02",
    name="fp16-underflow",
    category=Category.NUMERICS,
    page=__doc__,
)


@FAULT.detector(
    "RE057",
    "fp16-underflow",
    "reenact",
    needs=Needs.TRACE,
    observes=Observes.GRADIENTS,
    why=(
        "In half precision the small number that keeps the division apart from zero is zero itself."
    ),
    severity=Severity.ERROR,
    confidence=0.95,
    certainty=Certainty.PROOF,
    is_root_cause=True,
)
def fp16_underflow(detector: Detector, evidence: Evidence) -> Findings:
    """The weights are in half precision, and Adam keeps its state in it; or layers compute in half
    precision, no scaler multiplies the loss, and nearly all gradients are exactly zero.

    Micikevicius et al., "Mixed precision training", ICLR 2018, section 3.1 (a master copy of the
    weights).
    """
    share = _lost_gradients(evidence)
    if share is not None:
        lost = f"{share:.0%} of the gradients are exactly zero in half precision"
        saw = f"{lost}; no scaler scales the loss"
        place = call_place(evidence.files, "backward", "autocast")
        yield detector.finding(
            evidence,
            saw,
            fixes=use_bfloat16(evidence),
            place=place,
            certainty=Certainty.STRONG,
        )
        return
    halved = first_place(node for index in evidence.files for node in _halved(index))
    if halved is not None and _stands_still(evidence):
        saw = "no weight in float16 ever changes: every step is smaller than float16 can resolve"
        yield detector.finding(evidence, saw, fixes=use_bfloat16(evidence), place=halved)
        return
    name = optimizer_name(evidence)
    facts = evidence.optimizer
    epsilon = facts.settings.get("eps", 1e-8) if facts is not None else 1e-8
    if halved is not None and name in ADAPTIVE and isinstance(epsilon, float) and epsilon < HALF:
        saw = (
            f"{name} with eps={epsilon:g} on weights in float16, whose smallest number is "
            f"{HALF:.1g}"
        )
        yield detector.finding(evidence, saw, fixes=use_bfloat16(evidence), place=halved)


def _stands_still(evidence: Evidence) -> bool:
    """Whether no kernel that an optimizer has was moved by any step that was looked at."""
    trace = evidence.watched
    kernels = {
        i for i, one in enumerate(trace.parameter_facts) if len(one.shape) > 1 and one.in_optimizer
    }
    both = zip(trace.parameters["parameter"], trace.parameters["update_ratio"], strict=True)
    moved = [float(ratio) for number, ratio in both if int(number) in kernels and ratio == ratio]
    return len(moved) >= FEWEST_LOOKS and not any(moved) and bool(trace.happened("half-precision"))


def _lost_gradients(evidence: Evidence) -> float | None:
    """The share of exact zeros among gradients in half precision that nobody scaled, where it is
    nearly all; units that are dead have such gradients too, and are left to others.
    """
    trace = evidence.watched
    share = zero_gradients(evidence) if trace.happened("half-precision") else None
    if share is None or share < MOST or trace.happened("loss-scaled"):
        return None
    dead = [float(value) for value in trace.layers["dead_unit_share"] if value == value]
    return None if dead and median(dead) > 0.5 else share


def _halved(index: FileIndex) -> list[ast.Assign | ast.Expr]:
    """Where a model that an optimizer is given becomes float16."""
    called_in = (one for call in index.calls for one in within(call, ast.Attribute))
    trained = {last_word(one.value) for one in called_in if one.attr == "parameters"}
    lines = [node for node in all_parts(index.tree) if isinstance(node, ast.Assign | ast.Expr)]
    return [node for node in lines if _is_half(node.value) and trained & names(node)]


def _is_half(call: ast.expr) -> bool:
    if not is_call(call, "to"):
        return is_call(call, "half") and not call.args
    return any(last_word(value_of(one)) in ("float16", "half") for one in given_to(call))


@FAULT.detector(
    "RE102",
    "infinite-spending",
    "reenact",
    needs=Needs.ACCOUNTS,
    observes=Observes.WEIGHTS,
    why="The optimizer divides by what is zero in the type of its state.",
    is_root_cause=True,
    severity=Severity.ERROR,
    confidence=0.95,
    certainty=Certainty.PROOF,
)
def infinite_spending(detector: Detector, evidence: Evidence) -> Findings:
    """A first step turns finite gradients into weights that are no numbers, in half precision.

    Micikevicius et al., "Mixed precision training", ICLR 2018, section 3.1 (a master copy of the
    weights).
    """
    fixes = use_bfloat16(evidence)
    yield from imbalances(detector, evidence, fixes=lambda _: fixes)
