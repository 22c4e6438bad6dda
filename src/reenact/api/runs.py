"""`load_run`: a recorded run, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reenact.api.session import File


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
    result: Any
    """All that came of it, as `--output-format json` has it under `data`; None until there is a result."""

    def to_dict(self) -> dict[str, Any]:
        """The same as plain data."""
        return {name: getattr(self, name) for name in self.__slots__}


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
            result=result_data(Stored(shelf, record, folder)),
        )
