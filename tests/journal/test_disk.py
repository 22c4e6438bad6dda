"""C17 and C18: a full disk, a read-only one, one that answers with errors. Named, nothing lost,
continued.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from reenact.errors import StorageError
from reenact.journal import Journal, JournalReader, Kind

SHORT = Path(__file__).with_name("short_of_space.py")


def lines(command: list[str]) -> list[dict[str, Any]]:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def private_mounts() -> list[str]:
    """A command that gives a process mounts of its own, or nothing where the machine does not
    allow it.
    """
    ways = (["unshare", "-m"], ["unshare", "-Urm"])
    for way in ways:
        probe = [*way, "mount", "-t", "tmpfs", "tmpfs", "/mnt"]
        try:
            if subprocess.run(probe, capture_output=True, check=False).returncode == 0:
                return way
        except FileNotFoundError:
            return []
    return []


def prove(outcomes: list[dict[str, Any]], words: str) -> None:
    for outcome in outcomes:
        assert outcome["right"], outcome
        assert outcome["status"] == "finished", outcome
        assert outcome["report"] == 14_000, outcome
        assert outcome["twice"] <= 1, outcome
        assert outcome["problems"] == [], outcome
        assert outcome["left"] == [], outcome
    failed = [outcome for outcome in outcomes if outcome["output"]]
    assert len(failed) >= 4
    assert all(words in outcome["output"] for outcome in failed), failed
    assert len({outcome["paid"] for outcome in failed}) >= 3, (
        "the disk must get full at different steps"
    )


def test_a_file_that_may_not_grow(in_ram: Path) -> None:
    prove(lines([sys.executable, str(SHORT), "limit", str(in_ram)]), "cannot be used")


def test_a_disk_that_is_really_full_and_then_read_only(tmp_path: Path) -> None:
    way = private_mounts()
    if not way:
        pytest.skip("this machine lets us mount nothing")
    *full, refused, looked = lines([*way, sys.executable, str(SHORT), "tmpfs", str(tmp_path)])
    prove(full, "the disk is full")
    assert "read-only" in refused["output"] or "cannot be opened" in refused["output"]
    assert looked == {"looked": ["finished"]}


def test_a_disk_that_answers_with_errors(folder: Path) -> None:
    folder.mkdir(parents=True)
    # Reading the first bytes of one's own memory is a true input/output error.
    (folder / "journal.db").symlink_to("/proc/self/mem")
    with pytest.raises(StorageError, match=r"journal\.db cannot be used"):
        Journal.open(folder)


def test_an_artefact_on_a_bad_sector(folder: Path) -> None:
    with Journal.open(folder) as journal:
        with journal.run(pipeline="tale", request=1) as run:
            run.step("a", lambda: b"x" * 5000, kind=Kind.BOX)
        [step] = journal.steps(journal.find("last"))
        [name] = step.artefact_hashes()
        path = folder / "artefacts" / name[:2] / name[2:]
        path.unlink()
        path.symlink_to("/proc/self/mem")
        with pytest.raises(StorageError, match="input/output error"):
            journal.result(step)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission(folder: Path) -> None:
    folder.mkdir(mode=0o500, parents=True)
    with pytest.raises(StorageError):
        Journal.open(folder)


def test_looking_at_a_journal_without_its_lock_file(folder: Path) -> None:
    Journal.open(folder).close()
    (folder / "journal.lock").unlink()
    with JournalReader.open(folder) as shelf:
        assert shelf.runs() == []
