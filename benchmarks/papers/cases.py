"""The catalogue of paper cases: one folder a case, from `cases/papers/` or from a folder of the
user's.

`cases/papers/README.md` says what lies in a folder. The pipeline under test sees the paper, the
library, the data and the goal; the reference implementation and the list made by hand are for the
judge alone.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from benchmarks.children import ROOT, demo_cases
from benchmarks.papers.twins import TWIN, Twin
from reenact.errors import InputError
from reenact.intake.papers.paper import Paper
from reenact.paper.measure.verdict import Verdict
from reenact.paper.options import Goal

FACTS, CRITERIA, PAPER, LIBRARY, DATA = (
    "case.toml",
    "criteria.toml",
    "paper",
    "library",
    "data",
)
RECORDINGS = "recordings"
LARGEST = 1024 * 1024
"""Bytes of facts or criteria beyond which a file is refused."""
STRICT = ConfigDict(extra="forbid")

Words = Annotated[str, Field(min_length=1, max_length=2000)]


@dataclass(frozen=True, slots=True)
class Asked:
    """What the user asks for."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    task: str = ""
    method: str = ""
    metric: str = ""
    dataset: str = ""
    instruction: str = ""

    @property
    def goal(self) -> Goal:
        return Goal(self.task, self.method, self.metric, self.dataset, self.instruction)


@dataclass(frozen=True, slots=True)
class Metric:
    """What is measured."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    name: Words
    unit: str
    higher_is_better: bool


@dataclass(frozen=True, slots=True)
class Reference:
    """What the reference implementation measured of the method in the setting of the goal."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    value: float
    spread: float
    """Standard deviation over seeds."""
    seeds: Annotated[int, Field(ge=1)]


@dataclass(frozen=True, slots=True)
class StatedClaim:
    """A number that the paper states."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    metric: Words
    value: float
    method: Words
    spread: float | None = None
    unit: str = ""
    dataset: str = ""
    table: str = ""
    goal: bool = False
    """Whether the goal asks for it."""


@dataclass(frozen=True, slots=True)
class Omission:
    """What the paper leaves out, and what that costs."""

    # Its other facts are for readers.
    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="ignore")

    parameter: Words
    value: float | str
    """Which the lineage has."""
    default: float | str
    """Which a reader would take without it."""
    where: str = ""
    expected_without: Verdict | None = None
    """The verdict when neither lineage nor repair helps."""


@dataclass(frozen=True, slots=True)
class HandMade:
    """One criterion of the list made by hand."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    id: Words
    quote: Words
    parameter: Words
    value: Words
    must: bool
    """A fingerprint must have it; else it is right to have and no loss to miss."""
    also: tuple[str, ...] = ()
    """Other words of the paper that say the same."""

    def places(self, paper: Paper) -> frozenset[str]:
        """Ids of everything in the paper that says so."""
        return frozenset(place for quote in (self.quote, *self.also) for place in paper.find(quote))


@dataclass(frozen=True, slots=True)
class PaperCase:
    """One paper, and what is true of it."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    folder: Path
    title: Words
    expected: Verdict
    scale: Annotated[float, Field(gt=0, le=1)]
    seeds: Annotated[int, Field(ge=1, le=50)]
    seconds: Annotated[float, Field(gt=0)]
    """What one seed of the reference takes on one core."""
    goal: Asked
    metric: Metric
    reference: Reference
    claims: tuple[StatedClaim, ...]
    omission: Omission | None = None
    twin: Twin | None = None
    """What is printed in place of the numbers in the folder, when it is a twin."""

    @property
    def id(self) -> str:
        return self.folder.name if self.twin is None else self.twin.name

    def with_twin(self, twin: Twin) -> PaperCase:
        """The same experiment as the twin's paper tells of it."""
        printed = [(one, *twin.numbers(one.value, one.spread)) for one in self.claims]
        claims = tuple(replace(one, value=value, spread=spread) for one, value, spread in printed)
        return replace(
            self,
            twin=twin,
            claims=claims,
            expected=twin.expected,
            seeds=twin.seeds or self.seeds,
            omission=None,
        )

    @property
    def paper(self) -> Path:
        """A folder of LaTeX, or a single file."""
        folder = self.folder / PAPER
        return (
            folder
            if folder.is_dir()
            else next(iter(sorted(self.folder.glob(f"{PAPER}.*"))), folder)
        )

    @property
    def library(self) -> Path | None:
        return folder if (folder := self.folder / LIBRARY).is_dir() else None

    @property
    def data(self) -> Path | None:
        return folder if (folder := self.folder / DATA).is_dir() else None

    @property
    def wanted(self) -> tuple[StatedClaim, ...]:
        """The claims that the goal asks for; all when none is marked, the metric when none is
        known.
        """
        metric = StatedClaim(
            self.metric.name,
            self.reference.value,
            self.goal.method or self.title,
            dataset=self.goal.dataset,
        )
        return tuple(one for one in self.claims if one.goal) or self.claims or (metric,)

    @property
    def criteria(self) -> tuple[HandMade, ...]:
        """The list made by hand; empty where nobody made one."""
        if not (self.folder / CRITERIA).is_file():
            return ()
        parsed = _toml(self.folder / CRITERIA).get("criteria", [])
        listed: tuple[HandMade, ...] = _typed(
            tuple[HandMade, ...], parsed, self.folder.name, CRITERIA
        )
        return listed


def shipped() -> Path:
    """The folder of the cases that travel with reenact."""
    return ROOT / "benchmarks" / "cases" / "papers"


def load_cases(folder: Path | None = None) -> tuple[PaperCase, ...]:
    """All cases of a folder, the shipped ones without one, in the order of their names."""
    root = folder if folder is not None else shipped()
    if not root.is_dir():
        raise InputError(f"There is no folder of paper cases at {root}.")
    entries = [*root.iterdir(), *(demo_cases("papers") if folder is None else ())]
    read = {entry.name: _read(entry) for entry in entries if (entry / FACTS).is_file()}
    twins = [_read_twin(entry, read) for entry in entries if (entry / TWIN).is_file()]
    found = tuple(sorted((*read.values(), *twins), key=lambda case: case.id))
    if not found:
        raise InputError(
            f"The folder holds no paper case. Received: folder={root}",
            next_step=(
                f"Put each case into a folder of its own with {FACTS}, {CRITERIA} and {PAPER}/."
            ),
        )
    return found


def chosen_cases(folder: Path | None, names: Sequence[str]) -> tuple[PaperCase, ...]:
    """The cases of these names, all of the folder without names."""
    cases = load_cases(folder)
    known = {case.id: case for case in cases}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise InputError(
            f"There is no paper case {unknown[0]!r}.",
            next_step=f"Name one of: {', '.join(known)}.",
        )
    return tuple(known[name] for name in dict.fromkeys(names)) or cases


def _read(folder: Path) -> PaperCase:
    case: PaperCase = _typed(
        PaperCase, {**_toml(folder / FACTS), "folder": folder}, folder.name, FACTS
    )
    wrong = ""
    if not case.paper.exists():
        wrong = f"there is no {PAPER}/ and no {PAPER}.*"
    elif not case.claims:
        wrong = "it states no claim"
    elif not case.criteria:
        wrong = f"{CRITERIA} lists nothing"
    if wrong:
        raise InputError(f"The case {folder.name} cannot be used: {wrong}.")
    return case


def _read_twin(folder: Path, cases: Mapping[str, PaperCase]) -> PaperCase:
    twin: Twin = _typed(Twin, {**_toml(folder / TWIN), "name": folder.name}, folder.name, TWIN)
    if twin.of not in cases:
        raise InputError(f"The case {folder.name} is a twin of {twin.of!r}, which is not there.")
    return cases[twin.of].with_twin(twin)


def _toml(file: Path) -> dict[str, Any]:
    try:
        with file.open("rb") as source:
            content = source.read(LARGEST + 1)
        if len(content) > LARGEST:
            raise InputError(
                f"The case {file.parent.name} has a {file.name} of more than {LARGEST} bytes."
            )
        return tomllib.loads(content.decode("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(
            f"The case {file.parent.name} has no readable {file.name}: {error}."
        ) from error


def _typed(kind: Any, parsed: object, case: str, file: str) -> Any:
    try:
        return TypeAdapter(kind).validate_python(parsed)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise InputError(f"{file} of case {case} is wrong at {where}: {first['msg']}.") from error
