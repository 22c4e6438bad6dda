"""How large the weights of a layer start, against what its size asks for."""

from __future__ import annotations

import math

from reenact.rules import LayerView


def fans(layer: LayerView, framework: str) -> tuple[int, int] | None:
    """Inputs and outputs of one unit, counted over the kernel's window; none for vectors."""
    kernel = layer.kernel()
    if kernel is None or len(kernel.shape) < 2:
        return None
    shape = kernel.shape
    if framework == "keras":
        window = math.prod(shape[:-2])
        return shape[-2] * window, shape[-1] * window
    window = math.prod(shape[2:])
    return shape[1] * window, shape[0] * window


def times_usual(layer: LayerView, framework: str) -> float | None:
    """Deviation of the start against the usual: above 1 of He's, the largest; below 1 of the smallest in use,
    PyTorch's own; 1 in between."""
    kernel, sizes = layer.kernel(), fans(layer, framework)
    if kernel is None or sizes is None or not min(sizes) or math.prod(kernel.shape) < 8:
        return None
    largest = math.sqrt(2 / sizes[0])
    smallest = min(math.sqrt(1 / (3 * sizes[0])), math.sqrt(2 / sum(sizes)))
    if kernel.std > largest:
        return kernel.std / largest
    return min(1.0, kernel.std / smallest)
