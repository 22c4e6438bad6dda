"""Jobs are known by their files: also to a server that did not start them."""

from __future__ import annotations

import json
import os
import time
from dataclasses import asdict, replace
from pathlib import Path

import psutil
import pytest

from reenact.errors import InputError, ReenactError
from reenact.journal import Journal
from reenact.mcp.jobs import MOST, Job, Jobs
from reenact.mcp.run_service import RunService
from reenact.version import __version__

BORN = psutil.Process().create_time()


def put(folder: Path, job: Job) -> None:
    """A job as a server leaves it on disk."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{job.id}.json").write_text(json.dumps(asdict(job)))
    (folder / f"{job.id}.err").write_text("first\n\nreenact: it went wrong.\nlast\n")


def test_a_job_outlives_its_server(tmp_path: Path) -> None:
    first = Jobs(tmp_path)
    job = first.start("doctor", ("--version",))
    while first.exit_code(job) is None:
        time.sleep(0.02)
    assert first.exit_code(job) == 0
    assert __version__ in (tmp_path / f"{job.id}.out").read_text()
    later = Jobs(tmp_path)
    assert later.all() == [job]
    assert later.find(job.id) == job
    assert later.find("nobody") is None
    assert not later.is_alive(job)
    assert later.exit_code(job) is None


def test_a_number_that_was_given_again_is_another_process(tmp_path: Path) -> None:
    jobs = Jobs(tmp_path)
    mine = Job("repair-1", "repair", ("repair",), os.getpid(), BORN)
    assert jobs.is_alive(mine)
    assert not jobs.is_alive(replace(mine, born=BORN - 3600))
    # Nobody is signalled: the process of that number is not the job's.
    jobs.stop(replace(mine, born=BORN - 3600))


def test_not_more_than_a_few_run_at_once(tmp_path: Path) -> None:
    for number in range(MOST):
        put(tmp_path, Job(f"repair-{number}", "repair", ("repair",), os.getpid(), BORN))
    with pytest.raises(InputError, match=f"{MOST} jobs run already: repair-0, "):
        Jobs(tmp_path).start("repair", ("repair",))


def test_a_job_is_told_by_its_run_and_not_by_an_older_one_of_the_same_number(tmp_path: Path) -> None:
    folder = tmp_path / "mcp"
    service = RunService(tmp_path, Jobs(folder))
    with Journal.open(tmp_path) as journal, journal.run(pipeline="repair", request=1, what="old.py") as run:
        run.finish({"sentence": "Repaired."})
        old = run.record.id
    put(folder, Job("repair-new", "repair", ("repair",), os.getpid(), time.time() + 3600))
    put(folder, Job("repair-old", "repair", ("repair",), os.getpid(), BORN - 3600))
    told = service.told("repair-new")
    assert (told.id, told.status, told.verdict) == ("", "failed", "reenact: it went wrong.")
    assert told.said == ["first", "reenact: it went wrong.", "last"]
    told = service.told("repair-old")
    assert (told.id, told.status, told.verdict, told.what) == (old, "finished", "Repaired.", "old.py")
    assert service.told(old).job == "repair-old"
    assert service.job(old).id == "repair-old"


def test_a_run_of_another_door_is_told_but_not_stopped_here(tmp_path: Path) -> None:
    service = RunService(tmp_path, Jobs(tmp_path / "mcp"))
    with Journal.open(tmp_path) as journal, journal.run(pipeline="bug", request=1) as run:
        told = service.told(run.record.id)
        assert (told.status, told.job, told.next) == ("running", "", "poll")
        with pytest.raises(InputError, match="it was started elsewhere"):
            service.job(run.record.id)


def test_a_job_that_is_still_making_the_journal_is_starting(tmp_path: Path) -> None:
    jobs = Jobs(tmp_path / "mcp")
    job = jobs.start("watch", ("doctor",))
    (tmp_path / "journal.db").write_bytes(b"")
    told = RunService(tmp_path, jobs).told(job.id)
    assert told.status == "starting"
    while jobs.is_alive(job):
        time.sleep(0.05)
    with pytest.raises(ReenactError):
        RunService(tmp_path, jobs).told(job.id)
