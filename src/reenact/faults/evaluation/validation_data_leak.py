"""EV04 validation-data-leak

What
    Rows of the training data are among the rows that the model is judged by.
Why
    What was seen in training is answered from memory: the result says nothing about new data.
Symptom
    A validation result that is too good, and a disappointment afterwards.
Example
    import torch
    from torch import nn
    from reenact.testing.toys import blobs

    x, y = map(torch.from_numpy, blobs(spread=2.0))
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(40):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x[:240]), y[:240]).backward()
        optimizer.step()
    with torch.no_grad():
        print("val_accuracy", (model(x[180:]).argmax(1) == y[180:]).float().mean().item())
Instead
    -     print("val_accuracy", (model(x[180:]).argmax(1) == y[180:]).float().mean().item())
    +     print("val_accuracy", (model(x[240:]).argmax(1) == y[240:]).float().mean().item())
Fix safety
    Safe for the training; measured results change, they were wrong.
Sources
    Kapoor and Narayanan, "Leakage and the Reproducibility Crisis in Machine-Learning-Based Science",
    2023.
"""

import math

from reenact.accounts.prepared import only_prepares
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
from reenact.faults.facts.imbalances import imbalances
from reenact.faults.facts.input_values import shared_rows
from reenact.faults.fixes.splits import judge_other_rows, split_first, split_in_order
from reenact.probe.trace import Overlap
from reenact.program.syntax.lines import call_place
from reenact.program.syntax.pieces import (
    place_of,
)
from reenact.program.training.rows.drawn import (
    RESAMPLES,
    SPLITS,
    copied_before,
    repeated_before,
    split_by_chance,
)
from reenact.program.training.rows.unsplit import over_all_rows

FEWEST = 10
ROUGHLY = 4
MANY = 4
"""Features from which on rows of measured values are never equal by chance."""
LEAST = 0.05
EPOCHS = 3
LEAD = 0.05
LARGE_SHARE = 0.2
FAULT = Fault(
    code="EV04",
    name="validation-data-leak",
    category=Category.EVALUATION,
    page=__doc__,
)


@FAULT.detector(
    "RE018",
    "validation-leaks",
    "reenact",
    needs=Needs.TRACE,
    observes=Observes.DATA,
    why="What was seen in training is answered from memory.",
    study=FaultType.VRM,
    severity=Severity.ERROR,
    judges_rows=True,
)
def validation_leaks(detector: Detector, evidence: Evidence) -> Findings:
    """Rows of the training data are among the rows that the model is judged by.

    Kapoor and Narayanan, "Leakage and the Reproducibility Crisis in Machine-Learning-Based
    Science", 2023.
    """
    for index in evidence.files:
        for look, sure in ((over_all_rows, 0.9), (split_by_chance, 0.8)):
            for node, saw in look(index):
                strong = Certainty.STRONG
                place = place_of(node)
                fixes = split_in_order(evidence, node) if look is split_by_chance else ()
                yield detector.finding(
                    evidence,
                    saw,
                    fixes=fixes,
                    place=place,
                    confidence=sure,
                    certainty=strong,
                )
                return
    judged_nothing = evidence.acts or only_prepares(evidence.watched)
    leaks = () if judged_nothing else evidence.watched.overlaps
    clean = any(overlap.rows >= FEWEST and overlap.share < LEAST for overlap in leaks)
    worst = max(leaks, key=lambda overlap: overlap.share, default=None)
    if worst is None or worst.rows < FEWEST or worst.share < LEAST:
        return
    sure = _sure(evidence, worst, clean=clean)
    saw = f"{worst.shared} of {worst.rows} rows of the {worst.split} data are training rows"
    proven = Certainty.PROOF if sure > 0.8 else None
    where = call_place(evidence.files, *RESAMPLES, *SPLITS) if proven is not None else None
    kind = Kind.VALIDATION
    yield detector.finding(
        evidence,
        saw,
        kind=kind,
        fixes=judge_other_rows(evidence),
        confidence=sure,
        certainty=proven,
        place=where,
    )


@FAULT.detector(
    "RE055",
    "leakage-by-duplicates",
    "reenact",
    needs=Needs.SOURCE,
    observes=Observes.TEXT,
    why=(
        "Copies of one row lie on both sides of the split: split first, then draw from the "
        "training rows."
    ),
    study=FaultType.VRM,
    severity=Severity.ERROR,
    confidence=0.9,
    certainty=Certainty.STRONG,
)
def leakage_by_duplicates(detector: Detector, evidence: Evidence) -> Findings:
    """Rows are drawn with replacement, and the copies are split into training and test data
    afterwards.

    Kapoor and Narayanan, "Leakage and the reproducibility crisis in machine-learning-based
    science", Patterns 2023 (duplicates); documentation of imbalanced-learn, "Common pitfalls".
    """
    for index in evidence.files:
        for draw, saw in copied_before(index):
            yield detector.finding(
                evidence,
                saw,
                fixes=split_first(evidence, place_of(draw)),
                place=place_of(draw),
            )


@FAULT.detector(
    "UM012",
    "suspicious-validation-accuracy",
    "umlaut",
    needs=Needs.TRACE,
    observes=Observes.LOSSES,
    why="Validation should be a little worse than training, not better.",
    severity=Severity.NOTE,
    confidence=0.15,
    judges_rows=True,
)
def suspicious_validation_accuracy(detector: Detector, evidence: Evidence) -> Findings:
    """Validation accuracy is clearly better than that of training after some epochs.

    {paper}; the bound 0.05 after three epochs is that of the release, which also fires above 0.95:
    an easy task gets there. Dropout in training explains a lead, so it counts for little unless
    rows are found in both parts.
    """
    trace = evidence.watched
    held = trace.metric("val_accuracy").known.values
    if not len(held):
        return
    shared = shared_rows(trace)
    last = float(held[-1])
    if shared >= LARGE_SHARE:
        saw = f"{shared:.0%} of the held-out rows are training rows; validation accuracy {last:.2f}"
        yield detector.finding(
            evidence,
            saw,
            kind=Kind.VALIDATION,
            confidence=0.9,
        )
        return
    own = trace.metric("accuracy").known.values
    if not len(own):
        return
    lead = last - float(own[-1])
    if len(held) >= EPOCHS and lead > LEAD:
        yield detector.finding(
            evidence, f"validation accuracy {last:.2f}, {lead:+.2f} against training"
        )


@FAULT.detector(
    "RE110",
    "rows-train-and-judge",
    "reenact",
    needs=Needs.ACCOUNTS,
    observes=Observes.DATA,
    why="A row that trained is answered from memory.",
    severity=Severity.ERROR,
    certainty=Certainty.STRONG,
    is_root_cause=True,
)
def rows_train_and_judge(detector: Detector, evidence: Evidence) -> Findings:
    """By the content of each row: a part of a set that judges has trained the model before, or the loss
    of a training that is given all rows at once reaches the rows that the program keeps apart.

    Kapoor and Narayanan, "Leakage and the Reproducibility Crisis in Machine-Learning-Based
    Science", 2023.
    """
    fixes = judge_other_rows(evidence)
    yield from imbalances(detector, evidence, fixes=lambda _: fixes)


def _repeats(evidence: Evidence, worst: Overlap) -> bool:
    """Data that repeats itself, or has hardly any features, shares rows between splits by
    chance.
    """
    facts = evidence.data("input", worst.split)
    if facts is None:
        return False
    features = math.prod(size or 1 for size in facts.shape[1:])
    # Values that are measured and not counted: not even their ends are whole numbers.
    ends = [end for end in (facts.minimum, facts.maximum) if end is not None]
    fractions = [end for end in ends if math.isfinite(end) and end != round(end)]
    measured = "float" in facts.dtype and len(fractions) == 2
    if features >= MANY and measured:
        # No two such rows are equal by chance: rows that come twice are copies, wherever they lie.
        return False
    twice = facts.rows_seen - worst.rows
    trained = evidence.inputs.rows_seen if evidence.inputs else 0
    # So many rows are shared by chance, by how many of one split are equal; few of them say it
    # roughly.
    by_chance = 2 * twice * trained / max(1, facts.rows_seen)
    return twice > 0.01 * facts.rows_seen or features < 3 or worst.shared < ROUGHLY * by_chance


def _sure(evidence: Evidence, worst: Overlap, *, clean: bool) -> float:
    """Whoever judges by other rows too, or by all training rows after the training, does so on
    purpose.
    """
    if clean or _repeats(evidence, worst):
        return 0.2
    if worst.share < 0.99:
        if worst.complete or repeated_before(evidence.files):
            return 0.85
        return 0.3
    if evidence.framework == "keras" and worst.split == "validation":
        return 0.6
    return 0.35
