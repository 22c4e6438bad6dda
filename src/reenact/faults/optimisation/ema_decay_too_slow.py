"""OP14 ema-decay-too-slow

What
    An exponential average of the weights has a decay so near to one that, at the end of the run, more than
    half of it is still the weights it began with.
Why
    After n steps the share decay**n of an average is its start. With a decay of 0.9999 it takes 7,000 steps
    until half of it has been learned.
Symptom
    The model itself learns; what the average is asked for looks untrained.
Example
    import copy
    import torch
    from torch import nn
    from reenact.testing.toys import blobs

    x, y = map(torch.from_numpy, blobs())
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
    ema = copy.deepcopy(model).requires_grad_(False)
    decay = 0.9999
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for step in range(60):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
        with torch.no_grad():
            for old, new in zip(ema.parameters(), model.parameters()):
                old.mul_(decay).add_(new, alpha=1 - decay)
    print("accuracy", (ema(x).argmax(1) == y).float().mean().item())
Instead
    - decay = 0.9999
    + decay = 0.9
Fix safety
    Safe for the training: only the average changes.
Sources
    Documentation of torch.optim.swa_utils; Song et al., "Score-Based Generative Modeling", 2021, appendix
    on averages.
"""

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
from reenact.program.syntax.pieces import (
    place_of,
)
from reenact.program.training.averages import begins_faster, decays

LEFT = 0.5
LEAST, MOST = 0.9, 1.0
FEWEST = 20
FAULT = Fault(
    code="OP14",
    name="ema-decay-too-slow",
    category=Category.OPTIMISATION,
    page=__doc__,
)


@FAULT.detector(
    "RE061",
    "average-too-slow",
    "reenact",
    needs=Needs.TRACE,
    observes=Observes.WEIGHTS,
    why="Most of this average is still what it began with.",
    severity=Severity.ERROR,
    confidence=0.9,
    certainty=Certainty.STRONG,
    is_root_cause=True,
)
def average_too_slow(detector: Detector, evidence: Evidence) -> Findings:
    """An exponential average of the weights has a decay so near to one that, at the end of the run,
    more than half of it is still the weights it began with.

    Documentation of torch.optim.swa_utils; Song et al., "Score-Based Generative Modeling", 2021,
    appendix on averages.
    """
    steps = evidence.step_count
    if evidence.was_cut_off or steps < FEWEST:
        return
    for update, decay in decays(evidence.files):
        value = float(str(decay.value))
        if LEAST <= value < MOST and value**steps > LEFT and not begins_faster(update):
            left = f"{value**steps:.0%} of the average is its start"
            saw = f"decay {value:g}: after {steps} steps {left}"
            yield detector.finding(evidence, saw, place=place_of(decay))
            return


@FAULT.detector(
    "RE125",
    "average-of-old-weights",
    "reenact",
    needs=Needs.ACCOUNTS,
    observes=Observes.WEIGHTS,
    why="What the average is asked for is an untrained model.",
    severity=Severity.ERROR,
    confidence=0.85,
    certainty=Certainty.STRONG,
    is_root_cause=True,
)
def average_of_old_weights(detector: Detector, evidence: Evidence) -> Findings:
    """A model that no optimizer moves is a mixture of what the learning one began with and what it
    has become, mostly of the former, and it is asked.

    Documentation of torch.optim.swa_utils.
    """
    yield from imbalances(detector, evidence)
