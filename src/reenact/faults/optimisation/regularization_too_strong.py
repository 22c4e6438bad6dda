"""OP11 regularization-too-strong

What
    A penalty on weights, a weight decay or a dropout rate far above the usual; or a decay under which the
    weights of normalisation layers, which nothing else makes smaller, are seen to shrink in a training that
    fails.
Why
    The penalty then outweighs the data: weights shrink towards zero, or so few units are left in a step
    that nothing can be learned together.
Symptom
    Training and validation are equally poor; weights become tiny.
Example
    import keras

    model = keras.Sequential([
        keras.layers.Input((8,)),
        keras.layers.Dense(16, activation="relu", kernel_regularizer=keras.regularizers.L2(0.5)),
        keras.layers.Dense(3, activation="softmax"),
    ])
Instead
    -     keras.layers.Dense(16, activation="relu", kernel_regularizer=keras.regularizers.L2(0.5)),
    +     keras.layers.Dense(16, activation="relu", kernel_regularizer=keras.regularizers.L2(0.0001)),
Fix safety
    Unsafe: it changes what is trained.
Sources
    Goodfellow, Bengio and Courville, "Deep Learning", 2016, chapter 7; Srivastava et al., "Dropout", JMLR
    2014, section 7.3.
"""

import ast
from collections.abc import Iterator
from statistics import mean, median

from reenact.faults import (
    Category,
    Certainty,
    Detector,
    Evidence,
    Fault,
    FaultType,
    Findings,
    JsonValue,
    Kind,
    LayerView,
    Needs,
    Observes,
)
from reenact.faults.confidence import Health
from reenact.faults.facts.places import optimizer_name
from reenact.faults.facts.series import finite, learned
from reenact.faults.health import health_of
from reenact.program.flow.uses import value_of
from reenact.program.syntax.excerpt import excerpt
from reenact.program.syntax.lines import nodes
from reenact.program.syntax.pieces import (
    all_parts,
    called,
    calls_in,
    is_sum,
    place_of,
    within,
)

STRONG = {"l1": 0.01, "l2": 0.05}
DROPOUT = 0.75
DECAY = 0.05
DECOUPLED = ("adamw", "lion", "adamwscale")
DECAY_APART = 0.5
"""The same for optimizers that multiply it by the learning rate and leave gradients alone."""
DECAY_OF_NORMS = 0.01
SHRUNK = 0.5
"""Share of their first size that is left of the weights of normalisation layers, on average."""
LEFT = 0.2
"""Share of their first size that is left of the kernels where a penalty took everything."""
NEAR = 0.05
SIZES = ("pow", "norm", "vector_norm", "square", "abs")
PENALTIES = {"l1": "l1", "L1": "l1", "l2": "l2", "L2": "l2"}
"""Regularizers of Keras that take one factor."""
FAULT = Fault(
    code="OP11",
    name="regularization-too-strong",
    category=Category.OPTIMISATION,
    page=__doc__,
)


@FAULT.detector(
    "RE016",
    "regularisation-too-strong",
    "reenact",
    needs=Needs.SOURCE,
    observes=Observes.TEXT,
    why="A penalty that outweighs the data leaves nothing to learn with.",
    study=FaultType.RAW,
    confidence=0.7,
)
def regularisation_too_strong(detector: Detector, evidence: Evidence) -> Findings:
    """A penalty on weights, a weight decay or a dropout rate far above the usual; or a decay under
    which the weights of normalisation layers, which nothing else makes smaller, are seen to shrink
    in a training that fails.

    Goodfellow, Bengio and Courville, "Deep Learning", 2016, chapter 7; Srivastava et al.,
    "Dropout", JMLR 2014, section 7.3.
    """
    doubt = 0.4 if learned(evidence) else 1.0
    # Where training was seen to fail, less is already too much.
    failed = evidence.step_count > 0 and doubt == 1.0
    for layer in evidence.layers:
        yield from _layer(
            detector,
            evidence,
            layer,
            doubt,
            0.2 if failed else 1.0,
        )
    yield from _decayed(detector, evidence, doubt, failed=failed)
    kernels = _shares_left(evidence, scales=False) if failed else []
    if kernels and median(kernels) < LEFT:
        for term in _penalised(evidence):
            saw = f"{excerpt(term)} in the loss, and hardly anything is left of the weights"
            place = place_of(term)
            strong = Certainty.STRONG
            yield detector.finding(
                evidence,
                saw,
                place=place,
                confidence=0.85,
                certainty=strong,
            )


@FAULT.detector(
    "TC013",
    "over-regularised",
    "deepchecker",
    needs=Needs.TRACE,
    observes=Observes.WEIGHTS,
    why="A penalty that outweighs the data leads to a model without weights.",
    study=FaultType.RAW,
    confidence=0.75,
)
def over_regularised(detector: Detector, evidence: Evidence) -> Findings:
    """Weights under a penalty or decay shrink to a fraction of their start.

    {paper}, gradient of the penalty at least twice that of the data in five checks. The two
    gradients are not recorded apart; what they lead to is: a norm below a fifth of the first.
    """
    decay = (
        evidence.optimizer.settings.get("weight_decay") if evidence.optimizer is not None else None
    )
    for layer in evidence.weighted:
        penalised = bool(layer.settings.get("kernel_regularizer"))
        if not penalised and not decay:
            continue
        left = _kernel_left(evidence, layer)
        saw = f"the weights shrink to {left:.0%} of their start" if left < LEFT else ""
        if saw and penalised:
            yield detector.finding(
                evidence,
                saw,
                layer=layer,
                kind=Kind.WEIGHT_REGULARIZER,
                values=(None,),
            )
        elif saw:
            values = (0.0001, 0.0)
            yield detector.finding(
                evidence,
                saw,
                kind=Kind.WEIGHT_DECAY,
                values=values,
                study=FaultType.HWD,
            )


def _penalties(written: JsonValue) -> Iterator[tuple[str, float]]:
    """`l1` and `l2` with their factors: from the live layer's settings or from the source text."""
    if isinstance(written, dict):
        pairs = ((word, written.get(word)) for word in ("l1", "l2"))
        for word, factor in pairs:
            if isinstance(factor, int | float):
                yield (word, float(factor))
    elif isinstance(written, str):
        yield from _written(written)


def _written(text: str) -> Iterator[tuple[str, float]]:
    """The same of a setting that is known as text: `keras.regularizers.L2(0.5)`."""
    try:
        tree = ast.parse(text, mode="eval")
    except SyntaxError:
        return
    for call in within(tree, ast.Call):
        kind = PENALTIES.get(called(call), "")
        given = [(kind, one) for one in call.args[:1]]
        for word in call.keywords:
            given.append((PENALTIES.get(word.arg or "", kind), word.value))
        for penalty, value in given:
            factor = value.value if isinstance(value, ast.Constant) else None
            if penalty and isinstance(factor, int | float):
                yield penalty, float(factor)


def _shares_left(evidence: Evidence, *, scales: bool) -> list[float]:
    """The shares of their first size that are left of kernels, or of the scales of normalisation
    layers: vectors that begin at one, as nothing else does.
    """
    rows = evidence.watched.parameters
    shares = []
    for number, facts in enumerate(evidence.watched.parameter_facts):
        course = finite([float(size) for size in rows.where(parameter=number)["weight_mean_abs"]])
        if facts.in_optimizer and len(course) > 1 and course[0] > 0:
            is_scale = len(facts.shape) == 1 and abs(course[0] - 1) < NEAR
            if is_scale if scales else len(facts.shape) > 1:
                shares.append(course[-1] / course[0])
    return shares


def _penalised(evidence: Evidence) -> Iterator[ast.BinOp]:
    """Products, in what is given to a variable, of a factor and the size of all weights."""
    for node in nodes(evidence.files, ast.BinOp):
        sides = (node.left, node.right) if is_sum(node, ast.Mult) else ()
        if any(_sizes(side) or _sizes(value_of(side)) for side in sides):
            yield node


def _sizes(node: ast.expr) -> bool:
    """Whether an expression measures all weights of a model."""
    raised = any(is_sum(one, ast.Pow) for one in all_parts(node))
    return (raised or bool(calls_in(node, *SIZES))) and bool(calls_in(node, "parameters"))


def _decayed(
    detector: Detector,
    evidence: Evidence,
    doubt: float,
    *,
    failed: bool,
) -> Findings:
    param = evidence.hyperparameter(Kind.WEIGHT_DECAY)
    apart = optimizer_name(evidence) in DECOUPLED
    decay = param.in_force if param is not None else None
    if evidence.optimizer is not None and decay is None:
        decay = evidence.optimizer.settings.get("weight_decay")
    if not isinstance(decay, int | float) or isinstance(decay, bool) or decay < DECAY_OF_NORMS:
        return
    fails = failed and health_of(evidence) is Health.FAILS
    norms = _shares_left(evidence, scales=True) if fails else []
    shrunk = bool(norms) and mean(norms) < SHRUNK
    limit = DECAY_APART if apart else DECAY
    # Adaptive steps and such a decay come to rest at about one over it: below where weights begin.
    if not shrunk and (decay < limit or (apart and not fails and decay <= 4 * limit)):
        return
    left = (
        f", and {mean(norms):.0%} is left of the weights of normalisation layers" if shrunk else ""
    )
    sure = 0.8 if decay > 4 * limit or shrunk else 0.6
    saw = f"weight decay {decay:g}{left}"
    values = (0.01, 0.0) if apart else (0.0001, 0.0)
    certain = Certainty.STRONG if failed and (decay >= 2 * limit or shrunk) else None
    yield detector.finding(
        evidence,
        saw,
        kind=Kind.WEIGHT_DECAY,
        values=values,
        study=FaultType.HWD,
        confidence=sure * doubt,
        certainty=certain,
    )


def _sure(factor: float, strong: float) -> float:
    """How surely a penalty is too strong, by how far it is above what is strong."""
    if factor >= 4 * strong:
        return 0.8
    return 0.6 if factor >= strong else 0.5


def _layer(
    detector: Detector,
    evidence: Evidence,
    layer: LayerView,
    doubt: float,
    bound: float,
) -> Findings:
    for word, factor in _penalties(layer.settings.get("kernel_regularizer")):
        if factor >= bound * STRONG[word]:
            yield detector.finding(
                evidence,
                f"{word} penalty with factor {factor:g}",
                layer=layer,
                kind=Kind.WEIGHT_REGULARIZER,
                values=(None,),
                confidence=_sure(factor, STRONG[word]) * doubt,
            )
    if layer.family == "dropout" and (layer.dropped or 0.0) >= DROPOUT:
        yield detector.finding(
            evidence,
            f"dropout of {layer.dropped:g}",
            layer=layer,
            kind=Kind.DROPOUT,
            values=(0.5, 0.2),
            study=FaultType.RCD,
            confidence=0.7 * doubt,
        )


def _kernel_left(evidence: Evidence, layer: LayerView) -> float:
    """Last norm of the kernel against the first that was seen; 1 where nobody knows."""
    kernel = layer.kernel()
    path = kernel.path if kernel is not None else ""
    norms = finite(list(evidence.watched.parameter(path, "weight_norm").values))
    if len(norms) > 3 and norms[0] > 0:
        return norms[-1] / norms[0]
    return 1.0
