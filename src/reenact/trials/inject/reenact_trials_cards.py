"""What a training took on graphics cards, left in a note at its end; and which cards there are, by
the driver's own library (NVML), which starts no CUDA.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

VARIABLE = "REENACT_TRIAL_CARD"
"""Path of the note."""
_BY_DRIVER = "PYTORCH_NVML_BASED_CUDA_CHECK"
"""Read by torch.cuda.is_available() at each call."""


def note_at_end() -> None:
    """Leave the note when the program ends, if one is wanted: bytes, 0 where no card was
    touched.
    """
    path = os.environ.get(VARIABLE)
    if path:

        @atexit.register
        def note() -> None:
            with open(path, "w", encoding="ascii") as file:
                file.write(str(peak()))


def peak() -> int:
    """The most that torch held on one card, in bytes."""
    if not cuda_began():
        return 0
    cuda = sys.modules["torch"].cuda
    return max(
        (int(cuda.max_memory_reserved(card)) for card in range(cuda.device_count())),
        default=0,
    )


@contextlib.contextmanager
def without_cuda() -> Iterator[None]:
    """While packages are imported, `torch.cuda.is_available()` asks the driver's own library.

    Keras on torch calls it when it is imported. Asked the usual way it starts CUDA, and no fork of
    this process could use CUDA any more, not even Adam on a CPU, which asks in each step whether a
    graph is captured.
    """
    before = os.environ.get(_BY_DRIVER)
    os.environ[_BY_DRIVER] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[_BY_DRIVER]
        else:
            os.environ[_BY_DRIVER] = before


def cuda_began() -> bool:
    """Whether CUDA runs in this process: a fork of it cannot use a card any more."""
    torch: Any = sys.modules.get("torch")
    return torch is not None and hasattr(torch, "cuda") and bool(torch.cuda.is_initialized())


class _Memory(ctypes.Structure):
    _fields_ = [
        ("total", ctypes.c_ulonglong),
        ("free", ctypes.c_ulonglong),
        ("used", ctypes.c_ulonglong),
    ]


def look(visible: str | None) -> list[tuple[str, int]]:
    """Names and free bytes of the cards that a process with this CUDA_VISIBLE_DEVICES may use;
    empty without a driver.
    """
    try:
        nvml = ctypes.CDLL("libnvidia-ml.so.1")
    except OSError:
        return []
    if nvml.nvmlInit_v2() != 0:
        return []
    try:
        count = ctypes.c_uint()
        if visible is None:
            nvml.nvmlDeviceGetCount_v2(ctypes.byref(count))
        given = (
            map(str, range(count.value)) if visible is None else map(str.strip, visible.split(","))
        )
        names = filter(None, given)
        found = ((name, _free(nvml, name)) for name in names)
        return [(name, free) for name, free in found if free is not None]
    finally:
        nvml.nvmlShutdown()


def _free(nvml: Any, name: str) -> int | None:
    """A card that is named by its number, or by its UUID."""
    device = ctypes.c_void_p()
    memory = _Memory()
    if name.isdigit():
        failed = nvml.nvmlDeviceGetHandleByIndex_v2(
            ctypes.c_uint(int(name)),
            ctypes.byref(device),
        )
    else:
        failed = nvml.nvmlDeviceGetHandleByUUID(
            name.encode(),
            ctypes.byref(device),
        )
    if failed or nvml.nvmlDeviceGetMemoryInfo(device, ctypes.byref(memory)):
        return None
    return int(memory.free)
