"""One SELECT over the views `runs` and `steps`, on a file opened only to read.

The views are over the journal's tables as temporary ones of the same name whose every row is
proven first, so that a damaged row is an error and never part of an answer.
"""

import sqlite3
import time
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from reenact.errors import InputError, JournalDamaged, ReenactError
from reenact.journal.database import Database, statements
from reenact.journal.records import Run, Step
from reenact.journal.rows import damaged, prove_body, proven

ALLOWED = {
    sqlite3.SQLITE_SELECT,
    sqlite3.SQLITE_READ,
    sqlite3.SQLITE_FUNCTION,
    sqlite3.SQLITE_RECURSIVE,
}
LONGEST_VALUE = 64 * 1024 * 1024
LOOK_EVERY = 10_000
"""Instructions of SQLite between two looks at the clock."""


@dataclass(frozen=True, slots=True)
class QueryAnswer:
    """What a query gave."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    cut: bool
    """Whether there were more rows than asked for."""


def query(
    folder: Path,
    sql: str,
    *,
    limit: int = 1000,
    seconds: float = 60.0,
) -> QueryAnswer:
    """The answer to one SELECT over the views `runs` and `steps`."""
    damage: list[JournalDamaged] = []
    with closing(Database(folder / "journal.db", readonly=True)) as database:
        connection = database.connection
        _make_ready(connection, damage)
        deadline = time.monotonic() + seconds
        connection.set_progress_handler(
            lambda: int(time.monotonic() > deadline),
            LOOK_EVERY,
        )
        try:
            cursor = connection.execute(sql)
            rows = cursor.fetchmany(limit + 1)
        except (
            sqlite3.Error,
            sqlite3.Warning,
            ValueError,
            OverflowError,
            MemoryError,
        ) as error:
            raise (damage[-1] if damage else _refusal(error, seconds)) from error
    if not cursor.description:
        raise _refusal(ValueError("it asks for nothing"), seconds)
    columns = tuple(str(column[0]) for column in cursor.description)
    return QueryAnswer(
        columns,
        tuple(rows[:limit]),
        len(rows) > limit,
    )


def _make_ready(connection: sqlite3.Connection, damage: list[JournalDamaged]) -> None:
    """Prove every row that somebody's SQL reads, and let it do nothing but read."""
    connection.create_function(
        "intact_run",
        -1,
        partial(_intact, damage, Run),
    )
    connection.create_function(
        "intact_step",
        -1,
        partial(_intact, damage, Step),
    )
    runs, steps = statements()[-2:]
    # The layout was proven at opening, so the only foreign functions in it are those two. A limit
    # keeps SQLite from moving the query's own conditions in between a row and its proof.
    made = (
        _proving(runs, Run, ""),
        _proving(steps, Step, "inputs, result, "),
    )
    for statement in ("PRAGMA query_only = OFF", "PRAGMA trusted_schema = ON", *made):
        connection.execute(statement)
    connection.execute("PRAGMA query_only = ON")
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_VALUE)
    connection.set_authorizer(_only_reading)


def _refusal(error: Exception, seconds: float) -> ReenactError:
    code = getattr(error, "sqlite_errorcode", 0)
    if code & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return damaged(str(error))
    if code == sqlite3.SQLITE_INTERRUPT:
        return InputError(f"The query took longer than {seconds:.0f} seconds.")
    example = 'For example: reenact runs query "SELECT id, pipeline, status FROM runs"'
    return InputError(
        f"The query was refused: {error}. Only one SELECT is answered.",
        next_step=example,
    )


def _intact(
    damage: list[JournalDamaged],
    row: type[Run] | type[Step],
    *values: Any,
) -> int:
    """Whether a row is what was written; the columns of a step follow its inputs and its result."""
    bodies, values = (
        (
            values[:2],
            values[2:],
        )
        if row is Step
        else ((), values)
    )
    try:
        columns = proven(row, values)
        for name, body in zip(("inputs", "result"), bodies, strict=False):
            prove_body(
                columns["path"],
                name,
                body,
                columns[f"{name}_digest"],
            )
    except JournalDamaged as error:
        damage.append(error)
        raise
    return 1


def _proving(
    view: str,
    row: type[Run] | type[Step],
    bodies: str,
) -> str:
    """The statement that makes a view, as a temporary one over rows that were proven."""
    proof = f"intact_{row.__name__.lower()}({bodies}{', '.join(row.columns())})"
    rows = f" FROM (SELECT * FROM {row.TABLE} WHERE {proof} LIMIT -1)"  # noqa: S608
    return view.replace("CREATE", "CREATE TEMP", 1).replace(
        f" FROM {row.TABLE}",
        rows,
    )


def _only_reading(action: int, *names: str | None) -> int:
    if action == sqlite3.SQLITE_FUNCTION and names[1] == "load_extension":
        return sqlite3.SQLITE_DENY
    if action in ALLOWED:
        return sqlite3.SQLITE_OK
    return sqlite3.SQLITE_DENY
