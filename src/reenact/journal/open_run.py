"""A run that is being worked on: the scope of its pipeline, its verdict, and how it ends."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Self

from reenact.errors import BudgetSpent, JournalError, ReenactError, Stopped, StorageError
from reenact.journal.bodies import ROW_CHARACTERS
from reenact.journal.recorder import Recorder
from reenact.journal.records import Run, Status
from reenact.journal.reuse import continued_line, reused_line
from reenact.journal.scope import Scope
from reenact.types import ExitCode


class OpenRun(Scope):
    """`with journal.run(...) as run:`. Left by an error, the run stays and its command continues it."""

    def __init__(self, recorder: Recorder, release: Callable[[], None]) -> None:
        super().__init__(recorder, recorder.run.pipeline)
        self._release = release

    @property
    def record(self) -> Run:
        """The run as the file has it: id, counts, what was paid so far over all executions."""
        return self._recorder.run

    @property
    def worked_s(self) -> float:
        """Seconds of work so far, over all executions."""
        return self._recorder.worked_s()

    @property
    def is_continued(self) -> bool:
        """Whether an earlier execution worked on this run."""
        return self.record.executions > 1

    @property
    def reused(self) -> str:
        """What of the result was not made by this execution, in a line for its reader; empty for nothing."""
        recorder = self._recorder
        now, taken = recorder.clock.now(), recorder.taken()
        names = {step.reused_from for step in taken if step.reused_from}
        lines = (
            continued_line(self.record, len(recorder.kept), recorder.interrupted_at, now),
            reused_line(taken, {name: recorder.ended_at(name) for name in names}, now),
        )
        return " ".join(line for line in lines if line)

    def finish(self, verdict: object, exit_code: ExitCode = ExitCode.OK) -> None:
        """Write the verdict (plain data, small), and what was reused. The run takes no more steps."""
        if line := self.reused:
            self.note("reused", line)
        body = self._recorder.bodies.body(verdict)
        if body.artefacts:
            raise JournalError(
                f"A verdict is at most {ROW_CHARACTERS} characters of plain data. Received: {verdict!r:.80}.",
                next_step="Put the large parts into steps.",
            )
        self._recorder.end(Status.FINISHED, exit_code=int(exit_code), verdict=body.text)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if self.record.status is not Status.FINISHED:
                self._end(error)
        except (StorageError, JournalError) as trouble:
            if error is None:
                raise
            # The disk that failed the run also refuses this note; the run is found as interrupted later.
            error.add_note(f"The journal could not be told: {trouble.sentence}")
        finally:
            self._release()

    def _end(self, error: BaseException | None) -> None:
        gently = error is None or isinstance(error, Stopped | BudgetSpent) or not isinstance(error, Exception)
        self._recorder.end(
            Status.STOPPED if gently else Status.FAILED, exit_code=_exit_code(error), error=error
        )


def _exit_code(error: BaseException | None) -> int | None:
    if error is None:
        return None
    if isinstance(error, ReenactError):
        return int(error.exit_code)
    return int(ExitCode.ERROR if isinstance(error, Exception) else ExitCode.STOPPED)
