"""One version that is being worked on, with all that both roles know of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from reenact.journal import Scope
from reenact.paper.develop.brief import Brief
from reenact.paper.develop.checks import Checked, Stage, checked
from reenact.paper.develop.state import State
from reenact.paper.develop.workshop import Workshop
from reenact.paper.project import Project


@dataclass(frozen=True)
class Work:
    """Frozen: the next version is another one."""

    brief: Brief
    shop: Workshop
    stage: Stage = Stage.DATA
    project: Project = field(default_factory=Project)
    state: State = field(default_factory=State)
    found: Checked = field(default_factory=lambda: Checked(()))
    """What the checks found of this version."""
    tries: int = 0
    """Attempts to mend it."""

    @property
    def runs(self) -> bool:
        return not self.found.problems

    def at(self, stage: Stage) -> Work:
        """The same version at the next stage."""
        return replace(self, stage=stage, tries=0)

    def with_project(self, project: Project, assumed: Sequence[str], scope: Scope) -> Work:
        """Another version, checked, with what it takes for granted."""
        found = checked(self.stage, project, self.shop, scope)
        return replace(self, project=project, found=found, state=self.state.assuming(*assumed))

    def knowing(self, state: State) -> Work:
        return replace(self, state=state)

    @property
    def seen(self) -> Work:
        """With what the executions showed in the state."""
        return self.knowing(self.state.saw(*self.found.facts))
