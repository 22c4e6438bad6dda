"""Whether a run says that a bug cannot be decided on this machine: a compiled module that was never
built, a library that is broken, a device that is not there.

What is seen decides, never a word of the report: a script has run before anything is concluded. The
symptom's own message or device is not a word of the report alone: it is what would have to be seen.
"""

import os
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from reenact.bug.classify import RunOutcome, SeedRun
from reenact.bug.project_files import ProjectFiles
from reenact.bug.script_runner import RunObservation
from reenact.bug.symptom import Symptom
from reenact.claims.check import Relation

COMPILED = frozenset({".c", ".cc", ".cpp", ".cu", ".cxx", ".f90", ".pyx", ".rs"})
"""Endings of files that a build makes modules of."""
SKIPPED = frozenset({".git", "node_modules", "docs", "tests", "test", "examples"})
MOST_FILES = 50_000
_DEVICE = re.compile(r"(?i)\b(cuda|cudnn|cublas|nccl|hip|rocm|mps|xpu)(?::\d+)?\b")
_NO_DEVICE = re.compile(
    r"(?i)not compiled with CUDA enabled|no NVIDIA driver|no CUDA GPUs are available"
    r"|CUDA driver version is insufficient|No HIP GPUs are available"
)
"""What torch says where the device that is asked for is not there."""
_NO_LIBRARY = re.compile(r"cannot open shared object file|undefined symbol|DLL load failed")
"""What the loader says of a module whose binary does not fit this machine."""


def beyond(
    symptom: Symptom, runs: Sequence[SeedRun], files: ProjectFiles, *, has_device: bool = False
) -> str:
    """Why these runs show that this machine cannot decide; empty where they do not."""
    if not runs or any(run.shows for run in runs):
        return ""
    first = runs[0]
    seen = first.observation
    if seen.ended == "raised":
        reported = symptom.raised
        if reported is not None and reported.name in seen.classes:
            return ""
        if _NO_DEVICE.search(seen.message) and seen.blamed == "project" and not has_device:
            return f"the project asks for a device that is not here ({_short(seen.message)})"
        return not_imported(seen, files)
    ran = all(run.outcome is RunOutcome.NOTHING for run in runs)
    device = needed_device(symptom)
    if ran and device and not has_device:
        return f"what must be seen needs {device}, which is not here; without it the script passes"
    return ""


def needed_device(symptom: Symptom) -> str:
    """The device that must be there for the symptom to be seen; empty where none must."""
    words = ""
    if symptom.raised is not None:
        words = symptom.raised.message
    elif symptom.closing is not None and symptom.closing.relation is Relation.DEVICE:
        words = symptom.closing.text
    named = _DEVICE.search(words)
    return named[1].lower() if named is not None else ""


def not_imported(seen: RunObservation, files: ProjectFiles) -> str:
    """Why the project cannot be imported here, where that is not a fault of its Python code."""
    own = [frame for frame in seen.frames if frame.whose != "library"]
    importing = bool(own) and all(frame.function == "<module>" for frame in own)
    loader = _NO_LIBRARY.search(seen.message) is not None
    if not importing or not ("ImportError" in seen.classes or loader):
        return ""
    what = f"{seen.classes[0]}: {_short(seen.message)}"
    if seen.frames[-1].whose == "library" and not seen.missing:
        return f"a library that is needed cannot be imported here ({what})"
    if seen.blamed != "project":
        return ""
    module = seen.missing
    if module and module.partition(".")[0] in files.packages and module not in files.modules:
        how = "compiled" if has_compiled_sources(files.folder) else "made"
        return f"{module} is {how} when the project is built, and is not here"
    if not module and (loader or has_compiled_sources(files.folder)):
        return f"a compiled module of the project is not here ({what})"
    return ""


@cache
def has_compiled_sources(folder: Path) -> bool:
    """Whether a checkout has sources that a build makes modules of."""
    count = 0
    for _, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in SKIPPED]
        count += len(names)
        if any(os.path.splitext(name)[1] in COMPILED for name in names):  # noqa: PTH122
            return True
        if count > MOST_FILES:
            return False
    return False


def _short(message: str) -> str:
    return " ".join(message.split())[:200].rstrip(".")
