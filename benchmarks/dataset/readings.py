"""Whether a finding states the cause: what two readers say who see program, truth and findings alone.

`benchmarks/trainings/READINGS.toml` holds their answers, a block a program; a reading belongs to the
findings that were read, by their hash, and counts for no others.
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from benchmarks.dataset.result import NamedFault, TrainingDiagnosis
from benchmarks.dataset.training import TRAININGS, Training
from reenact.errors import InputError
from reenact.faults.registry import all_detectors

READINGS = "READINGS.toml"
READ = 2
"""So many of the findings are read, the first ones."""

Answers = Annotated[tuple[bool, ...], Field(min_length=1, max_length=READ)]


@dataclass(frozen=True, slots=True)
class Reading:
    """What two readers say of the first findings about one program."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    training: str
    findings: str
    """The digest of the sheet that was read."""
    readers: Annotated[tuple[Answers, Answers], Field(min_length=2, max_length=2)]
    """Of each reader: does the first finding state the cause, does the second?"""
    why: str = ""

    @property
    def true_findings(self) -> int:
        """Those about which both say yes: disagreement is not named."""
        return sum(all(answers) for answers in zip(*self.readers, strict=True))


@dataclass(frozen=True, slots=True)
class Sheet:
    """What a reader gets, beside the program."""

    training: Training
    findings: tuple[NamedFault, ...]

    @property
    def digest(self) -> str:
        """Of what is read: another sentence is another finding."""
        said = [_words(one) for one in self.findings]
        return hashlib.sha256(json.dumps([self.training.id, said]).encode()).hexdigest()[:16]

    @property
    def text(self) -> str:
        """As Markdown."""
        lines = [f"# {self.training.id}", "", f"Digest: {self.digest}", "", "## The truth", ""]
        lines += [self.training.what, "", "## The first findings"]
        for number, one in enumerate(self.findings, start=1):
            lines += ["", f"{number}. {_words(one)}"]
        return "\n".join(lines) + "\n"


def shown_findings(result: TrainingDiagnosis) -> tuple[NamedFault, ...]:
    """What a user reads first: findings, then what explains how the program ended."""
    return (*result.findings, *result.symptoms)[:READ]


def read_readings(folder: Path = TRAININGS) -> tuple[Reading, ...]:
    """All of them; none before the first part was opened. Raises InputError."""
    file = folder / READINGS
    if not file.is_file():
        return ()
    try:
        listed = tomllib.loads(file.read_text(encoding="utf-8")).get("reading", [])
        found: list[Reading] = _READINGS.validate_python(listed)
    except (OSError, ValueError, ValidationError) as error:
        raise InputError(f"The readings cannot be read: {error}. Received: {file}.") from error
    return tuple(found)


def _words(named: NamedFault) -> str:
    where = f"{named.places[0][0]}:{named.places[0][1]} " if named.places else ""
    return f"{where}{named.codes[0]} {_titles().get(named.codes[0], '')}: {named.saw}"


@lru_cache
def _titles() -> dict[str, str]:
    return {rule.code: rule.name for rule in all_detectors()}


_READINGS = TypeAdapter(list[Reading])
