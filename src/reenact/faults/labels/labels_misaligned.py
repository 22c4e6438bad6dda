"""LA02 labels-misaligned

What
    Inputs and labels are brought into order apart from each other: two separate draws, a sort or a shuffle
    of one of them alone, two splits with other seeds, a target that is drawn a second time, an image that
    is flipped and its mask not. Seen in the text; or in the run, where a model that learns one batch does
    no better than a constant on all of them, and nothing in a few hundred rows of inputs tells anything
    about their labels.
Why
    No row keeps its own label.
Symptom
    Training improves only by memorising; validation stays at the share of the largest class.
Example
    import numpy as np

    rng = np.random.default_rng(0)
    x, y = np.random.randn(100, 4), np.arange(100) % 3
    rng.shuffle(x)
    rng.shuffle(y)
    x_train, y_train = x[:80], y[:80]
Instead
    - rng.shuffle(x)
    - rng.shuffle(y)
    + order = rng.permutation(len(x))
    + x, y = x[order], y[order]
      x_train, y_train = x[:80], y[:80]
Fix safety
    Unsafe: it changes what is trained, to what was meant. One draw or one seed serves both; which order is
    right for lists and boxes is left to the author.
Sources
    Documentation of numpy.random.Generator.shuffle.
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
    Place,
    Severity,
)
from reenact.faults.data.inputs_not_scaled import far_from_unit_size
from reenact.faults.facts.constant_answer import no_gain_over_a_constant
from reenact.faults.facts.imbalances import imbalances
from reenact.faults.facts.usable_rates import can_learn, usable_range
from reenact.faults.fixes.labels import one_order
from reenact.program.syntax.lines import calls, first_place
from reenact.program.syntax.pieces import (
    keyword,
    loops_of,
    place_of,
)
from reenact.program.training.rows.drawn_apart import drawn_apart
from reenact.program.training.rows.moved_alone import moved_alone

TELLS = 0.03
"""Share of the spread of the labels that inputs explain where they say something about them."""
FEW_ROWS = 160
SORTS = ("sorted", "sort", "argsort", "sort_values")
ORDERS = (*SORTS, "shuffle", "permutation", "randperm", "sample", "flip", "roll")
"""What brings rows into another order, the most likely to leave labels behind first."""
FAULT = Fault(
    code="LA02",
    name="labels-misaligned",
    category=Category.LABELS,
    page=__doc__,
)


@FAULT.detector(
    "RE053",
    "labels-misaligned",
    "reenact",
    needs=Needs.SOURCE,
    observes=Observes.TEXT,
    why="No row keeps its own label.",
    severity=Severity.ERROR,
    confidence=0.9,
    certainty=Certainty.STRONG,
    is_root_cause=True,
)
def labels_misaligned(detector: Detector, evidence: Evidence) -> Findings:
    """Inputs and labels are brought into order apart from each other: two separate draws, a sort or
    a shuffle of one of them alone, two splits with other seeds, a target that is drawn a second
    time, an image that is flipped and its mask not. Seen in the text; or in the run, where a model
    that learns one batch does no better than a constant on all of them, and nothing in a few
    hundred rows of inputs tells anything about their labels.

    Documentation of numpy.random.Generator.shuffle.
    """
    files = list(evidence.files)
    written = [one for index in files for one in drawn_apart(index)]
    written = written or [one for index in files for one in moved_alone(index)]
    for node, saw in written:
        yield detector.finding(
            evidence,
            saw,
            fixes=one_order(evidence, place_of(node)),
            place=place_of(node),
        )
    symptom = "" if written else _tell_nothing(evidence)
    if symptom:
        yield detector.finding(evidence, symptom, place=_moved_or_compared(evidence))


@FAULT.detector(
    "RE112",
    "rows-and-labels-travel-apart",
    "reenact",
    needs=Needs.ACCOUNTS,
    observes=Observes.DATA,
    why="No row keeps its own label.",
    severity=Severity.ERROR,
    certainty=Certainty.STRONG,
    is_root_cause=True,
)
def rows_and_labels_travel_apart(detector: Detector, evidence: Evidence) -> Findings:
    """By the content of each row: one that comes again has another label or partner, a picture is
    turned and its map is not, inputs say nothing about the noise or the labels that are asked for.

    Northcutt, Athalye and Mueller, "Pervasive Label Errors in Test Sets Destabilize Machine
    Learning Benchmarks", NeurIPS 2021 (what wrong labels do).
    """
    yield from imbalances(
        detector,
        evidence,
        fixes=lambda place: one_order(evidence, place),
    )


def _tell_nothing(evidence: Evidence) -> str:
    """What was seen of a training that cannot have found anything; empty where it did, or might
    have.
    """
    trace = evidence.trace
    known = trace.happened("labels-explained") if trace is not None and trace.step_count else ()
    facts = known[-1].facts if known else {}
    rows, share = (facts.get(name) for name in ("rows", "explained"))
    if not isinstance(rows, int) or not isinstance(share, float):
        return ""
    # Large numbers hide what there is in the inputs: they are the first thing to put right.
    if rows < FEW_ROWS or share > TELLS or far_from_unit_size(evidence):
        return ""
    tested = evidence.experiments.learning_rates
    rate = evidence.learning_rate or 0.0
    bounds = usable_range(tested.rates, tested.losses) if tested is not None else None
    usable = bounds is None or bounds[0] / 10 <= rate <= 3 * bounds[1]
    symptom = no_gain_over_a_constant(evidence) if can_learn(evidence) and usable else ""
    if symptom:
        return f"in {rows} rows the inputs say nothing about the labels; {symptom}"
    return ""


def _moved_or_compared(evidence: Evidence) -> Place | None:
    """The line that brings rows into another order, else the one that compares. Along other axes
    than that of the rows nothing changes places.
    """
    own = {one.name for index in evidence.files for one in index.functions}
    moves = (call for name in ORDERS if name not in own for call in calls(evidence.files, name))
    rows = (call for call in moves if keyword(call, "dims", "dim", "axis") is None)
    place = first_place(call for call in rows if not loops_of(call))
    loss = evidence.loss
    return place or ((loss.called or loss.place) if loss is not None else None)
