"""C22: journals of every earlier format open and continue; a newer one is refused with a sentence."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from reenact.errors import JournalDamaged, JournalError
from reenact.journal import Journal, Kind, Shelf
from reenact.journal.database import Database
from reenact.journal.schema import CURRENT, Schema

FORMATS = sorted((Path(__file__).parent / "formats").glob("v*.sql"))
NEW_INDEX = "CREATE INDEX run_by_status ON run_rows (status)"


def restored(sql: Path, folder: Path) -> Path:
    folder.mkdir(parents=True)
    connection = sqlite3.connect(folder / "journal.db")
    connection.executescript(sql.read_text())
    connection.close()
    return folder


def changed(folder: Path, sql: str) -> Path:
    connection = sqlite3.connect(folder / "journal.db")
    connection.executescript(sql)
    connection.close()
    return folder


def version(folder: Path) -> int:
    connection = sqlite3.connect(folder / "journal.db")
    number: int = connection.execute("PRAGMA user_version").fetchone()[0]
    connection.close()
    return number


def nothing(*_: object) -> Any:
    raise AssertionError("nothing is to be performed")


def test_there_is_a_journal_of_every_format() -> None:
    assert [path.stem for path in FORMATS] == [f"v{number}" for number in range(1, CURRENT.version + 1)]


@pytest.mark.parametrize("sql", FORMATS, ids=lambda path: path.stem)
def test_an_old_journal_opens_and_its_runs_continue(sql: Path, folder: Path) -> None:
    restored(sql, folder)
    with Journal.open(folder) as journal:
        assert journal.check().problems == ()
        assert [(run.what, run.money) for run in journal.runs()] == [
            ("the half tale", "0"),
            ("the whole tale", "0.02"),
        ]
        for request, is_continued in (("half", True), ("whole", False)):
            with journal.run(story="tale", request=request) as run:
                assert run.is_continued is is_continued
                asked = run.step("ask", nothing, kind=Kind.LLM, inputs={"prompt": "why"})
                assert asked == {"answer": "forty-two", "score": 0.5}
                assert run.many({"seed0": 0, "seed1": 1}, nothing) == {"seed0": 0.25, "seed1": 0.25}
                run.finish(None)


def test_a_new_format_carries_everything_over(folder: Path) -> None:
    restored(FORMATS[0], folder)
    newer = Schema(2, (*CURRENT.statements, NEW_INDEX), {1: lambda connection: connection.execute(NEW_INDEX)})
    with Journal.open(folder, schema=newer) as journal:
        assert len(journal.runs()) == 2
        assert journal.check().problems == ()
    assert version(folder) == 2
    with Journal.open(folder, schema=newer) as journal:
        assert len(journal.runs()) == 2


def test_a_migration_that_fails_changes_nothing(folder: Path) -> None:
    restored(FORMATS[0], folder)

    def fails(connection: sqlite3.Connection) -> None:
        connection.execute("DELETE FROM step_rows")
        connection.execute("SELECT nonsense")

    with pytest.raises(JournalError):
        Journal.open(folder, schema=Schema(2, (*CURRENT.statements, NEW_INDEX), {1: fails}))
    assert version(folder) == 1
    with Journal.open(folder) as journal:
        assert journal.check().problems == ()


def test_a_newer_journal_is_refused_with_a_sentence(folder: Path) -> None:
    changed(restored(FORMATS[0], folder), "PRAGMA user_version = 9")
    for opener in (Journal.open, Shelf.look):
        with pytest.raises(JournalError, match="format 9; this reenact reads up to format 1") as caught:
            opener(folder)
        assert "Upgrade reenact" in caught.value.next_step
    assert version(folder) == 9


def test_an_older_journal_is_not_migrated_by_looking(folder: Path) -> None:
    restored(FORMATS[0], folder)
    newer = Schema(2, (*CURRENT.statements, NEW_INDEX), {1: lambda connection: connection.execute(NEW_INDEX)})
    with pytest.raises(JournalError, match="older format"):
        Database(folder / "journal.db", readonly=True, schema=newer)
    assert version(folder) == 1


@pytest.mark.parametrize(
    "damage",
    [
        "PRAGMA user_version = 0",
        "DROP INDEX step_by_key",
        "DROP VIEW runs",
        "CREATE TABLE stranger (x)",
        "CREATE TRIGGER t AFTER UPDATE ON run_rows BEGIN DELETE FROM step_rows; END",
        "ALTER TABLE run_rows ADD COLUMN x",
    ],
)
def test_another_layout_is_damage(folder: Path, damage: str) -> None:
    changed(restored(FORMATS[0], folder), damage)
    with pytest.raises(JournalDamaged):
        Journal.open(folder)


def test_somebody_elses_database_is_left_alone(folder: Path) -> None:
    folder.mkdir(parents=True)
    changed(folder, "CREATE TABLE theirs (x); INSERT INTO theirs VALUES (1);")
    with pytest.raises(JournalDamaged):
        Journal.open(folder)
    connection = sqlite3.connect(folder / "journal.db")
    assert connection.execute("SELECT x FROM theirs").fetchall() == [(1,)]
    connection.close()
