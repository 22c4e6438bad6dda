"""A folder of TensorBoard event files, or one of them, as a log.

One run is one folder with, below it, the folders that its own writers make: `train` and `validation` (Keras),
one for each curve of a common plot (PyTorch's `add_scalars`). Several files of one folder are one run that
was started again: a later file replaces what the earlier ones hold from its first step on.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path, PurePosixPath

from reenact.errors import InputError
from reenact.probe.past.build import MOST_POINTS, Log, Point
from reenact.probe.past.events import Scalar, scalars
from reenact.probe.past.names import SPLITS
from reenact.probe.past.records import Damage
from reenact.sandbox.files.collect import collect

MARK = "tfevents"
MOST_FILES = 200
MOST_DEPTH = 3
MOST_BYTES = 256 << 20
"""All files together."""


@dataclass(frozen=True, slots=True)
class _Found:
    """One event file, read."""

    name: PurePosixPath
    scalars: Sequence[Scalar]
    damage: Damage


def event_files(folder: Path) -> list[PurePosixPath]:
    """Event files in a folder and the folders below it, without following links."""
    found: list[PurePosixPath] = []
    for at, folders, files in os.walk(folder):
        below = PurePosixPath(Path(at).relative_to(folder).as_posix())
        folders[:] = sorted(folders) if len(below.parts) < MOST_DEPTH else []
        found += [below / name for name in sorted(files) if MARK in name]
        if len(found) > MOST_FILES:
            raise InputError(
                f"A run has at most {MOST_FILES} event files. Received: {folder}, which holds more.",
                next_step="Give the folder of one run.",
            )
    return found


def read_log(folder: Path, names: Sequence[PurePosixPath]) -> Log:
    """The log that these files of a folder hold together."""
    left, points_left = MOST_BYTES, MOST_POINTS
    found: list[_Found] = []
    for name in names:
        data = _bytes(folder, name, left)
        damage = Damage()
        read = list(islice(scalars(data, damage), points_left))
        if not read and damage.lost_at == 0:
            raise InputError(f"This is no TensorBoard event file. Received: {folder / name}.")
        left, points_left = left - len(data), points_left - len(read)
        found.append(_Found(name, read, damage))
    _one_run(folder, found)
    points = _with_epochs(_joined(found))
    missing = tuple(_missing(found, points_left))
    torn = any(one.damage.torn or one.damage.lost_at is not None for one in found)
    return Log(
        "tensorboard", points, complete=not torn, counts_epochs=_counts_epochs(points), missing=missing
    )


def _one_run(folder: Path, files: Sequence[_Found]) -> None:
    """Refuse a folder of several runs: their curves must not be mixed."""
    roots = {_root(file) for file in files}
    runs = sorted(roots)
    if len(runs) > 1:
        few = ", ".join(str(run) for run in runs[:5])
        raise InputError(
            f"This folder holds {len(runs)} runs ({few}). Received: {folder}.",
            next_step="Give the folder of one of them.",
        )


def _root(file: _Found) -> PurePosixPath:
    """The folder of the run that a file belongs to."""
    place = file.name.parent
    made = place.name.lower() in SPLITS or _is_time(place.name)
    if made or any(_curve(place.name, scalar.tag) for scalar in file.scalars[:1]):
        return place.parent
    return place


def _curve(folder: str, tag: str) -> str:
    """The name of a curve, when a folder was made for one curve of the plot `tag`."""
    plot = tag.replace("/", "_") + "_"
    return folder[len(plot) :] if folder.startswith(plot) else ""


def _is_time(name: str) -> bool:
    """PyTorch's `add_hparams` names its folder by the time."""
    return name.replace(".", "", 1).isdigit()


def _bytes(folder: Path, name: PurePosixPath, most: int) -> bytes:
    try:
        found = collect(folder, (str(name),), most)
    except OSError as error:
        raise InputError(f"{folder / name} cannot be read: {error.strerror or error}.") from error
    if str(name) in found.refused:
        raise InputError(f"{folder / name} is not read: {found.refused[str(name)]}.")
    if str(name) in found.missing:
        raise InputError(f"{folder / name} is not there.")
    return found.results[str(name)]


def _joined(files: Sequence[_Found]) -> list[Point]:
    series: dict[tuple[PurePosixPath, str], list[Scalar]] = defaultdict(list)
    for file in files:
        fresh: dict[str, list[Scalar]] = defaultdict(list)
        for scalar in file.scalars:
            fresh[scalar.tag].append(scalar)
        for tag, logged in fresh.items():
            known = series[file.name.parent, tag]
            first = min(scalar.step for scalar in logged)
            known[:] = [scalar for scalar in known if scalar.step < first] + logged
    return [
        _point(place, scalar)
        for (place, _), logged in series.items()
        for scalar in sorted(logged, key=lambda one: one.step)
    ]


def _point(place: PurePosixPath, scalar: Scalar) -> Point:
    curve = _curve(place.name, scalar.tag)
    return Point(
        f"{scalar.tag}/{curve}" if curve else scalar.tag,
        scalar.value,
        scalar.step,
        time=scalar.time,
        split=SPLITS.get(place.name.lower(), ""),
    )


def _with_epochs(points: Sequence[Point]) -> list[Point]:
    """Lightning logs the epoch beside everything else, under a tag of its own; Keras logs by epoch."""
    epochs = {p.step: int(p.value) for p in points if p.logged == "epoch" and 0 <= p.value < 1e9}
    return [
        Point(
            point.logged,
            point.value,
            point.step,
            point.step if point.logged.startswith("epoch_") else epochs.get(point.step, -1),
            point.time,
            point.split,
        )
        for point in points
        if point.logged != "epoch"
    ]


def _counts_epochs(points: Sequence[Point]) -> bool:
    return bool(points) and all(point.logged.startswith("epoch_") for point in points)


def _missing(files: Sequence[_Found], points_left: int) -> Iterator[str]:
    for file in files:
        damage, name = file.damage, file.name
        if damage.torn:
            yield f"the end of {name}: the file stops inside a record"
        if damage.lost_at is not None:
            yield f"what follows byte {damage.lost_at} of {name}: the file is damaged there"
        if damage.bad_records:
            yield f"{damage.bad_records} damaged records of {name}"
        if damage.large_records:
            yield f"{damage.large_records} large records of {name}: pictures, histograms or graphs"
    if points_left <= 0:
        yield f"what follows the first {MOST_POINTS} values"
