"""OU03 wrong-loss-for-task

What
    The loss measures another task than the labels set: a distance for classes, classes for quantities,
    yes-or-no for one of many, one of many where several hold at once, a hinge for labels 0 and 1.
Why
    A squared distance to class numbers says that class 2 lies between 1 and 3; a cross-entropy of
    quantities is no likelihood of anything. Training then optimises something nobody asked for.
Symptom
    The loss falls while the accuracy does not rise, or stops early at a poor one.
Example
    import keras
    from reenact.testing.toys import blobs

    x, y = blobs(spread=2.0)
    y = keras.utils.to_categorical(y)
    model = keras.Sequential([
        keras.layers.Dense(16, activation="relu"),
        keras.layers.Dense(3, activation="softmax"),
    ])
    model.compile(keras.optimizers.Adam(0.01), "binary_crossentropy", metrics=["accuracy"])
    model.fit(x, y, epochs=10, validation_split=0.2)
Instead
    - model.compile(keras.optimizers.Adam(0.01), "binary_crossentropy", metrics=["accuracy"])
    + model.compile(keras.optimizers.Adam(0.01), "categorical_crossentropy", metrics=["accuracy"])
Fix safety
    Unsafe: another loss is another training; learning rate and last activation may have to follow.
Sources
    Humbatova et al., ICSE 2020 (wrong loss function); documentation of the losses of PyTorch and Keras.
"""

from reenact.faults import (
    Category,
    Certainty,
    Detector,
    Evidence,
    Fault,
    FaultType,
    Finding,
    Findings,
    JsonValue,
    Kind,
    LossFamily,
    Needs,
    Observes,
    Severity,
    TaskType,
    TensorFacts,
)
from reenact.faults.facts import series
from reenact.faults.facts.measured import among
from reenact.faults.labels.labels_outside_output_range import no_class_numbers
from reenact.program.flow.library_uses import uses
from reenact.program.syntax.lines import calls, first_place

CLASSES = (TaskType.MULTI_CLASS, TaskType.BINARY)
SURE = 0.9
FAULT = Fault(
    code="OU03",
    name="wrong-loss-for-task",
    category=Category.OUTPUT,
    page=__doc__,
)


@FAULT.detector(
    "RE003",
    "loss-of-another-task",
    "reenact",
    needs=Needs.GRAPH,
    observes=Observes.DATA,
    why="The loss must measure what the labels mean.",
    study=FaultType.LCH,
    severity=Severity.ERROR,
    certainty=Certainty.STRONG,
)
def loss_of_another_task(detector: Detector, evidence: Evidence) -> Findings:
    """The loss measures another task than the labels set: a distance for classes, classes for
    quantities, yes-or-no for one of many, one of many where several hold at once, a hinge for
    labels 0 and 1.

    Humbatova et al., ICSE 2020 (wrong loss function); documentation of the losses of PyTorch and
    Keras.
    """
    for one in evidence.happened("several-classes")[:1]:
        saw = (
            f"cross_entropy is given rows with {one.facts['held']:.2g} classes at once, on average"
        )
        made = list(calls(evidence.files, "CrossEntropyLoss"))
        place = first_place(made) if len(made) == 1 else one.place
        yield detector.finding(evidence, saw, place=place, confidence=0.9)
        return
    labels = evidence.labels
    output = evidence.output
    loss = evidence.loss_family
    if labels is None or output is None or loss in (None, LossFamily.OTHER):
        return
    # Two models that play against each other may learn real from generated with any loss.
    if no_class_numbers(evidence) or evidence.optimizers > 1:
        return
    sure = _sure(evidence, labels, loss, output.width or 1)
    if sure:
        saw = f"{evidence.loss_name} for a {evidence.task} task, {_form(labels)}"
        values = _better(evidence, labels, output.width or 1)
        # A squared error falls all the same: that it was learned does not speak against it.
        certain = Certainty.PROOF if _rounded(evidence, labels) else None
        yield detector.finding(
            evidence,
            saw,
            kind=Kind.LOSS,
            values=values,
            certainty=certain,
            confidence=sure,
        )


@FAULT.detector(
    "AT007",
    "improper-loss",
    "autotrainer",
    needs=Needs.GRAPH | Needs.TRACE,
    observes=Observes.LOSSES,
    why="A loss for another kind of task has a gradient that leads elsewhere.",
    study=FaultType.LCH,
    severity=Severity.ERROR,
    confidence=0.7,
)
def improper_loss(detector: Detector, evidence: Evidence) -> Findings:
    """The labels are classes, and the loss is one for numbers; or there are more than two classes,
    one of them right, and the loss is a binary one; or a single output goes to a loss over classes.

    The extension of AutoTrainer (Zhang, Zhai, Ma and Shen, ICSE 2021) in its released monitor. It
    knows losses by name and number of outputs only, so that every loss of a regression is improper;
    here the task decides. Adversarial networks, which use mean errors on purpose, are left alone.
    """
    family = evidence.loss_family
    output = evidence.output
    if output is None or (evidence.watched.steps["optimizer"] > 0).any():
        return
    many = evidence.task is TaskType.MULTI_CLASS
    two = evidence.task is TaskType.BINARY
    single = output.width == 1
    saw = f"{evidence.loss_name} under a {evidence.task.value} task with {output.width} outputs"
    if (many or two) and family is LossFamily.REGRESSION:
        yield _changed(
            detector,
            evidence,
            saw,
            many or not single,
            detector.confidence,
        )
    elif many and family is LossFamily.BINARY:
        yield _changed(detector, evidence, saw, True, detector.confidence)
    elif (many or two) and single and family is LossFamily.CATEGORICAL:
        yield _changed(detector, evidence, saw, False, SURE)


def _sure(
    evidence: Evidence,
    labels: TensorFacts,
    loss: LossFamily | None,
    width: int,
) -> float:
    """How sure it is that the loss is of another task; 0 when it fits."""
    task = evidence.task
    if loss is LossFamily.CATEGORICAL and _shares_given(evidence):
        return 0.0
    if task is TaskType.REGRESSION and loss in (
        LossFamily.CATEGORICAL,
        LossFamily.BINARY,
    ):
        return 0.0 if labels.integral and (labels.classes or 99) <= 20 else 0.9
    if task is TaskType.MULTI_LABEL and loss is LossFamily.CATEGORICAL:
        return 0.9 if _ones_a_row(labels) > 1.05 else 0.0
    if task is TaskType.REGRESSION and width == 1 and _rounded(evidence, labels):
        return 0.85
    if task not in CLASSES:
        return 0.0
    if loss is LossFamily.REGRESSION:
        if task is TaskType.BINARY:
            return 0.6 if width == 1 else 0.7
        return 0.75 if labels.one_hot else 0.85
    if loss is LossFamily.BINARY and task is TaskType.MULTI_CLASS and width > 2:
        return 0.6 if labels.one_hot else 0.95
    if loss is LossFamily.CATEGORICAL and task is TaskType.BINARY and width == 1:
        return 0.95
    return _hinge(evidence, labels) if loss is LossFamily.MARGIN else 0.0


def _rounded(evidence: Evidence, labels: TensorFacts) -> bool:
    """Whether numbers from 0 on are fitted, and the program itself rounds them, and is mostly
    wrong.
    """
    kinds = sorted(labels.class_values or ())
    scores = [
        *series.validation_accuracy(evidence)[-1:],
        *series.metric(evidence, "accuracy", "acc")[-1:],
    ]
    counted = labels.integral and 3 <= len(kinds) <= 20 and kinds == list(range(len(kinds)))
    return bool(counted and scores and max(scores) < 0.7 and uses(evidence.files, "round", "rint"))


def _shares_given(evidence: Evidence) -> bool:
    """Whether each score is compared with a share that was made of the labels: soft targets, a
    list.
    """
    compared = evidence.loss.compared if evidence.loss is not None else None
    labels = evidence.labels
    whole = labels is not None and (labels.one_hot or set(labels.class_values or ()) == {0, 1})
    return (
        compared is not None
        and not whole
        and compared[0] == compared[1]
        and compared[0][-1:] > (1,)
    )


def _ones_a_row(labels: TensorFacts) -> float:
    """Classes that hold at once, on average; rows of padding hold none."""
    return (labels.mean or 0.0) * (labels.shape[-1] or 1)


def _hinge(evidence: Evidence, labels: TensorFacts) -> float:
    """Hinges compare scores with -1 and 1; Keras turns 0 and 1 into them, PyTorch does not."""
    if evidence.loss_name in (
        "multi_margin",
        "categorical_hinge",
        "multilabel_soft_margin",
    ):
        return 0.0
    signs = set(labels.class_values or ()) == {-1, 1}
    if signs and evidence.last_activation in (None, "tanh"):
        return 0.0
    return 0.6 if evidence.framework == "keras" else 0.85


def _better(
    evidence: Evidence,
    labels: TensorFacts,
    width: int,
) -> tuple[JsonValue, ...]:
    keras = evidence.framework == "keras"
    if evidence.task is TaskType.REGRESSION:
        return ("mean_squared_error",) if keras else ("MSELoss",)
    if evidence.task is TaskType.MULTI_LABEL or (evidence.task is TaskType.BINARY and width == 1):
        if keras:
            return ("binary_crossentropy",)
        logits = evidence.last_activation != "sigmoid"
        return ("BCEWithLogitsLoss",) if logits else ("BCELoss",)
    if not keras:
        return ("CrossEntropyLoss",)
    return ("categorical_crossentropy" if labels.one_hot else "sparse_categorical_crossentropy",)


def _form(labels: TensorFacts) -> str:
    if labels.one_hot:
        return f"labels one-hot over {labels.shape[-1]} classes"
    if len(labels.shape) > 1 and set(labels.class_values or ()) == {0, 1}:
        return f"labels with {_ones_a_row(labels):.2g} of {labels.shape[-1]} classes at once"
    if labels.class_values and len(labels.class_values) <= 20:
        return f"labels {', '.join(map(str, labels.class_values))}"
    if labels.maximum is None:
        return "labels"
    return f"labels from {labels.minimum:g} to {labels.maximum:g}"


def _changed(
    detector: Detector,
    evidence: Evidence,
    saw: str,
    several: bool,
    sure: float,
) -> Finding:
    labels = evidence.labels
    one_hot = labels is not None and labels.one_hot
    keras = "categorical_crossentropy" if one_hot else "sparse_categorical_crossentropy"
    wanted = (keras, "CrossEntropyLoss", "cross_entropy")
    if not several:
        wanted = (
            "binary_crossentropy",
            "BCEWithLogitsLoss",
            "binary_cross_entropy_with_logits",
        )
    values = among(evidence, Kind.LOSS, wanted)
    return detector.finding(
        evidence,
        saw,
        kind=Kind.LOSS,
        values=values,
        confidence=sure,
    )
