"""The layout of the file, its version, and how an older file becomes a current one.

Tables hold what the program needs; the views `runs` and `steps` are for people and stay as documented.
"""

from __future__ import annotations

import sqlite3

from reenact.errors import JournalDamaged, JournalError

TABLES = (
    """CREATE TABLE journal_facts (
        one INTEGER PRIMARY KEY CHECK (one = 1), runs INTEGER NOT NULL, check_sum INTEGER NOT NULL)""",
    """CREATE TABLE run_rows (
        check_sum INTEGER NOT NULL, seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE,
        pipeline TEXT NOT NULL, what TEXT NOT NULL, request TEXT NOT NULL, request_hash TEXT NOT NULL,
        argv TEXT NOT NULL, folder TEXT NOT NULL, fresh INTEGER NOT NULL, turn INTEGER NOT NULL,
        status TEXT NOT NULL, exit_code INTEGER, verdict TEXT, error_type TEXT, error TEXT,
        started_at TEXT NOT NULL, ended_at TEXT, worked_s REAL NOT NULL, executions INTEGER NOT NULL,
        steps INTEGER NOT NULL, steps_sum INTEGER NOT NULL, done INTEGER NOT NULL, reused INTEGER NOT NULL,
        failed INTEGER NOT NULL, money TEXT NOT NULL, tokens_in INTEGER NOT NULL, tokens_out INTEGER NOT NULL,
        unpriced INTEGER NOT NULL, version TEXT NOT NULL, python TEXT NOT NULL, host TEXT NOT NULL,
        boot TEXT NOT NULL, pid INTEGER NOT NULL, imported INTEGER NOT NULL, mac TEXT NOT NULL DEFAULT '')""",
    "CREATE INDEX run_by_request ON run_rows (pipeline, request_hash, turn)",
    "CREATE INDEX run_by_turn ON run_rows (turn)",
    """CREATE TABLE step_rows (
        check_sum INTEGER NOT NULL, number INTEGER PRIMARY KEY AUTOINCREMENT,
        run INTEGER NOT NULL REFERENCES run_rows (seq) ON DELETE CASCADE, nr INTEGER NOT NULL,
        path TEXT NOT NULL, kind TEXT NOT NULL, version INTEGER NOT NULL, key TEXT NOT NULL,
        state TEXT NOT NULL, tries INTEGER NOT NULL, started_at TEXT NOT NULL, ended_at TEXT,
        duration_s REAL NOT NULL, money TEXT, tokens_in INTEGER NOT NULL, tokens_out INTEGER NOT NULL,
        reused_from TEXT, error_type TEXT, error TEXT, error_next TEXT, final INTEGER NOT NULL,
        artefacts TEXT NOT NULL, inputs_digest TEXT NOT NULL, result_digest TEXT NOT NULL,
        inputs TEXT NOT NULL, result TEXT NOT NULL, mac TEXT NOT NULL DEFAULT '')""",
    "CREATE UNIQUE INDEX step_by_run ON step_rows (run, nr)",
    "CREATE UNIQUE INDEX step_by_key ON step_rows (key, run)",
    "CREATE INDEX step_by_path ON step_rows (run, path)",
)
RUNS_VIEW = """VIEW runs AS SELECT
    id, seq, pipeline, what, status, exit_code, verdict, error_type, error, started_at, ended_at, worked_s,
    executions, steps, done, reused, failed, CAST(money AS REAL) AS money, tokens_in, tokens_out, unpriced,
    request, argv, folder, fresh, version, python, imported FROM run_rows"""
STEPS_VIEW = """VIEW steps AS SELECT
    (SELECT id FROM run_rows WHERE seq = run) AS run, nr, path, kind, version, state, tries, started_at,
    ended_at, duration_s, CAST(money AS REAL) AS money, tokens_in, tokens_out, reused_from, error_type, error,
    key, inputs, result FROM step_rows"""


def _version(connection: sqlite3.Connection) -> int:
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return version


def _layout(connection: sqlite3.Connection) -> set[str]:
    rows = connection.execute("SELECT sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'").fetchall()
    return {_squeezed(str(row[0])) for row in rows}


def _squeezed(statement: str) -> str:
    return " ".join(statement.split())


def _add_macs(connection: sqlite3.Connection) -> None:
    """1 to 2: rows get a column for a keyed hash. Old rows have none: they are shown and not believed."""
    for table in ("run_rows", "step_rows"):
        connection.execute(f"ALTER TABLE {table} ADD COLUMN mac TEXT NOT NULL DEFAULT ''")


RENAMED = "story TO pipeline"
"""The column of format 3 that had another name before, also in files of exported runs."""


def _rename_column(connection: sqlite3.Connection) -> None:
    """2 to 3: check sums and keyed hashes are over values in their order, so that they hold."""
    connection.execute("DROP VIEW runs")
    connection.execute(f"ALTER TABLE run_rows RENAME COLUMN {RENAMED}")
    connection.execute(f"CREATE {RUNS_VIEW}")


VERSION = 3
STATEMENTS = (*TABLES, f"CREATE {RUNS_VIEW}", f"CREATE {STEPS_VIEW}")
"""What makes an empty file a journal of this version; also what a journal must look like."""
MIGRATIONS = {1: _add_macs, 2: _rename_column}
"""From a version to the next, inside one transaction. Check sums are the migration's business too."""


def is_settled(connection: sqlite3.Connection) -> bool:
    """Whether the file is of this version; then its layout is proven, too. A newer one is refused."""
    version = _version(connection)
    if version > VERSION:
        raise JournalError(
            f"This journal has format {version}; this reenact reads up to format {VERSION}.",
            next_step="Upgrade reenact, or use another folder: REENACT_RUNS_DIR=FOLDER",
        )
    if version == VERSION and _layout(connection) != set(map(_squeezed, STATEMENTS)):
        raise JournalDamaged("The layout of the journal is not the one that reenact made.")
    return version == VERSION


def is_blank(connection: sqlite3.Connection) -> bool:
    """Whether nothing was ever written to the file."""
    return _version(connection) == 0 and not _layout(connection)


def settle(connection: sqlite3.Connection) -> None:
    """Make or migrate the file, inside the caller's transaction."""
    if is_settled(connection):
        return
    if is_blank(connection):
        for statement in STATEMENTS:
            connection.execute(statement)
    else:
        for number in range(_version(connection), VERSION):
            if number not in MIGRATIONS:
                raise JournalDamaged(f"This file says it is a journal of format {number}, which never was.")
            MIGRATIONS[number](connection)
    connection.execute(f"PRAGMA user_version = {VERSION:d}")
    is_settled(connection)
