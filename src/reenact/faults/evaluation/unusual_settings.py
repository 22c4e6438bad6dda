"""EV09 unusual-settings

What
    The training fails, and a setting that decides over success could as well have another, usual value:
    learning rate, optimiser, batch size, epochs, loss.
Why
    When no other rule explains a failure, these are what most often does.
Symptom
    The loss stalls near its start or falls by less than three tenths, or the model answers the same for
    every input.
Example
    import keras
    from reenact.testing.toys import blobs

    x, y = blobs(spread=2.0)
    model = keras.Sequential([
        keras.layers.Dense(16, activation="relu"),
        keras.layers.Dense(3, activation="softmax"),
    ])
    model.compile(keras.optimizers.SGD(1e-6), "sparse_categorical_crossentropy", metrics=["accuracy"])
    model.fit(x, y, epochs=10, validation_split=0.2)
Instead
    - model.compile(keras.optimizers.SGD(1e-6), "sparse_categorical_crossentropy", metrics=["accuracy"])
    + model.compile(keras.optimizers.Adam(0.01), "sparse_categorical_crossentropy", metrics=["accuracy"])
Fix safety
    Unsafe: each is another training. The finding is a thing to try, and is reported only when it helps.
Sources
    Zhang et al., "AutoTrainer", ICSE 2021 (repairs tried in turn); Table 1 of "Fault Localisation and
    Repair of Deep Learning Systems" for which faults are frequent.
"""

from collections.abc import Sequence

from reenact.faults import (
    Category,
    Detector,
    Evidence,
    Fault,
    FaultType,
    Findings,
    Hyperparameter,
    JsonValue,
    Kind,
    Needs,
    Observes,
    Severity,
    TaskType,
)
from reenact.faults.facts.series import learned, losses, windows
from reenact.faults.optimisation.nothing_learned import learns_nothing, loss_stalls
from reenact.faults.output.collapsed_output import collapsed_output

PARTS = 6
BARELY = 0.7
"""Share of the first loss that is left in the end. Of the learned detector's trainings this adds 26
of 295 faulty ones to what the other symptoms name, and none of 147 healthy ones; at 0.5 it would
still add none of these.
"""
SYMPTOMS: tuple[Detector, ...] = (learns_nothing, collapsed_output, loss_stalls)
TRIED = (
    (Kind.LEARNING_RATE, FaultType.HLR, 0.3),
    (Kind.OPTIMIZER, FaultType.OCH, 0.25),
    (Kind.BATCH_SIZE, FaultType.HBS, 0.2),
    (Kind.EPOCHS, FaultType.HNE, 0.15),
)
ADAM = ("Adam", "AdamW", "Adamax", "NAdam", "Nadam", "RAdam", "adam", "adamw", "adamax", "nadam")
FAULT = Fault(
    code="EV09",
    name="unusual-settings",
    category=Category.EVALUATION,
    page=__doc__,
)


@FAULT.detector(
    "RE040",
    "usual-elsewhere",
    "reenact",
    needs=Needs.SOURCE | Needs.TRACE,
    observes=Observes.LOSSES,
    why="The training fails, and trainings like it mostly have another value here.",
    severity=Severity.NOTE,
    confidence=0.2,
)
def usual_elsewhere(detector: Detector, evidence: Evidence) -> Findings:
    """The training fails, and a setting that decides over success could as well have another, usual
    value: learning rate, optimiser, batch size, epochs, loss.

    Zhang et al., "AutoTrainer", ICSE 2021 (repairs tried in turn); Table 1 of "Fault Localisation
    and Repair of Deep Learning Systems" for which faults are frequent.
    """
    if evidence.acts:
        # What an agent meets changes with what it does: its loss does not say how well it does.
        return
    seen = next(
        (finding.saw for rule in SYMPTOMS for finding in rule.check(evidence)),
        _barely(evidence),
    )
    if not seen:
        return
    for kind, fault, sure in TRIED:
        param = evidence.hyperparameter(kind)
        values = _values(param, kind, evidence) if param is not None else ()
        if param is not None and param.changeable and values:
            saw = f"{seen}; {kind.value} {param.in_force}"
            yield detector.finding(
                evidence,
                saw,
                kind=kind,
                values=values,
                study=fault,
                confidence=sure,
            )


def _barely(evidence: Evidence) -> str:
    """The loss has fallen by less than three tenths: little, as far as it went, was learned."""
    curve = windows(losses(evidence), PARTS)
    silent = len(curve) < PARTS or evidence.optimizers > 1 or learned(evidence)
    if silent or curve[0] <= 0 or curve[-1] <= BARELY * curve[0]:
        return ""
    return f"loss {curve[0]:.3g} in the beginning and {curve[-1]:.3g} in the end"


def _values(param: Hyperparameter, kind: Kind, evidence: Evidence) -> Sequence[JsonValue]:
    """Usual values other than the one in force."""
    now = param.in_force
    if kind is Kind.LEARNING_RATE and isinstance(now, int | float) and now > 0:
        return (
            round(now * 10, 12),
            round(now / 10, 12),
            round(now * 100, 12),
        )
    if kind is Kind.OPTIMIZER:
        adam = _is_adam(now)
        return tuple(value for value in param.alternatives if adam or _is_adam(value))[:2]
    if kind is Kind.BATCH_SIZE and isinstance(now, int):
        return tuple(value for value in (32, 16, 64) if value < now) or (32,)
    if kind is Kind.EPOCHS and isinstance(now, int) and evidence.task is not TaskType.UNKNOWN:
        if now < 20:
            return (now * 4, now * 20)
        return (now * 4,)
    return ()


def _is_adam(optimizer: JsonValue) -> bool:
    return str(optimizer).rpartition(".")[2] in ADAM
