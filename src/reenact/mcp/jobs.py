"""Long verbs in the background: each a process of its own that outlives the server, known by files on disk.

JOB.json   the command, the process and when it was born
JOB.out    what it printed: the result as JSON
JOB.err    its progress and its complaints
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
import uuid
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil

from reenact.errors import InputError
from reenact.journal.logs import redacted_log, wait_until_written
from reenact.journal.storage import make_folder, private, storage_named, write_whole
from reenact.mcp.command import reenact
from reenact.own_process import own_environment

MOST = 4
"""Jobs at once; each is a story that uses all cores it may."""
SHOWN = 8
LONGEST_LINE = 200
BIRTHS_APART = 2.0
"""Seconds: births are told by a clock that may be set while the process lives."""


@dataclass(frozen=True, slots=True)
class Job:
    """A verb that was started."""

    id: str
    story: str
    words: tuple[str, ...]
    """What stands behind `reenact`."""
    pid: int
    born: float
    """When the process was made, by its own account: a number that is given again has another birth."""
    run: str = ""
    """The run that it continues, where that is known from the start."""


class Jobs:
    """All jobs of a folder, also those that an earlier server started."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._children: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, story: str, words: Sequence[str], *, run: str = "") -> Job:
        """Start a verb. InputError when too many run already."""
        busy = [job.id for job in self.all() if self.is_alive(job)]
        if len(busy) >= MOST:
            raise InputError(
                f"{len(busy)} jobs run already: {', '.join(busy)}.", next_step="Wait for one, or stop one."
            )
        make_folder(self.folder, 0o700)
        name = f"{story}-{uuid.uuid4().hex[:8]}"
        out_file, err_file = self._file(name, "out"), self._file(name, "err")
        with storage_named(self.folder), open(out_file, "xb", opener=private) as out:  # noqa: SIM117
            with redacted_log(err_file) as err:
                child = subprocess.Popen(  # noqa: S603  our own command line, no shell
                    reenact(words),
                    env=own_environment(),
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=err,
                    start_new_session=True,
                )
        self._children[name] = child
        job = Job(name, story, tuple(words), child.pid, _born(child.pid) or time.time(), run)
        path = self._file(name, "json")
        write_whole(path, json.dumps(asdict(job)).encode(), temporary=path.with_suffix(".part"), mode=0o600)
        return job

    def find(self, name: str) -> Job | None:
        """The job of that id; none when there is none."""
        known = (job for job in self.all() if job.id == name)
        return next(known, None)

    def all(self) -> list[Job]:
        """Every job, oldest first."""
        if not self.folder.is_dir():
            return []
        files = sorted(self.folder.glob("*.json"), key=lambda path: (path.stat().st_mtime_ns, path.name))
        return [_read(path) for path in files]

    def is_alive(self, job: Job) -> bool:
        """Whether its process still works."""
        self.exit_code(job)
        born = _born(job.pid)
        return born is not None and abs(born - job.born) < BIRTHS_APART

    def exit_code(self, job: Job) -> int | None:
        """How it ended; none while it runs, and for a child of an earlier server."""
        child = self._children.get(job.id)
        return child.poll() if child is not None else None

    def stop(self, job: Job) -> None:
        """Ask it to stop at the next safe place, as Ctrl-C does."""
        if self.is_alive(job):
            os.kill(job.pid, signal.SIGINT)

    def said(self, job: Job) -> list[str]:
        """The last lines of its progress."""
        if not self.is_alive(job):
            wait_until_written(self._file(job.id, "err"))
        text = _tail(self._file(job.id, "err"))
        return [line[:LONGEST_LINE] for line in text.splitlines() if line.strip()][-SHOWN:]

    def _file(self, name: str, ending: str) -> Path:
        return self.folder / f"{name}.{ending}"


def _read(path: Path) -> Job:
    facts = json.loads(path.read_bytes())
    return Job(**{**facts, "words": tuple(facts["words"])})


def _born(pid: int) -> float | None:
    """When the process was made; none when it is no more, or only waits to be buried."""
    try:
        process = psutil.Process(pid)
        return None if process.status() == psutil.STATUS_ZOMBIE else process.create_time()
    except psutil.NoSuchProcess:
        return None


def _tail(path: Path, most: int = 8_192) -> str:
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - most))
        return file.read().decode("utf-8", "replace")
