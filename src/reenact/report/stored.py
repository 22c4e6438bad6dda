"""What a pipeline left in the journal, for whoever shows it: its result, its notes, its trace."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from reenact.errors import JournalError, ReenactError
from reenact.journal import JournalReader, Run, State, Step
from reenact.probe.read import is_trace, read_trace
from reenact.probe.trace import Root, Trace

T = TypeVar("T")
RESULT = "result"
MOST_NOTES = 500


@dataclass(frozen=True)
class Stored:
    """One run and the shelf it stands on."""

    shelf: JournalReader
    run: Run
    folder: Path
    """The journal's."""

    def step(self, name: str) -> Step | None:
        """The step at a path below the story's, as it stands now."""
        found = self.shelf.steps_at(self.run, f"{self.run.pipeline}/{name}")
        return next((one for one in reversed(found) if one.state is not State.SUPERSEDED), None)

    def value(self, name: str) -> Any:
        """The result of that step as plain data; none when there is none."""
        step = self.step(name)
        return self.shelf.result(step) if step is not None else None

    def result(self, returns: type[T], name: str = RESULT) -> T:
        """What the pipeline found. Raises JournalError where it is not stored, or in another form."""
        step = self.step(name)
        if step is None or not step.has_result:
            raise JournalError(f"Run {self.run.id} has no {name}.")
        return self.shelf.typed_result(step, returns)

    def below(self, name: str, returns: type[T]) -> list[T]:
        """The results of all steps below a path, in order."""
        found = self.shelf.some_steps(self.run, under=f"{self.run.pipeline}/{name}", limit=MOST_NOTES)
        return [self.shelf.typed_result(one, returns) for one in found if one.has_result]

    def trace(self) -> Trace | None:
        """The trace of the watched training; none when nothing was watched or it was cleared away."""
        left = self.value("watch[2]") or self.value("watch")
        # The path in an imported run came with a file; whoever made it may not choose what is read here.
        if not isinstance(left, dict) or self.run.imported:
            return None
        folder = Path(str(left.get("folder", ""))).resolve()
        if not folder.is_relative_to((self.folder / "traces").resolve()) or not is_trace(folder):
            return None
        try:
            return _read(str(folder))
        except ReenactError:
            return None


@lru_cache(maxsize=4)
def _read(folder: str) -> Trace:
    return read_trace(Path(folder), root=Root(Path(folder)))
