"""What the pipeline of a bug needs from outside."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from reenact.bug.reproduction import Reproduction
from reenact.intake.repository import History
from reenact.journal import Journal
from reenact.llm.ask import Model
from reenact.sandbox.box import Sandbox
from reenact.sandbox.environments.prepare import Environments
from reenact.types import Stop, Tell, tell_nobody


@dataclass(frozen=True)
class BugServices:
    """What the pipeline needs from outside."""

    journal: Journal
    model: Model
    sandbox: Sandbox
    environments: Environments | None = None
    """Builds environments; without it only this interpreter's packages can be used."""
    history: History | None = None
    """Of the repository, where a commit is looked for."""
    report: Callable[[Reproduction], str] | None = None
    """What REPORT.md holds; without it that file is not written."""
    tell: Tell = tell_nobody
    stop: Stop = field(default_factory=Stop)
    argv: Sequence[str] = ()
    fresh: bool = False
    """Start over instead of resuming an interrupted run."""
