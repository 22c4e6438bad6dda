"""Whether the numbers of a kernel are as they were drawn: the distributions that libraries draw from have
exact moments, which training leaves at once and pretrained weights do not have.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from reenact.probe.books.parameters import TensorRow

SAMPLE = 1 << 16
"""As many numbers as the moments are taken of, at most."""
UNIFORM, NORMAL = 1.8, 3.0
"""Kurtosis of the two distributions."""
USUAL = (1.0, 0.1, 0.05, 0.02, 0.01)
"""Deviations that are written down, not computed."""
ONE_SPREAD = 3
"""Kernels that must have one deviation before it is not chance."""


def are_drawn(tensors: Sequence[TensorRow]) -> bool:
    """Whether the kernels among these, by far most of their numbers, are as they were drawn, and
    nothing was loaded into them or copied.
    """
    kernels = [one for one in tensors if one.spread]
    if not kernels or any(one.given for one in tensors):
        return False
    alike = _of_one_spread(kernels)
    drawn = sum(one.count for one in kernels if is_uniform(one) or is_normal(one, alike))
    return drawn >= 0.9 * sum(one.count for one in kernels)


def is_uniform(tensor: TensorRow) -> bool:
    """Whether a kernel fills the range that it was drawn from evenly."""
    mean, deviation, kurtosis, reach = tensor.spread
    if not deviation:
        return False
    root = math.sqrt(min(SAMPLE, tensor.count))
    centred = abs(mean) < 5 * deviation / root
    even = abs(kurtosis - UNIFORM) < 0.05 + 4 / root
    return centred and even and abs(reach / deviation / math.sqrt(3) - 1) < 0.02 + 1.5 / root


def is_normal(tensor: TensorRow, alike: bool) -> bool:
    """Whether it is normal, with a deviation that libraries draw with, or one of its model's."""
    mean, deviation, kurtosis, _ = tensor.spread
    count = min(SAMPLE, tensor.count)
    if not deviation or abs(mean) > 5 * deviation / math.sqrt(count):
        return False
    near = abs(kurtosis - NORMAL) < 0.1 + 5 * math.sqrt(24 / count)
    slack = 0.01 + 2.5 / math.sqrt(2 * count)
    usual = any(abs(deviation / one - 1) < slack for one in _deviations(tensor.shape))
    return near and (usual or alike)


def _deviations(shape: tuple[int, ...]) -> tuple[float, ...]:
    """Deviations that initialisers compute for a kernel, with its outputs first or last."""
    places = math.prod(shape[2:])
    fans = (shape[1] * places, shape[0] * places, math.prod(shape[:-1]), shape[-1])
    ends = (fans[0] + fans[1], fans[2] + shape[-1] * math.prod(shape[:-2]))
    computed = (*(gain / fan for fan in fans for gain in (1, 2)), *(2 / both for both in ends))
    return (*USUAL, *(math.sqrt(one) for one in computed))


def _of_one_spread(kernels: Sequence[TensorRow]) -> bool:
    """Whether kernels of unlike shapes have one deviation, as those of a transformer that was made
    from its configuration do.
    """
    if len(kernels) < ONE_SPREAD or len({one.shape for one in kernels}) < 2:
        return False
    deviations = sorted(one.spread[1] for one in kernels)
    middle = deviations[len(deviations) // 2]
    near = sum(abs(one / middle - 1) < 0.08 for one in deviations) if middle else 0
    return near >= 0.9 * len(deviations)
