"""Jobs are known by their files: also to a server that did not start them."""

from __future__ import annotations

import json
import os
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from reenact.errors import InputError, ReenactError
from reenact.jobs import Job, Jobs
from reenact.journal import Journal
from reenact.mcp.run_service import RunService
from reenact.version import __version__

BORN = psutil.Process().create_time()


def put(jobs: Jobs, job: Job) -> None:
    """A job as a server leaves it on disk."""
    jobs.folder.mkdir(parents=True, exist_ok=True)
    (jobs.folder / f"{job.id}.json").write_text(json.dumps(asdict(job)))
    (jobs.folder / f"{job.id}.log").write_text("first\n\nreenact: it went wrong.\nlast\n")


def test_a_job_outlives_its_server(tmp_path: Path) -> None:
    first = Jobs(tmp_path)
    job = first.start(("--version",))
    while first.exit_code(job) is None:
        time.sleep(0.02)
    assert first.exit_code(job) == 0
    later = Jobs(tmp_path)
    assert __version__ in later.output(job)
    assert later.all() == [job]
    assert later.find(job.id) == job
    assert later.find("nobody") is None
    assert not later.is_alive(job)
    assert later.exit_code(job) is None


def test_a_number_that_was_used_again_is_another_process(tmp_path: Path) -> None:
    jobs = Jobs(tmp_path)
    mine = Job("repair-1", ("repair",), os.getpid(), BORN)
    assert jobs.is_alive(mine)
    assert not jobs.is_alive(replace(mine, born=BORN - 3600))
    # Nobody is signalled: the process of that number is not the job's.
    jobs.stop(replace(mine, born=BORN - 3600))


def test_not_more_than_a_few_run_at_once(tmp_path: Path) -> None:
    jobs = Jobs(tmp_path, at_once=2)
    for number in range(2):
        put(jobs, Job(f"repair-{number}", ("repair",), os.getpid(), BORN))
    with pytest.raises(InputError, match="2 jobs run already: repair-0, "):
        jobs.start(("repair",))


def test_a_job_is_shown_by_its_run_and_not_by_an_older_one_of_the_same_number(
    tmp_path: Path,
) -> None:
    jobs = Jobs(tmp_path)
    service = RunService(tmp_path, jobs)
    with (
        Journal.open(tmp_path) as journal,
        journal.run(pipeline="repair", request=1, what="old.py") as run,
    ):
        run.finish({"sentence": "Repaired."})
        old = run.record.id
    put(jobs, Job("repair-new", ("repair",), os.getpid(), time.time() + 3600))
    put(jobs, Job("repair-old", ("repair",), os.getpid(), BORN - 3600))
    status = service.status("repair-new")
    assert (status.id, status.status, status.verdict) == (
        "",
        "failed",
        "reenact: it went wrong.",
    )
    assert status.output == ["first", "reenact: it went wrong.", "last"]
    status = service.status("repair-old")
    assert (status.id, status.status, status.verdict, status.what) == (
        old,
        "finished",
        "Repaired.",
        "old.py",
    )
    assert service.status(old).job == "repair-old"
    assert service.job(old).id == "repair-old"


def test_a_run_that_was_started_elsewhere_is_shown_but_not_stopped_here(
    tmp_path: Path,
) -> None:
    service = RunService(tmp_path, Jobs(tmp_path))
    with (
        Journal.open(tmp_path) as journal,
        journal.run(pipeline="bug", request=1) as run,
    ):
        status = service.status(run.record.id)
        assert (status.status, status.job, status.next) == ("running", "", "result")
        with pytest.raises(InputError, match="it was started elsewhere"):
            service.job(run.record.id)


def test_a_job_that_is_still_making_the_journal_is_starting(tmp_path: Path) -> None:
    jobs = Jobs(tmp_path)
    job = jobs.start(("doctor",))
    (tmp_path / "journal.db").write_bytes(b"")
    assert RunService(tmp_path, jobs).status(job.id).status == "starting"
    while jobs.is_alive(job):
        time.sleep(0.05)
    with pytest.raises(ReenactError):
        RunService(tmp_path, jobs).status(job.id)


PLANTED: dict[str, Any] = {
    "list": "[]",
    "torn": "{",
    "deep": "[" * 100_000,
    "negative": {"pid": -1},
    "init": {"pid": 1},
    "huge": {"pid": 10**30},
    "truth": {"pid": True},
    "number": {"run": 7},
    "no-words": {"words": []},
    "odd-words": {"words": [1]},
    "no-time": {"born": "now"},
    "other-id": {"id": "../../other"},
    "more": {"more": 1},
}


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_job_is_ignored_with_one_sentence(
    name: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    jobs = Jobs(tmp_path)
    right = Job("repair-1", ("repair",), os.getpid(), BORN)
    put(jobs, right)
    changed = PLANTED[name]
    facts = {**asdict(right), "id": name}
    text = changed if isinstance(changed, str) else json.dumps({**facts, **changed})
    (jobs.folder / f"{name}.json").write_text(text)
    assert jobs.all() == [right]
    assert jobs.find(name) is None
    assert [record.message.count("is not a job and is ignored") for record in caplog.records] == [1]


def test_links_are_neither_jobs_nor_logs_and_a_run_that_is_not_there_is_none(
    tmp_path: Path,
) -> None:
    jobs = Jobs(tmp_path)
    right = Job("repair-1", ("repair",), os.getpid(), BORN, "nobody")
    put(jobs, right)
    (tmp_path / "secret").write_text("of somebody else")
    (jobs.folder / "repair-1.log").unlink()
    (jobs.folder / "repair-1.log").symlink_to(tmp_path / "secret")
    (jobs.folder / "repair-2.json").symlink_to(jobs.folder / "repair-1.json")
    assert jobs.all() == [right]
    assert jobs.output(right) == ""
    with Journal.open(tmp_path) as journal:
        assert jobs.runs_of(right, journal) == []
