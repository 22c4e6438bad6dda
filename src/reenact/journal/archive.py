"""A run out of a journal, its row, its artefacts, its steps, as one file; and the records of such a file.

The file is the one that `reenact runs export` writes and `reenact runs import` reads:
gzip around the line `reenact-run 1` and records: a line of JSON (kind, size, sha256), then that many bytes,
then a line end; the last record is the end. A file that is read is untrusted: every size is capped before it
is read, and there are no names in it that could become paths.
"""

import gzip
import hashlib
import json
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reenact.errors import InputError
from reenact.files import open_regular
from reenact.journal.artefacts import Artefacts
from reenact.journal.database import Database
from reenact.journal.records import Run, Step
from reenact.journal.rows import read_body, read_rows, steps_of
from reenact.journal.storage import private, storage_named, sync_folder

MAGIC = b"reenact-run 1\n"
HEADER_BYTES = 200
LARGEST = {"run": 1 << 20, "step": 1 << 20, "artefact": 1 << 28, "end": 1 << 10}
LARGEST_TOTAL = 1 << 34
MOST_RECORDS = 2_000_000


@dataclass(frozen=True, slots=True)
class Record:
    """One part of the file."""

    kind: str
    data: bytes


def put_record(sink: gzip.GzipFile, record: Record) -> None:
    """Write one record; what no reader would take is refused here already."""
    size = len(record.data)
    if size > LARGEST[record.kind]:
        raise InputError(
            f"A part of this run is too large to export. Received: {record.kind} of {size} bytes."
        )
    header = {"kind": record.kind, "size": size, "sha256": hashlib.sha256(record.data).hexdigest()}
    sink.write(json.dumps(header).encode("ascii") + b"\n" + record.data + b"\n")


def read_records(path: Path) -> Iterator[Record]:
    """The records of an archive, each proven whole; InputError for anything that is not such a file."""
    with storage_named(path), open_regular(path, LARGEST_TOTAL) as plain, gzip.open(plain, "rb") as source:
        with refusing(path):
            expect(source.read(len(MAGIC)) == MAGIC, "it does not begin as an exported run does")
        left, total = MOST_RECORDS, 0
        kind = ""
        while kind != "end":
            with refusing(path):
                record = _read_record(source)
                left, total, kind = left - 1, total + len(record.data), record.kind
                expect(left > 0 and total <= LARGEST_TOTAL, "it is larger than any run may be")
            yield record
        with refusing(path):
            expect(not source.read(1), "something follows its end")


def _read_record(source: gzip.GzipFile) -> Record:
    line = source.readline(HEADER_BYTES)
    header: Any = json.loads(line)
    expect(isinstance(header, dict) and set(header) == {"kind", "size", "sha256"}, "a part has no heading")
    kind, size = header["kind"], header["size"]
    expect(isinstance(kind, str) and kind in LARGEST, "it has a part of an unknown kind")
    expect(type(size) is int and 0 <= size <= LARGEST[kind], f"a {kind} in it is too large")
    data = source.read(size)
    expect(len(data) == size and source.read(1) == b"\n", "it ends too early")
    expect(hashlib.sha256(data).hexdigest() == header["sha256"], f"a {kind} in it is not what was written")
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
    except (ValueError, EOFError, zlib.error, gzip.BadGzipFile, RecursionError) as error:
        raise InputError(
            f"{path} is not a run that can be imported: {error}.",
            next_step="Export it again: reenact runs export RUN FILE",
        ) from error


def export_run(database: Database, artefacts: Artefacts, run: Run, path: Path) -> None:
    """Write the run to a new file, whole or not at all."""
    if path.exists():
        raise InputError(f"{path} is there already.", next_step="Give a name that is not taken.")
    partial = path.with_name(f".{path.name}.partial")
    with storage_named(path):
        partial.unlink(missing_ok=True)
        with open(partial, "xb", opener=private) as raw:
            with gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0) as sink:
                sink.write(MAGIC)
                for record in _records(database, artefacts, run):
                    put_record(sink, record)
            raw.flush()
            os.fsync(raw.fileno())
        partial.rename(path)
        sync_folder(path.parent)


def as_json(row: Run | Step, **bodies: str) -> bytes:
    """A row with its bodies, as it stands in the file."""
    columns = dict(zip(row.columns(), row.values(), strict=True))
    return json.dumps({**columns, **bodies}, ensure_ascii=True).encode("ascii")


def _records(database: Database, artefacts: Artefacts, run: Run) -> Iterator[Record]:
    with database.snapshot() as connection:
        run = read_rows(connection, Run, "WHERE seq = ?", (run.seq,))[0]
        steps = steps_of(connection, run)
        yield Record("run", as_json(run))
        for name in dict.fromkeys(name for step in steps for name in step.artefact_hashes()):
            yield Record("artefact", artefacts.read(name))
        for step in steps:
            inputs, result = (read_body(connection, step, column) for column in ("inputs", "result"))
            yield Record("step", as_json(step, inputs=inputs, result=result))
        yield Record("end", b"")
