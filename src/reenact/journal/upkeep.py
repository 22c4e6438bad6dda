"""Keeping a journal: remove a run with what only it needs, and check that everything is as it
was written.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product

from reenact.errors import InputError, JournalDamaged, RunLocked
from reenact.journal.artefacts import Artefacts
from reenact.journal.database import Database
from reenact.journal.records import Run
from reenact.journal.rows import (
    count_runs,
    damaged,
    prove_count,
    read_body,
    read_rows,
    steps_of,
)
from reenact.journal.storage import Locks

IMPORTING = 0
"""The lock of anyone who brings in or sweeps artefacts that no step names. Runs count from 1."""


@dataclass(frozen=True, slots=True)
class Removed:
    """What a removal took away."""

    run: str
    artefacts: int | None
    """Files removed; none when others are at work and the next removal will see to it."""


@dataclass(frozen=True, slots=True)
class Checked:
    """What a check of the whole journal found."""

    runs: int
    steps: int
    artefacts: int
    problems: tuple[str, ...]


def remove_run(
    database: Database,
    artefacts: Artefacts,
    locks: Locks,
    name: str,
) -> Removed:
    """Remove one run by id or number. A damaged one can be removed, too: nothing of it is read."""
    like = "SELECT seq, id FROM run_rows WHERE instr(id, ?) OR CAST(seq AS TEXT) = ?"
    rows = database.rows(like, (name, name))
    exact = [
        row
        for row in rows
        if name
        in (
            str(row[0]),
            row[1],
        )
    ] or rows
    if len(exact) != 1:
        raise InputError(f"{name!r} does not name one run here.", next_step="reenact runs list")
    seq, run_id = exact[0]
    if not locks.take(seq):
        raise RunLocked(f"Run {run_id} is being worked on.", next_step="Stop it first.")
    try:
        with database.transaction() as connection:
            connection.execute("DELETE FROM step_rows WHERE run = ?", (seq,))
            connection.execute("DELETE FROM run_rows WHERE seq = ?", (seq,))
            count_runs(connection, -1)
    finally:
        locks.release(seq)
    return Removed(str(run_id), _sweep(database, artefacts, locks))


def _sweep(database: Database, artefacts: Artefacts, locks: Locks) -> int | None:
    """Remove artefacts that no step names, unless somebody may be about to name one."""
    if not locks.take(IMPORTING):
        return None
    try:
        # A run writes to the file before it makes artefacts: none can begin while this transaction
        # is open.
        with database.transaction() as connection:
            running = connection.execute(
                "SELECT seq FROM run_rows WHERE status = 'running'"
            ).fetchall()
            if any(locks.is_held(row[0]) for row in running):
                return None
            lists = connection.execute(
                "SELECT DISTINCT artefacts FROM step_rows WHERE artefacts <> '[]'"
            )
            try:
                needed = {name for row in lists for name in json.loads(str(row[0]))}
            except ValueError as error:
                raise JournalDamaged(
                    "A step's list of artefacts is damaged; nothing was swept."
                ) from error
            orphans = [name for name in artefacts.names() if name not in needed]
            for name in orphans:
                artefacts.drop(name)
    finally:
        locks.release(IMPORTING)
    return len(orphans)


def check_all(database: Database, artefacts: Artefacts) -> Checked:
    """Read everything once and say what is not as it was written."""
    problems: list[str] = []
    counted = 0
    names: dict[str, None] = {}
    with database.snapshot() as connection:
        structure = [str(row[0]) for row in connection.execute("PRAGMA integrity_check(20)")]
        problems += [] if structure == ["ok"] else [f"The file: {line}." for line in structure]
        numbers = [row[0] for row in connection.execute("SELECT seq FROM run_rows ORDER BY seq")]
        with _collecting(problems):
            prove_count(connection)
        for seq in numbers:
            with _collecting(problems):
                runs = read_rows(connection, Run, "WHERE seq = ?", (seq,))
                if not runs:
                    raise damaged(f"run {seq} is in the list of runs and cannot be found")
                steps = steps_of(connection, runs[0])
                for step, column in product(steps, ("inputs", "result")):
                    read_body(connection, step, column)
                counted += len(steps)
                names |= dict.fromkeys(name for step in steps for name in step.artefact_hashes())
    for name in names:
        with _collecting(problems):
            artefacts.read(name)
    return Checked(
        len(numbers),
        counted,
        len(names),
        tuple(problems),
    )


@contextmanager
def _collecting(problems: list[str]) -> Iterator[None]:
    try:
        yield
    except JournalDamaged as error:
        problems.append(error.sentence)
