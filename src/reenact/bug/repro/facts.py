"""repro.json: what `reenact judge` needs besides repro.py. A file from anywhere: its types are
checked, and nothing in it is run outside the sandbox.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import ClassVar, Literal

from pydantic import ConfigDict, TypeAdapter, ValidationError

from reenact.bug.classify import SeedRun
from reenact.bug.crash import ReportedCrash
from reenact.bug.project_files import ProjectFiles
from reenact.bug.reproduction import CallForm
from reenact.bug.symptom import Explicit, Symptom
from reenact.errors import InputError
from reenact.files import read_bytes

FORMAT: Literal["reenact-repro/1"] = "reenact-repro/1"
MOST_BYTES = 4 << 20


@dataclass(frozen=True, slots=True)
class SeenCrash:
    """The exception that the script raised when it was proven."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    exception: str
    message: str
    """Its words, with * for values and paths."""
    file: str
    """Of the innermost frame in the project; empty where none took part."""
    line: int
    text: str
    function: str
    phase: Literal["import", "call"]
    """Whether the project was being imported."""
    outside: bool
    """A library raised it, called by the script with what the project gave."""

    def symptom(self) -> Symptom:
        """The exception as what must be seen."""
        explicit = Explicit.model_construct(exception=self.exception, message=self.message)
        return Symptom.model_construct(
            kind="explicit", sign="crash", words="", explicit=explicit, check=None
        )

    def crash(self) -> ReportedCrash:
        """Its place."""
        path = PurePosixPath(self.file)
        return ReportedCrash(
            self.exception, self.message, path, self.line, self.function, self.text
        )


@dataclass(frozen=True, slots=True)
class ReproFacts:
    """All that a script is judged by."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    title: str
    report: str
    """Where the report came from."""
    commit: str
    """The revision on which it was proven."""
    fixed: str
    symptom: Symptom
    seen: SeenCrash | None
    """None of a silent bug."""
    forms: tuple[CallForm, ...]
    seeds: tuple[int, ...]
    """With which it was run; the first one showed the bug."""
    script: str
    """Of a silent bug: the script without its assert, as it runs under the watcher."""
    sha256: str
    """Of repro.py as it was written."""
    modules: tuple[str, ...]
    """The project's modules that it imports, by their first names."""
    environment: str
    """Name of the environment in which it was proven."""
    stubs: tuple[str, ...] = ()
    format: Literal["reenact-repro/1"] = FORMAT

    def text(self) -> str:
        """The file."""
        return _FACTS.dump_json(self, indent=1).decode() + "\n"


_FACTS = TypeAdapter(ReproFacts)


def seen_crash(shown: SeedRun, files: ProjectFiles) -> SeenCrash | None:
    """What a run raised; none where it ran through."""
    failure = shown.failure
    if failure is None:
        return None
    own = shown.observation.project_frames
    inner = own[-1] if own else None
    lines: Sequence[str] = ()
    if inner is not None:
        lines = files.texts.get(PurePosixPath(inner.file), "").splitlines()
    is_there = inner is not None and 0 < inner.line <= len(lines)
    return SeenCrash(
        exception=failure.exception,
        message=" * ".join(failure.fragments),
        file=inner.file if inner is not None else "",
        line=inner.line if inner is not None else 0,
        text=" ".join(lines[inner.line - 1].split()) if inner is not None and is_there else "",
        function=failure.function,
        phase="import" if failure.phase == "import" else "call",
        outside=shown.outside,
    )


def facts_from(text: str) -> ReproFacts:
    """The facts that a repro.json holds. Raises ValidationError."""
    return _FACTS.validate_json(text)


def read_facts(repro: Path) -> ReproFacts:
    """The facts next to a repro.py. Raises InputError."""
    beside = repro.with_name("repro.json")
    instead = "Name the repro.py of a folder that `reenact bug` wrote; repro.json lies next to it."
    try:
        return _FACTS.validate_json(read_bytes(beside, MOST_BYTES))
    except OSError as error:
        why = error.strerror or str(error)
        raise InputError(f"{beside} cannot be read: {why}.", next_step=instead) from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        why = f"{beside} does not hold the facts of a script: {where}: {first['msg']}."
        raise InputError(why, next_step=instead) from error
