"""A run out of a journal, its row, its artefacts, its steps, as one file; and into another from
such a file.

The file is the one that `reenact runs export` writes and `reenact runs import` reads: gzip around
the line `reenact-run 1` and records: a line of JSON (kind, size, sha256), then that many bytes,
then a line end; the last record is the end. A file that is read is untrusted: every size is capped
before it is read, and there are no names in it that could become paths.

Of a run that comes in, every column must have its form, every artefact must be named by a step, and
the check sums of the journal it left must hold. Then it gets numbers and check sums of this
journal, all in one transaction. It is signed by no one: nothing of it is ever taken as evidence
here.
"""

import gzip
import hashlib
import json
import math
import os
import re
import sqlite3
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, get_args, get_type_hints

from reenact.errors import InputError, JournalDamaged, JournalError
from reenact.files import open_regular
from reenact.journal import rows
from reenact.journal.artefacts import NAME, Artefacts
from reenact.journal.database import RENAMED, Database
from reenact.journal.records import (
    PATH,
    PIPELINE,
    RUN_ID,
    SUM,
    Run,
    Status,
    Step,
    is_digest,
)
from reenact.journal.storage import Locks, private, storage_named, sync_folder
from reenact.journal.upkeep import IMPORTING

MAGIC = b"reenact-run 1\n"
HEADER_BYTES = 200
LARGEST = {
    "run": 1 << 20,
    "step": 1 << 20,
    "artefact": 1 << 28,
    "end": 1 << 10,
}
LARGEST_TOTAL = 1 << 34
MOST_RECORDS = 2_000_000
HASH = re.compile(r"[0-9a-f]{40}")
FORMS = {
    "id": RUN_ID,
    "reused_from": RUN_ID,
    "pipeline": PIPELINE,
    "path": PATH,
    "key": HASH,
    "request_hash": HASH,
    "mac": re.compile(r"([0-9a-f]{64})?"),
    "money": re.compile(r"\d{1,20}(\.\d{1,30})?(E[+-]?\d{1,2})?"),
}
JSON_COLUMNS = ("request", "argv", "verdict", "artefacts", "inputs", "result")
LONGEST_TEXT = 1 << 18
LARGEST_NUMBER = 1 << 63
DEEPEST = 64


@dataclass(frozen=True, slots=True)
class Record:
    """One part of the file."""

    kind: str
    data: bytes


def put_record(sink: gzip.GzipFile, record: Record) -> None:
    """Write one record; what no reader would take is refused here already."""
    size = len(record.data)
    if size > LARGEST[record.kind]:
        why = "A part of this run is too large to export"
        raise InputError(f"{why}. Received: {record.kind} of {size} bytes.")
    header = {
        "kind": record.kind,
        "size": size,
        "sha256": hashlib.sha256(record.data).hexdigest(),
    }
    sink.write(json.dumps(header).encode("ascii") + b"\n" + record.data + b"\n")


def read_records(path: Path) -> Iterator[Record]:
    """The records of an archive, each proven whole; InputError for anything that is not such a
    file.
    """
    with (
        storage_named(path),
        open_regular(path, LARGEST_TOTAL) as plain,
        gzip.open(plain, "rb") as source,
    ):
        with refusing(path):
            expect(
                source.read(len(MAGIC)) == MAGIC,
                "it does not begin as an exported run does",
            )
        left = MOST_RECORDS
        total = 0
        kind = ""
        while kind != "end":
            with refusing(path):
                record = _read_record(source)
                left = left - 1
                total = total + len(record.data)
                kind = record.kind
                expect(
                    left > 0 and total <= LARGEST_TOTAL,
                    "it is larger than any run may be",
                )
            yield record
        with refusing(path):
            expect(not source.read(1), "something follows its end")


def _read_record(source: gzip.GzipFile) -> Record:
    header: Any = json.loads(source.readline(HEADER_BYTES))
    expect(
        isinstance(header, dict) and set(header) == {"kind", "size", "sha256"},
        "a part has no heading",
    )
    kind = header["kind"]
    size = header["size"]
    expect(
        isinstance(kind, str) and kind in LARGEST,
        "it has a part of an unknown kind",
    )
    expect(
        type(size) is int and 0 <= size <= LARGEST[kind],
        f"a {kind} in it is too large",
    )
    data = source.read(size)
    expect(
        len(data) == size and source.read(1) == b"\n",
        "it ends too early",
    )
    expect(
        hashlib.sha256(data).hexdigest() == header["sha256"],
        f"a {kind} in it is not what was written",
    )
    return Record(kind, data)


def expect(fulfilled: bool, why_not: str) -> None:
    """What must hold of a file, in words for the one who gave it."""
    if not fulfilled:
        raise ValueError(why_not)


@contextmanager
def refusing(path: Path) -> Iterator[None]:
    """What is wrong with a file as InputError."""
    try:
        yield
    except (
        ValueError,
        EOFError,
        zlib.error,
        gzip.BadGzipFile,
        RecursionError,
    ) as error:
        why = f"{path} is not a run that can be imported: {error}."
        instead = "reenact runs export RUN FILE"
        raise InputError(why, next_step=f"Export it again: {instead}") from error


def export_run(
    database: Database,
    artefacts: Artefacts,
    run: Run,
    path: Path,
) -> None:
    """Write the run to a new file, whole or not at all."""
    if path.exists():
        raise InputError(f"{path} is there already.", next_step="Give a name that is not taken.")
    partial = path.with_name(f".{path.name}.partial")
    with storage_named(path):
        partial.unlink(missing_ok=True)
        with open(partial, "xb", opener=private) as raw:
            with gzip.GzipFile(
                filename="",
                fileobj=raw,
                mode="wb",
                mtime=0,
            ) as sink:
                sink.write(MAGIC)
                for record in _records(database, artefacts, run):
                    put_record(sink, record)
            raw.flush()
            os.fsync(raw.fileno())
        partial.rename(path)
        sync_folder(path.parent)


def as_json(row: Run | Step, **bodies: str) -> bytes:
    """A row with its bodies, as it is in the file."""
    columns = dict(zip(row.columns(), row.values(), strict=True))
    return json.dumps(
        {
            **columns,
            **bodies,
        },
        ensure_ascii=True,
    ).encode("ascii")


def _records(database: Database, artefacts: Artefacts, run: Run) -> Iterator[Record]:
    with database.snapshot() as connection:
        run = rows.read_rows(
            connection,
            Run,
            "WHERE seq = ?",
            (run.seq,),
        )[0]
        steps = rows.steps_of(connection, run)
        yield Record("run", as_json(run))
        for name in dict.fromkeys(name for step in steps for name in step.artefact_hashes()):
            yield Record("artefact", artefacts.read(name))
        for step in steps:
            inputs, result = (
                rows.read_body(connection, step, column) for column in ("inputs", "result")
            )
            yield Record(
                "step",
                as_json(step, inputs=inputs, result=result),
            )
        yield Record("end", b"")


def _formed_step(record: Record) -> tuple[Step, dict[str, str]]:
    """The step in a record, with its inputs and its result. Raises ValueError in words."""
    step, bodies = _formed(record, Step, "inputs", "result")
    wanted = {
        "inputs": step.inputs_digest,
        "result": step.result_digest,
    }
    fits = all(is_digest(wanted[name], body) for name, body in bodies.items())
    expect(fits, "a step in it is not what was written")
    listed = step.artefact_hashes()
    expect(
        all(NAME.fullmatch(name) for name in listed),
        "an artefact in it has no proper name",
    )
    return step, bodies


def _formed(
    record: Record,
    row: type[rows.Row],
    *bodies: str,
) -> tuple[rows.Row, dict[str, str]]:
    """The row in a record, every column of which has its form, and its bodies."""
    columns = row.columns()
    wanted = columns + bodies
    hints = get_type_hints(row) | dict.fromkeys(bodies, str)
    given = json.loads(record.data)
    if isinstance(given, dict):
        # Files from before rows were signed have no such column; the pipeline's had another name.
        old, new = RENAMED.split(" TO ")
        given = {
            "mac": "",
            **{new if name == old else name: value for name, value in given.items()},
        }
    expect(
        isinstance(given, dict) and set(given) == set(wanted),
        f"a {record.kind} in it has other columns",
    )
    for name in wanted:
        # The value of an enum is text.
        kinds = [
            str if issubclass(one, str) else one for one in get_args(hints[name]) or (hints[name],)
        ]
        expect(
            type(given[name]) in kinds,
            f"{name} is of the wrong kind",
        )
        _check(name, given[name])
    try:
        formed = rows.row_of(
            row,
            tuple(given[name] for name in columns),
        )
    except (JournalDamaged, TypeError) as error:
        raise ValueError("its check sums do not hold") from error
    return formed, {name: given[name] for name in bodies}


def _check(name: str, value: object) -> None:
    if isinstance(value, int | float):
        expect(
            math.isfinite(value) and abs(value) < LARGEST_NUMBER,
            f"{name} is too large",
        )
    elif isinstance(value, str):
        expect(
            len(value) <= LONGEST_TEXT,
            f"{name} is too long",
        )
        value.encode("utf-8")
        expect(
            name not in FORMS or bool(FORMS[name].fullmatch(value)),
            f"{name} has not its form",
        )
        if name in JSON_COLUMNS and value:
            expect(
                _depth(json.loads(value)) <= DEEPEST,
                f"{name} is nested too deeply",
            )


def _depth(value: object) -> int:
    depth = 0
    level = [value]
    while level:
        depth += 1
        lists = (list(one.values()) if isinstance(one, dict) else one for one in level)
        level = [inner for one in lists if isinstance(one, list) for inner in one]
    return depth


@dataclass(frozen=True, slots=True)
class Moved:
    """What an import did."""

    run: Run
    is_new: bool
    """False when the same run was here already."""


def import_run(
    database: Database,
    artefacts: Artefacts,
    locks: Locks,
    path: Path,
) -> Moved:
    """Take the run of a file into this journal. The same file twice changes nothing."""
    if not path.is_file():
        raise InputError(f"There is no file {path}.")
    if not locks.take(IMPORTING):
        raise JournalError(
            "Another import or a removal is under way here.",
            next_step="Try again soon.",
        )
    try:
        with refusing(path):
            records = read_records(path)
            first = next(records)
            expect(first.kind == "run", "its first part is not a run")
            run, _ = _formed(first, Run)
            expect(
                list(run.command()) == json.loads(run.argv),
                "its command is not a list of words",
            )
            with database.snapshot() as connection:
                here = next(
                    iter(rows.read_rows(connection, Run, "WHERE id = ?", (run.id,))),
                    None,
                )
            if here is None:
                return Moved(_take_in(database, artefacts, run, records), is_new=True)
            coming = _likeness(
                run,
                (_formed_step(record)[0] for record in records if record.kind == "step"),
            )
        with database.snapshot() as connection:
            known = _likeness(here, rows.steps_of(connection, here))
        if coming != known:
            why = f"Run {here.id} is here already and has gone another way since."
            raise InputError(why, next_step=f"reenact runs remove {here.id}, then import again")
        return Moved(here, is_new=False)
    finally:
        locks.release(IMPORTING)


def _take_in(
    database: Database,
    artefacts: Artefacts,
    run: Run,
    records: Iterator[Record],
) -> Run:
    kept: set[str] = set()
    record = next(records)
    while record.kind == "artefact":
        kept.add(artefacts.keep(record.data).sha256)
        record = next(records)
    with database.transaction() as connection:
        seq = rows.next_number(connection, Run)
        turn = rows.next_turn(connection)
        local = replace(
            run,
            seq=seq,
            turn=turn,
            status=_settled(run),
            imported=1,
        ).sealed(None)
        rows.put_row(connection, local)
        count = 0
        old_sum = 0
        new_sum = 0
        named: set[str] = set()
        while record.kind == "step":
            step, bodies = _formed_step(record)
            expect(step.run == run.seq, "a step in it belongs to another run")
            own = replace(step, run=seq, number=rows.next_number(connection, Step)).sealed(None)
            try:
                rows.put_row(connection, own, **bodies)
            except sqlite3.IntegrityError as error:
                raise ValueError("a step is in it twice") from error
            count = count + 1
            old_sum = old_sum + step.check_sum
            new_sum = new_sum + own.check_sum
            named.update(step.artefact_hashes())
            record = next(records)
        expect(record.kind == "end", "its parts are in the wrong order")
        expect(next(records, None) is None, "something follows its end")
        expect(named == kept, "its steps and its artefacts do not belong together")
        expect(
            (count, old_sum % SUM) == (run.steps, run.steps_sum),
            "steps are missing in it",
        )
        whole = replace(local, steps_sum=new_sum % SUM).sealed(None)
        rows.set_row(connection, local, whole)
    return whole


def _settled(run: Run) -> Status:
    # No one works on it here, whatever was going on when it was exported.
    if run.status is Status.RUNNING:
        return Status.STOPPED
    return run.status


def _likeness(run: Run, steps: Iterable[Step]) -> bytes:
    """One hash of all that does not differ from journal to journal; a run may have been renamed."""
    same = replace(
        run,
        check_sum=0,
        mac="",
        seq=0,
        turn=0,
        steps_sum=0,
        imported=0,
    )
    mark = hashlib.blake2b(
        as_json(
            replace(
                same,
                what="",
                status=_settled(run),
            )
        )
    )
    for step in steps:
        mark.update(
            as_json(
                replace(
                    step,
                    check_sum=0,
                    mac="",
                    number=0,
                    run=0,
                )
            )
        )
    return mark.digest()
