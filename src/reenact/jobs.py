"""Commands in the background: each a process of its own that outlives its starter, known by files
on disk.

JOB.json   the command, the process and when it was born
JOB.log    what it prints, without secrets

The page and the server for agents start, list, follow and stop commands here; what comes of them is
in the journal.

What a command prints goes into a file without secrets that only its owner reads. A small process
stands in between and redacts line by line. It ends when everybody who prints has ended, and
outlives anyone who started it, as the command does. The file is locked until it is complete.
"""

import fcntl
import json
import logging
import os
import re
import shlex
import signal
import subprocess
import threading
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from pathlib import Path
from typing import IO

import psutil

from reenact import redact
from reenact.errors import InputError
from reenact.files import open_regular, read_bytes
from reenact.host_program import start_own_command, start_own_file
from reenact.journal import JournalReader, Run
from reenact.journal.records import this_host
from reenact.journal.storage import make_folder, storage_named, write_whole
from reenact.own_process import PROGRESS_FILE
from reenact.plain import plain_line
from reenact.report.progress_file import Stage, read_stage

TAIL = 16 * 1024
"""Bytes of the log that are shown, from the end."""
RECENT = 200
"""How far back the run of a job is looked for."""
BIRTHS_APART_S = 60.0
"""The clock by which births are known may be set meanwhile; numbers are not used again so soon."""
PATIENCE_S = 3.0
MOST_BYTES = 1 << 20
"""Of the file of a job."""
_JOB_ID = re.compile(r"[A-Za-z0-9_-]+")
_LARGEST_PID = 1 << 22
"""What Linux counts up to."""
_LATEST = 1e11
"""Seconds after 1970, in the year 5138."""


@dataclass(frozen=True, slots=True)
class Job:
    """A command that was started."""

    id: str
    words: tuple[str, ...]
    """What is typed after `reenact`."""
    pid: int
    born: float
    """When the process was made, by its own account: a number that is used again has another
    birth.
    """
    run: str = ""
    """The run that it continues, where that is known from the start."""

    @property
    def command(self) -> str:
        """diagnose, repair, bug, ..."""
        return self.words[0]

    @property
    def line(self) -> str:
        """As a person would type it."""
        return shlex.join(["reenact", *self.words])


class Jobs:
    """All jobs of a runs folder, also those that an earlier server started."""

    def __init__(
        self,
        runs_dir: Path,
        working_folder: Path | None = None,
        *,
        at_once: int = 1000,
    ) -> None:
        self.folder = runs_dir / "jobs"
        self.working_folder = working_folder or Path.cwd()
        self._runs_dir = runs_dir
        self._at_once = at_once
        self._children: dict[str, subprocess.Popen[bytes]] = {}
        self._refused: set[Path] = set()

    def start(self, words: Sequence[str], *, run: str = "") -> Job:
        """Start `reenact WORDS`. InputError when too many jobs run already."""
        busy = [job.id for job in self.all() if self.is_alive(job)]
        if len(busy) >= self._at_once:
            says = f"{len(busy)} jobs run already: {', '.join(busy)}."
            raise InputError(says, next_step="Wait for one, or stop one.")
        make_folder(self.folder, 0o700)
        name = f"{words[0]}-{uuid.uuid4().hex[:8]}"
        variables = {
            "REENACT_RUNS_DIR": str(self._runs_dir.resolve()),
            "NO_COLOR": "1",
            PROGRESS_FILE: str(self._file(name, "progress").resolve()),
        }
        with redacted_log(self._file(name, "log")) as output:
            child = start_own_command(
                words, folder=self.working_folder, variables=variables, stdout=output
            )
        self._children[name] = child
        job = Job(
            name,
            tuple(words),
            child.pid,
            _born(child.pid) or time.time(),
            run,
        )
        path = self._file(name, "json")
        write_whole(
            path,
            json.dumps(asdict(job)).encode(),
            temporary=path.with_suffix(".part"),
            mode=0o600,
        )
        return job

    def resume(self, run: Run) -> Job:
        """Continue a run with the command that started it."""
        return self.start(
            ("runs", "resume", run.id),
            run=run.id,
        )

    def all(self) -> list[Job]:
        """Every job, oldest first."""
        if not self.folder.is_dir():
            return []
        files = sorted(
            self.folder.glob("*.json"),
            key=lambda path: (path.lstat().st_mtime_ns, path.name),
        )
        read = [self._read(path) for path in files]
        return [job for job in read if job is not None]

    def _read(self, path: Path) -> Job | None:
        """The job of a file; none, with a sentence, for one that no job of ours wrote."""
        try:
            return _job_in(path)
        except FileNotFoundError:
            # Removed meanwhile.
            return None
        except (OSError, InputError) as error:
            if path not in self._refused:
                self._refused.add(path)
                why = error.sentence if isinstance(error, InputError) else error.strerror
                sentence = plain_line(f"{path} is not a job and is ignored: {why}.")
                logging.getLogger(__name__).warning(sentence)
            return None

    def find(self, name: str) -> Job | None:
        """The job of that id; none when there is none."""
        for job in self.all():
            if job.id == name:
                return job
        return None

    def is_alive(self, job: Job) -> bool:
        """Whether its process still works."""
        self.exit_code(job)
        born = _born(job.pid)
        return born is not None and abs(born - job.born) < BIRTHS_APART_S

    def exit_code(self, job: Job) -> int | None:
        """How it ended; none while it runs, and for a child of an earlier server."""
        child = self._children.get(job.id)
        return child.poll() if child is not None else None

    def stop(self, job: Job) -> None:
        """Ask it to stop at the next safe place, the second time at once. It can be resumed: Ctrl-C
        would ask for a verdict instead.
        """
        if self.is_alive(job):
            os.kill(job.pid, signal.SIGTERM)

    def stage(self, job: Job) -> Stage | None:
        """What it is doing, how much of that is done and how long it takes; none once it has
        ended.
        """
        if self.is_alive(job):
            return read_stage(self._file(job.id, "progress"))
        return None

    def output(self, job: Job) -> str:
        """The last of what it printed."""
        path = self._file(job.id, "log")
        try:
            if path.is_symlink():
                return ""
            if not self.is_alive(job):
                wait_until_written(path)
            with open_regular(path) as file:
                file.seek(max(0, path.stat().st_size - TAIL))
                return file.read(TAIL).decode("utf-8", "replace").strip()
        except OSError:
            # A log that is gone, or is not one.
            return ""

    def runs_of(self, job: Job, shelf: JournalReader) -> list[Run]:
        """The runs of its process, newest first, those of its own command before others: a repair
        diagnoses in a run of its own.
        """
        if job.run:
            with suppress(InputError):
                return [shelf.find(job.run)]
            return []
        # Process numbers are used again: a run that had ended when the job began is another's.
        born = datetime.fromtimestamp(job.born - BIRTHS_APART_S).astimezone()
        recent = [(run, run.ended_at) for run in shelf.runs(limit=RECENT) if run.pid == job.pid]
        mine = [
            run
            for run, end in recent
            if end is None or datetime.fromisoformat(end).astimezone() >= born
        ]
        return sorted(
            mine,
            key=lambda run: run.pipeline != job.command,
        )

    def _file(self, name: str, ending: str) -> Path:
        return self.folder / f"{name}.{ending}"


def stop_run(run: Run, shelf: JournalReader) -> str:
    """Ask the process that works on a run to stop; it can be resumed. What was done, in a
    sentence.
    """
    here = this_host()
    if not shelf.is_live(run):
        return "No one works on this run now."
    if (run.host, run.boot) != (here["host"], here["boot"]) or run.pid == here["pid"]:
        return "This run is worked on elsewhere: stop it there."
    try:
        os.kill(run.pid, signal.SIGTERM)
    except OSError as error:
        return f"Its process could not be reached: {error.strerror}."
    return (
        "Asked to stop at the next safe place; asked again it stops at once. Resume continues it."
    )


def _born(pid: int) -> float | None:
    """When the process was made; none when it has ended."""
    try:
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            return None
        return process.create_time()
    except psutil.NoSuchProcess:
        return None


def _job_in(path: Path) -> Job:
    """The job in a file. Anybody may have put it there: all of it is checked. Raises OSError,
    InputError.
    """
    if path.is_symlink():
        raise InputError("it is a link")
    name = path.stem
    try:
        facts = json.loads(read_bytes(path, MOST_BYTES))
    except (ValueError, RecursionError) as error:
        raise InputError("it is not JSON") from error
    if not isinstance(facts, dict) or set(facts) != {field.name for field in fields(Job)}:
        raise InputError("it does not have the fields of a job")
    words = facts["words"]
    pid = facts["pid"]
    born = facts["born"]
    run = facts["run"]
    if facts["id"] != name or not _JOB_ID.fullmatch(name):
        raise InputError("its id is not its name")
    if not isinstance(words, list) or not words or not all(isinstance(word, str) for word in words):
        raise InputError("its words are not a command")
    if type(pid) is not int or not 1 < pid < _LARGEST_PID:
        raise InputError(f"pid={str(pid)[:40]} is not a process")
    if type(born) not in (int, float) or not 0 <= born < _LATEST:
        raise InputError(f"born={str(born)[:40]} is not a time")
    if not isinstance(run, str):
        raise InputError(f"run={str(run)[:40]} is not a run")
    return Job(
        name,
        tuple(words),
        pid,
        float(born),
        run,
    )


@contextmanager
def redacted_log(path: Path) -> Iterator[IO[bytes]]:
    """A stream for a child's output; what comes through it is written to the new file `path`."""
    make_folder(path.parent, 0o700)
    with storage_named(path):
        log = os.open(
            path,
            os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW,
            0o600,
        )
    try:
        fcntl.flock(log, fcntl.LOCK_EX)
        writer = start_own_file(str(redact.__file__), stdout=log)
    finally:
        os.close(log)
    assert writer.stdin is not None
    try:
        yield writer.stdin
    finally:
        writer.stdin.close()
        threading.Thread(target=writer.wait, daemon=True).start()


def wait_until_written(path: Path) -> None:
    """Until the last of an ended command is in its file, or somebody else still holds its
    output open.
    """
    ends = time.monotonic() + PATIENCE_S
    with path.open("rb") as log:
        while time.monotonic() < ends:
            try:
                fcntl.flock(log, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                time.sleep(0.02)
            else:
                return
