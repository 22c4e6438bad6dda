"""What is noted of the exception that ended the program: its class, its frames and the values at its place.

Whoever reads the note decides by these facts what happened, not by the words of the message. Bounded in size;
secrets are hidden where the note is written (folder.py)."""

from __future__ import annotations

import contextlib
import difflib
import os
import sys
import traceback
from types import FrameType, TracebackType
from typing import Any

from reenact_probe.failed_call import FailedCall, package_of, raises_itself
from reenact_probe.guard import guarded, patch
from reenact_probe.places import is_library
from reenact_probe.types import Facts, Function, Library

MAX_TEXT = 4000
MAX_FRAMES = 40
MAX_AROUND = 8
"""Frames in which the tensors of a call are looked for, from the innermost one outwards."""
MAX_NAMES = 2000
"""Names in a folder among which the nearest is looked for."""
PROGRAM, PROBE, PYTHON = "program", "probe", "python"
"""Whose a frame is; anything else is the name of a package."""
OF_LAUNCHERS = ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT", "LOCAL_RANK")
"""Variables that torchrun, accelerate and mpirun wrappers set for every process."""
FILTER = "_process_traceback_frames"
_unfiltered: Facts = {}
"""Of the last exception that Keras filtered: which it was, and its facts from before."""
_HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep


def describe(error: BaseException) -> Facts:
    """An exception as JSON: type, message, frames, the innermost place in the user's own code, and facts."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if not is_library(frame.filename)]
    place = own[-1] if own else (frames[-1] if frames else None)
    if isinstance(error, SyntaxError) and error.filename:
        place = traceback.FrameSummary(error.filename, error.lineno or 1, "", line=(error.text or "").strip())
    noted: Facts = {
        "type": type(error).__name__,
        "message": str(error)[:MAX_TEXT],
        "file": getattr(error, "filename", None) if isinstance(error, OSError) else None,
        "place": [place.filename, place.lineno, 0, 0, 0] if place else None,
        "source": place.line if place else None,
        "frames": [[frame.filename, frame.lineno, frame.name, frame.line] for frame in frames[-MAX_FRAMES:]],
        "bases": [base.__name__ for base in type(error).__mro__],
    }
    # What is known of an exception must not be lost because one of its values cannot be read.
    with contextlib.suppress(Exception):
        noted["facts"] = facts_of(error)
    return noted


def facts_of(error: BaseException) -> Facts:
    """Facts that tell what happened whatever the message says."""
    trails = list(_trails(error.__traceback__))
    stack = [frame_facts(trail.tb_frame, trail.tb_lineno) for trail in trails]
    before_filter = _unfiltered.get("facts") if _unfiltered.get("error") == _identity(error) else None
    if before_filter is not None:
        stack += before_filter["stack"]
    facts: Facts = {
        "module": str(type(error).__module__),
        "stack": stack[-MAX_FRAMES:],
        "unset": [name for name in OF_LAUNCHERS if name not in os.environ],
    }
    # The probe stands between the program and a library: what it only hands on is not its own.
    raising = [trail for trail in trails if _owner(trail.tb_frame) != PROBE]
    if before_filter is not None:
        facts.update(before_filter["call"])
    elif raising:
        facts.update(_of_call(error, raising))
    facts.update(_of_file(error))
    facts.update(_of_variable(error, stack))
    facts.update(_of_torch())
    facts.update(_of_memory(error))
    subject = _subject(error, stack[-1]) if stack else ""
    packages = {frame["owner"] for frame in stack} | {facts.get("by", ""), subject}
    facts["subject"] = subject
    facts["versions"] = _versions(packages - {PROGRAM, PROBE, PYTHON, ""})
    return facts


def keep_before_filter() -> None:
    """Note what Keras takes out of the traceback of an exception, its own frames, before it does so."""
    utils = sys.modules.get("keras.src.utils.traceback_utils")
    if hasattr(utils, FILTER):
        patch(utils, FILTER, _noting_first)


def _noting_first(original: Function) -> Function:
    def process(trail: TracebackType) -> Any:
        _note_unfiltered(sys.exc_info()[1], trail)
        return original(trail)

    return process


@guarded("keras-traceback")
def _note_unfiltered(error: BaseException | None, trail: TracebackType) -> None:
    # The innermost of the functions that filter comes first; the others see what it left.
    if error is None or _unfiltered.get("error") == _identity(error):
        return
    trails = [entry for entry in _trails(trail) if _owner(entry.tb_frame) != PROBE]
    stack = [frame_facts(entry.tb_frame, entry.tb_lineno) for entry in trails]
    # Facts are kept, not frames: an exception that the program catches must not hold its tensors in memory.
    facts = {"stack": stack, "call": _of_call(error, trails)} if trails else None
    _unfiltered.update(error=_identity(error), facts=facts)


def _identity(error: BaseException) -> tuple[int, type, str]:
    return id(error), type(error), str(error)[:MAX_TEXT]


def frame_facts(frame: FrameType, line: int) -> Facts:
    """One frame: where it is, and whose."""
    return {
        "file": frame.f_code.co_filename,
        "line": line,
        "function": frame.f_code.co_name,
        "module": str(frame.f_globals.get("__name__", "")),
        "owner": _owner(frame),
    }


def _trails(trail: TracebackType | None) -> Any:
    while trail is not None:
        yield trail
        trail = trail.tb_next


def _owner(frame: FrameType) -> str:
    file = frame.f_code.co_filename
    if os.path.abspath(file).startswith(_HERE):
        return PROBE
    if not is_library(file):
        return PROGRAM
    package = str(frame.f_globals.get("__name__", "")).partition(".")[0]
    return PYTHON if package in _standard() or not package else package


def _standard() -> frozenset[str]:
    # Python 3.10 and later list them.
    return frozenset(getattr(sys, "stdlib_module_names", ())) | frozenset(sys.builtin_module_names)


def _of_call(error: BaseException, trails: list[TracebackType]) -> Facts:
    """Who raised: the innermost frame by a statement of its own, or what it called; and the nearest call
    around it that was given tensors."""
    frame, raised = trails[-1].tb_frame, raises_itself(trails[-1])
    owner = _owner(frame)
    if raised and owner == PROGRAM:
        return {"raised": True, "by": PROGRAM}
    call = FailedCall(trails[-1])
    facts: Facts = {"raised": raised, "by": owner, "call": "" if raised else call.name}
    if owner == PROGRAM and call.package not in ("", "__main__"):
        facts["by"] = PYTHON if call.package in _standard() else call.package
    if isinstance(error, EOFError) and call.calls_builtin("input"):
        facts["call"] = "input"
    if isinstance(error, TypeError) and not raised:
        facts["unexpected"] = call.unexpected_keywords()
    for trail in reversed(trails[-MAX_AROUND:]):
        around = FailedCall(trail)
        operands = around.operands()
        if operands:
            facts["operands"] = operands
            facts["call"] = around.name
            break
    return facts


def _of_file(error: BaseException) -> Facts:
    """The number of an error of the system; whether the folder of its file is there, and what is in it."""
    if not isinstance(error, OSError):
        return {}
    facts: Facts = {"errno": error.errno}
    if not isinstance(error.filename, (str, os.PathLike)):
        return facts
    path = os.path.abspath(os.fspath(error.filename))
    folder, name = os.path.split(path)
    facts["folder_exists"] = os.path.isdir(folder)
    if facts["folder_exists"]:
        with os.scandir(folder) as entries:
            names = [entry.name for entry, _ in zip(entries, range(MAX_NAMES))]
        facts["nearest"] = next(iter(difflib.get_close_matches(name, names, 1)), "")
    return facts


def _of_variable(error: BaseException, stack: list[Facts]) -> Facts:
    """The environment variable that was asked for and is not set."""
    inner = stack[-1] if stack else {}
    asked = isinstance(error, KeyError) and inner.get("module") == "os" and inner["function"] == "__getitem__"
    return {"variable": str(error.args[0])[:80]} if asked and error.args else {}


def _of_torch() -> Facts:
    """Whether the torch of this process has a GPU to compute on."""
    torch: Library = sys.modules.get("torch")
    # A torch whose import failed lacks parts.
    if not hasattr(torch, "cuda") or not hasattr(torch, "version"):
        return {}
    available = bool(torch.cuda.is_available())
    return {"cuda": {"build": str(torch.version.cuda or ""), "available": available}}


def _of_memory(error: BaseException) -> Facts:
    """Bytes that were asked for and that there are."""
    torch: Library = sys.modules.get("torch")
    on_device = type(error).__name__ == "OutOfMemoryError" and str(type(error).__module__).startswith("torch")
    if on_device and torch is not None and torch.cuda.is_available():
        total = torch.cuda.get_device_properties(torch.cuda.current_device()).total_memory
        return {"memory": {"asked": None, "used": torch.cuda.memory_allocated(), "total": total}}
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else None
    asked = None
    # numpy keeps the array that it could not make.
    if isinstance(error, MemoryError) and hasattr(error, "shape") and hasattr(error, "dtype"):
        asked = int(error.dtype.itemsize)
        for size in error.shape:
            asked *= int(size)
    return {"memory": {"asked": asked, "used": None, "total": total}}


def _subject(error: BaseException, inner: Facts) -> str:
    """The package of the object or module that lacks a name."""
    package = ""
    if isinstance(error, ImportError) and error.name:
        package = error.name.partition(".")[0]
    elif isinstance(error, AttributeError) and getattr(error, "obj", None) is not None:
        package = package_of(error.obj)  # type: ignore[attr-defined,unused-ignore]
    elif isinstance(error, AttributeError) and inner["function"] in ("__getattr__", "__getattribute__"):
        package = inner["module"].partition(".")[0]
    if not package or package in _standard():
        return PYTHON if package else ""
    module = sys.modules.get(package)
    file = getattr(module, "__file__", None)
    return package if file and is_library(file) else PROGRAM


def _versions(packages: set[str]) -> dict[str, str]:
    from importlib.metadata import PackageNotFoundError, packages_distributions, version

    known: dict[str, str] = {}
    distributions = packages_distributions() if sys.version_info >= (3, 10) else {}
    for package in sorted(packages):
        for name in distributions.get(package, [package])[:1]:
            with contextlib.suppress(PackageNotFoundError):
                known[package] = version(name)
    return known
