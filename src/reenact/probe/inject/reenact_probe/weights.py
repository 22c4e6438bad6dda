"""The weights at the end of a training, left in a file for the process that tests how the model
behaves.

They go from where they lie into the file, one tensor after the other: the training's process holds
no copy. Weights on a device other than the CPU are left alone, as are too many of them.
"""

from __future__ import annotations

import contextlib
import os
import time

from reenact_probe.types import Library, Module, Tensor

LIMIT = 200_000_000
"""Bytes of all models together."""
ENDED = ".ended"
"""Behind the name of the file: the training is over, whether it left weights or not."""
_PAUSE = 0.2


def weights_of(module: Module) -> dict[str, Tensor]:
    """Parameters and buffers by name, as they lie."""
    return {
        name: tensor.detach()
        for named in (module.named_parameters(), module.named_buffers())
        for name, tensor in named
    }


def refusal(models: list[dict[str, Tensor]]) -> str:
    """Why these cannot be left for another process; empty where they can."""
    tensors = [tensor for model in models for tensor in model.values()]
    if not tensors:
        return "no model of PyTorch was seen"
    if not all(tensor.is_cpu and tensor.layout is tensors[0].layout for tensor in tensors):
        return "the weights do not lie on the CPU, and the training needs the memory of its device"
    size = sum(tensor.numel() * tensor.element_size() for tensor in tensors)
    if size > LIMIT:
        return f"{size / 1e6:.0f} MB of weights are more than {LIMIT / 1e6:.0f} MB"
    return ""


def leave(
    torch: Library,
    path: str,
    models: list[tuple[str, dict[str, Tensor]]],
) -> None:
    """Write models by the name of their class; whole, or not at all."""
    if not refusal([tensors for _, tensors in models]):
        # A full disk: anyone who waits finds nothing, and says so.
        with contextlib.suppress(OSError, RuntimeError):
            torch.save(models, f"{path}.part")
            os.replace(f"{path}.part", path)


def wait(path: str) -> bool:
    """Wait for the end of the training; whether it left weights."""
    parent = os.getppid()
    while not os.path.exists(path + ENDED) and os.getppid() == parent:
        time.sleep(_PAUSE)
    return os.path.exists(path)


def restore(
    torch: Library,
    module: Module,
    models: list[tuple[str, dict[str, Tensor]]],
) -> bool:
    """Give a model the weights that a model of its class with the same tensors had; whether
    there was one.
    """
    mine = weights_of(module)
    known = (
        type(module).__name__,
        {name: tensor.shape for name, tensor in mine.items()},
    )
    shaped = [
        (
            name,
            {key: value.shape for key, value in tensors.items()},
        )
        for name, tensors in models
    ]
    if known not in shaped:
        return False
    _, tensors = models.pop(shaped.index(known))
    with torch.no_grad():
        for key, tensor in mine.items():
            tensor.copy_(tensors[key])
    return True
