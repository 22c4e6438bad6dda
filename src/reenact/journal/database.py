"""The SQLite file: how it is opened and brought up to date, its transactions, and its errors as
ours.

WAL with synchronous FULL: a committed transaction survives a kill and a power cut. One connection,
one lock: threads take turns; processes take turns through SQLite.
"""

import os
import shutil
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from functools import cache, partial
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import quote

from reenact.errors import JournalDamaged, JournalError, ReenactError, StorageError
from reenact.journal.storage import CONTINUE, make_folder, private, storage_named

BUSY_S = 30.0
STORAGE = {
    sqlite3.SQLITE_FULL: "the disk is full",
    sqlite3.SQLITE_IOERR: "the disk answers with an input/output error",
    sqlite3.SQLITE_READONLY: "it is read-only",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened",
    sqlite3.SQLITE_PERM: "there is no permission",
}
NO_ROOM = 64 * 1024
ASIDE = (
    "Move it aside and run again. Runs that can still be read: reenact runs list, reenact runs "
    "export"
)


class Database:
    """One open journal file, or one in memory when there is no path."""

    def __init__(self, path: Path | None, *, readonly: bool = False) -> None:
        self.path = path
        self.readonly = readonly
        self._lock = threading.RLock()
        with self.errors_named():
            self.connection = _connect(path, readonly)
            try:
                self._prepare()
            except BaseException:
                self.connection.close()
                raise

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All of it or nothing; durable when this ends without an error."""
        with self._lock, self.errors_named():
            self.connection.execute("BEGIN IMMEDIATE")
            try:
                yield self.connection
                self.connection.execute("COMMIT")
            except BaseException:
                if self.connection.in_transaction:
                    self.connection.execute("ROLLBACK")
                raise

    @contextmanager
    def snapshot(self) -> Iterator[sqlite3.Connection]:
        """Several reads that see one state of the file."""
        with self._lock, self.errors_named():
            if self.connection.in_transaction:
                yield self.connection
                return
            self.connection.execute("BEGIN")
            try:
                yield self.connection
            finally:
                self.connection.execute("ROLLBACK")

    def rows(
        self,
        sql: str,
        parameters: tuple[Any, ...] = (),
    ) -> list[tuple[Any, ...]]:
        """The answer of one query, read at once."""
        with self._lock, self.errors_named():
            return self.connection.execute(sql, parameters).fetchall()

    def close(self) -> None:
        with self._lock, self.errors_named():
            self.connection.close()

    @contextmanager
    def errors_named(self) -> Iterator[None]:
        """SQLite's errors as storage trouble, a busy file, or damage."""
        try:
            yield
        except sqlite3.Error as error:
            raise self._named(error) from error
        except (UnicodeDecodeError, OverflowError) as error:
            raise self._damaged(str(error)) from error

    def _named(self, error: sqlite3.Error) -> ReenactError:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
        where = self.path or "the journal in memory"
        places = (self.path, self.path.parent) if self.path else ()
        writable = bool(places) and all(os.access(place, os.W_OK) for place in places)
        if code == sqlite3.SQLITE_READONLY and not self.readonly and writable:
            return self._damaged("its header says that it may not be written")
        if code & 0xFF in STORAGE and code != sqlite3.SQLITE_IOERR_SHORT_READ:
            # SQLite calls it an input/output error when there is no room for the memory it shares.
            full = any(
                folder.is_dir() and shutil.disk_usage(folder).free < NO_ROOM for folder in places
            )
            why = STORAGE[sqlite3.SQLITE_FULL if full else code & 0xFF]
            return StorageError(
                f"{where} cannot be used: {why}.",
                next_step=CONTINUE,
            )
        if code & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            why = f"Another process has been writing to {where} for {BUSY_S:.0f} seconds."
            return JournalError(why, next_step="Run the same command when it is done.")
        return self._damaged(str(error))

    def _damaged(self, why: str) -> JournalDamaged:
        return JournalDamaged(
            f"The journal {self.path} is damaged: {why}.",
            next_step=ASIDE,
        )

    def _prepare(self) -> None:
        for pragma in (
            "foreign_keys = ON",
            "trusted_schema = OFF",
            "cell_size_check = ON",
        ):
            self.connection.execute(f"PRAGMA {pragma}")
        if self.readonly:
            self.connection.execute("PRAGMA query_only = ON")
            if not is_settled(self.connection):
                if is_blank(self.connection):
                    why = "creating it was cut off, perhaps by a full disk, so it holds no run."
                    instead = "Free some space; the next command that records a run completes it."
                    raise JournalError(
                        f"The journal {self.path} is incomplete: {why}",
                        next_step=instead,
                    )
                self.connection = _brought_up(self.connection)
            return
        self.connection.execute("PRAGMA journal_mode = WAL")
        self.connection.execute("PRAGMA synchronous = FULL")
        if not is_settled(self.connection):
            with self.transaction() as connection:
                settle(connection)


def _connect(path: Path | None, readonly: bool) -> sqlite3.Connection:
    if path is None:
        return _opened(":memory:")
    address = f"file:{quote(str(path))}?mode="
    if not readonly:
        make_folder(path.parent, 0o700)
        # An empty file for SQLite to fill: the log and the shared memory next to it get the same
        # rights.
        with storage_named(path), suppress(FileExistsError):
            os.close(
                private(
                    str(path),
                    os.O_WRONLY | os.O_CREAT | os.O_EXCL,
                )
            )
        return _opened(f"{address}rwc")
    try:
        connection = _opened(f"{address}ro")
        _version(connection)
    except sqlite3.OperationalError:
        # On a read-only disk SQLite cannot share memory with writers; there are none, unless a log
        # waits.
        log = path.with_name(path.name + "-wal")
        if log.exists() and log.stat().st_size:
            raise
        return _opened(f"{address}ro&immutable=1")
    return connection


def _brought_up(old: sqlite3.Connection) -> sqlite3.Connection:
    """A copy in memory of a journal of an older format, in the current one; the file stays as
    it is.
    """
    copy = _opened(":memory:")
    with closing(old):
        old.backup(copy)
    copy.execute("BEGIN")
    settle(copy)
    copy.execute("COMMIT")
    copy.execute("PRAGMA query_only = ON")
    return copy


_opened = partial(
    sqlite3.connect,
    uri=True,
    isolation_level=None,
    check_same_thread=False,
    timeout=BUSY_S,
)


@cache
def statements() -> tuple[str, ...]:
    """What makes an empty file a journal of this version; also what a journal must look like. The
    last two are the views `runs` and `steps`, which are for people and stay as documented.
    """
    text = files("reenact.journal").joinpath("schema.sql").read_text(encoding="utf-8")
    return tuple(one.strip() for one in text.split(";") if one.strip())


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _layout(connection: sqlite3.Connection) -> set[str]:
    rows = connection.execute(
        "SELECT sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'"
    ).fetchall()
    return {" ".join(str(row[0]).split()) for row in rows}


RENAMED = "story TO pipeline"
"""The column of format 3 that had another name before, also in files of exported runs."""


VERSION = 3
MIGRATIONS: dict[int, Callable[[], tuple[str, ...]]] = {
    # Rows get a column for a keyed hash. Old rows have none: they are shown and not believed.
    1: lambda: tuple(
        f"ALTER TABLE {table} ADD COLUMN mac TEXT NOT NULL DEFAULT ''"
        for table in ("run_rows", "step_rows")
    ),
    # Check sums and keyed hashes are over values in their order, so that they hold.
    2: lambda: (
        "DROP VIEW runs",
        f"ALTER TABLE run_rows RENAME COLUMN {RENAMED}",
        statements()[-2],
    ),
}
"""From a version to the next, inside one transaction. Check sums are the migration's business
too.
"""


def is_settled(connection: sqlite3.Connection) -> bool:
    """Whether the file is of this version; then its layout is proven, too. A newer one is
    refused.
    """
    version = _version(connection)
    if version > VERSION:
        why = f"This journal has format {version}; this reenact reads up to format {VERSION}."
        instead = "Upgrade reenact, or use another folder: REENACT_RUNS_DIR=FOLDER"
        raise JournalError(why, next_step=instead)
    if version == VERSION and _layout(connection) != {
        " ".join(one.split()) for one in statements()
    }:
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
        for statement in statements():
            connection.execute(statement)
    else:
        for number in range(_version(connection), VERSION):
            if number not in MIGRATIONS:
                raise JournalDamaged(
                    f"This file says it is a journal of format {number}, which never was."
                )
            for statement in MIGRATIONS[number]():
                connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {VERSION:d}")
    is_settled(connection)
