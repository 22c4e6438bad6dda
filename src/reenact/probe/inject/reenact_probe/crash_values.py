"""Values at the place of an exception: the file that is missing, the variable that is not set, the
device that was asked for, the memory that there is.
"""

from __future__ import annotations

import difflib
import os
import sys
from types import TracebackType
from typing import Any

from reenact_probe.failed_call import FailedCall, raises_itself
from reenact_probe.types import Facts, Library

MAX_NAMES = 2000
"""Names in a folder among which the nearest is looked for."""
LOADING = "keras.src.saving."
"""Modules that are given the path of a model."""
SAMPLERS = "torch.utils.data.sampler"
MAX_AROUND = 8
"""Frames in which the tensors of a call are looked for, from the innermost one outwards."""


def missing_path(error: BaseException) -> Any:
    """The file of an error of the system, and of a ValueError of Keras that was to load it."""
    if isinstance(error, OSError):
        return error.filename
    trail = next(
        reversed(list(trails_of(error.__traceback__))),
        None,
    )
    if trail is None or not raises_itself(trail):
        return None
    frame = trail.tb_frame
    path = frame.f_locals.get("filepath")
    loads = str(frame.f_globals.get("__name__", "")).startswith(LOADING)
    if loads and isinstance(path, (str, os.PathLike)) and not os.path.exists(path):
        return os.fspath(path)
    return None


def of_file(error: BaseException, missing: Any) -> Facts:
    """The number of an error of the system; whether the folder of its file is there, and what
    is in it.
    """
    facts: Facts = {"errno": error.errno} if isinstance(error, OSError) else {}
    if not isinstance(missing, (str, os.PathLike)):
        return facts
    path = os.path.abspath(os.fspath(missing))
    folder, name = os.path.split(path)
    facts["folder_exists"] = os.path.isdir(folder)
    if facts["folder_exists"]:
        with os.scandir(folder) as entries:
            names = [entry.name for entry, _ in zip(entries, range(MAX_NAMES))]
        facts["nearest"] = next(
            iter(difflib.get_close_matches(name, names, 1)),
            "",
        )
    return facts


def of_data(trails: list[TracebackType]) -> Facts:
    """The class of a data set that has no rows, where a sampler of torch refuses it."""
    if not trails or not raises_itself(trails[-1]):
        return {}
    frame = trails[-1].tb_frame
    samples = frame.f_globals.get("__name__") == SAMPLERS and "num_samples" in frame.f_locals
    # A number that the program asks for itself is not the length of its data set.
    if not samples or frame.f_locals["num_samples"] is not None:
        return {}
    return {"empty_data": type(frame.f_locals.get("data_source")).__name__}


def of_variable(
    error: BaseException,
    stack: list[Facts],
    trails: list[TracebackType],
) -> Facts:
    """The environment variable that was asked for and is not set."""
    inner = stack[-1] if stack else {}
    asked = (
        isinstance(error, KeyError)
        and inner.get("module") == "os"
        and inner["function"] == "__getitem__"
    )
    if asked and error.args:
        return {
            "variable": str(error.args[0])[:80],
        }
    # `int(os.getenv(NAME))`
    name = (
        FailedCall(trails[-1]).unset_variable() if trails and isinstance(error, TypeError) else ""
    )
    return {"variable": name[:80]} if name else {}


def of_torch(trails: list[TracebackType]) -> Facts:
    """Whether the torch of this process has a GPU to compute on, and the device that was asked
    for.
    """
    torch: Library = sys.modules.get("torch")
    # A torch whose import failed lacks parts.
    if not hasattr(torch, "cuda") or not hasattr(torch, "version"):
        return {}
    available = bool(torch.cuda.is_available())
    facts: Facts = {
        "cuda": {
            "build": str(torch.version.cuda or ""),
            "available": available,
        },
    }
    for trail in reversed(trails[-MAX_AROUND:]):
        asked = FailedCall(trail).device(torch.device)
        if asked:
            backend: Library = torch.backends.mps if asked == "mps" else getattr(torch, asked, None)
            if hasattr(backend, "is_available"):
                facts["device"] = {
                    "asked": asked,
                    "available": bool(backend.is_available()),
                }
            break
    return facts


def of_memory(error: BaseException) -> Facts:
    """Bytes that were asked for and that there are."""
    torch: Library = sys.modules.get("torch")
    on_device = type(error).__name__ == "OutOfMemoryError" and str(
        type(error).__module__
    ).startswith("torch")
    if on_device and torch is not None and torch.cuda.is_available():
        total = torch.cuda.get_device_properties(torch.cuda.current_device()).total_memory
        return {
            "memory": {
                "asked": None,
                "used": torch.cuda.memory_allocated(),
                "total": total,
            }
        }
    total = (
        os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else None
    )
    asked = None
    # numpy keeps the array that it could not make.
    if isinstance(error, MemoryError) and hasattr(error, "shape") and hasattr(error, "dtype"):
        asked = int(error.dtype.itemsize)
        for size in error.shape:
            asked *= int(size)
    return {
        "memory": {
            "asked": asked,
            "used": None,
            "total": total,
        }
    }


def trails_of(trail: TracebackType | None) -> Any:
    """A traceback, outermost frame first."""
    while trail is not None:
        yield trail
        trail = trail.tb_next
