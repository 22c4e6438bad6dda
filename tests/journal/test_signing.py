"""A journal that this user did not write on this machine is data: shown, and not continued, run
or reused.
"""

from __future__ import annotations

import shutil
import sqlite3
import stat
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reenact.errors import InputError
from reenact.journal import Journal, JournalReader, Kind, Run
from reenact.journal.query import query
from reenact.journal.records import SUM, Step, check_of, digest
from reenact.journal.rows import read_rows, set_row
from reenact.journal.signing import key_path, user_signer


@pytest.fixture
def another_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """From the call on, the configuration folder is another one, as on another machine."""
    return lambda: monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "another"))


def begun(folder: Path) -> Run:
    """A run with one answer that is not finished."""
    with (
        Journal.open(folder) as journal,
        journal.run(pipeline="tale", request=1, argv=["tale"]) as run,
    ):
        assert run.step("ask", lambda: "theirs", kind=Kind.LLM) == "theirs"
    return run.record


def finished(folder: Path) -> Run:
    with (
        Journal.open(folder) as journal,
        journal.run(pipeline="tale", request=2) as run,
    ):
        run.step("ask", lambda: "theirs", kind=Kind.LLM)
        run.finish(None)
    return run.record


def answer(folder: Path, request: int = 1, *, trust: bool = False) -> tuple[str, bool]:
    """What the same command gets now, and whether it continues."""
    with (
        Journal.open(folder, trust=trust) as journal,
        journal.run(pipeline="tale", request=request) as run,
    ):
        return run.step("ask", lambda: "ours", kind=Kind.LLM), run.is_continued


def forged(folder: Path, **columns: Any) -> None:
    """Give the first step another result, with every unkeyed check sum put right."""
    with sqlite3.connect(folder / "journal.db", isolation_level=None) as connection:
        run, step = (
            read_rows(connection, Run, "")[0],
            read_rows(connection, Step, "ORDER BY number")[0],
        )
        text = '"forged"'
        new = with_sum(replace(step, result_digest=digest(text), **columns))
        set_row(connection, step, new, result=text)
        total = (run.steps_sum - step.check_sum + new.check_sum) % SUM
        set_row(connection, run, with_sum(replace(run, steps_sum=total)))
    connection.close()


def with_sum(row: Any) -> Any:
    return replace(row, check_sum=check_of(row.values()))


def test_the_key_is_made_once_and_only_its_owner_reads_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    first, second = user_signer(), user_signer()
    assert (first.is_new, second.is_new) == (True, False)
    assert first.sign("run", "x") == second.sign("run", "x") != first.sign("step", "x")
    assert len(key_path().read_bytes()) == 32
    assert stat.S_IMODE(key_path().stat().st_mode) == 0o600
    assert stat.S_IMODE(key_path().parent.stat().st_mode) == 0o700
    assert [path.name for path in key_path().parent.iterdir()] == ["journal.key"]
    key_path().chmod(0o644)
    assert user_signer().sign("run", "x") == first.sign("run", "x")
    assert stat.S_IMODE(key_path().stat().st_mode) == 0o600


def test_a_run_of_this_user_continues_and_is_reused(folder: Path) -> None:
    record = begun(folder)
    assert answer(folder) == ("theirs", True)
    with JournalReader.open(folder) as shelf:
        assert shelf.is_ours(shelf.find(record.id))
    moved = folder.rename(folder.with_name("moved"))
    assert answer(moved) == ("theirs", True)


def test_a_copied_journal_is_shown_and_not_continued(
    folder: Path,
    tmp_path: Path,
    another_user: Callable[[], None],
    capsys: pytest.CaptureFixture[str],
) -> None:
    record = begun(folder)
    finished(folder)
    another_user()
    with JournalReader.open(folder) as shelf:
        found = shelf.find(record.id)
        assert not shelf.is_ours(found)
        assert shelf.result(shelf.steps(found)[0]) == "theirs"
        shelf.export(found, tmp_path / "out.run")
        assert shelf.check().problems == ()
    assert query(folder, "SELECT count(*) FROM runs").rows == ((2,),)
    assert answer(folder) == ("ours", False)
    assert (
        f"Run {record.id} is not continued: it was not recorded by this user"
        in capsys.readouterr().err
    )
    # The own run is the one that goes on from here; the foreign one is not mentioned again.
    assert answer(folder) == ("ours", True)
    assert capsys.readouterr().err == ""


def test_no_step_of_a_copied_journal_is_reused(
    folder: Path, another_user: Callable[[], None]
) -> None:
    finished(folder)
    another_user()
    assert answer(folder, 2) == ("ours", False)
    assert answer(folder, 3, trust=True) == ("ours", False)


def test_a_copied_run_is_taken_over_when_the_user_says_so(
    folder: Path, another_user: Callable[[], None]
) -> None:
    begun(folder)
    another_user()
    assert answer(folder, trust=True) == ("theirs", True)
    assert answer(folder) == ("theirs", True)
    with Journal.open(folder) as journal:
        assert journal.check().problems == ()


@pytest.mark.parametrize("columns", [{}, {"mac": ""}, {"mac": "0" * 64}])
def test_a_forged_step_is_not_believed(folder: Path, columns: dict[str, str]) -> None:
    begun(folder)
    forged(folder, **columns)
    with JournalReader.open(folder) as shelf:
        run = shelf.find("1")
        assert shelf.result(shelf.steps(run)[0]) == "forged"
    assert answer(folder) == ("ours", False)


def test_a_forged_step_of_a_finished_run_is_not_reused(folder: Path) -> None:
    finished(folder)
    forged(folder)
    assert answer(folder, 2) == ("ours", False)


def test_a_foreign_run_does_not_hide_an_own_one(folder: Path, tmp_path: Path) -> None:
    with Journal.open(folder) as journal:
        with journal.run(pipeline="tale", request=1) as run:
            run.step("ask", lambda: "own", kind=Kind.LLM)
        with journal.run(pipeline="tale", request=1, fresh=True) as newer:
            newer.step("ask", lambda: "newer", kind=Kind.LLM)
        with journal._database.transaction() as connection:
            set_row(connection, newer.record, newer.record.sealed(None))
        with journal.run(pipeline="tale", request=1) as again:
            assert again.record.id == run.record.id


def test_steps_of_an_imported_run_are_never_evidence(folder: Path, tmp_path: Path) -> None:
    record, done = begun(folder), finished(folder)
    with JournalReader.open(folder) as shelf:
        shelf.export(record, tmp_path / "half.run")
        shelf.export(done, tmp_path / "whole.run")
    other = tmp_path / "other"
    with Journal.open(other) as journal:
        assert journal.take_in(tmp_path / "half.run").run.imported
        journal.take_in(tmp_path / "whole.run")
    # Also though the same user recorded them, and also when the journal is trusted.
    assert answer(other, trust=True) == ("ours", False)
    assert answer(other, 2, trust=True) == ("ours", False)
    with (
        Journal.open(other) as journal,
        pytest.raises(InputError, match="imported from a file"),
    ):
        journal.require_ours(journal.find(record.id))


def test_a_file_that_says_it_was_not_imported_is_not_believed(
    folder: Path, another_user: Callable[[], None]
) -> None:
    record = begun(folder)
    shutil.copytree(folder, folder.with_name("copy"))
    another_user()
    with Journal.open(folder.with_name("copy")) as journal:
        with pytest.raises(InputError, match="reenact tale") as refused:
            journal.require_ours(journal.find(record.id))
        assert "--trust-journal" in refused.value.next_step


def test_a_key_that_cannot_be_used_is_replaced_and_that_is_reported(
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    begun(folder)
    key_path().write_bytes(b"too short")
    assert answer(folder) == ("ours", False)
    reported = capsys.readouterr().err
    assert "could not be used (it has not 32 bytes)" in reported
    assert "are shown, and not continued" in reported
    key_path().unlink()
    key_path().symlink_to(tmp_path / "elsewhere")
    assert user_signer().is_new
    assert not key_path().is_symlink()
    key_path().unlink()
    assert answer(folder) == ("ours", False)
    assert "The journal key is new" in capsys.readouterr().err


def test_without_a_place_for_the_key_there_is_a_sentence_and_the_run_goes_on(
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "file"))
    begun(folder)
    assert "No journal key can be kept" in capsys.readouterr().err
    assert answer(folder) == ("ours", False)


def test_looking_makes_no_key(folder: Path, another_user: Callable[[], None]) -> None:
    begun(folder)
    another_user()
    with JournalReader.open(folder) as shelf:
        assert shelf.runs()
    assert not key_path().parent.exists()


def test_every_column_is_signed() -> None:
    signer = user_signer()
    step = Step(
        number=1,
        run=1,
        nr=1,
        path="a/b",
        kind=Kind.BOX,
        version=1,
        key="0" * 40,
        state="done",
    ).sealed(signer)  # type: ignore[arg-type]
    assert step.is_signed(signer)
    for name in step.columns():
        value = getattr(step, name)
        if name != "check_sum":
            changed = replace(
                step,
                **{name: f"{value}x" if isinstance(value, str) else (value or 0) + 1},
            )
            assert not changed.is_signed(signer), name
