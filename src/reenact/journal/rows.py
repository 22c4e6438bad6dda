"""Runs and steps to and from the file. Nothing leaves here that its check sum does not vouch
for.
"""

import sqlite3
from typing import Any, TypeVar

from reenact.errors import JournalDamaged
from reenact.journal.database import ASIDE
from reenact.journal.records import SUM, Run, Step, check_of, digest, is_digest

Row = TypeVar("Row", Run, Step)


def read_rows(
    connection: sqlite3.Connection,
    kind: type[Row],
    where: str,
    parameters: tuple[Any, ...] = (),
) -> list[Row]:
    """Rows by a clause of this package, each proven intact."""
    wanted = f"SELECT {', '.join(kind.columns())} FROM {kind.TABLE} {where}"  # noqa: S608
    return [row_of(kind, values) for values in connection.execute(wanted, parameters).fetchall()]


def row_of(
    kind: type[Row],
    values: tuple[Any, ...],
) -> Row:
    """The run or the step that these columns hold."""
    columns = proven(kind, values)
    for name, words in kind.WORDS:
        columns[name] = words(columns[name])
    return kind(**columns)


def proven(
    kind: type[Run] | type[Step],
    values: tuple[Any, ...],
) -> dict[str, Any]:
    """The columns by name, when their check sum holds."""
    named = dict(zip(kind.columns(), values, strict=True))
    try:
        intact = named["check_sum"] == check_of(values)
    except (TypeError, ValueError):
        # A flipped type tag gives bytes where text was.
        intact = False
    if not intact:
        raise damaged(f"{kind.__name__.lower()} {named[kind.NAME]!s:.80} is not what was written")
    return named


def steps_of(connection: sqlite3.Connection, run: Run) -> list[Step]:
    """All steps of a run in the order they were begun, proven to be all of them, as last
    written.
    """
    steps = read_rows(connection, Step, "WHERE run = ? ORDER BY nr", (run.seq,))
    checks = [step.check_sum for step in steps]
    if len(checks) != run.steps or sum(checks) % SUM != run.steps_sum:
        raise damaged(
            f"run {run.id} should have {run.steps} steps that fit together and has {len(checks)}"
        )
    return steps


def read_body(connection: sqlite3.Connection, step: Step, column: str) -> str:
    """The `inputs` or the `result` of a step."""
    assert column in ("inputs", "result")
    row = connection.execute(
        f"SELECT {column} FROM step_rows WHERE number = ?",  # noqa: S608
        (step.number,),
    ).fetchone()
    wanted = step.inputs_digest if column == "inputs" else step.result_digest
    return prove_body(
        step.path,
        column,
        row[0] if row else None,
        wanted,
    )


def prove_body(path: str, column: str, body: object, wanted: str) -> str:
    """The text of an `inputs` or `result` column, when its digest holds."""
    if not isinstance(body, str) or not is_digest(wanted, body):
        raise damaged(f"the {column} of step {path} is not what was written")
    return body


def put_row(connection: sqlite3.Connection, row: Run | Step, **bodies: str) -> None:
    """A new row, of a step with its bodies; of a run one more in the journal's own count."""
    columns = (*row.columns(), *bodies)
    marks = ", ".join("?" for _ in columns)
    new = f"INSERT INTO {row.TABLE} ({', '.join(columns)}) VALUES ({marks})"  # noqa: S608
    connection.execute(
        new,
        (*row.values(), *bodies.values()),
    )
    if isinstance(row, Run):
        count_runs(connection, +1)


def set_row(
    connection: sqlite3.Connection,
    old: Row,
    new: Row,
    **bodies: str,
) -> None:
    """Replace a row; the old state must still be there. Bodies that are not given stay."""
    columns = (*new.columns(), *bodies)
    marks = ", ".join("?" for _ in columns)
    change = f"UPDATE {new.TABLE} SET ({', '.join(columns)}) = ({marks})"  # noqa: S608
    number = getattr(old, old.KEY)
    name = getattr(old, old.NAME)
    values = (
        *new.values(),
        *bodies.values(),
        number,
        old.check_sum,
    )
    if connection.execute(f"{change} WHERE {old.KEY} = ? AND check_sum = ?", values).rowcount != 1:
        what = f"{type(old).__name__.lower()} {name}"
        raise damaged(f"{what} was changed by somebody else while it was locked")


def count_runs(connection: sqlite3.Connection, change: int) -> None:
    """Keep the count of runs, by which a lost one is noticed."""
    count = _counted(connection) + change
    connection.execute(
        "INSERT OR REPLACE INTO journal_facts VALUES (1, ?, ?)",
        (count, _count_sum(count)),
    )


def prove_count(connection: sqlite3.Connection) -> None:
    """That no run has gone missing."""
    wanted = _counted(connection)
    found = connection.execute("SELECT count(*) FROM run_rows").fetchone()[0]
    if found != wanted:
        raise damaged(f"it should hold {wanted} runs and holds {found}")


def next_turn(connection: sqlite3.Connection) -> int:
    """The turn of a run that its command is to continue before all others."""
    return int(connection.execute("SELECT coalesce(max(turn), 0) + 1 FROM run_rows").fetchone()[0])


def next_number(
    connection: sqlite3.Connection,
    kind: type[Run] | type[Step],
) -> int:
    """The number of the next row; numbers are never given twice."""
    row = connection.execute(
        "SELECT seq FROM sqlite_sequence WHERE name = ?", (kind.TABLE,)
    ).fetchone()
    return int(row[0] if row else 0) + 1


def damaged(what: str) -> JournalDamaged:
    return JournalDamaged(f"The journal is damaged: {what}.", next_step=ASIDE)


def _counted(connection: sqlite3.Connection) -> int:
    row = connection.execute("SELECT runs, check_sum FROM journal_facts").fetchone() or (
        0,
        _count_sum(0),
    )
    count: int = row[0]
    if row[1] != _count_sum(count):
        raise damaged("the count of runs is not what was written")
    return count


def _count_sum(count: int) -> int:
    return (
        int(
            digest(str(count), 12),
            16,
        )
        % SUM
    )
