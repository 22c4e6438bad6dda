"""C19: two processes on one run. The second refuses or waits; a dead one is in nobody's way."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from reenact.errors import RunLocked
from reenact.journal import Journal, JournalReader, Kind, Status
from reenact.journal.reader import INTERRUPTED

RIVAL = Path(__file__).with_name("rival.py")


def rival(folder: Path, way: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(RIVAL), str(folder), way],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.fixture
def holder(folder: Path) -> Iterator[subprocess.Popen[str]]:
    with rival(folder, "hold") as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "holds\n"
        yield process
        process.kill()


def test_the_second_process_learns_who_works_on_the_run(
    holder: subprocess.Popen[str], folder: Path
) -> None:
    with Journal.open(folder) as journal:
        with pytest.raises(RunLocked, match=f"process {holder.pid}") as caught:
            journal.run(pipeline="tale", request=1)
        assert "--fresh" in caught.value.next_step
        assert journal.status_of(journal.find("last")) == "running"
        with pytest.raises(RunLocked):
            journal.remove("1")


def test_a_killed_process_is_in_nobodys_way(holder: subprocess.Popen[str], folder: Path) -> None:
    holder.kill()
    holder.wait()
    with Journal.open(folder) as journal:
        assert journal.status_of(journal.find("last")) == INTERRUPTED
        with journal.run(pipeline="tale", request=1) as run:
            assert run.is_continued
            assert run.step("first", lambda: 2, kind=Kind.LLM) == 1
            run.finish(None)


def test_a_child_that_outlives_its_parent_holds_nothing(folder: Path) -> None:
    with rival(folder, "fork") as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "holds\n"
        children = psutil.Process(process.pid).children()
        process.kill()
        process.wait()
    try:
        assert [child.is_running() for child in children] == [True]
        with (
            Journal.open(folder) as journal,
            journal.run(pipeline="tale", request=1) as run,
        ):
            run.finish(None)
    finally:
        for child in children:
            os.kill(child.pid, signal.SIGKILL)


def test_many_at_once_pay_for_nothing_twice(folder: Path) -> None:
    processes = [rival(folder, "race") for _ in range(4)]
    output = [process.communicate()[0] for process in processes]
    assert all(words.startswith(("worked", "refused Run")) for words in output), output
    # Whoever comes after the first has finished makes a new run; those at the same time are
    # refused.
    worked = sum(words.startswith("worked") for words in output)
    assert worked >= 1
    assert sorted(map(int, (folder / "paid").read_text().split())) == sorted([*range(10)] * worked)
    with JournalReader.open(folder) as shelf:
        assert all(run.status is Status.FINISHED for run in shelf.runs())
        assert shelf.check().problems == ()
