"""What is noted of the exception that ended the program: its class, its frames and the values at
its place.

Anyone who reads the note decides by these facts what happened, not by the words of the message.
Bounded in size; secrets are hidden where the note is written (folder.py).
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
import traceback
from types import FrameType, TracebackType
from typing import Any

from reenact_probe.crash_values import (
    MAX_AROUND,
    missing_path,
    of_data,
    of_file,
    of_memory,
    of_torch,
    of_variable,
    trails_of,
)
from reenact_probe.failed_call import MISSING, FailedCall, package_of, raises_itself
from reenact_probe.guard import guarded, patch
from reenact_probe.places import is_library
from reenact_probe.types import Facts, Function

MAX_TEXT = 4000
MAX_FRAMES = 40
PROGRAM = "program"
PROBE = "probe"
PYTHON = "python"
"""Whose a frame is; anything else is the name of a package."""
_FRAME_IN_TEXT = re.compile(r'^ *File "(.+)", line (\d+), in (.+)$', re.MULTILINE)
OF_LAUNCHERS = ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT", "LOCAL_RANK")
"""Variables that torchrun, accelerate and mpirun wrappers set for every process."""
FILTER = "_process_traceback_frames"
_unfiltered: Facts = {}
"""Of the last exception that Keras filtered: which it was, and its facts from before."""
_HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep


def describe(error: BaseException) -> Facts:
    """An exception as JSON: type, message, frames, the innermost place in the user's own code,
    and facts.
    """
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if not is_library(frame.filename)]
    known = own or frames
    place = known[-1] if known else None
    message = str(error)
    worker = of_worker(error)
    if worker is not None:
        message = worker[0]
        place = worker[1] or place
    if isinstance(error, SyntaxError) and error.filename:
        place = traceback.FrameSummary(
            error.filename, error.lineno or 1, "", line=(error.text or "").strip()
        )
    noted: Facts = {
        "type": type(error).__name__,
        "message": message[:MAX_TEXT],
        "file": missing_path(error),
        "place": [place.filename, place.lineno, 0, 0, 0] if place else None,
        "source": place.line if place else None,
        "frames": [
            [
                frame.filename,
                frame.lineno,
                frame.name,
                frame.line,
            ]
            for frame in frames[-MAX_FRAMES:]
        ],
        "bases": [base.__name__ for base in type(error).__mro__],
    }
    # What is known of an exception must not be lost because one of its values cannot be read.
    with contextlib.suppress(Exception):
        noted["facts"] = facts_of(error)
    return noted


def of_worker(error: BaseException) -> tuple[str, traceback.FrameSummary | None] | None:
    """Message and place of what a worker of a DataLoader raised: torch hands on its traceback
    as a text.
    """
    trail = next(
        reversed(list(trails_of(error.__traceback__))),
        None,
    )
    if trail is None or trail.tb_frame.f_globals.get("__name__") != "torch._utils":
        return None
    text = getattr(trail.tb_frame.f_locals.get("self"), "exc_msg", None)
    if not isinstance(text, str):
        return None
    kind = f"{type(error).__name__}: "
    ends = [line for line in text.splitlines() if line.startswith(kind)]
    if not ends:
        return None
    own = [found for found in _FRAME_IN_TEXT.finditer(text) if not is_library(found[1])]
    place = (
        traceback.FrameSummary(
            own[-1][1],
            int(own[-1][2]),
            own[-1][3],
        )
        if own
        else None
    )
    return f"{ends[-1][len(kind) :]} (in a worker of a DataLoader)", place


def facts_of(error: BaseException) -> Facts:
    """Facts that tell what happened whatever the message says."""
    trails = list(trails_of(error.__traceback__))
    stack = [frame_facts(trail.tb_frame, trail.tb_lineno) for trail in trails]
    before_filter = (
        _unfiltered.get("facts") if _unfiltered.get("error") == _identity(error) else None
    )
    if before_filter is not None:
        stack += before_filter["stack"]
    facts: Facts = {
        "module": str(type(error).__module__),
        "stack": stack[-MAX_FRAMES:],
        "unset": [name for name in OF_LAUNCHERS if name not in os.environ],
    }
    # The probe is between the program and a library: what it only hands on is not its own.
    raising = [trail for trail in trails if _owner(trail.tb_frame) != PROBE]
    if before_filter is not None:
        facts.update(before_filter["call"])
    elif raising:
        facts.update(_of_call(error, raising))
    facts.update(of_file(error, missing_path(error)))
    facts.update(of_data(raising))
    facts.update(of_variable(error, stack, raising))
    facts.update(of_torch(raising))
    facts.update(of_memory(error))
    subject = _subject(error, stack[-1]) if stack else ""
    packages = {frame["owner"] for frame in stack} | {facts.get("by", ""), subject}
    facts["subject"] = subject
    facts["of_none"] = isinstance(error, AttributeError) and _none_lacks(error)
    facts["versions"] = _versions(packages - {PROGRAM, PROBE, PYTHON, ""})
    return facts


def keep_before_filter() -> None:
    """Note what Keras takes out of the traceback of an exception, its own frames, before it
    does so.
    """
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
    trails = [entry for entry in trails_of(trail) if _owner(entry.tb_frame) != PROBE]
    stack = [frame_facts(entry.tb_frame, entry.tb_lineno) for entry in trails]
    # Facts are kept, not frames: an exception that the program catches must not hold its tensors in
    # memory.
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


def _owner(frame: FrameType) -> str:
    file = frame.f_code.co_filename
    if os.path.abspath(file).startswith(_HERE):
        return PROBE
    if not is_library(file):
        return PROGRAM
    package = str(frame.f_globals.get("__name__", "")).partition(".")[0]
    if package in _standard() or not package:
        return PYTHON
    return package


def _standard() -> frozenset[str]:
    # Python 3.10 and later list them.
    return frozenset(getattr(sys, "stdlib_module_names", ())) | frozenset(sys.builtin_module_names)


def _of_call(error: BaseException, trails: list[TracebackType]) -> Facts:
    """Who raised: the innermost frame by a statement of its own, or what it called; and the nearest
    call around it that was given tensors.
    """
    frame = trails[-1].tb_frame
    raised = raises_itself(trails[-1])
    owner = _owner(frame)
    if raised and owner == PROGRAM:
        return {"raised": True, "by": PROGRAM}
    call = FailedCall(trails[-1])
    facts: Facts = {
        "raised": raised,
        "by": owner,
        "call": "" if raised else call.name,
    }
    if owner == PROGRAM and call.package not in ("", "__main__"):
        facts["by"] = PYTHON if call.package in _standard() else call.package
    if isinstance(error, EOFError) and call.calls_builtin("input"):
        facts["call"] = "input"
    if isinstance(error, IndexError):
        facts["argument"] = call.command_line_argument()
    if isinstance(error, KeyError):
        facts["keys"] = call.keys()
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


def _subject(error: BaseException, inner: Facts) -> str:
    """The package of the object or module that lacks a name."""
    package = ""
    if isinstance(error, ImportError) and error.name:
        package = error.name.partition(".")[0]
    elif isinstance(error, AttributeError) and getattr(error, "name", None) is not None:
        # Python 3.10 and later keep the object, which may be None.
        package = package_of(error.obj)  # type: ignore[attr-defined,unused-ignore]
    elif isinstance(error, AttributeError) and inner["function"] in (
        "__getattr__",
        "__getattribute__",
    ):
        package = inner["module"].partition(".")[0]
    if not package or package in _standard():
        return PYTHON if package else ""
    module = sys.modules.get(package)
    file = getattr(module, "__file__", None)
    return package if file and is_library(file) else PROGRAM


def _none_lacks(error: AttributeError) -> bool:
    """Whether None was asked for an attribute."""
    return getattr(error, "name", None) is not None and getattr(error, "obj", MISSING) is None


def _versions(packages: set[str]) -> dict[str, str]:
    from importlib.metadata import PackageNotFoundError, packages_distributions, version

    known: dict[str, str] = {}
    distributions = packages_distributions() if sys.version_info >= (3, 10) else {}
    for package in sorted(packages):
        for name in distributions.get(package, [package])[:1]:
            with contextlib.suppress(PackageNotFoundError):
                known[package] = version(name)
    return known
