"""A run out of a journal: its row, its artefacts, its steps, as one file."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator
from pathlib import Path

from reenact.errors import InputError
from reenact.journal.archive import MAGIC, Record, put_record
from reenact.journal.artefacts import Artefacts
from reenact.journal.database import Database
from reenact.journal.records import Run, Step
from reenact.journal.rows import prove_complete, read_body, read_runs, read_steps
from reenact.journal.storage import private, storage_named, sync_folder


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
        run = read_runs(connection, "WHERE seq = ?", (run.seq,))[0]
        steps = read_steps(connection, "WHERE run = ? ORDER BY nr", (run.seq,))
        prove_complete(run, steps)
        yield Record("run", as_json(run))
        for name in dict.fromkeys(name for step in steps for name in step.artefact_hashes()):
            yield Record("artefact", artefacts.read(name))
        for step in steps:
            inputs, result = (read_body(connection, step, column) for column in ("inputs", "result"))
            yield Record("step", as_json(step, inputs=inputs, result=result))
        yield Record("end", b"")
