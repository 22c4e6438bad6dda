"""What a model is really like, where its layers alone do not tell: how large its weights start, what comes
out of it, whose output a layer bends."""

import math

from reenact.faults import Evidence, Kind, LayerView
from reenact.program.flow.library_uses import is_set
from reenact.program.syntax.lines import calls


def reads_logits(evidence: Evidence) -> bool:
    """Whether the loss takes raw scores; the text is asked when nothing has run."""
    if evidence.loss is not None:
        return bool(evidence.loss.from_logits)
    return is_set(evidence.files, "from_logits")


def left_open(evidence: Evidence) -> bool:
    """Whether nothing has run and the text does not tell what reaches the loss: raw scores, several
    losses, outputs that are bent outside of the model.
    """
    if evidence.graph is not None:
        return False
    several = len(list(evidence.hyperparameters_of(Kind.LOSS))) > 1
    bent = calls(evidence.files, "sigmoid", "softmax", "log_softmax")
    return several or reads_logits(evidence) or any(bent)


def adds_up_to_one(evidence: Evidence) -> bool:
    """Whether every row of the output was seen to add up to one."""
    sums = _seen(evidence, "row_sum")
    return bool(sums) and all(0.99 < total < 1.01 for total in sums)


def is_probability(evidence: Evidence) -> bool:
    """Whether the output was seen, and never outside 0..1."""
    lows = _seen(evidence, "minimum")
    highs = _seen(evidence, "maximum")
    return bool(lows) and min(lows) >= 0 and max(highs) <= 1


def seen_outside(evidence: Evidence) -> bool:
    """Whether the output was seen to be something that no probability is."""
    return bool(_seen(evidence, "step")) and not is_probability(evidence)


def _seen(evidence: Evidence, column: str) -> list[float]:
    """The known values of a column of what came out of the last layer of the model that was
    watched.
    """
    if evidence.trace is None:
        return []
    rows = evidence.trace.layers.where(layer=len(evidence.trace.layer_names) - 1)
    return [float(value) for value in rows[column] if value == value]


def fans(layer: LayerView, framework: str) -> tuple[int, int] | None:
    """Inputs and outputs of one unit, counted over the kernel's window; none for vectors."""
    kernel = layer.kernel()
    if kernel is None or len(kernel.shape) < 2:
        return None
    given, made = (-2, -1) if framework == "keras" else (1, 0)
    window = math.prod(kernel.shape[:-2] if framework == "keras" else kernel.shape[2:])
    return kernel.shape[given] * window, kernel.shape[made] * window


def times_usual(layer: LayerView, framework: str) -> float | None:
    """Deviation of the start against the usual: above 1 of He's, the largest; below 1 of the
    smallest in use, PyTorch's own; 1 in between.
    """
    kernel = layer.kernel()
    sizes = fans(layer, framework)
    if kernel is None or sizes is None or not min(sizes) or math.prod(kernel.shape) < 8:
        return None
    largest = math.sqrt(2 / sizes[0])
    smallest = min(math.sqrt(1 / (3 * sizes[0])), math.sqrt(2 / sum(sizes)))
    if kernel.std > largest:
        return kernel.std / largest
    return min(1.0, kernel.std / smallest)


def owner_of(evidence: Evidence, layer: LayerView) -> LayerView:
    """The layer with weights whose output it is, or bends; itself where there is none."""
    before = evidence.layers[: evidence.layers.index(layer) + 1]
    for one in reversed(before):
        if one.weighted:
            return one
    return layer
