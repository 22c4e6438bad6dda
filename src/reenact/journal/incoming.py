"""A run into a journal, from a file that somebody else may have made.

Every column must have its form, every artefact must be named by a step, and the check sums of the journal it
left must hold. Then it gets numbers and check sums of this journal, all in one transaction. It is signed by
nobody: nothing of it is ever taken as evidence here.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from reenact.errors import InputError, JournalError
from reenact.journal.archive import Record, read_records
from reenact.journal.artefacts import Artefacts
from reenact.journal.database import Database
from reenact.journal.forms import expect, formed_run, formed_step
from reenact.journal.locks import Locks
from reenact.journal.outgoing import as_json
from reenact.journal.records import SUM, Run, Status, Step
from reenact.journal.rows import (
    next_number,
    prove_complete,
    put_run,
    put_step,
    read_runs,
    read_steps,
    set_run,
)
from reenact.journal.upkeep import IMPORTING


@dataclass(frozen=True, slots=True)
class Moved:
    """What an import did."""

    run: Run
    is_new: bool
    """False when the same run was here already."""


def import_run(database: Database, artefacts: Artefacts, locks: Locks, path: Path) -> Moved:
    """Take the run of a file into this journal. The same file twice changes nothing."""
    if not path.is_file():
        raise InputError(f"There is no file {path}.")
    if not locks.take(IMPORTING):
        raise JournalError("Another import or a removal is under way here.", next_step="Try again soon.")
    try:
        with _refusing(path):
            records = read_records(path)
            run = formed_run(next(records))
            here = _same_id(database, run)
            if here is None:
                return Moved(_take_in(database, artefacts, run, records), is_new=True)
            coming = _likeness(run, (formed_step(record)[0] for record in records if record.kind == "step"))
        if coming != _likeness(here, _steps_of(database, here)):
            raise InputError(
                f"Run {here.id} is here already and has gone another way since.",
                next_step=f"reenact runs remove {here.id}, then import again",
            )
        return Moved(here, is_new=False)
    finally:
        locks.release(IMPORTING)


def _take_in(database: Database, artefacts: Artefacts, run: Run, records: Iterator[Record]) -> Run:
    kept: set[str] = set()
    record = next(records)
    while record.kind == "artefact":
        kept.add(artefacts.keep(record.data).sha256)
        record = next(records)
    with database.transaction() as connection, _doubles_refused():
        local = _local(connection, run)
        put_run(connection, local)
        numbers = _Numbers(next_number(connection, "step_rows"))
        while record.kind == "step":
            step, inputs, result = formed_step(record)
            expect(step.run == run.seq, "a step in it belongs to another run")
            put_step(connection, numbers.own(step, local.seq), inputs, result)
            record = next(records)
        expect(record.kind == "end", "its parts are in the wrong order")
        expect(next(records, None) is None, "something follows its end")
        expect(numbers.named == kept, "its steps and its artefacts do not belong together")
        expect((numbers.count, numbers.old_sum) == (run.steps, run.steps_sum), "steps are missing in it")
        whole = replace(local, steps_sum=numbers.new_sum).sealed(None)
        set_run(connection, local, whole)
    return whole


class _Numbers:
    """Gives incoming steps their numbers here and adds up both journals' check sums."""

    def __init__(self, first: int) -> None:
        self._first = first
        self.count = self.old_sum = self.new_sum = 0
        self.named: set[str] = set()

    def own(self, step: Step, run: int) -> Step:
        own = replace(step, run=run, number=self._first + self.count).sealed(None)
        self.count += 1
        self.old_sum = (self.old_sum + step.check_sum) % SUM
        self.new_sum = (self.new_sum + own.check_sum) % SUM
        self.named.update(step.artefact_hashes())
        return own


def _local(connection: sqlite3.Connection, run: Run) -> Run:
    turn = connection.execute("SELECT coalesce(max(turn), 0) + 1 FROM run_rows").fetchone()[0]
    seq = next_number(connection, "run_rows")
    return replace(run, seq=seq, turn=turn, status=_settled(run), imported=1).sealed(None)


def _settled(run: Run) -> Status:
    # Nobody works on it here, whatever was going on when it was exported.
    return Status.STOPPED if run.status is Status.RUNNING else run.status


def _same_id(database: Database, run: Run) -> Run | None:
    with database.snapshot() as connection:
        found = read_runs(connection, "WHERE id = ?", (run.id,))
    return found[0] if found else None


def _steps_of(database: Database, run: Run) -> list[Step]:
    with database.snapshot() as connection:
        steps = read_steps(connection, "WHERE run = ? ORDER BY nr", (run.seq,))
    prove_complete(run, steps)
    return steps


def _likeness(run: Run, steps: Iterable[Step]) -> bytes:
    """One hash of all that does not differ from journal to journal."""
    bare = replace(run, check_sum=0, mac="", seq=0, turn=0, steps_sum=0, imported=0, status=_settled(run))
    mark = hashlib.blake2b(as_json(bare))
    for step in steps:
        mark.update(as_json(replace(step, check_sum=0, mac="", number=0, run=0)))
    return mark.digest()


@contextmanager
def _doubles_refused() -> Iterator[None]:
    try:
        yield
    except sqlite3.IntegrityError as error:
        raise ValueError("a step is in it twice") from error


@contextmanager
def _refusing(path: Path) -> Iterator[None]:
    try:
        yield
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"{path} is not a run that can be imported: {error}.",
            next_step="Export it again: reenact runs export RUN FILE",
        ) from error
