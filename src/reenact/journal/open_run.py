"""A run that is being worked on: the scope of its pipeline, its verdict, and how it ends.

Anyone who reads a result must know which parts of it were not made now, and how to have all of it made
again: one line says it.
"""

from collections import Counter
from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from typing import Any, Self

from reenact.errors import (
    BudgetSpent,
    JournalError,
    ReenactError,
    Stopped,
    StorageError,
)
from reenact.journal.codec import ROW_CHARACTERS
from reenact.journal.recorder import Recorder
from reenact.journal.records import Kind, Run, Status
from reenact.journal.scope import Scope
from reenact.types import ExitCode

WORDS = {Kind.TRIAL: "training", Kind.LLM: "model answer"}
NAMED = 3
"""Runs that are named one by one; more of them are counted."""


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
    def paid(self) -> dict[str, Any]:
        """The fields of a result that tell what its models cost, and of which run it is."""
        run = self.record
        money = None if run.unpriced else Decimal(run.money)
        return {
            "tokens": run.tokens_in + run.tokens_out,
            "money": money,
            "run_id": run.id,
        }

    @property
    def is_continued(self) -> bool:
        """Whether an earlier execution worked on this run."""
        return self.record.executions > 1

    @property
    def reused(self) -> str:
        """What of the result was not made by this execution, in a line for its reader; empty
        for nothing.
        """
        return " ".join(
            filter(
                None,
                (self._continued(), self._taken()),
            )
        )

    def _continued(self) -> str:
        """That an interrupted run went on; empty when nothing of it was kept."""
        kept = len(self._recorder.kept)
        if not kept:
            return ""
        when = self._clock_time(self._recorder.interrupted_at)
        what = "step is" if kept == 1 else "steps are"
        about = f"Continued run {self.record.id}, interrupted {when}: {kept} finished {what} kept."
        return f"{about} --fresh starts over."

    def _taken(self) -> str:
        """What was taken from finished runs, and when each of them ended; empty for nothing."""
        steps = self._recorder.taken()
        names = dict.fromkeys(step.reused_from or "" for step in steps)
        ended = {name: self._recorder.ended_at(name) for name in names}
        sources = [
            f"{name} ({self._clock_time(when)})" if when else name for name, when in ended.items()
        ]
        if not sources:
            return ""
        where = f"run {sources[0]}" if len(sources) == 1 else f"runs {', '.join(sources)}"
        if len(sources) > NAMED:
            where = f"{len(sources)} runs, the last {sources[-1]}"
        counts = Counter(WORDS.get(step.kind, "step") for step in steps)
        what = ", ".join(f"{number} {word}{'s' * (number > 1)}" for word, number in counts.items())
        return f"Reused from {where}: {what}. --fresh runs everything again."

    def _clock_time(self, moment: str) -> str:
        """The time of the reader's clock, with the date when that is another day."""
        then = datetime.fromisoformat(moment).astimezone()
        now = self._recorder.clock.now().astimezone()
        if then.date() == now.date():
            return f"{then:%H:%M}"
        return f"{then:%Y-%m-%d %H:%M}"

    def finish(
        self,
        verdict: object,
        exit_code: ExitCode = ExitCode.OK,
        *,
        reused: str = "",
    ) -> None:
        """Write the verdict (plain data, small), and what was reused, or in `reused` why nothing
        was. The run takes no more steps.
        """
        line = reused or self.reused
        if line:
            self.note("reused", line)
        body = self._recorder.bodies.body(verdict)
        if body.artefacts:
            form = f"at most {ROW_CHARACTERS} characters of plain data"
            why = f"A verdict is {form}. Received: {verdict!r:.80}."
            raise JournalError(why, next_step="Put the large parts into steps.")
        self._recorder.end(Status.FINISHED, exit_code, verdict=body.text)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: object,
        error: BaseException | None,
        trace: object,
    ) -> None:
        try:
            if self.record.status is not Status.FINISHED:
                self._end(error)
        except (StorageError, JournalError) as trouble:
            if error is None:
                raise
            # The disk that failed the run also refuses this note; the run is found as interrupted
            # later.
            error.add_note(f"The journal could not be written: {trouble.sentence}")
        finally:
            self._release()

    def _end(self, error: BaseException | None) -> None:
        gently = (
            error is None
            or isinstance(error, Stopped | BudgetSpent)
            or not isinstance(error, Exception)
        )
        code: ExitCode | None = None
        if isinstance(error, ReenactError):
            code = error.exit_code
        elif error is not None:
            code = ExitCode.ERROR if isinstance(error, Exception) else ExitCode.STOPPED
        self._recorder.end(
            Status.STOPPED if gently else Status.FAILED,
            code,
            error,
            verdict=None,
        )
