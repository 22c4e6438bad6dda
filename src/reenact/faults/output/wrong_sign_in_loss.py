"""OU06 wrong-sign-in-loss

What
    What goes backward is the negative of the loss, a policy gradient without its minus sign, or a KL
    divergence with the wrong one.
Why
    An optimizer lowers what it is given. A loss of the wrong sign is raised; the probability of actions
    that pay is lowered.
Symptom
    The loss falls without end while everything gets worse; the return falls below that of random play.
Example
    import torch
    from torch.distributions import Categorical

    policy = torch.nn.Linear(4, 2)
    optimizer = torch.optim.Adam(policy.parameters(), lr=0.01)
    for episode in range(100):
        states, returns = torch.randn(8, 4), torch.randn(8)
        draws = Categorical(logits=policy(states))
        log_probs = draws.log_prob(draws.sample())
        loss = (log_probs * returns).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
Instead
    -     loss = (log_probs * returns).mean()
    +     loss = -(log_probs * returns).mean()
Fix safety
    Unsafe: it changes what is trained, to what was meant: the term gets the other sign.
Sources
    Williams, "Simple statistical gradient-following algorithms for connectionist reinforcement learning",
    1992 (REINFORCE climbs); Sutton and Barto, "Reinforcement Learning", section 13.3.
"""

from reenact.faults import (
    Category,
    Certainty,
    Detector,
    Evidence,
    Fault,
    Findings,
    Kind,
    Needs,
    Observes,
    Severity,
)
from reenact.faults.facts.imbalances import imbalances
from reenact.faults.fixes.outputs import (
    lower_the_loss,
    real_for_generator,
    turn_sign,
    turn_term,
)
from reenact.program.syntax.excerpt import excerpt
from reenact.program.syntax.pieces import (
    place_of,
)
from reenact.program.training.loss_terms import (
    below_zero,
    entropy_lowered,
    found_out,
    raised,
)

NEAR = 0.1
FAULT = Fault(
    code="OU06",
    name="wrong-sign-in-loss",
    category=Category.OUTPUT,
    page=__doc__,
)


@FAULT.detector(
    "RE049",
    "wrong-sign",
    "reenact",
    needs=Needs.SOURCE,
    observes=Observes.TEXT,
    why="An optimizer lowers what it is given: here the wrong thing.",
    severity=Severity.ERROR,
    confidence=0.9,
    certainty=Certainty.STRONG,
    is_root_cause=True,
)
def wrong_sign(detector: Detector, evidence: Evidence) -> Findings:
    """What goes backward is the negative of the loss, a policy gradient without its minus sign, or
    a KL divergence with the wrong one.

    Williams, "Simple statistical gradient-following algorithms for connectionist reinforcement
    learning", 1992 (REINFORCE climbs); Sutton and Barto, "Reinforcement Learning", section 13.3.
    """
    if _mirrored(evidence):
        saw = "what goes backward is the negative of the loss on these labels"
        place = evidence.loss.place if evidence.loss is not None else None
        yield detector.finding(
            evidence,
            saw,
            fixes=lower_the_loss(evidence),
            place=place,
            kind=Kind.LOSS,
            certainty=Certainty.PROOF,
        )
        return
    for index in evidence.files:
        for look in (below_zero, entropy_lowered, found_out, raised):
            fix = real_for_generator if look is found_out else turn_sign
            for term, saw in look(index):
                yield detector.finding(
                    evidence,
                    f"{excerpt(term)} {saw}",
                    fixes=fix(evidence, place_of(term)),
                    place=place_of(term),
                )


@FAULT.detector(
    "RE141",
    "term-turned-round",
    "reenact",
    needs=Needs.ACCOUNTS,
    observes=Observes.GRADIENTS,
    why="An optimizer lowers what it is given: here the wrong thing.",
    severity=Severity.ERROR,
    confidence=0.9,
    certainty=Certainty.STRONG,
    is_root_cause=True,
)
def term_turned_round(detector: Detector, evidence: Evidence) -> Findings:
    """By the graph of the loss: a divergence is subtracted, or the probability of what pays is lowered.

    Kingma and Welling, "Auto-encoding variational Bayes", ICLR 2014, equation 10; Williams, "Simple
    statistical gradient-following algorithms for connectionist reinforcement learning", 1992.
    """
    yield from imbalances(
        detector,
        evidence,
        fixes=lambda place: turn_term(evidence, place),
    )


def _mirrored(evidence: Evidence) -> bool:
    """Whether the loss of most looked-at steps is minus the loss by our own arithmetic."""
    if evidence.trace is None or evidence.optimizers > 1:
        return False
    steps = evidence.trace.steps
    pairs = zip(steps["loss"].tolist(), steps["label_loss"].tolist(), strict=True)
    both = [(loss, own) for loss, own in pairs if loss == loss and own > 0]
    return len(both) >= 3 and sum(abs(loss + own) < NEAR * own for loss, own in both) > 0.9 * len(
        both
    )
