"""All that the search for a script works with: what is asked, the project, the model, the boxes."""

from collections.abc import Sequence
from dataclasses import dataclass

from reenact.bug.context.context import Context
from reenact.bug.context.index import CodeIndex
from reenact.bug.options import BugOptions
from reenact.bug.project.codebase import Codebase
from reenact.bug.script_runner import Revision, ScriptRunner
from reenact.bug.symptom import Check, Symptom
from reenact.errors import ended_by
from reenact.llm.ask import Model
from reenact.types import Progress, Stop, Tell


@dataclass(frozen=True)
class Case:
    """One bug to be shown."""

    raw: str
    """The report as it came: what a symptom must be grounded in."""
    report: str
    """The report as the prompts show it."""
    symptom: Symptom
    contexts: Sequence[Context]
    code: CodeIndex
    buggy: Revision
    fixed: Revision | None
    runner: ScriptRunner
    model: Model
    options: BugOptions
    tell: Tell
    stop: Stop
    readme: str = ""
    """Examples of its use, from the project's README."""

    @property
    def project(self) -> Codebase:
        return self.code.project

    @property
    def check(self) -> Check | None:
        """The closing check of a silent bug."""
        return self.symptom.check if self.symptom.is_silent else None

    @property
    def functions(self) -> tuple[str, ...]:
        """Functions of the project that the report's own traceback names."""
        known = self.project.files.definitions
        return tuple(name for name in self.symptom.functions_in(self.raw) if name in known)

    @property
    def installed(self) -> str:
        """What scripts can import besides the project, with versions."""
        environment = self.runner.environment
        named = ", ".join(environment.direct or environment.packages) or "nothing but Python"
        keras = any(one.startswith("keras=") for one in environment.packages)
        return f"{named} (KERAS_BACKEND is {environment.keras})" if keras else named

    def shown(self, context: Context) -> str:
        """A context as the prompts show it, with the README's examples."""
        readme = f"## Examples of the README\n{self.readme}\n" if self.readme else ""
        return "\n".join(filter(None, [context.text(), readme]))

    def say(self, note: str) -> None:
        """Report progress; stop here when that was asked for."""
        if self.stop.asked:
            raise ended_by(self.stop, "Stopped between two steps.")
        self.tell(Progress("bug", note=note))
