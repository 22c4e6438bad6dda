"""A benchmark program as an ordinary one: a folder with `train.py` and the file it imports its data from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.data.find import Located, locate, provide
from benchmarks.faults.case import FaultCase, Scale, Side
from benchmarks.faults.cases import helper_text, source_text
from reenact.errors import InputError, MissingPart
from reenact.journal.storage import make_folder, storage_named
from reenact.types import Tell, tell_nobody

ENTRY = "train.py"
HELPER = "dataset.py"
SYNTHETIC = Located("synthetic", None)
_FOLDER_LINE = 'FOLDER = Path(os.environ.get("REENACT_DATA", "data"))'


@dataclass(frozen=True, slots=True)
class Availability:
    """Whether a case can be run here, on which data, or why not."""

    case: FaultCase
    data: Located
    runnable: bool
    why_not: str = ""
    """Begins with `data missing` or `no program`."""


def availability(case: FaultCase, environ: Mapping[str, str] | None = None) -> Availability:
    """Look whether a case can be run here; loads and fetches nothing."""
    return _available(case, locate(case.data, environ) if case.data else SYNTHETIC)


def made_available(
    case: FaultCase, environ: Mapping[str, str] | None = None, tell: Tell = tell_nobody
) -> Availability:
    """The same, but what is missing is asked of the normal loaders first."""
    if not case.written or not case.data:
        return availability(case, environ)
    return _available(case, provide(case.data, environ, tell))


def materialise(
    case: FaultCase,
    side: Side,
    scale: Scale,
    folder: Path,
    environ: Mapping[str, str] | None = None,
) -> Path:
    """Write the program into a folder of its own; the path of its entry. Its data is found from
    anywhere.
    """
    ready = availability(case, environ)
    if not ready.runnable:
        raise MissingPart(f"{case.id} cannot be run: {ready.why_not}.")
    make_folder(folder)
    entry = folder / ENTRY
    with storage_named(folder):
        entry.write_text(source_text(case, side, scale), encoding="utf-8")
        if ready.data.path is not None:
            (folder / HELPER).write_text(_helper(ready.data.path.parent), encoding="utf-8")
    return entry


def _available(case: FaultCase, data: Located) -> Availability:
    if case.data and data.path is None:
        return Availability(case, data, runnable=False, why_not=f"data missing: {data.why_not}")
    if not case.written:
        return Availability(case, data, runnable=False, why_not="no program")
    return Availability(case, data, runnable=True)


def _helper(data_folder: Path) -> str:
    text = helper_text()
    if text.count(_FOLDER_LINE) != 1:
        raise InputError(
            f"{HELPER} of the benchmark must name its folder in one line: {_FOLDER_LINE}"
        )
    return text.replace("import os\n", "").replace(
        _FOLDER_LINE, f"FOLDER = Path({str(data_folder)!r})"
    )
