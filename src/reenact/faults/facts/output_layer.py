"""What comes out of a model and what its loss wants: the questions that the output rules share."""

from collections.abc import Sequence
from dataclasses import dataclass

from reenact.faults import Evidence, Kind, LayerView, Wanted
from reenact.faults.facts.architecture import row_of, until_weights
from reenact.program.flow.library_uses import has_keyword, uses

SQUASHING = frozenset(
    {"softmax", "sigmoid", "log_softmax", "hard_sigmoid", "hardsigmoid", "softmin"}
)

SOFTMAX = (
    "softmax",
    "Softmax",
    "log_softmax",
    "LogSoftmax",
    "Softmax2d",
)
SIGMOID = (
    "sigmoid",
    "Sigmoid",
    "logsigmoid",
    "LogSigmoid",
    "hard_sigmoid",
    "hardsigmoid",
    "Hardsigmoid",
    "expit",
)


@dataclass(frozen=True, slots=True)
class Output:
    """The end of a model whose end is not in doubt."""

    layer: LayerView
    bend: str | None
    """What bends it, in our word; none when nothing does."""
    width: int | None
    """How many values come out for one row."""


def output_of(evidence: Evidence) -> Output | None:
    """The output; none when the evidence does not settle it: several models or losses, as in a GAN,
    or text that mentions `from_logits` without a run.
    """
    layer = evidence.output
    if layer is None or not evidence.loss_name or layer.family in ("embedding", "recurrent"):
        return None
    if evidence.graph is not None:
        # Whether layers that the text calls outputs of different models all took part.
        static = evidence.static.layers if evidence.static is not None else ()
        ends = {str(one.place) for one in static if one.role == "output"}
        doubted = len(ends & {str(one.place) for one in evidence.layers}) > 1
    else:
        heads = sum(one.role == "output" for one in evidence.layers)
        losses = {param.in_force for param in evidence.hyperparameters_of(Kind.LOSS)}
        doubted = heads != 1 or len(losses) != 1 or has_keyword(evidence.files, "from_logits")
    width = layer.width if layer.family == "dense" else None
    if doubted:
        return None
    return Output(layer, next(reversed(bends(evidence, layer)), None), width)


def bends(evidence: Evidence, layer: LayerView) -> tuple[str, ...]:
    """Everything that bends a layer's output before other weights see it, in order; of the model's
    output what the tensor that the loss is given went through, where that is known.
    """
    row = row_of(evidence, layer)
    found = [one.own_activation for one in (layer, *until_weights(row, row.index(layer)))]
    words = _bending(found) or _bending([layer.activation])
    last = evidence.loss.bend if evidence.loss is not None and layer is evidence.output else ""
    if not last:
        return words
    if last == "none":
        return ()
    before = words[: words.index(last)] if last in words else ()
    return (*before, last)


def _bending(words: Sequence[str | None]) -> tuple[str, ...]:
    return tuple(word for word in words if word not in (None, "", "linear", "identity"))


def lacks_softmax(evidence: Evidence, out: Output) -> bool:
    """A loss over probabilities of classes is given plain numbers, as far as is known."""
    wanted = evidence.wanted_output
    if wanted not in (Wanted.SOFTMAX, Wanted.LOG_SOFTMAX) or out.bend is not None or out.width == 1:
        return False
    if evidence.graph is None:
        return not uses(evidence.files, *SOFTMAX)
    if wanted is Wanted.LOG_SOFTMAX:
        # No log of a probability is above zero, so no such loss is below it.
        return evidence.trace is not None and bool((evidence.trace.losses.known.values < 0).any())
    return not _bounded(evidence)


def lacks_sigmoid(evidence: Evidence, out: Output) -> bool:
    """A loss over probabilities of yes is given plain numbers, as far as is known."""
    if evidence.wanted_output is not Wanted.SIGMOID or out.bend is not None:
        return False
    if evidence.graph is None:
        return not uses(evidence.files, *SIGMOID)
    if evidence.loss_name == "binary_cross_entropy":
        # torch raises beyond 0 to 1: a wider output that it did take was bent on the way to the
        # loss.
        crash = evidence.crash
        return _bounded(evidence) or (crash is not None and "between 0 and 1" in crash.message)
    return not _bounded(evidence)


def _bounded(evidence: Evidence) -> bool:
    """Whether the last thing the model did always gave values from 0 to 1."""
    if evidence.trace is None or not evidence.layers:
        return False
    last = evidence.layers[-1].name
    low, high = (evidence.trace.layer(last, end).known.values for end in ("minimum", "maximum"))
    return bool(len(low) and len(high) and low.min() >= 0 and high.max() <= 1)
