"""OP04 missing-warmup

What
    A model that attends is trained at its full learning rate from the first step on and gets stuck there:
    on one batch it learns nothing, and with the rate warmed up it learns most of it.
Why
    At the start the gradients of attention are large and what an adaptive optimizer knows of them is noise:
    a few full steps drive the model to where it answers every row alike.
Symptom
    The loss jumps within the first steps and then stays at what a constant answer has.
Example
    import torch
    from torch import nn
    from reenact.testing.toys import sequences

    x, y = map(torch.from_numpy, sequences(32))
    layer = nn.TransformerEncoderLayer(16, 2, 32, 0.0, batch_first=True)
    encoder = nn.TransformerEncoder(layer, 4)
    model = nn.Sequential(nn.Linear(x.shape[2], 16), encoder, nn.Flatten(), nn.Linear(192, 2))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    schedule = torch.optim.lr_scheduler.ConstantLR(optimizer, 1.0)
    for step in range(60):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
        schedule.step()
Instead
    - schedule = torch.optim.lr_scheduler.ConstantLR(optimizer, 1.0)
    + schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 0.01, 1.0, 40)
Fix safety
    There is nothing to change automatically: a schedule has to be written, or the rate lowered.
Sources
    Vaswani et al., "Attention Is All You Need", NeurIPS 2017, section 5.3 (warm-up); Xiong et al., "On
    Layer Normalization in the Transformer Architecture", ICML 2020.
"""

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
    Severity,
)
from reenact.faults.facts.series import learned, reached
from reenact.faults.facts.usable_rates import rates_below
from reenact.program.syntax.lines import calls

STUCK = 0.75
"""Share of the first loss that is left where nothing was learned on one batch."""
WARMED = 0.3
"""Share of that which a warm-up leaves where it is what was missing."""
ATTENDS = (
    "Attention",
    "AdditiveAttention",
    "GroupQueryAttention",
    "GroupedQueryAttention",
    "MultiHeadAttention",
    "MultiheadAttention",
    "Transformer",
    "TransformerDecoder",
    "TransformerDecoderLayer",
    "TransformerEncoder",
    "TransformerEncoderLayer",
)
"""Layers of PyTorch and Keras."""
FAULT = Fault(
    code="OP04",
    name="missing-warmup",
    category=Category.OPTIMISATION,
    page=__doc__,
)


@FAULT.detector(
    "RE065",
    "no-warm-up",
    "reenact",
    needs=Needs.EXPERIMENTS,
    observes=Observes.EXPERIMENT,
    why="Full steps from the first one on drive attention to where it answers every row alike.",
    study=FaultType.HLR,
    severity=Severity.ERROR,
    confidence=0.8,
    certainty=Certainty.STRONG,
)
def no_warm_up(detector: Detector, evidence: Evidence) -> Findings:
    """A model that attends is trained at its full learning rate from the first step on and gets
    stuck there: on one batch it learns nothing, and with the rate warmed up it learns most of it.

    Vaswani et al., "Attention Is All You Need", NeurIPS 2017, section 5.3 (warm-up); Xiong et al.,
    "On Layer Normalization in the Transformer Architecture", ICML 2020.
    """
    tried = evidence.experiments.own_rate
    if tried is None or learned(evidence) or not _attends(evidence):
        return
    first = tried.own[0]
    own = reached(tried.own)
    lower = reached(tried.lower)
    warmed = reached(tried.warmed)
    if own >= STUCK * first and warmed <= min(WARMED * own, lower):
        course = f"from {first:.3g} to {own:.3g}"
        saw = f"one batch goes {course} at {tried.rate:g}, to {warmed:.3g} where that is warmed up"
        yield detector.finding(
            evidence, saw, kind=Kind.LEARNING_RATE, values=rates_below(tried.rate)
        )


def _attends(evidence: Evidence) -> bool:
    """Whether the model is known to attend: by a layer of that kind, or by what it does with an
    order.
    """
    known = any(layer.type in ATTENDS for layer in evidence.layers)
    asked = any(
        calls(evidence.files, "scaled_dot_product_attention", "multi_head_attention_forward")
    )
    return (
        known
        or asked
        or any(tested.order_blind is not None for tested in evidence.experiments.behaviour)
    )
