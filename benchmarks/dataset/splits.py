"""The splits of the data set: trainings that belong together, and under which circumstances."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from benchmarks.dataset.foreign import Words
from benchmarks.dataset.kinds import kinds
from benchmarks.dataset.training import TRAININGS, Training, read_training
from reenact.errors import InputError

SPLITS = "splits.toml"


@dataclass(frozen=True, slots=True)
class Split:
    """Trainings that were written under the same circumstances and are run together."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    name: Words
    ids: Annotated[tuple[str, ...], Field(min_length=1)]
    written: date
    authors: Words
    given: Words
    """What the authors were given."""
    style: Words
    opened: date | None = None
    """When a rule, or whoever writes rules, first looked at it; none: held out."""
    results: str = ""
    """Benchmark and half of its results files and pages, where it was published before the data
    set.
    """
    before: str = ""
    """The hash under which those name its cases."""

    @property
    def benchmark(self) -> str:
        """The alias of `trainings` under which it was published; empty where it was not."""
        return self.results.partition(" ")[0]

    @property
    def label(self) -> str:
        """What its results call it."""
        return self.results.partition(" ")[2] or self.name

    @property
    def title(self) -> str:
        """The begin of the names of its results files."""
        return f"{self.benchmark or 'trainings'}-{self.label}"

    @property
    def role(self) -> str:
        """What a figure on it is worth."""
        return f"training data since {self.opened}" if self.opened else "held out"


@lru_cache
def splits(folder: Path = TRAININGS) -> dict[str, Split]:
    """Every split, by name. Raises InputError."""
    file = folder / SPLITS
    try:
        listed = tomllib.loads(file.read_text(encoding="utf-8"))
        found = {
            name: _SPLIT.validate_python({**facts, "name": name}) for name, facts in listed.items()
        }
    except (OSError, tomllib.TOMLDecodeError, ValidationError) as error:
        raise InputError(f"The splits cannot be read: {error}. Received: {file}.") from error
    ids = [name for split in found.values() for name in split.ids]
    twice = sorted({name for name in ids if ids.count(name) > 1})
    if twice:
        raise InputError(f"A training is in one split. Received: {', '.join(twice)}.")
    return found


def split_named(name: str, folder: Path = TRAININGS) -> Split:
    """One split. Raises InputError."""
    known = splits(folder)
    if name not in known:
        raise InputError(
            f"No split has this name. Expected: one of {', '.join(known)}. Received: {name}."
        )
    return known[name]


def published(benchmark: str) -> dict[str, Split]:
    """The splits of an alias, by what it calls them."""
    return {split.label: split for split in splits().values() if split.benchmark == benchmark}


def trainings_of(split: Split, folder: Path = TRAININGS) -> tuple[Training, ...]:
    """The trainings of a split, in its order. Raises InputError."""
    known = kinds(folder)
    found = tuple(read_training(name, known.get(name), folder) for name in split.ids)
    if len({training.foreign is None for training in found}) > 1:
        raise InputError(
            f"A split has programs that are kept here or foreign ones. Received: {split.name}."
        )
    return found


_SPLIT = TypeAdapter(Split)
