"""A run into a journal, from a file that somebody else may have made.

Every column must have its form, every artefact must be named by a step, and the check sums of the journal it
left must hold. Then it gets numbers and check sums of this journal, all in one transaction. It is signed by
nobody: nothing of it is ever taken as evidence here.
"""

import hashlib
import json
import math
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar, get_args, get_type_hints

from reenact.errors import InputError, JournalDamaged, JournalError
from reenact.journal.archive import Record, as_json, expect, read_records, refusing
from reenact.journal.artefacts import NAME, Artefacts
from reenact.journal.database import RENAMED, Database
from reenact.journal.keys import PATH, PIPELINE, RUN_ID
from reenact.journal.records import SUM, Run, Status, Step, is_digest
from reenact.journal.rows import next_number, next_turn, put_row, read_rows, row_of, set_row, steps_of
from reenact.journal.storage import Locks
from reenact.journal.upkeep import IMPORTING

R = TypeVar("R")
HASH = re.compile(r"[0-9a-f]{40}")
FORMS = {
    "id": RUN_ID,
    "pipeline": PIPELINE,
    "path": PATH,
    "reused_from": RUN_ID,
    "key": HASH,
    "request_hash": HASH,
    "mac": re.compile(r"([0-9a-f]{64})?"),
    "money": re.compile(r"\d{1,20}(\.\d{1,30})?(E[+-]?\d{1,2})?"),
}
JSON_COLUMNS = ("request", "argv", "verdict", "artefacts", "inputs", "result")
LONGEST_TEXT = 1 << 18
LARGEST_NUMBER = 1 << 63
DEEPEST = 64


def formed_run(record: Record) -> Run:
    """The run in a record. Raises ValueError in words."""
    expect(record.kind == "run", "its first part is not a run")
    columns = _columns(record, _types(Run))
    run = _proven(lambda: row_of(Run, tuple(columns.values())))
    words = json.loads(run.argv)
    fits = isinstance(words, list) and all(isinstance(word, str) for word in words)
    expect(fits, "its command is not a list of words")
    return run


def formed_step(record: Record) -> tuple[Step, str, str]:
    """The step in a record, its inputs and its result. Raises ValueError in words."""
    columns = _columns(record, {**_types(Step), "inputs": (str,), "result": (str,)})
    inputs, result = columns.pop("inputs"), columns.pop("result")
    step = _proven(lambda: row_of(Step, tuple(columns.values())))
    fits = is_digest(step.inputs_digest, inputs) and is_digest(step.result_digest, result)
    expect(fits, "a step in it is not what was written")
    listed = step.artefact_hashes()
    expect(all(NAME.fullmatch(name) for name in listed), "an artefact in it has no proper name")
    return step, inputs, result


def _types(row: type[Run] | type[Step]) -> dict[str, tuple[type, ...]]:
    """What each column may be; an enum's value is text."""
    hints = get_type_hints(row)
    kinds = {name: get_args(hints[name]) or (hints[name],) for name in row.columns()}
    return {name: tuple(str if issubclass(kind, str) else kind for kind in kinds[name]) for name in kinds}


def _columns(record: Record, wanted: dict[str, tuple[type, ...]]) -> dict[str, Any]:
    given = json.loads(record.data)
    if isinstance(given, dict):
        # Files from before rows were signed have no such column; the pipeline's had another name.
        old, new = RENAMED.split(" TO ")
        given = {"mac": "", **{new if name == old else name: value for name, value in given.items()}}
    expect(isinstance(given, dict) and set(given) == set(wanted), f"a {record.kind} in it has other columns")
    for name, kinds in wanted.items():
        expect(type(given[name]) in kinds, f"{name} is of the wrong kind")
        _check(name, given[name])
    return {name: given[name] for name in wanted}


def _check(name: str, value: object) -> None:
    if isinstance(value, int | float):
        expect(math.isfinite(value) and abs(value) < LARGEST_NUMBER, f"{name} is too large")
    elif isinstance(value, str):
        expect(len(value) <= LONGEST_TEXT, f"{name} is too long")
        value.encode("utf-8")
        expect(name not in FORMS or bool(FORMS[name].fullmatch(value)), f"{name} has not its form")
        if name in JSON_COLUMNS and value:
            expect(_depth(json.loads(value)) <= DEEPEST, f"{name} is nested too deeply")


def _depth(value: object) -> int:
    depth, level = 0, [value]
    while level:
        depth += 1
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
    return depth


def _proven(read: Callable[[], R]) -> R:
    try:
        return read()
    except (JournalDamaged, TypeError) as error:
        raise ValueError("its check sums do not hold") from error


@dataclass(frozen=True, slots=True)
class Moved:
    """What an import did."""

    run: Run
    is_new: bool
    """False when the same run was here already."""


def import_run(database: Database, artefacts: Artefacts, locks: Locks, path: Path) -> Moved:
    """Take the run of a file into this journal. The same file twice changes nothing."""
    if not path.is_file():
        raise InputError(f"There is no file {path}.")
    if not locks.take(IMPORTING):
        raise JournalError("Another import or a removal is under way here.", next_step="Try again soon.")
    try:
        with refusing(path):
            records = read_records(path)
            run = formed_run(next(records))
            with database.snapshot() as connection:
                here = next(iter(read_rows(connection, Run, "WHERE id = ?", (run.id,))), None)
            if here is None:
                return Moved(_take_in(database, artefacts, run, records), is_new=True)
            coming = _likeness(run, (formed_step(record)[0] for record in records if record.kind == "step"))
        with database.snapshot() as connection:
            known = _likeness(here, steps_of(connection, here))
        if coming != known:
            raise InputError(
                f"Run {here.id} is here already and has gone another way since.",
                next_step=f"reenact runs remove {here.id}, then import again",
            )
        return Moved(here, is_new=False)
    finally:
        locks.release(IMPORTING)


def _take_in(database: Database, artefacts: Artefacts, run: Run, records: Iterator[Record]) -> Run:
    kept: set[str] = set()
    record = next(records)
    while record.kind == "artefact":
        kept.add(artefacts.keep(record.data).sha256)
        record = next(records)
    with database.transaction() as connection, _doubles_refused():
        seq, turn = next_number(connection, Run), next_turn(connection)
        local = replace(run, seq=seq, turn=turn, status=_settled(run), imported=1).sealed(None)
        put_row(connection, local)
        count = old_sum = new_sum = 0
        named: set[str] = set()
        while record.kind == "step":
            step, inputs, result = formed_step(record)
            expect(step.run == run.seq, "a step in it belongs to another run")
            own = replace(step, run=seq, number=next_number(connection, Step)).sealed(None)
            put_row(connection, own, inputs=inputs, result=result)
            count, old_sum, new_sum = count + 1, old_sum + step.check_sum, new_sum + own.check_sum
            named.update(step.artefact_hashes())
            record = next(records)
        expect(record.kind == "end", "its parts are in the wrong order")
        expect(next(records, None) is None, "something follows its end")
        expect(named == kept, "its steps and its artefacts do not belong together")
        expect((count, old_sum % SUM) == (run.steps, run.steps_sum), "steps are missing in it")
        whole = replace(local, steps_sum=new_sum % SUM).sealed(None)
        set_row(connection, local, whole)
    return whole


def _settled(run: Run) -> Status:
    # Nobody works on it here, whatever was going on when it was exported.
    return Status.STOPPED if run.status is Status.RUNNING else run.status


def _likeness(run: Run, steps: Iterable[Step]) -> bytes:
    """One hash of all that does not differ from journal to journal; a run may have been renamed."""
    same = replace(run, check_sum=0, mac="", seq=0, turn=0, steps_sum=0, imported=0)
    bare = replace(same, what="", status=_settled(run))
    mark = hashlib.blake2b(as_json(bare))
    for step in steps:
        mark.update(as_json(replace(step, check_sum=0, mac="", number=0, run=0)))
    return mark.digest()


@contextmanager
def _doubles_refused() -> Iterator[None]:
    try:
        yield
    except sqlite3.IntegrityError as error:
        raise ValueError("a step is in it twice") from error
