"""Runs: how they end, which one a command continues, how they are found, listed and removed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reenact.errors import (
    BudgetSpent,
    InputError,
    JournalDamaged,
    JournalError,
    RunLocked,
    Stopped,
)
from reenact.journal import Journal, JournalReader, Kind, Status
from reenact.journal.artefacts import FolderArtefacts
from reenact.journal.reader import INTERRUPTED
from reenact.journal.rows import put_row
from reenact.journal.storage import Locks
from reenact.types import ExitCode


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (KeyboardInterrupt(), Status.STOPPED, 130),
        (SystemExit(1), Status.STOPPED, 130),
        (Stopped("Stopped."), Status.STOPPED, 130),
        (BudgetSpent("The money is spent."), Status.STOPPED, 3),
        (InputError("No such file."), Status.FAILED, 2),
        (ZeroDivisionError("division by zero"), Status.FAILED, 2),
    ],
)
def test_an_error_leaves_the_run_to_be_continued(
    journal: Journal, error: BaseException, status: Status, code: int
) -> None:
    with pytest.raises(type(error)), journal.run(pipeline="tale", request=1):
        raise error
    record = journal.find("last")
    assert (record.status, record.exit_code, record.error_type) == (
        status,
        code,
        type(error).__name__,
    )
    with journal.run(pipeline="tale", request=1) as run:
        assert run.is_continued
        assert run.record.id == record.id
        run.finish({"reproduced": False}, ExitCode.FOUND)
    record = journal.find("last")
    assert (record.status, record.exit_code, record.error) == (Status.FINISHED, 1, None)
    assert record.verdict_data() == {"reproduced": False}


def test_a_run_left_without_a_verdict_is_stopped(journal: Journal) -> None:
    with journal.run(pipeline="tale", request=1):
        pass
    assert journal.find("last").status is Status.STOPPED


def test_the_same_run_twice_in_one_process_is_refused(journal: Journal) -> None:
    with (
        journal.run(pipeline="tale", request=1) as run,
        pytest.raises(RunLocked, match=run.record.id),
    ):
        journal.run(pipeline="tale", request=1)


def test_fresh_starts_beside_a_run_that_is_being_worked_on(journal: Journal) -> None:
    with journal.run(pipeline="tale", request=1) as run:
        with journal.run(pipeline="tale", request=1, fresh=True) as other:
            assert other.record.id != run.record.id
        assert journal.is_live(journal.find(run.record.id))
    assert len(journal.runs()) == 2


def test_an_older_unfinished_run_is_continued_when_preferred(journal: Journal) -> None:
    ids = []
    for _ in range(2):
        with journal.run(pipeline="tale", request=1, fresh=True) as run:
            ids.append(run.record.id)
    with journal.run(pipeline="tale", request=1) as run:
        assert run.record.id == ids[1]
    journal.prefer(journal.find(ids[0]))
    with journal.run(pipeline="tale", request=1) as run:
        assert run.record.id == ids[0]
        with pytest.raises(RunLocked):
            journal.prefer(journal.find(ids[0]))
        run.finish(None)
    with pytest.raises(InputError, match="finished"):
        journal.prefer(journal.find(ids[0]))


def test_the_command_that_continues_has_no_fresh(journal: Journal) -> None:
    with journal.run(pipeline="tale", request=1, argv=["paper", "--fresh", "x"], fresh=True) as run:
        assert run.record.command() == ("paper", "x")


def test_a_request_or_verdict_is_small_plain_data(journal: Journal) -> None:
    with pytest.raises(JournalError, match="request"):
        journal.run(pipeline="tale", request="x" * 40_000)
    with pytest.raises(JournalError, match="pipeline"):
        journal.run(pipeline="No Pipeline", request=1)
    with (
        journal.run(pipeline="tale", request=1) as run,
        pytest.raises(JournalError, match="verdict"),
    ):
        run.finish("x" * 40_000)


def test_runs_are_found_by_id_part_number_and_last(journal: Journal) -> None:
    for request in range(3):
        with journal.run(pipeline="tale", request=request):
            pass
    ids = [run.id for run in journal.runs()]
    assert journal.find(ids[0]).id == ids[0]
    assert journal.find(ids[1].split("-")[1]).id == ids[1]
    assert journal.find("1").id == ids[2]
    assert journal.find("last").id == ids[0]
    with pytest.raises(InputError, match="Several"):
        journal.find("-")
    for name in ("", "7777777", "nobody", "' OR 1=1"):
        with pytest.raises(InputError, match="no run"):
            journal.find(name)


def test_the_list_is_filtered_and_paged(journal: Journal) -> None:
    for number in range(12):
        with journal.run(
            pipeline="paper" if number % 2 else "bug",
            request=number,
            what=f"Number {number}",
        ) as run:
            if number < 6:
                run.finish(None)
    assert [run.seq for run in journal.runs(limit=3, offset=2)] == [10, 9, 8]
    assert {run.pipeline for run in journal.runs(pipeline="bug")} == {"bug"}
    assert journal.count(pipeline="bug", status=Status.FINISHED) == 3
    assert [run.what for run in journal.runs(text="number 11")] == ["Number 11"]
    assert journal.runs(text="%") == []


def test_a_run_whose_process_is_gone_is_called_interrupted(folder: Path) -> None:
    with Journal.open(folder) as journal:
        run = journal.run(pipeline="tale", request=1)
        assert journal.status_of(journal.find("last")) == "running"
        run._release()
        assert journal.status_of(journal.find("last")) == INTERRUPTED


def test_removing_takes_the_run_and_what_only_it_needs(on_disk: Journal, folder: Path) -> None:
    def tell(request: int) -> str:
        with on_disk.run(pipeline="tale", request=request, fresh=True) as run:
            run.step("own", lambda: bytes([request]) * 5000, kind=Kind.BOX, inputs=request)
            run.step("shared", lambda: b"shared" * 1000, kind=Kind.BOX)
            run.finish(None)
        return run.record.id

    first, second = tell(1), tell(2)
    assert on_disk.remove(first).artefacts == 1
    assert [run.id for run in on_disk.runs()] == [second]
    [own, shared] = on_disk.steps(on_disk.find(second))
    assert on_disk.result(own) == b"\x02" * 5000
    assert on_disk.result(shared) == b"shared" * 1000
    assert on_disk.check().problems == ()
    with pytest.raises(InputError):
        on_disk.remove(first)
    assert on_disk.remove("2").artefacts == 2
    assert not [path for path in (folder / "artefacts").rglob("*") if path.is_file()]


def test_a_run_being_worked_on_is_not_removed_and_keeps_orphans(
    on_disk: Journal, folder: Path
) -> None:
    with on_disk.run(pipeline="old", request=1) as old:
        old.finish(None)
    with on_disk.run(pipeline="tale", request=1) as run:
        store = FolderArtefacts(folder, Locks(None))
        kept = store.keep(b"not named yet" * 1000)
        with pytest.raises(RunLocked):
            on_disk.remove(run.record.id)
        assert on_disk.remove(old.record.id).artefacts is None
        assert store.read(kept.sha256) == b"not named yet" * 1000


def test_numbers_are_never_given_twice(on_disk: Journal) -> None:
    for _ in range(2):
        with on_disk.run(pipeline="tale", request=1) as run:
            run.finish(None)
        on_disk.remove(run.record.id)
    with on_disk.run(pipeline="tale", request=1) as run:
        assert run.record.seq == 3


def test_looking_needs_a_journal_and_changes_nothing(
    folder: Path, on_disk: Journal, pipeline: Any
) -> None:
    with pytest.raises(InputError, match="No run has been recorded"):
        JournalReader.open(folder / "nowhere")
    pipeline.run(on_disk)
    before = (folder / "journal.db").stat().st_mtime_ns
    with JournalReader.open(folder) as shelf:
        [run] = shelf.runs()
        assert len(shelf.steps(run)) == run.steps == 8
    assert (folder / "journal.db").stat().st_mtime_ns == before


def test_a_long_run_is_read_in_pages_and_by_branch(journal: Journal) -> None:
    with journal.run(pipeline="tale", request=1) as run:
        for branch in ("a", "a-b", "a/c", "b"):
            run.under(branch).many(
                {f"t{n}": n for n in range(3)}, lambda names: [dict.fromkeys(names, 0)]
            )
    record = run.record
    assert [step.nr for step in journal.some_steps(record, after=4, limit=3)] == [
        5,
        6,
        7,
    ]
    below = [step.path for step in journal.some_steps(record, under="tale/a")]
    assert below == [f"tale/a/t{n}" for n in range(3)] + [f"tale/a/c/t{n}" for n in range(3)]
    assert [step.path for step in journal.some_steps(record, under="tale/a/t1")] == ["tale/a/t1"]
    assert len(journal.some_steps(record, under="tale")) == 12
    assert journal.some_steps(record, under="tal") == []


@pytest.mark.release
def test_ten_thousand_runs_are_listed_without_a_query_for_each(folder: Path) -> None:
    with Journal.open(folder) as journal:
        with journal.run(pipeline="tale", request=0) as run:
            run.finish({"verdict": "good"})
        pattern = run.record
        with journal._database.transaction() as connection:
            for number in range(2, 10_001):
                copy = replace(
                    pattern,
                    seq=number,
                    id=f"260101-{number:06d}",
                    turn=number,
                    request_hash="0" * 40,
                )
                put_row(connection, copy.sealed(None))
    asked: list[str] = []
    with JournalReader.open(folder) as shelf:
        shelf._database.connection.set_trace_callback(asked.append)
        assert len(shelf.runs()) == shelf.count() == 10_000
        assert [run.seq for run in shelf.runs(limit=2)] == [10_000, 9_999]
        assert shelf.find("260101-004711").seq == 4711
    assert len(asked) < 20


def test_a_lost_run_is_noticed_at_opening(folder: Path) -> None:
    with Journal.open(folder) as journal:
        for request in range(3):
            with journal.run(pipeline="tale", request=request):
                pass
        journal._database.connection.execute("DELETE FROM run_rows WHERE seq = 2")
    for opener in (Journal.open, JournalReader.open):
        with pytest.raises(JournalDamaged, match="should hold 3 runs"):
            opener(folder)


def test_a_run_gets_another_name_and_stays_its_users_own(on_disk: Journal) -> None:
    with on_disk.run(pipeline="diagnose", request={"of": 1}, what="train.py") as run:
        with pytest.raises(RunLocked):
            on_disk.rename(run.record, "too early")
        run.step("one", lambda: 1, kind=Kind.NOTE)
        run.finish("fine")
    renamed = on_disk.rename(on_disk.find("last"), "  the  baseline ")
    assert renamed.what == on_disk.find("last").what == "the baseline"
    assert on_disk.is_ours(renamed)
    assert on_disk.check().problems == ()
    with pytest.raises(InputError, match="needs a name"):
        on_disk.rename(renamed, " ")


def test_an_imported_run_that_was_renamed_is_still_the_same(
    on_disk: Journal, tmp_path: Path
) -> None:
    with on_disk.run(pipeline="diagnose", request={"of": 1}, what="train.py") as run:
        run.finish("fine")
    on_disk.export(on_disk.find("last"), tmp_path / "run.gz")
    on_disk.rename(on_disk.find("last"), "the baseline")
    assert not on_disk.take_in(tmp_path / "run.gz").is_new
