"""`load_run`: a recorded run, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reenact.api.session import File

if TYPE_CHECKING:
    from reenact.journal import Run
    from reenact.program.program import Program


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """A run as the journal has it."""

    id: str
    command: str
    """diagnose, repair, bug, paper, ..."""
    what: str
    """The program, the report or the paper."""
    status: str
    """running, finished, failed, stopped or interrupted."""
    exit_code: int | None
    """None until it has ended."""
    verdict: Any
    """The verdict in short."""
    started_at: str
    seconds: float
    reused: str
    """What it took from earlier runs, in a line; empty for nothing."""
    stale: str
    """Why it is not about the program as it stands now, in a sentence; empty when it is."""
    result: Any
    """All that came of it, as `--output-format json` has it under `data`; None until there is a result."""

    def to_dict(self) -> dict[str, Any]:
        """The same as plain data."""
        return {name: getattr(self, name) for name in self.__slots__}


def stale(run: Run) -> str:
    """A sentence when the program of a run has another text today, or is gone; data are not compared."""
    from reenact.errors import ReenactError
    from reenact.trials.trial import Trial

    try:
        program = program_of_run(run)
    except ReenactError as error:
        return f"The program of this run cannot be read any more: {error.sentence}"
    request: Any = run.request_data()
    if program is None or Trial(program).key == request["program"]:
        return ""
    return f"{run.what} has changed since this run: the result is about the text as it was. Run it again."


def program_of_run(run: Run) -> Program | None:
    """The program of a diagnosis or a repair as it stands now; none of other runs, and of imported ones.
    Raises UnreadableProgram."""
    from reenact.program.program import read_program

    request: Any = run.request_data()
    if run.imported or not isinstance(request, dict) or "words" not in request:
        return None
    return read_program([str(word) for word in request["words"]], Path(str(request["working"])))


def load_run(run: str = "last", *, runs_dir: File | None = None) -> RecordedRun:
    """A recorded run, by its id, a part of it, its number, or "last".

    Example:
        reenact.load_run().result["findings"]

    Args:
        run: which one; `reenact runs list` shows them.
        runs_dir: folder of the journal; default: that of the settings (.reenact).
    """
    from reenact.journal import JournalReader
    from reenact.report.recorded import Stored, result_data
    from reenact.report.run_words import reused_in
    from reenact.settings import resolve

    folder = resolve({"runs_dir": None if runs_dir is None else Path(runs_dir)}).settings.runs_dir
    with JournalReader.open(folder) as shelf:
        record = shelf.find(run)
        return RecordedRun(
            id=record.id,
            command=record.pipeline,
            what=record.what,
            status=shelf.status_of(record),
            exit_code=record.exit_code,
            verdict=record.verdict_data() if record.verdict is not None else None,
            started_at=record.started_at,
            seconds=record.worked_s,
            reused=reused_in(record, shelf),
            stale=stale(record),
            result=result_data(Stored(shelf, record, folder)),
        )
