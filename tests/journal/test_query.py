"""SQL over the journal: only reading, only intact rows, bounded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reenact.errors import InputError, JournalDamaged
from reenact.journal import Journal
from reenact.journal.query import query


@pytest.fixture
def reported(on_disk: Journal, pipeline: Any, folder: Path) -> Path:
    pipeline.run(on_disk)
    pipeline.run(on_disk)
    return folder


def test_the_views_tell_what_happened(reported: Path) -> None:
    answer = query(reported, "SELECT pipeline, status, steps, reused, money FROM runs ORDER BY seq")
    assert answer.columns == ("pipeline", "status", "steps", "reused", "money")
    assert answer.rows == (
        ("tale", "finished", 8, 0, 0.05),
        ("tale", "finished", 9, 8, 0.0),
    )
    joined = query(
        reported,
        "SELECT r.pipeline, s.path, json_extract(s.result, '$.name') FROM steps s JOIN runs r ON "
        "r.id = s.run WHERE s.kind = 'llm' AND s.state = 'done' ORDER BY s.nr LIMIT 1",
    )
    assert joined.rows == (("tale", "tale/read[0]/ask", "call0"),)


def test_rows_are_cut_at_the_limit_and_it_is_reported(reported: Path) -> None:
    answer = query(reported, "SELECT nr FROM steps ORDER BY nr", limit=3)
    assert (len(answer.rows), answer.cut) == (3, True)
    assert not query(reported, "SELECT nr FROM steps", limit=17).cut


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM runs",
        "UPDATE run_rows SET id = 'x'",
        "DROP VIEW runs",
        "CREATE TABLE x (a)",
        "CREATE TEMP TABLE x (a)",
        "ATTACH DATABASE '/tmp/x.db' AS x",
        "PRAGMA journal_mode = DELETE",
        "PRAGMA user_version = 9",
        "VACUUM INTO '/tmp/x.db'",
        "SELECT load_extension('x')",
        "SELECT 1; DELETE FROM run_rows",
        "BEGIN",
        "SELEC 1",
        "SELECT nothing FROM runs",
        "",
        "SELECT randomblob(1000000000)",
        "SELECT '\ud800'",
    ],
)
def test_anything_but_one_select_is_refused(reported: Path, sql: str) -> None:
    before = query(reported, "SELECT count(*) FROM steps").rows
    with pytest.raises(InputError, match="refused"):
        query(reported, sql)
    assert query(reported, "SELECT count(*) FROM steps").rows == before


def test_an_endless_query_is_ended(reported: Path) -> None:
    endless = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT max(n) FROM c"
    with pytest.raises(InputError, match="longer than"):
        query(reported, endless, seconds=0.2)


@pytest.mark.parametrize(
    ("damage", "sql"),
    [
        (
            "UPDATE run_rows SET status = 'stopped' WHERE seq = 2",
            "SELECT status FROM runs",
        ),
        (
            "UPDATE run_rows SET money = '9' WHERE seq = 2",
            "SELECT sum(money) FROM runs",
        ),
        (
            "UPDATE step_rows SET state = 'failed' WHERE nr = 3",
            "SELECT count(*) FROM steps",
        ),
        ("UPDATE step_rows SET result = '{}' WHERE nr = 3", "SELECT result FROM steps"),
        ("UPDATE step_rows SET inputs = X'00' WHERE nr = 3", "SELECT path FROM steps"),
    ],
)
def test_a_damaged_row_is_never_part_of_an_answer(
    reported: Path, on_disk: Journal, damage: str, sql: str
) -> None:
    on_disk._database.connection.execute(damage)
    with pytest.raises(JournalDamaged):
        query(reported, sql)
