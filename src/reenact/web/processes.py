"""Commands that the page has started: the same command line as in a shell, its output in a file."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from reenact.errors import InputError
from reenact.journal import JournalReader, Run
from reenact.journal.host import this_host
from reenact.journal.logs import redacted_log, wait_until_written
from reenact.own_process import own_command, own_environment
from reenact.plain import plain
from reenact.types import ExitCode

TAIL = 16 * 1024
"""Bytes of the output that are shown, from the end."""
MEANING = {
    ExitCode.OK: ("good", "It ended well (exit code 0)."),
    ExitCode.FOUND: (
        "note",
        "It ended with findings or a broken training, or did not repair or reproduce (exit code 1).",
    ),
    ExitCode.ERROR: ("error", "It ended with an error (exit code 2): what it printed says which."),
    ExitCode.INCONCLUSIVE: ("warning", "Nothing could be judged (exit code 3): what it printed says why."),
    ExitCode.STOPPED: ("warning", "It was stopped; the same command continues it (exit code 130)."),
}


@dataclass
class Started:
    """One command."""

    number: int
    words: tuple[str, ...]
    log: Path
    child: subprocess.Popen[bytes]
    run_id: str = ""
    """Of the run that it continues; empty for a new one."""

    @property
    def command(self) -> str:
        return shlex.join(["reenact", *self.words])

    @property
    def is_alive(self) -> bool:
        return self.child.poll() is None

    @property
    def _ending(self) -> tuple[str, str]:
        code = self.child.poll()
        if code is None:
            return "note", "It is running."
        known = {int(one): told for one, told in MEANING.items()}
        return known.get(code, ("error", f"It was ended from outside (exit code {code})."))

    @property
    def tone(self) -> str:
        return self._ending[0]

    @property
    def sentence(self) -> str:
        return self._ending[1]

    @property
    def tail(self) -> str:
        """The last of what it printed."""
        if not self.is_alive:
            wait_until_written(self.log)
        with self.log.open("rb") as file:
            file.seek(max(0, self.log.stat().st_size - TAIL))
            return plain(file.read().decode("utf-8", "replace")).strip()

    def stop(self) -> None:
        """As Ctrl-C does: once gently, twice at once."""
        if self.is_alive:
            self.child.send_signal(signal.SIGINT)


@dataclass
class Processes:
    """All commands that this server started. They outlive it: what they do is in the journal."""

    runs_dir: Path
    folder: Path
    """Working folder of the commands."""
    started: list[Started] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def resume(self, run: Run) -> Started:
        """Continue a run with the command that started it."""
        return self.start(("runs", "resume", run.id), run_id=run.id)

    def start(self, words: Sequence[str], *, run_id: str = "") -> Started:
        """Start `reenact WORDS`."""
        with self._lock:
            number = len(self.started) + 1
            log = self.runs_dir / "view" / f"{os.getpid()}-{number}.log"
            environ = {**own_environment(), "REENACT_RUNS_DIR": str(self.runs_dir.resolve()), "NO_COLOR": "1"}
            with redacted_log(log) as output:
                child = subprocess.Popen(  # noqa: S603 - the user's own command line
                    own_command(*words),
                    cwd=self.folder,
                    env=environ,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    # Ctrl-C in the server's terminal is meant for the server alone.
                    start_new_session=True,
                )
            made = Started(number, tuple(words), log, child, run_id)
            self.started.append(made)
            return made

    def find(self, number: int) -> Started:
        """One of them by its number."""
        if not 1 <= number <= len(self.started):
            raise InputError(f"This server has not started a command {number}.")
        return self.started[number - 1]

    def run_of(self, one: Started, shelf: JournalReader) -> Run | None:
        """The run that a command works on, once it is in the journal: the newest of its process."""
        if one.run_id:
            return shelf.find(one.run_id)
        here = this_host()
        mine = [run for run in shelf.runs(limit=20) if (run.pid, run.boot) == (one.child.pid, here.boot)]
        # `repair --apply` writes its change in a run of its own of the same process.
        named = [run for run in mine if run.pipeline == one.words[0]]
        return next(iter(named or mine), None)


def stop_run(run: Run, shelf: JournalReader) -> str:
    """Ask the process that works on a run to stop, as Ctrl-C does; what was done, in a sentence."""
    here = this_host()
    if not shelf.is_live(run):
        return "Nobody works on this run now."
    if (run.host, run.boot) != (here.host, here.boot) or run.pid == here.pid:
        return "This run is worked on elsewhere: stop it there."
    try:
        os.kill(run.pid, signal.SIGINT)
    except OSError as error:
        return f"Its process could not be reached: {error.strerror}."
    return "Asked to stop at the next safe place; asked again it stops at once. Resume continues it."
