"""The runs that a journal holds, for reading: lists, one run, its steps, their inputs and
results.
"""

from __future__ import annotations

import shlex
import stat
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypedDict, TypeVar, Unpack

from reenact.errors import InputError, JournalError
from reenact.journal.artefacts import Artefacts, FolderArtefacts
from reenact.journal.codec import Bodies, decoder, redact_nothing
from reenact.journal.database import Database
from reenact.journal.records import Kind, Run, State, Status, Step
from reenact.journal.rows import damaged, prove_count, read_body, read_rows, steps_of
from reenact.journal.signing import SEAL, Signer, known_signer, listing
from reenact.journal.storage import Locks, locks_at, private, storage_named

if TYPE_CHECKING:
    from reenact.journal.upkeep import Checked

T = TypeVar("T")
INTERRUPTED = "interrupted"
"""The status of a run that is marked running while no process works on it: killed, or the machine
went down.
"""

SMALLEST_PAGE = 512
VERDICT = (
    "CASE WHEN json_valid(verdict) THEN coalesce(json_extract(verdict, '$.verdict'), verdict) END"
)
"""The verdict in a word or two, as lists show it."""
METRIC = "CASE WHEN json_valid(verdict) THEN json_extract(verdict, '$.metric') END"
COMMAND = """replace(argv, '","', ' ')"""
SEARCHED = " || ' ' || ".join(
    ("id", "pipeline", "what", COMMAND, "folder", f"coalesce({VERDICT}, '')")
)
ORDERS = {
    "started": "seq",
    "command": "pipeline",
    "name": "what",
    "status": "status",
    "verdict": VERDICT,
    "metric": f"CAST(substr({METRIC}, instr({METRIC}, ' ') + 1) AS REAL)",
    "cost": "CAST(money AS REAL)",
    "time": "worked_s",
}
"""What runs may be ordered by; of a metric its value."""


class Wanted(TypedDict, total=False):
    """Which runs; `text` is looked for in the id, the pipeline, the title, the command, the folder and the
    verdict, `between` has the first and the last of their numbers."""

    pipeline: str | None
    status: Status | None
    text: str | None
    verdict: str | None
    between: tuple[int, int] | None


class JournalReader:
    """Reads a journal. What it returns is proven to be what was written; else JournalDamaged is
    raised.
    """

    def __init__(
        self,
        database: Database,
        artefacts: Artefacts,
        locks: Locks,
        signer: Signer | None = None,
    ) -> None:
        self._database = database
        self._artefacts = artefacts
        self._locks = locks
        self._signer = signer or Signer(None)
        self._bodies = Bodies(artefacts, redact_nothing)

    @classmethod
    def open(cls, folder: Path) -> JournalReader:
        """The journal of a folder, only to read; changes nothing, also when others write to it."""
        if not (folder / "journal.db").exists():
            why = f"No run has been recorded here: {folder / 'journal.db'} does not exist."
            instead = "Run a pipeline first, or name the folder: REENACT_RUNS_DIR=FOLDER"
            raise InputError(why, next_step=instead)
        database, locks = proven_file(folder, readonly=True)
        return JournalReader(database, FolderArtefacts(folder, locks), locks, known_signer())

    def runs(
        self,
        *,
        order: str = "started",
        rising: bool = False,
        limit: int | None = None,
        offset: int = 0,
        **wanted: Unpack[Wanted],
    ) -> list[Run]:
        """Runs, newest first, or by another of ORDERS."""
        clause, values = _filter(wanted)
        page = (-1 if limit is None else limit, offset)
        key = ORDERS[order]
        way = "ASC" if rising else "DESC"
        # What has no such value comes last, whichever way the others are ordered; all have a
        # number.
        ordered = f"seq {way}" if key == "seq" else f"{key} IS NULL, {key} {way}, seq DESC"
        clause = f"{clause} ORDER BY {ordered} LIMIT ? OFFSET ?"
        with self._database.snapshot() as connection:
            return read_rows(connection, Run, clause, (*values, *page))

    def count(self, **wanted: Unpack[Wanted]) -> int:
        """How many runs there are."""
        clause, values = _filter(wanted)
        return int(
            self._database.rows(
                (f"SELECT count(*) FROM run_rows {clause}"),  # noqa: S608
                values,
            )[0][0]
        )

    def find(self, name: str) -> Run:
        """A run by its id, a part of it that no other has, its number, or `last`."""
        with self._database.snapshot() as connection:
            if name == "last":
                found = read_rows(connection, Run, "ORDER BY turn DESC LIMIT 1")
            elif name.isdecimal() and len(name) < 10:
                found = read_rows(connection, Run, "WHERE seq = ?", (int(name),))
            else:
                found = read_rows(connection, Run, "WHERE id = ?", (name,))
            if not found and name:
                found = read_rows(
                    connection,
                    Run,
                    "WHERE instr(id, ?) ORDER BY seq DESC LIMIT 4",
                    (name,),
                )
        if len(found) == 1:
            return found[0]
        if not found:
            raise InputError(f"There is no run {name!r} here.", next_step="reenact runs list")
        ids = ", ".join(run.id for run in found)
        raise InputError(
            f"Several runs are called {name!r}: {ids}.",
            next_step="Give more of the id.",
        )

    def steps(self, run: Run) -> list[Step]:
        """All steps of a run in the order they were begun, proven to be all of them."""
        with self._database.snapshot() as connection:
            current = read_rows(
                connection,
                Run,
                "WHERE seq = ? AND id = ?",
                (run.seq, run.id),
            )
            if current:
                return steps_of(connection, current[0])
        raise InputError(f"Run {run.id} is no longer here.", next_step="reenact runs list")

    def is_ours(self, run: Run) -> bool:
        """Whether this user recorded all of the run on this machine; only then it may be
        continued.
        """
        if run.imported or not run.is_signed(self._signer):
            return False
        return all(step.is_signed(self._signer) for step in self.steps(run))

    def seal(self, folder: Path) -> None:
        """Sign the folder of a trace as this user's own, when its run has ended; one with links or
        sockets in it is left unsigned.
        """
        if not folder.is_dir():
            return
        with suppress(ValueError):
            mac = self._signer.sign("folder", listing(folder))
            with storage_named(place := folder / SEAL):
                place.unlink(missing_ok=True)
                with open(place, "x", encoding="ascii", opener=private) as file:
                    file.write(mac)

    def is_sealed(self, folder: Path, below: Path) -> bool:
        """Whether a folder that a step names lies below that one and is as this user's run has
        left it.
        """
        try:
            real = folder.resolve(strict=True)
            top = below.resolve(strict=True)
            if real == top or not real.is_relative_to(top) or not real.is_dir():
                return False
            facts = (real / SEAL).lstat()
            small = stat.S_ISREG(facts.st_mode) and facts.st_size < 200
            mac = ""
            if small:
                mac = (real / SEAL).read_text(encoding="ascii")
            return self._signer.holds(mac, "folder", listing(real))
        except (OSError, ValueError, RuntimeError):
            # Gone, unreadable, a loop of links, not ours in form: none of that is evidence.
            return False

    def require_ours(self, run: Run) -> None:
        """Refuse to start the command of a run that somebody else may have written."""
        if self.is_ours(run):
            return
        command = shlex.join(["reenact", *run.command()])
        why = f"Run {run.id} is not resumed: {foreign(run)} Its command came with it: {command}"
        instead = f"If you want that command to run: reenact runs resume {run.id} --trust-journal"
        raise InputError(why, next_step=instead)

    def pipelines(self) -> list[str]:
        """Every pipeline there is a run of, by name."""
        rows = self._database.rows("SELECT DISTINCT pipeline FROM run_rows ORDER BY pipeline")
        return [str(row[0]) for row in rows]

    def verdicts(self, most: int = 40) -> list[str]:
        """The verdicts there are, in a word or two each, the most frequent first."""
        wanted = (
            f"SELECT {VERDICT} AS one FROM run_rows GROUP BY one HAVING length(one) BETWEEN 1 AND "  # noqa: S608
            f"60"
        )
        rows = self._database.rows(
            f"{wanted} ORDER BY count(*) DESC, one LIMIT ?",
            (most,),
        )
        return [str(row[0]) for row in rows]

    def steps_at(self, run: Run, path: str) -> list[Step]:
        """The steps at one path, superseded ones first, however long the run is."""
        # The sign keeps SQLite from walking through all steps for the sake of the order.
        with self._database.snapshot() as connection:
            return read_rows(
                connection,
                Step,
                "WHERE run = ? AND path = ? ORDER BY +nr",
                (run.seq, path),
            )

    def some_steps(
        self,
        run: Run,
        *,
        under: str | None = None,
        kind: Kind | None = None,
        state: State | None = None,
        after: int = 0,
        limit: int = 200,
    ) -> list[Step]:
        """A page of a long run: steps at or below a path, with numbers above `after`, at most
        `limit`.
        """
        clause = ""
        values = tuple[str, ...]()
        if under is not None:
            # Everything below `a/b` sorts between `a/b/` and `a/b0`, the character after the slash.
            clause = "AND (path = ? OR (path > ? AND path < ?))"
            values = (
                under,
                f"{under}/",
                f"{under}0",
            )
        for column, wanted in (("kind", kind), ("state", state)):
            if wanted is not None:
                clause = f"{clause} AND {column} = ?"
                values = (*values, wanted.value)
        where = f"WHERE run = ? AND nr > ? {clause} ORDER BY nr LIMIT ?"
        with self._database.snapshot() as connection:
            return read_rows(
                connection,
                Step,
                where,
                (run.seq, after, *values, limit),
            )

    def result(self, step: Step) -> Any:
        """The result of a step as plain data; none while there is none."""
        if step.has_result:
            return self._plain(step, "result")
        return None

    def typed_result(self, step: Step, returns: type[T]) -> T:
        """The result of a step as what it was. Raises JournalError for one that is not such a thing,
        as those of other versions are.
        """
        try:
            return decoder(returns)(self.result(step))
        except ValueError as error:
            why = f"not the form that this version shows: {step.path} is not a {returns.__name__}."
            instead = f"reenact runs show RUN --step {step.path} prints it as it was stored."
            raise JournalError(f"The result of this run has {why}", next_step=instead) from error

    def inputs(self, step: Step) -> Any:
        """The inputs of a step as plain data."""
        return self._plain(step, "inputs")

    def is_live(self, run: Run) -> bool:
        """Whether a process works on the run now."""
        return run.status is Status.RUNNING and self._locks.is_held(run.seq)

    def status_of(self, run: Run) -> str:
        """The status in one word: that of the row, or `interrupted`."""
        if run.status is Status.RUNNING and not self.is_live(run):
            return INTERRUPTED
        return run.status.value

    def export(self, run: Run, path: Path) -> None:
        """Write the run with all its artefacts to a new file."""
        from reenact.journal.archive import export_run

        export_run(self._database, self._artefacts, run, path)

    def check(self) -> Checked:
        """Read everything once, also every artefact, and say what is not as it was written."""
        from reenact.journal.upkeep import check_all

        return check_all(self._database, self._artefacts)

    def close(self) -> None:
        """Let go of the file; locks of this process on its runs are released."""
        self._database.close()
        self._artefacts.close()
        self._locks.leave()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _plain(self, step: Step, column: str) -> Any:
        with self._database.snapshot() as connection:
            text = read_body(connection, step, column)
        return self._bodies.plain(text)


def foreign(run: Run) -> str:
    """Why nothing of a run is executed, continued or taken as evidence."""
    why = "imported from a file" if run.imported else "not recorded by this user on this machine"
    return f"it was {why}."


def _filter(wanted: Wanted) -> tuple[str, tuple[Any, ...]]:
    first, last = wanted.get("between") or (None, None)
    status = wanted.get("status")
    asked = {
        "pipeline = ?": wanted.get("pipeline"),
        "status = ?": status and status.value,
        f"{VERDICT} = ?": wanted.get("verdict"),
        "seq >= ?": first,
        "seq <= ?": last,
        f"instr(lower({SEARCHED}), lower(?))": wanted.get("text") or None,
    }
    given = {clause: value for clause, value in asked.items() if value is not None}
    return (f"WHERE {' AND '.join(given)}" if given else ""), tuple(given.values())


def proven_file(folder: Path, *, readonly: bool) -> tuple[Database, Locks]:
    """The file of a folder, with all its runs, and its locks."""
    file = folder / "journal.db"
    lock_file = folder / "journal.lock"
    # SQLite takes a file cut to less than a page for a new one; where a lock file is, a journal
    # was.
    size = file.stat().st_size if file.exists() else SMALLEST_PAGE
    if 0 < size < SMALLEST_PAGE or (size == 0 and lock_file.exists()):
        raise damaged(f"{file} has only {size} bytes")
    database = Database(file, readonly=readonly)
    try:
        with database.snapshot() as connection:
            prove_count(connection)
        # Made last: a lock file next to a journal says that the journal was whole once.
        return database, locks_at(lock_file)
    except BaseException:
        database.close()
        raise
