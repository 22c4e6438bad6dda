"""OP08 optimizer-does-not-fit

What
    An optimiser that cannot get there in the steps it has: Adadelta or Adagrad with the small default
    rate of Keras 3, or plain SGD with a tiny rate.
Why
    Adadelta is made for a rate of 1; Keras sets 0.001 for all optimisers, which makes it a thousand times
    slower. Adagrad only ever slows down. Plain SGD does not scale its steps at all.
Symptom
    Gradients flow, and the loss hardly moves.
Example
    import keras

    model = keras.Sequential([
        keras.layers.Input((8,)),
        keras.layers.Dense(16, activation="relu"),
        keras.layers.Dense(3, activation="softmax"),
    ])
    model.compile("adadelta", "sparse_categorical_crossentropy", metrics=["accuracy"])
Instead
    - model.compile("adadelta", "sparse_categorical_crossentropy", metrics=["accuracy"])
    + model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
Fix safety
    Unsafe: another optimiser is another training.
Sources
    Zeiler, "ADADELTA", 2012; documentation of keras.optimizers.Adadelta ("to match the exact form in the
    original paper, use 1.0").
"""

from reenact.faults import (
    Category,
    Detector,
    Evidence,
    Fault,
    FaultType,
    Findings,
    Kind,
    Needs,
    Observes,
)
from reenact.faults.facts.places import optimizer_name
from reenact.faults.facts.series import finite, learned, losses, windows

SLOW = {
    "adadelta": 0.05,
    "adagrad": 0.002,
    "ftrl": 0.002,
}
MOVED = 0.95
LEAST_GRADIENT = 1e-4
FAULT = Fault(
    code="OP08",
    name="optimizer-does-not-fit",
    category=Category.OPTIMISATION,
    page=__doc__,
)


@FAULT.detector(
    "RE026",
    "optimiser-does-not-fit",
    "reenact",
    needs=Needs.SOURCE,
    observes=Observes.TEXT,
    why="With this rate it needs far more steps than it has.",
    study=FaultType.OCH,
    confidence=0.75,
)
def optimiser_does_not_fit(detector: Detector, evidence: Evidence) -> Findings:
    """An optimiser that cannot get there in the steps it has: Adadelta or Adagrad with the small
    default rate of Keras 3, or plain SGD with a tiny rate.

    Zeiler, "ADADELTA", 2012; documentation of keras.optimizers.Adadelta ("to match the exact form
    in the original paper, use 1.0").
    """
    word = optimizer_name(evidence)
    rate = evidence.learning_rate
    if rate is None or learned(evidence) or evidence.optimizers > 1:
        return
    keras = (param := evidence.hyperparameter(Kind.OPTIMIZER)) is not None and str(
        param.value
    ).islower()
    values = ("adam", "rmsprop") if keras else ("Adam", "RMSprop")
    if rate <= SLOW.get(word, 0):
        saw = f"{word} with learning rate {rate:g}"
        yield detector.finding(
            evidence,
            saw,
            kind=Kind.OPTIMIZER,
            values=values,
        )
        return
    curve = windows(losses(evidence))
    momentum = evidence.optimizer is not None and evidence.optimizer.settings.get("momentum")
    norms = (
        sorted(finite(list(evidence.trace.steps["grad_norm"])))
        if evidence.trace is not None
        else []
    )
    # Whether gradients arrive: without them no optimiser helps.
    flows = bool(norms) and norms[len(norms) // 2] > LEAST_GRADIENT
    plain = word == "sgd" and rate <= 0.01 and not momentum and flows
    if plain and len(curve) > 3 and MOVED * curve[0] < curve[-1] < 1.05 * curve[0]:
        saw = f"plain SGD with rate {rate:g} took the loss from {curve[0]:.3g} to {curve[-1]:.3g}"
        yield detector.finding(
            evidence,
            saw,
            kind=Kind.OPTIMIZER,
            values=values,
            confidence=0.6,
        )
