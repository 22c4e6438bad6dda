"""Reads a past run: recognises what a path holds and makes a trace of it. The files may be untrusted.

Covered: links, devices and oversized files (`sandbox.collect`), damaged and torn records, messages and tables
made to harm their reader (all is bounded, nothing is executed). Not covered: whether the numbers are true.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from reenact.errors import InputError, ResultRefused
from reenact.probe.past import csvlog, tensorboard
from reenact.probe.past.build import as_trace
from reenact.probe.past.records import is_record_file
from reenact.probe.read import is_trace, read_trace
from reenact.probe.trace import Trace
from reenact.sandbox.files.collect import collect

CSV_NAMES = ("metrics.csv", "training.log", "training.csv", "log.csv", "history.csv")
"""What loggers call their table; the first is Lightning's."""
KINDS = "a trace of reenact, TensorBoard event files, or a CSV log"


def read_past(path: Path) -> Trace:
    """The trace of a past run: from a folder or a file. Raises InputError when it cannot be read as one."""
    try:
        place = path.resolve(strict=True)
    except (OSError, RuntimeError) as error:
        raise InputError(f"There is no log here. Received: {path}.", next_step=f"Give {KINDS}.") from error
    try:
        return _folder(place) if place.is_dir() else _file(place)
    except ResultRefused as error:
        raise InputError(error.sentence) from error


def _folder(folder: Path) -> Trace:
    if is_trace(folder):
        return read_trace(folder)
    tables = [name for name in CSV_NAMES if (folder / name).is_file()]
    names = tensorboard.event_files(folder)
    if names:
        return as_trace(tensorboard.read_log(folder, names))
    if tables:
        return _file(folder / tables[0])
    raise InputError(f"This folder holds no log. Received: {folder}.", next_step=f"Give {KINDS}.")


def _file(file: Path) -> Trace:
    if tensorboard.MARK in file.name:
        return as_trace(tensorboard.read_log(file.parent, [PurePosixPath(file.name)]))
    data = _bytes(file)
    if is_record_file(data):
        return as_trace(tensorboard.read_log(file.parent, [PurePosixPath(file.name)]))
    if b"\0" in data[:1024]:
        raise InputError(
            f"This is neither an event file nor a CSV log. Received: {file}.", next_step=f"Give {KINDS}."
        )
    return as_trace(csvlog.read_log(data, str(file)))


def _bytes(file: Path) -> bytes:
    try:
        found = collect(file.parent, (file.name,), csvlog.MOST_BYTES)
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror or error}.") from error
    if file.name in found.refused:
        raise InputError(f"{file} is not read: {found.refused[file.name]}.")
    return found.results.get(file.name, b"")
