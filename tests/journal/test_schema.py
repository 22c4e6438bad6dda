"""C22: journals of every earlier format open and are shown; a newer one is refused with a sentence.

Rows are signed since format 2: what is older is shown and compared, and nothing of it is continued
or reused.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from reenact.errors import JournalDamaged, JournalError
from reenact.journal import Journal, JournalReader, Kind
from reenact.journal.database import RENAMED, VERSION, Database, statements
from reenact.journal.query import query

FORMATS = sorted((Path(__file__).parent / "formats").glob("v*.sql"))
KEY = b"the key of the journal formats v"


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


def columns(folder: Path) -> list[str]:
    connection = sqlite3.connect(folder / "journal.db")
    rows = connection.execute("PRAGMA table_info(step_rows)").fetchall()
    connection.close()
    return [str(row[1]) for row in rows]


def nothing(*_: object) -> Any:
    raise AssertionError("nothing is to be performed")


def test_there_is_a_journal_of_every_format() -> None:
    assert [path.stem for path in FORMATS] == [f"v{number}" for number in range(1, VERSION + 1)]


@pytest.fixture
def key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The key with which the stored journals are signed, as this user's own."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    path = tmp_path / "config" / "reenact" / "journal.key"
    path.parent.mkdir(parents=True)
    path.write_bytes(KEY)
    return path


@pytest.mark.parametrize("sql", FORMATS, ids=lambda path: path.stem)
@pytest.mark.usefixtures("key")
def test_an_old_journal_opens_and_is_shown(sql: Path, folder: Path) -> None:
    restored(sql, folder)
    for opener in (JournalReader.open, Journal.open):
        with opener(folder) as journal:
            assert journal.check().problems == ()
            assert [(run.what, run.money) for run in journal.runs()] == [
                ("the half tale", "0"),
                ("the whole tale", "0.02"),
            ]
            for run in journal.runs():
                assert journal.result(journal.steps(run)[0]) == {
                    "answer": "forty-two",
                    "score": 0.5,
                }
            assert query(folder, "SELECT count(*) FROM steps").rows == ((8,),)


@pytest.mark.usefixtures("key")
def test_a_journal_from_before_rows_were_signed_is_not_reused(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    restored(FORMATS[0], folder)
    with Journal.open(folder) as journal:
        for request in ("half", "whole"):
            with journal.run(pipeline="tale", request=request) as run:
                assert not run.is_continued
                assert run.step("ask", lambda: 1, kind=Kind.LLM, inputs={"prompt": "why"}) == 1
                run.finish(None)
    assert "Run 260101-jvmf is not continued" in capsys.readouterr().err


def test_an_old_journal_is_taken_over_when_the_user_says_so(folder: Path) -> None:
    restored(FORMATS[0], folder)
    with Journal.open(folder, trust=True) as journal:
        with journal.run(pipeline="tale", request="half") as run:
            assert run.is_continued
            asked = run.step("ask", nothing, kind=Kind.LLM, inputs={"prompt": "why"})
            assert asked == {"answer": "forty-two", "score": 0.5}
        assert journal.check().problems == ()
        assert journal.is_ours(journal.find(run.record.id))
    with (
        Journal.open(folder) as journal,
        journal.run(pipeline="tale", request="half") as run,
    ):
        assert run.record.executions == 3


@pytest.mark.parametrize("sql", FORMATS[1:], ids=lambda path: path.stem)
@pytest.mark.usefixtures("key")
def test_a_signed_journal_continues(sql: Path, folder: Path) -> None:
    restored(sql, folder)
    with Journal.open(folder) as journal:
        with journal.run(pipeline="tale", request="half") as run:
            assert run.is_continued
            asked = run.step("ask", nothing, kind=Kind.LLM, inputs={"prompt": "why"})
            assert asked == {"answer": "forty-two", "score": 0.5}
            assert run.many({"seed0": 0, "seed1": 1}, nothing) == {
                "seed0": 0.25,
                "seed1": 0.25,
            }
            run.finish(None)
        with journal.run(pipeline="tale", request="whole") as run:
            assert not run.is_continued
            assert (
                run.step("ask", lambda: "again", kind=Kind.LLM, inputs={"prompt": "why"}) == "again"
            )


def test_a_migration_that_fails_changes_nothing(folder: Path) -> None:
    changed(restored(FORMATS[0], folder), "DROP VIEW runs")
    with pytest.raises(JournalDamaged):
        Journal.open(folder)
    assert version(folder) == 1
    assert "mac" not in columns(folder)
    Journal.open(
        changed(folder, statements()[-2].replace(*reversed(RENAMED.split(" TO "))))
    ).close()
    assert version(folder) == VERSION
    assert "mac" in columns(folder)


def test_a_newer_journal_is_refused_with_a_sentence(folder: Path) -> None:
    changed(restored(FORMATS[0], folder), "PRAGMA user_version = 9")
    for opener in (Journal.open, JournalReader.open):
        with pytest.raises(
            JournalError, match=f"format 9; this reenact reads up to format {VERSION}"
        ) as caught:
            opener(folder)
        assert "Upgrade reenact" in caught.value.next_step
    assert version(folder) == 9


def test_an_older_journal_is_not_migrated_by_looking(folder: Path) -> None:
    restored(FORMATS[0], folder)
    database = Database(folder / "journal.db", readonly=True)
    assert database.rows("SELECT count(*) FROM runs") == [(2,)]
    database.close()
    assert version(folder) == 1


def test_a_journal_whose_creation_was_cut_off_is_called_incomplete_and_is_completed(
    folder: Path,
) -> None:
    folder.mkdir(parents=True)
    (folder / "journal.db").touch()
    with pytest.raises(JournalError, match="is incomplete: creating it was cut off") as caught:
        JournalReader.open(folder)
    assert "Free some space" in caught.value.next_step
    Journal.open(folder).close()
    with JournalReader.open(folder) as shelf:
        assert shelf.runs() == []


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
