"""The journal of a project: opened once, it starts and continues runs, and reports about those it holds.

In short, for a pipeline:

    journal = Journal.open(Path(".reenact"))
    with journal.run(pipeline="paper", request={"paper": "2401.1"}, argv=["paper", "2401.1"]) as run:
        notes = run.step("review/overall", lambda: ask(...), kind=Kind.LLM, inputs=prompt, returns=Review)
        run.finish({"reproduced": True}, ExitCode.OK)
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reenact.errors import InputError, JournalError, RunLocked
from reenact.journal.artefacts import Artefacts, FolderArtefacts, MemoryArtefacts, named
from reenact.journal.codec import ROW_CHARACTERS, Bodies, Flattening, Redact, dumped
from reenact.journal.database import Database
from reenact.journal.open_run import OpenRun
from reenact.journal.reader import JournalReader, foreign, proven_file
from reenact.journal.recorder import Recorder
from reenact.journal.records import (
    PIPELINE,
    SUM,
    UNENDED,
    Clock,
    Run,
    Status,
    hashed,
    new_run_id,
    this_host,
)
from reenact.journal.rows import (
    next_number,
    next_turn,
    put_row,
    read_rows,
    set_row,
    steps_of,
)
from reenact.journal.signing import Signer, passing_signer, say_on_stderr, user_signer
from reenact.journal.storage import Locks, tighten
from reenact.own_process import crash_point
from reenact.redact import redact
from reenact.version import __version__

if TYPE_CHECKING:
    from reenact.journal.archive import Moved
    from reenact.journal.upkeep import Removed

OF_EXECUTION = ("argv", "folder", "version", "python", "host", "boot", "pid")
"""What of a run says how it was last started."""
LONGEST_NAME = 200
LATEST = "WHERE pipeline = ? AND request_hash = ? ORDER BY turn DESC LIMIT 20"


class Journal(JournalReader):
    """A journal to write to. Threads may share it; processes may open the same one."""

    def __init__(
        self,
        database: Database,
        artefacts: Artefacts,
        locks: Locks,
        signer: Signer,
        trust: bool = False,
        redact: Redact = redact,
        clock: Clock | None = None,
    ) -> None:
        super().__init__(database, artefacts, locks, signer)
        self._trust = trust
        self._bodies = Bodies(artefacts, redact)
        self._clock = clock or Clock()

    @classmethod
    def open(
        cls,
        folder: Path,
        *,
        trust: bool = False,
        redact: Redact = redact,
    ) -> Journal:
        """The journal of a folder, made if there is none. `redact` is applied to all text that is
        written. An unfinished run that this user did not record on this machine is continued only
        with `trust`, and then counts as this user's own. What is not continued is mentioned on
        stderr.
        """
        tighten(folder)
        database, locks = proven_file(folder, readonly=False)
        artefacts = FolderArtefacts(folder, locks)
        try:
            artefacts.sweep()
            signer = user_signer()
            if signer.is_new and database.rows("SELECT 1 FROM run_rows LIMIT 1"):
                shown = f"runs that {folder} holds already are shown, and not continued."
                say_on_stderr(f"The journal key is new: {shown}")
        except BaseException:
            database.close()
            locks.leave()
            raise
        return Journal(database, artefacts, locks, signer, trust, redact)

    @classmethod
    def in_memory(cls, *, clock: Clock | None = None) -> Journal:
        """The twin for tests: the same code, nothing on disk."""
        return Journal(
            Database(None),
            MemoryArtefacts(),
            Locks(None),
            passing_signer(),
            clock=clock,
        )

    def run(
        self,
        *,
        pipeline: str,
        request: object,
        argv: Sequence[str] = (),
        what: str = "",
        fresh: bool = False,
    ) -> OpenRun:
        """Continue the unfinished run of this request, or start a new one.

        Only a run that this user recorded on this machine is continued, unless the journal is
        trusted. After a finished run everything is done again, but for shared steps (answers of a
        model, trainings) that a finished run of this user has for the same inputs; `fresh` takes
        nothing. Raises RunLocked when another process works on the run.
        """
        wanted = self._wanted(pipeline, request, argv, what, fresh)
        crash_point("C1")
        with ExitStack() as undo:
            with self._database.transaction() as connection:
                earlier = None
                if not wanted.fresh:
                    earlier = self._unfinished(connection, wanted)
                run = self._begun(connection, earlier, wanted)
                self._lock(run, earlier or run)
                undo.callback(self._locks.release, run.seq)
            crash_point("C2")
            recorder = Recorder(
                self._database,
                self._bodies,
                run,
                self.steps(run),
                self._clock,
                self._signer,
            )
            undo.pop_all()
        return OpenRun(recorder, partial(self._locks.release, run.seq))

    def prefer(self, run: Run) -> None:
        """Make this run the one that its command continues, though a newer one has the same
        request.
        """
        with self._alone(run) as connection:
            self._change(connection, run, turn=next_turn(connection))

    def take_over(self, run: Run) -> Run:
        """Make an unfinished run that somebody else recorded this user's own, because the user
        says so.
        """
        with self._alone(run) as connection:
            return self._take_over(connection, run)

    def rename(self, run: Run, name: str) -> Run:
        """Give a run that no one works on another name in lists. Raises InputError for an empty
        one.
        """
        words = " ".join(self._bodies.words(name).split())[:LONGEST_NAME]
        if not words:
            raise InputError("A run needs a name.", next_step=f"reenact runs rename {run.id} NAME")
        with self._alone(run, finished=True) as connection:
            return self._change(connection, run, what=words)

    @contextmanager
    def _alone(self, run: Run, *, finished: bool = False) -> Iterator[sqlite3.Connection]:
        """A transaction on a run that no one works on meanwhile; `finished`: it may have come
        to its end.
        """
        if run.status is Status.FINISHED and not finished:
            why = f"Run {run.id} is finished; there is nothing to continue."
            raise InputError(why, next_step="Run its command again: that is a new run.")
        self._lock(run, run)
        try:
            with self._database.transaction() as connection:
                yield connection
        finally:
            self._locks.release(run.seq)

    def _change(
        self,
        connection: sqlite3.Connection,
        run: Run,
        **columns: Any,
    ) -> Run:
        """Write other columns of a run, which stays whose it was."""
        changed = replace(run, **columns).sealed(
            self._signer if run.is_signed(self._signer) else None
        )
        set_row(connection, run, changed)
        return changed

    def remove(self, name: str) -> Removed:
        """Remove a run, by id or number, and the artefacts that only it needs."""
        from reenact.journal.upkeep import remove_run

        return remove_run(self._database, self._artefacts, self._locks, name)

    def take_in(self, path: Path) -> Moved:
        """Import the run of a file that `export` wrote. The file is untrusted; twice changes
        nothing.
        """
        from reenact.journal.archive import import_run

        return import_run(self._database, self._artefacts, self._locks, path)

    def _wanted(
        self,
        pipeline: str,
        request: object,
        argv: Sequence[str],
        what: str,
        fresh: bool,
    ) -> Run:
        """The run that the caller asks for, as it is when it is new."""
        if not PIPELINE.fullmatch(pipeline):
            why = "A pipeline's name is lower-case letters, digits and dashes."
            raise JournalError(f"{why} Received: {pipeline!r}.")
        flattening = Flattening(named, self._bodies.words)
        text = dumped(flattening.flat(request))
        if len(text) > ROW_CHARACTERS or flattening.artefacts:
            why = f"A request is at most {ROW_CHARACTERS} characters of plain data."
            raise JournalError(f"{why} Received: {len(text)}.")
        # --fresh would start over when the command is given again to continue, and trust is given
        # once.
        words = [
            self._bodies.words(word) for word in argv if word not in ("--fresh", "--trust-journal")
        ]
        return Run(
            seq=0,
            id="",
            pipeline=pipeline,
            what=self._bodies.words(what)[:LONGEST_NAME],
            request=text,
            request_hash=hashed(Flattening(named).flat(request)),
            argv=dumped(words),
            folder=str(Path.cwd()),
            fresh=int(fresh),
            turn=0,
            version=__version__,
            **this_host(),
        )

    def _unfinished(self, connection: sqlite3.Connection, wanted: Run) -> Run | None:
        """The run to continue: the latest of this request, when it is unfinished and this
        user's own.
        """
        for run in read_rows(
            connection,
            Run,
            LATEST,
            (wanted.pipeline, wanted.request_hash),
        ):
            if run.status is Status.FINISHED:
                if run.is_signed(self._signer):
                    return None
                continue
            if self.is_ours(run):
                return run
            if self._trust and not run.imported:
                return self._take_over(connection, run)
            say_on_stderr(f"Run {run.id} is not continued: {foreign(run)} A new run starts.")
        return None

    def _take_over(self, connection: sqlite3.Connection, run: Run) -> Run:
        """The run with all its steps as this user's own, because the user says so."""
        total = 0
        for step in steps_of(connection, run):
            own = step.sealed(self._signer)
            set_row(connection, step, own)
            total += own.check_sum
        own_run = replace(run, steps_sum=total % SUM).sealed(self._signer)
        set_row(connection, run, own_run)
        return own_run

    def _lock(self, run: Run, holder: Run) -> None:
        if not self._locks.take(run.seq):
            why = f"Run {holder.id} is being worked on by process {holder.pid}."
            instead = "Wait until it is done or stop it; --fresh starts another run next to it."
            raise RunLocked(why, next_step=instead)

    def _begun(
        self,
        connection: sqlite3.Connection,
        earlier: Run | None,
        wanted: Run,
    ) -> Run:
        """The earlier run as it goes on, or else a new one, as it is in the file now."""
        if earlier is not None:
            execution = UNENDED | {name: getattr(wanted, name) for name in OF_EXECUTION}
            execution |= {
                "status": Status.RUNNING,
                "exit_code": None,
                "executions": earlier.executions + 1,
            }
            run = replace(earlier, **execution).sealed(self._signer)
            set_row(connection, earlier, run)
            return run
        now = self._clock.now()
        name = new_run_id(now)
        while connection.execute("SELECT 1 FROM run_rows WHERE id = ?", (name,)).fetchone():
            name = new_run_id(now)
        seq = next_number(connection, Run)
        turn = next_turn(connection)
        new = replace(
            wanted,
            seq=seq,
            id=name,
            turn=turn,
            started_at=now.isoformat(timespec="milliseconds"),
        )
        put_row(connection, run := new.sealed(self._signer))
        return run
