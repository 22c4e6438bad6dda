"""Takes a bounded number of values from a tensor, without touching its graph, its device or any
random state, and reduces the samples of a step many at a time: they lie in one flat array, cut at
offsets.
"""

from __future__ import annotations

import itertools
from functools import cache
from math import gcd
from typing import Any

import numpy

from reenact_probe.types import Array, Library, Tensor

NOT_NUMPY: set[Any] = set()
"""Types of numbers that numpy does not know; filled in once torch is there."""


def learn_types(torch: Library) -> None:
    """Remember which of torch's types numpy cannot hold."""
    names = ("bfloat16", "float8_e4m3fn", "float8_e5m2")
    NOT_NUMPY.update(getattr(torch, name) for name in names if hasattr(torch, name))


def plain(torch: Library, tensor: Tensor) -> bool:
    """Whether a tensor is an ordinary one: dense, with storage, not a wrapper for something
    else.
    """
    return (
        type(tensor) in (torch.Tensor, torch.nn.Parameter)
        and tensor.layout is torch.strided
        and tensor.device.type != "meta"
        and not tensor.is_quantized
        and not torch._C._functorch.is_functorch_wrapped_tensor(tensor)
    )


def first_tensor(torch: Library, value: Any) -> Tensor | None:
    """The first tensor in nested tuples, lists and dictionaries, or none."""
    if isinstance(value, torch.Tensor):
        return value
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (tuple, list)):
        inside = (first_tensor(torch, item) for item in value[:8])
        for tensor in inside:
            if tensor is not None:
                return tensor
        return None
    return None


def outputs_in(torch: Library, value: Any) -> int | None:
    """How many tensors with gradients are in nested tuples, lists and dictionaries; none where there
    is something that may hold others, such as a distribution.
    """
    if isinstance(value, torch.Tensor):
        return int(value.requires_grad)
    if value is None or isinstance(value, (bool, int, float, str)):
        return 0
    if isinstance(value, dict):
        value = list(value.values())
    if not isinstance(value, (tuple, list)):
        return None
    inside = [outputs_in(torch, item) for item in value]
    counts = [count for count in inside if count is not None]
    return sum(counts) if len(counts) == len(inside) else None


def right_classes(prediction: Tensor, target: Tensor, last: bool) -> Tensor | None:
    """Where the largest score is that of the target's class; none where the shapes do not fit.

    Classes lie along the second axis, as torch has it, or along the `last` one, as Keras has it."""
    for axis in (-1, 1) if last else (1, -1):
        if axis < prediction.dim() and (chosen := prediction.argmax(axis)).shape == target.shape:
            return chosen == target
    return None


def take(tensor: Tensor, cap: int, copy: bool = True) -> Any:
    """At most about `cap` values of a tensor, evenly spread, one-dimensional and floating.

    A numpy array for what lies on the CPU, where that is faster, else a tensor on its device.
    Without `copy` the result may share memory with the tensor: for values that are read before
    anything moves.
    """
    tensor = tensor.detach().abs() if tensor.is_complex() else tensor.detach()
    if tensor.is_cpu and tensor.dtype not in NOT_NUMPY:
        return _take_numpy(tensor.numpy(), cap, copy)
    if not tensor.is_contiguous() and tensor.dim() == 4:
        # Channels-last memory: flatten in memory order, which is a view, instead of copying
        # everything.
        tensor = tensor.permute(0, 2, 3, 1)
    flat = tensor.reshape(-1)
    if flat.numel() > cap:
        flat = flat[
            :: _stride(
                flat.numel(),
                cap,
                tensor.shape[0],
            )
        ]
    if not flat.is_floating_point() or flat.element_size() < 4:
        return flat.float()
    return flat.clone() if copy else flat


def _take_numpy(array: Array, cap: int, copy: bool) -> Array:
    if array.ndim == 4 and not array.flags.c_contiguous:
        array = array.transpose(0, 2, 3, 1)
    flat = array.reshape(-1)
    if flat.size > cap:
        flat = flat[
            :: _stride(
                flat.size,
                cap,
                array.shape[0],
            )
        ]
    if flat.dtype.kind != "f" or flat.dtype.itemsize < 4:
        return flat.astype("f4")
    return flat.copy() if copy else flat


@cache
def _stride(count: int, cap: int, rows: int) -> int:
    """A step that shares no factor with the row length: it visits every column, not always the
    same ones.
    """
    row = max(1, count // max(1, rows))
    return next(stride for stride in itertools.count(-(-count // cap)) if gcd(stride, row) == 1)


MEAN = 0
STD = 1
MIN = 2
MAX = 3
MEAN_ABS = 4
ZERO = 5
NONPOSITIVE = 6
BEYOND_5 = 7
TINY = 8
BAD = 9
SUM_SQUARES = 10
NEGATIVE = 11
TINY_BELOW = 1e-5
BLOCK = 1 << 15
"""Values that are reduced together: few enough that what is made of them stays in a processor's
cache.
"""


def reduce(samples: list[Array]) -> Array:
    """One row of statistics for each sample, of which none is empty; shares are of the sample's
    length.
    """
    ends = numpy.cumsum([len(sample) for sample in samples])
    cuts = [
        0,
        *(numpy.flatnonzero(numpy.diff((ends - 1) // BLOCK)) + 1),
        len(samples),
    ]
    return numpy.concatenate([_reduced(samples[first:last]) for first, last in zip(cuts, cuts[1:])])


def _reduced(samples: list[Array]) -> Array:
    flat = numpy.concatenate(samples)
    counts = numpy.asarray([float(len(sample)) for sample in samples])
    starts = numpy.concatenate(
        (
            [0],
            numpy.cumsum(counts[:-1], dtype="i8"),
        )
    )

    def share(mask: Array) -> Array:
        return (
            numpy.add.reduceat(
                mask.view("u1"),
                starts,
                dtype="u4",
            )
            / counts
        )

    magnitude = numpy.abs(flat)
    result = numpy.empty((len(counts), 12))
    with numpy.errstate(all="ignore"):
        result[:, MEAN] = numpy.add.reduceat(flat, starts, dtype="f8") / counts
        result[:, MEAN_ABS] = numpy.add.reduceat(magnitude, starts, dtype="f8") / counts
        result[:, SUM_SQUARES] = numpy.add.reduceat(
            numpy.square(flat, dtype="f8"),
            starts,
        )
        variance = result[:, SUM_SQUARES] / counts - result[:, MEAN] ** 2
        result[:, STD] = numpy.sqrt(numpy.maximum(variance, 0.0))
        result[:, MIN] = numpy.minimum.reduceat(flat, starts)
        result[:, MAX] = numpy.maximum.reduceat(flat, starts)
        result[:, ZERO], result[:, NEGATIVE] = share(flat == 0), share(flat < 0)
        result[:, NONPOSITIVE] = result[:, ZERO] + result[:, NEGATIVE]
        result[:, BEYOND_5], result[:, TINY] = (
            share(magnitude >= 5),
            share(magnitude < TINY_BELOW),
        )
        # A sum is finite when every part is: the slow look is needed only when something is wrong.
        bad = not numpy.isfinite(result[:, MEAN_ABS]).all()
        result[:, BAD] = share(~numpy.isfinite(flat)) if bad else 0.0
    return result
