"""Runs and steps to and from the file. Nothing leaves here that its check sum does not vouch for."""

from __future__ import annotations

import sqlite3
from typing import Any

from reenact.errors import JournalDamaged
from reenact.journal.database import ASIDE
from reenact.journal.records import SUM, Kind, Run, State, Status, Step, check_of, digest, is_digest

RUN_COLUMNS = ", ".join(Run.columns())
STEP_COLUMNS = ", ".join(Step.columns())
SELECT_RUN = f"SELECT {RUN_COLUMNS} FROM run_rows"  # noqa: S608
SELECT_STEP = f"SELECT {STEP_COLUMNS} FROM step_rows"  # noqa: S608
_RUN_MARKS = ", ".join("?" for _ in Run.columns())
_STEP_MARKS = ", ".join("?" for _ in Step.columns())
_PUT_RUN = f"INSERT INTO run_rows ({RUN_COLUMNS}) VALUES ({_RUN_MARKS})"  # noqa: S608
_PUT_STEP = f"INSERT INTO step_rows ({STEP_COLUMNS}, inputs, result) VALUES ({_STEP_MARKS}, ?, ?)"  # noqa: S608
_SET_RUN = f"UPDATE run_rows SET ({RUN_COLUMNS}) = ({_RUN_MARKS}) WHERE seq = ? AND check_sum = ?"  # noqa: S608
_SET_STEP = f"UPDATE step_rows SET ({STEP_COLUMNS}) = ({_STEP_MARKS}) WHERE number = ? AND check_sum = ?"  # noqa: S608


def read_runs(connection: sqlite3.Connection, where: str, parameters: tuple[Any, ...] = ()) -> list[Run]:
    """Runs by a clause of this package, each proven intact."""
    rows = connection.execute(f"{SELECT_RUN} {where}", parameters).fetchall()
    return [run_of(row) for row in rows]


def read_steps(connection: sqlite3.Connection, where: str, parameters: tuple[Any, ...] = ()) -> list[Step]:
    """Steps by a clause of this package, each proven intact."""
    rows = connection.execute(f"{SELECT_STEP} {where}", parameters).fetchall()
    return [step_of(row) for row in rows]


def run_of(values: tuple[Any, ...]) -> Run:
    """The run that these columns hold."""
    named = proven(Run.columns(), values, "run")
    return Run(**{**named, "status": Status(named["status"])})


def step_of(values: tuple[Any, ...]) -> Step:
    """The step that these columns hold."""
    named = proven(Step.columns(), values, "step")
    return Step(**{**named, "kind": Kind(named["kind"]), "state": State(named["state"])})


def proven(columns: tuple[str, ...], values: tuple[Any, ...], what: str) -> dict[str, Any]:
    """The columns by name, when their check sum holds."""
    named = dict(zip(columns, values, strict=True))
    try:
        intact = named["check_sum"] == check_of(values)
    except (TypeError, ValueError):
        # A flipped type tag gives bytes where text was.
        intact = False
    if not intact:
        name = named["id"] if what == "run" else named["path"]
        raise damaged(f"{what} {name!s:.80} is not what was written")
    return named


def steps_of(connection: sqlite3.Connection, run: Run) -> list[Step]:
    """All steps of a run in the order they were begun, proven to be all of them, as last written."""
    steps = read_steps(connection, "WHERE run = ? ORDER BY nr", (run.seq,))
    checks = [step.check_sum for step in steps]
    if len(checks) != run.steps or sum(checks) % SUM != run.steps_sum:
        raise damaged(f"run {run.id} should have {run.steps} steps that fit together and has {len(checks)}")
    return steps


def read_body(connection: sqlite3.Connection, step: Step, column: str) -> str:
    """The `inputs` or the `result` of a step."""
    assert column in ("inputs", "result")
    row = connection.execute(f"SELECT {column} FROM step_rows WHERE number = ?", (step.number,)).fetchone()  # noqa: S608
    wanted = step.inputs_digest if column == "inputs" else step.result_digest
    return prove_body(step.path, column, row[0] if row else None, wanted)


def prove_body(path: str, column: str, body: object, wanted: str) -> str:
    """The text of an `inputs` or `result` column, when its digest holds."""
    if not isinstance(body, str) or not is_digest(wanted, body):
        raise damaged(f"the {column} of step {path} is not what was written")
    return body


def put_run(connection: sqlite3.Connection, run: Run) -> None:
    """A new run, and one more in the journal's own count."""
    connection.execute(_PUT_RUN, run.values())
    count_runs(connection, +1)


def set_run(connection: sqlite3.Connection, old: Run, new: Run) -> None:
    """Replace a run; the old state must still stand."""
    _changed_one(connection.execute(_SET_RUN, (*new.values(), old.seq, old.check_sum)), f"run {old.id}")


def put_step(connection: sqlite3.Connection, step: Step, inputs: str, result: str = "") -> None:
    """A new step with its bodies."""
    connection.execute(_PUT_STEP, (*step.values(), inputs, result))


def set_step(connection: sqlite3.Connection, old: Step, new: Step, result: str | None = None) -> None:
    """Replace a step; the old state must still stand. `result` is none when it stays."""
    _changed_one(
        connection.execute(_SET_STEP, (*new.values(), old.number, old.check_sum)), f"step {old.path}"
    )
    if result is not None:
        connection.execute("UPDATE step_rows SET result = ? WHERE number = ?", (result, old.number))


def count_runs(connection: sqlite3.Connection, change: int) -> None:
    """Keep the count of runs, by which a lost one is noticed."""
    row = connection.execute("SELECT runs, check_sum FROM journal_facts").fetchone()
    count = (_proven_count(row) if row else 0) + change
    connection.execute("INSERT OR REPLACE INTO journal_facts VALUES (1, ?, ?)", (count, _count_sum(count)))


def prove_count(connection: sqlite3.Connection) -> None:
    """That no run has gone missing."""
    row = connection.execute("SELECT runs, check_sum FROM journal_facts").fetchone()
    wanted = _proven_count(row) if row else 0
    found = connection.execute("SELECT count(*) FROM run_rows").fetchone()[0]
    if found != wanted:
        raise damaged(f"it should hold {wanted} runs and holds {found}")


def next_turn(connection: sqlite3.Connection) -> int:
    """The turn of a run that its command is to continue before all others."""
    turn: int = connection.execute("SELECT coalesce(max(turn), 0) + 1 FROM run_rows").fetchone()[0]
    return turn


def next_number(connection: sqlite3.Connection, table: str) -> int:
    """The number of the next row of `run_rows` or `step_rows`; numbers are never given twice."""
    row = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = ?", (table,)).fetchone()
    number: int = (row[0] if row else 0) + 1
    return number


def damaged(what: str) -> JournalDamaged:
    return JournalDamaged(f"The journal is damaged: {what}.", next_step=ASIDE)


def _proven_count(row: tuple[Any, ...]) -> int:
    count: int = row[0]
    if row[1] != _count_sum(count):
        raise damaged("the count of runs is not what was written")
    return count


def _count_sum(count: int) -> int:
    return int(digest(str(count), 12), 16) % SUM


def _changed_one(cursor: sqlite3.Cursor, what: str) -> None:
    if cursor.rowcount != 1:
        raise damaged(f"{what} was changed by somebody else while it was locked")
