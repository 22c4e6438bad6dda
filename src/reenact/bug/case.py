"""All that the search for a script works with: what is asked, the project, the model, the boxes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from reenact.bug.options import BugOptions
from reenact.bug.project.lookup import Codebase
from reenact.bug.run.script_runner import Revision, ScriptRunner
from reenact.bug.symptom import Symptom
from reenact.errors import ended_by
from reenact.llm.ask import Model
from reenact.types import Progress, Stop, Tell


class CodeContext(Protocol):
    """A context, as far as the search needs it."""

    @property
    def name(self) -> str: ...

    @property
    def why(self) -> str: ...

    def text(self) -> str: ...


@dataclass(frozen=True)
class Case:
    """One bug to be shown."""

    raw: str
    """The report as it came: what a symptom must be grounded in."""
    report: str
    """The report as the prompts show it."""
    symptom: Symptom
    contexts: Sequence[CodeContext]
    project: Codebase
    buggy: Revision
    fixed: Revision | None
    runner: ScriptRunner
    model: Model
    options: BugOptions
    tell: Tell
    stop: Stop

    @property
    def functions(self) -> tuple[str, ...]:
        """Functions of the project that the report's own traceback names."""
        known = self.project.files.definitions
        return tuple(name for name in self.symptom.functions_in(self.raw) if name in known)

    @property
    def grounded(self) -> bool:
        """Whether the report itself says what must be seen."""
        return self.symptom.grounded(self.raw)

    def with_symptom(self, symptom: Symptom) -> Case:
        """The same case with a closing check that a plan made concrete."""
        return self if symptom is self.symptom else replace(self, symptom=symptom)

    def say(self, note: str) -> None:
        """Tell the user what happens; stop here when that was asked for."""
        if self.stop.asked:
            raise ended_by(self.stop, "Stopped between two steps.")
        self.tell(Progress("bug", note=note))
