"""EV08 wrong-metric

What
    The accuracy that is reported is that of the last batch alone, or a sum of hits divided by the number of
    batches, or a sum of shares divided by the number of rows; or it is that of a regression, whose answers
    are never equal to their targets.
Why
    A number that is not the share of right answers cannot be compared with any other.
Symptom
    An accuracy that jumps from epoch to epoch in steps of one row, lies above one, or is far too small.
Example
    import torch
    from torch import nn
    from torch.utils.data import DataLoader, TensorDataset
    from reenact.testing.toys import blobs

    x, y = map(torch.from_numpy, blobs())
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(60):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x[:240]), y[:240]).backward()
        optimizer.step()
    hits = 0
    with torch.no_grad():
        for rows, labels in DataLoader(TensorDataset(x[240:], y[240:]), batch_size=16):
            hits = (model(rows).argmax(1) == labels).float().mean().item()
    print("val_accuracy", hits)
Instead
    -         hits = (model(rows).argmax(1) == labels).float().mean().item()
    - print("val_accuracy", hits)
    +         hits += (model(rows).argmax(1) == labels).sum().item()
    + print("val_accuracy", hits / len(x[240:]))
Fix safety
    Safe: the training stays as it is, the reported number becomes the share of right answers.
Sources
    Documentation of torchmetrics.Accuracy (sums are kept over batches, the share is taken at the end).
"""

import ast
import statistics

from reenact.faults import (
    Category,
    Certainty,
    Detector,
    Evidence,
    Fault,
    Findings,
    LossFamily,
    Needs,
    Observes,
    Severity,
    TaskType,
)
from reenact.faults.facts.imbalances import imbalances
from reenact.faults.facts.series import ACCURACIES, metric
from reenact.faults.fixes.losses import share_of_rows
from reenact.program.flow.constants import constant_of, read_through
from reenact.program.syntax.pieces import (
    given_as,
    is_constant,
    place_of,
    within,
)
from reenact.program.training.counted_hits import miscounted

ACCURACY = ("accuracy", "acc", "binary_accuracy")
WATCHED = (*ACCURACY, *(f"val_{name}" for name in ACCURACY))
FEWEST, WEAK = 5, 0.5
MEASURES = (
    "acc",
    "f1",
    "auc",
    "precision",
    "recall",
    "error",
    "correct",
    "iou",
    "dice",
    "score",
)
FAULT = Fault(
    code="EV08",
    name="wrong-metric",
    category=Category.EVALUATION,
    page=__doc__,
)


@FAULT.detector(
    "RE058",
    "metric-wrong",
    "reenact",
    needs=Needs.SOURCE,
    observes=Observes.TEXT,
    why="The reported number is not the share of right answers.",
    confidence=0.9,
    certainty=Certainty.STRONG,
    is_root_cause=True,
)
def metric_wrong(detector: Detector, evidence: Evidence) -> Findings:
    """The accuracy that is reported is that of the last batch alone, or a sum of hits divided by
    the number of batches, or a sum of shares divided by the number of rows; or it is that of a
    regression, whose answers are never equal to their targets.

    Documentation of torchmetrics.Accuracy (sums are kept over batches, the share is taken at the
    end).
    """
    yield from _of_a_regression(detector, evidence)
    for node, saw in miscounted(evidence.files):
        place = place_of(node)
        fixes = share_of_rows(evidence, place)
        yield detector.finding(evidence, saw, fixes=fixes, place=place)


@FAULT.detector(
    "RE130",
    "metric-is-another-number",
    "reenact",
    needs=Needs.ACCOUNTS,
    observes=Observes.LOSSES,
    why="The reported number is not the share of right answers.",
    confidence=0.9,
    certainty=Certainty.STRONG,
    is_root_cause=True,
)
def metric_is_another_number(detector: Detector, evidence: Evidence) -> Findings:
    """Computed again from the outputs and labels of the evaluation, the number that is reported as
    accuracy is that of the last batch, or is divided by something else than the rows.

    Documentation of torchmetrics.Accuracy (sums are kept over batches, the share is taken at the
    end).
    """
    yield from imbalances(detector, evidence)


@FAULT.detector(
    "TC012",
    "loss-and-metric-uncorrelated",
    "deepchecker",
    needs=Needs.TRACE,
    observes=Observes.LOSSES,
    why="What is minimised should be what is wanted.",
    confidence=0.4,
)
def loss_and_metric_uncorrelated(detector: Detector, evidence: Evidence) -> Findings:
    """Loss and accuracy move independently of each other from epoch to epoch.

    {paper}, correlation of loss and metric below 0.5. A loss that hardly moves is left alone, since
    there is nothing to correlate.
    """
    # The first epoch begins anywhere and says nothing about what the two do together.
    loss = metric(evidence, "loss")[1:]
    score = metric(evidence, *ACCURACIES)[1:]
    count = min(len(loss), len(score))
    if count < FEWEST or len(loss) != len(score) or max(score) > 0.98:
        return
    if statistics.pstdev(loss) / max(1e-9, abs(statistics.fmean(loss))) < 0.02:
        return
    linked = 0.0 if statistics.pstdev(score) < 1e-6 else statistics.correlation(loss, score)
    if linked > -WEAK:
        yield detector.finding(
            evidence,
            f"correlation {linked:.2f} of loss and accuracy over {count} epochs",
        )


@FAULT.detector(
    "UM014",
    "no-accuracy-metric",
    "umlaut",
    needs=Needs.TRACE,
    observes=Observes.LOSSES,
    why="A loss does not say how many rows are put into the right class.",
    severity=Severity.NOTE,
    confidence=0.3,
)
def no_accuracy_metric(detector: Detector, evidence: Evidence) -> Findings:
    """A classifier is trained, and nothing but its loss is reported.

    {paper}. In the release this check is a stub; here it asks of classifiers only.
    """
    reported = [one.name.lower() for one in evidence.watched.metrics if one.source != "probe"]
    classes = evidence.task in (TaskType.BINARY, TaskType.MULTI_CLASS)
    if classes and reported and not any(word in name for name in reported for word in MEASURES):
        saw = f"{evidence.task.value} labels; reported: {', '.join(dict.fromkeys(reported))}"
        yield detector.finding(evidence, saw)


def _of_a_regression(detector: Detector, evidence: Evidence) -> Findings:
    """Where Keras is asked for the accuracy of quantities, and whether it decides which epoch
    is kept.
    """
    labels = evidence.labels
    regression = evidence.loss_family is LossFamily.REGRESSION
    classes = labels is None or labels.integral or labels.one_hot
    if classes or not regression or evidence.framework != "keras":
        return
    for index in evidence.files:
        metrics = map(read_through, given_as(index.calls, "metrics"))
        for node in (node for one in metrics for node in within(one, ast.expr)):
            if is_constant(constant_of(node), *ACCURACY):
                monitored = map(constant_of, given_as(index.calls, "monitor"))
                watched = any(is_constant(one, *WATCHED) for one in monitored)
                saw = "accuracy of a regression whose targets are no whole numbers"
                saw += ", which decides when to stop" if watched else ""
                yield detector.finding(
                    evidence,
                    saw,
                    place=place_of(node),
                    certainty=Certainty.STRONG if watched else Certainty.HINT,
                    confidence=None if watched else 0.5,
                )
                return
