"""Weights that no training reaches: which ones an optimizer was not given, which ones get no gradient, which
layers hold what they were made with."""

import math
from collections.abc import Sequence
from statistics import median

from reenact.faults import Evidence, LayerView
from reenact.probe.trace import ParameterFacts, Trace
from reenact.program.graph import WeightFacts

FEW = 3
"""Looked-at steps without a gradient that are no accident."""
FEW_WEIGHTS = 64
"""A kernel must have so many for its largest to lie near the bound that it was drawn from."""
ALIKE = 6
"""Kernels that must have one spread before it is no chance."""


def owns(layer: str, names: list[str]) -> bool:
    """Whether one of these weights belongs to a layer."""
    holders = (name.replace("/", ".").rpartition(".")[0] for name in names)
    return any(holder.endswith(layer) for holder in holders)


def is_fresh(layer: LayerView) -> bool:
    """Whether its weights look drawn from a uniform distribution, as libraries start them. Weights
    that were learned elsewhere do not, and are often left alone on purpose.
    """
    kernel = layer.kernel()
    if kernel is None or not kernel.std:
        return True
    # A uniform distribution is so much wider than its deviation.
    uniform = kernel.std * math.sqrt(12)
    return 0.85 < (kernel.maximum - kernel.minimum) / uniform < 1.15


def not_given(evidence: Evidence, trace: Trace) -> list[str]:
    """Weights that can learn and that no optimizer has, where some other weight has one. Not those
    of a target network or an average, which are copies of weights that learn; nor of a model that
    is asked and not taught, to which no gradient comes back.
    """
    names = []
    for number, facts in enumerate(trace.parameter_facts):
        rows = trace.parameters.where(parameter=number)
        asked_only = len(rows) > 0 and not rows["grad_present"].any() and not facts.graded
        copied = facts.name in evidence.copies and not _replaced(trace, facts)
        # What is frozen at first and let go later gets its gradients then.
        can_learn = facts.trainable or facts.graded
        if not can_learn or facts.in_optimizer or copied or asked_only:
            continue
        if not _only_made(evidence, trace, facts.name):
            names.append(facts.name)
    if not any(facts.in_optimizer for facts in trace.parameter_facts):
        return []
    return list(dict.fromkeys(names))


def _replaced(trace: Trace, facts: ParameterFacts) -> bool:
    """Whether a weight took the place of one of its name that an optimizer goes on to hold:
    gradients come to the new one, and no longer to the old one. A target network leaves the weights
    that learn as they are.
    """
    if not facts.graded:
        return False
    for number, other in enumerate(trace.parameter_facts):
        same = (other.name, other.shape) == (facts.name, facts.shape)
        if not other.in_optimizer or not same:
            continue
        seen = trace.parameters.where(parameter=number)["grad_present"]
        if len(seen) > FEW and seen.any() and not seen[-FEW:].any():
            return True
    return False


def _only_made(evidence: Evidence, trace: Trace, weight: str) -> bool:
    """Whether a weight of Keras belongs to a layer that no training passed through: a model that
    was made to be looked at, and made again to be trained.
    """
    trained = {int(layer) for layer in trace.layers.where(phase=0)["layer"]}
    if evidence.framework != "keras" or not trained:
        return False
    return not any(owns(trace.layer_names[layer], [weight]) for layer in trained)


def without_gradient(trace: Trace) -> list[str]:
    """Weights that an optimizer was given, and to which no gradient ever came."""
    unreached = []
    for number, facts in enumerate(trace.parameter_facts):
        if facts.trainable and facts.in_optimizer:
            graded = trace.parameters.where(parameter=number)["grad_present"]
            if len(graded) > 2 and not graded.any():
                unreached.append(facts.name)
    return list(dict.fromkeys(unreached))


def is_frozen(layer: LayerView) -> bool:
    """Whether the kernel of a dense or convolution layer cannot learn."""
    kernel = layer.kernel() if layer.family in ("dense", "conv") else None
    if kernel is None or kernel.trainable:
        return False
    return math.prod(kernel.shape) >= FEW_WEIGHTS


def as_made(layer: LayerView) -> bool:
    """Whether a kernel fills the very range that it was drawn from, where no training leaves it."""
    kernel = layer.kernel()
    if kernel is None or not kernel.std:
        return False
    reach = max(-kernel.minimum, kernel.maximum)
    count = math.prod(kernel.shape)
    # Kaiming's bound, and Glorot's with the places of a filter last, as in torch, and first, as in
    # Keras.
    last = math.prod(kernel.shape[2:])
    first = math.prod(kernel.shape[:-2])
    sums = (
        last * (kernel.shape[0] + kernel.shape[1]),
        first * (kernel.shape[-2] + kernel.shape[-1]),
    )
    bounds = (
        math.prod(kernel.shape[1:]) ** -0.5,
        *(math.sqrt(6 / one) for one in sums),
    )
    by_chance = max(0.06, 0.9 * count**-0.5)
    if not abs(kernel.std * math.sqrt(3) / reach - 1) < by_chance:
        return False
    least = min(0.97, 1 - 4 / count)
    return any(least * bound <= reach <= 1.0005 * bound for bound in bounds)


def of_one_spread(layers: Sequence[LayerView]) -> bool:
    """Whether kernels of unlike layers lie around zero with one spread, as those of a transformer
    that was made from its configuration do: training would have taken them apart.
    """
    known = (layer.kernel() for layer in layers)
    kernels = [kernel for kernel in known if kernel is not None and kernel.std]
    shapes = {kernel.shape for kernel in kernels}
    if len(kernels) < ALIKE or len(shapes) < 2:
        return False
    middle = median(kernel.std for kernel in kernels)
    return all(_is_drawn_with(middle, kernel) for kernel in kernels)


def _is_drawn_with(spread: float, kernel: WeightFacts) -> bool:
    """Whether a kernel lies around zero with this deviation, and reaches no farther than chance."""
    count = math.prod(kernel.shape)
    reach = max(-kernel.minimum, kernel.maximum)
    return (
        abs(kernel.std / spread - 1) < 0.05
        and abs(kernel.mean) < 4 * kernel.std / math.sqrt(count)
        and reach < 6 * kernel.std
    )


def is_copied(layer: LayerView, layers: tuple[LayerView, ...]) -> bool:
    """Whether another layer begins with the same values: a target network, or the encoder of a
    teacher.
    """
    own = layer.kernel()
    if own is None:
        return False
    figures = (own.mean, own.std, own.maximum)
    for other in layers:
        kernel = other.kernel() if other is not layer else None
        if kernel is not None and (kernel.mean, kernel.std, kernel.maximum) == figures:
            return True
    return False
