"""Reads a trace from its folder. The folder may be untrusted, and the program may have been killed.

Covered: links, devices and oversized files (`sandbox.files.collect`), pickles and archives that
unpack to more than they should (`sandbox.files.results`), JSON made to harm its reader
(`sandbox.files.results`), a width that does not fit the header. A chunk that cannot be read ends
the trace there, and the trace says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reenact.errors import InputError, ResultRefused
from reenact.probe import injected
from reenact.probe.books import Books
from reenact.probe.crash import Crash
from reenact.probe.json_graph import Json, placed, read_graph, read_place, typed
from reenact.probe.trace import (
    Columns,
    Event,
    Metric,
    Overlap,
    ParameterFacts,
    Root,
    Trace,
    no_rows,
)
from reenact.program.graph import TensorFacts
from reenact.sandbox.files.collect import collect
from reenact.sandbox.files.results import read_arrays, read_json

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SCHEMA = 1
MOST_BYTES = 1 << 30
"""All chunks together."""
MOST_CHUNK_BYTES = 256 << 20
MOST_JSON_BYTES = 64 << 20
OF_PROBE = "/reenact_probe/"
"""In the path of every file of the probe: its frames are nothing that a user wrote."""
TABLES = ("steps", "parameters", "layers")
NO_END = "the program was killed, or still runs: its last seconds may be missing"


@dataclass
class _Gathered:
    """What the chunks hold, as it is read."""

    tables: dict[str, list[NDArray[np.float64]]]
    metrics: list[Metric] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    spent: float = 0.0
    missing: list[str] = field(default_factory=list)


def read_trace(folder: Path, *, root: Root | None = None) -> Trace:
    """The trace in a folder; places are named as `root` says (default: from the folder the program
    ran in).
    """
    header = read_json_file(folder, "header.json")
    if header is None:
        raise InputError(
            f"There is no trace in this folder. Received: {folder}.",
            next_step="Run `reenact watch SCRIPT` and give the folder that it prints.",
        )
    try:
        return _trace(folder, header, root)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise InputError(
            f"The trace in {folder} is not one that reenact wrote ({error!r})."
        ) from error


def is_trace(folder: Path) -> bool:
    """Whether a folder holds a trace of ours."""
    return (folder / "header.json").is_file()


def _trace(folder: Path, header: Json, root: Root | None) -> Trace:
    if header["schema"] != SCHEMA:
        raise InputError(
            f"The trace in {folder} has format {header['schema']}; this reenact reads {SCHEMA}."
        )
    root = root or Root(Path(str(header["cwd"])))
    columns = {name: tuple(str(column) for column in header["columns"][name]) for name in TABLES}
    chunks = _read_chunks(folder, columns, root)
    ending = read_json_file(folder, "ending.json")
    data = read_json_file(folder, "data.json") or {"tensors": [], "overlaps": []}
    tensors = typed(
        tuple[TensorFacts, ...],
        data["tensors"],
    )
    graph = read_json_file(folder, "graph.json")
    steps = _epochs(
        _joined(columns["steps"], chunks.tables["steps"]),
        chunks.events,
    )
    return Trace(
        steps=steps,
        layers=_joined(columns["layers"], chunks.tables["layers"]),
        parameters=_joined(columns["parameters"], chunks.tables["parameters"]),
        layer_names=tuple(map(str, header["layers"])),
        parameter_facts=typed(tuple[ParameterFacts, ...], header["parameters"]),
        metrics=tuple(chunks.metrics),
        events=tuple(chunks.events),
        graph=read_graph(graph, tensors, root) if graph is not None else None,
        data=tensors,
        overlaps=typed(tuple[Overlap, ...], data["overlaps"]),
        books=_books(folder, root),
        crash=_crash(ending["error"], root) if ending and ending.get("error") else None,
        complete=ending is not None,
        seconds=_seconds(ending, steps),
        probe_seconds=chunks.spent,
        stand_in_data=read_stand_ins(folder),
        missing=(
            *(str(sentence) for sentence in header["missing"]),
            *chunks.missing,
            *(["no model was seen: there is no graph"] if graph is None else []),
            *([NO_END] if ending is None else []),
        ),
    )


def _seconds(ending: Json | None, steps: Columns) -> float:
    """How long the training took; that of its last step where it wrote no end."""
    if ending:
        return float(ending["seconds"])
    return float(steps["time"].max()) if len(steps) else 0.0


def read_steps(folder: Path, chunk: str) -> Columns:
    """The optimizer steps of one chunk of a trace that is still being written. Raises
    ResultRefused, KeyError, TypeError or ValueError.
    """
    header = read_json_file(folder, "header.json") or {}
    columns = {
        "steps": tuple(map(str, header["columns"]["steps"])),
    }
    return Columns(
        columns["steps"],
        _tables(_arrays(folder, chunk)[0], columns)["steps"],
    )


def _arrays(folder: Path, chunk: str) -> tuple[dict[str, NDArray[Any]], int]:
    """The arrays of a chunk, and its size."""
    content = _bytes(folder, chunk, MOST_CHUNK_BYTES)
    if content is None:
        raise ValueError("it went away while it was read")
    return read_arrays(content, most_bytes=MOST_CHUNK_BYTES), len(content)


def _tables(
    arrays: Mapping[str, NDArray[Any]], columns: Mapping[str, Sequence[str]]
) -> dict[str, NDArray[np.float64]]:
    for table, named in columns.items():
        rows = arrays[table]
        if rows.ndim != 2 or rows.shape[1] != len(named) or rows.dtype != "<f8":
            raise ValueError(f"its table {table} has shape {rows.shape}")
    return {table: arrays[table] for table in columns}


def _read_chunks(
    folder: Path,
    columns: Mapping[str, tuple[str, ...]],
    root: Root,
) -> _Gathered:
    gathered = _Gathered({name: [] for name in TABLES})
    left = MOST_BYTES
    for name in sorted(path.name for path in folder.glob("chunk-*.npz")):
        try:
            left -= _read_chunk(folder, name, columns, gathered, root)
        except (ResultRefused, KeyError, TypeError, ValueError) as error:
            gathered.missing.append(f"{name} cannot be read, so the trace ends before it: {error}")
            break
        if left < 0:
            too_large = (
                f"the trace is larger than {MOST_BYTES} bytes: what follows {name} is left out"
            )
            gathered.missing.append(too_large)
            break
    return gathered


def _read_chunk(
    folder: Path,
    name: str,
    columns: Mapping[str, tuple[str, ...]],
    into: _Gathered,
    root: Root,
) -> int:
    arrays, size = _arrays(folder, name)
    notes = read_json(arrays["notes"].tobytes(), most_bytes=MOST_JSON_BYTES)
    if not isinstance(notes, dict):
        raise TypeError("its notes are not an object")
    tables = _tables(arrays, columns)
    metrics = [
        Metric(
            str(name),
            float(value),
            int(step),
            int(epoch),
            float(seconds),
            str(source),
        )
        for name, value, step, epoch, seconds, source in notes["metrics"]
    ]
    events = [_event(dict(facts), root) for facts in notes["events"]]
    for table, rows in tables.items():
        into.tables[table].append(rows)
    into.metrics += metrics
    into.events += events
    into.spent = float(notes["spent"])
    return size


def _joined(
    columns: tuple[str, ...],
    parts: list[NDArray[np.float64]],
) -> Columns:
    import numpy as np

    if parts:
        return Columns(columns, np.concatenate(parts))
    return no_rows(columns)


def _epochs(steps: Columns, events: Sequence[Event]) -> Columns:
    """Fill the column `epoch` from printed lines when the probe saw no sign of epochs itself."""
    epoch = steps["epoch"]
    rows = steps.rows.copy()
    unknown = epoch < 0
    length = _epoch_length(events)
    if len(steps) and unknown.all() and length is not None:
        rows[:, steps.columns.index("epoch")] = steps["step"] // length
    elif len(steps) and unknown[0] and not unknown.all() and epoch[~unknown].min() == 1:
        # The end of the first epoch is noticed when the second begins: until then its steps had no
        # number.
        rows[unknown, steps.columns.index("epoch")] = 0
    return Columns(steps.columns, rows)


def _epoch_length(events: Sequence[Event]) -> int | None:
    """Steps an epoch, where the printed numbers grow in step with the optimizer; none where
    they do not.
    """
    seen: dict[int, int] = {}
    for event in events:
        number = event.facts.get("number")
        if event.kind == "printed-epoch" and isinstance(number, int):
            seen.setdefault(number, event.step)
    steps = pairwise(sorted(seen.items()))
    lengths = {(later[1] - first[1]) / (later[0] - first[0]) for first, later in steps}
    length = lengths.pop() if len(lengths) == 1 else 0
    if length >= 1 and length == int(length):
        return int(length)
    return None


def _event(facts: dict[str, Any], root: Root) -> Event:
    kind = str(facts.pop("kind"))
    step = int(facts.pop("step"))
    epoch = int(facts.pop("epoch"))
    seconds = float(facts.pop("time"))
    place = read_place(facts.pop("place", None), root)
    return Event(kind, step, epoch, seconds, facts, place)


def _crash(content: Json, root: Root) -> Crash:
    """The exception that ended a program."""
    return typed(
        Crash,
        dict(
            placed(content, root),
            source=content.get("source") or "",
            frames=[
                f"{file}:{line} in {name}"
                for file, line, name, _ in content.get("frames") or ()
                if OF_PROBE not in file
            ],
            facts=content.get("facts") or {},
            missing_file=content.get("file") or "",
            layer_place=read_place(content.get("layer_place"), root),
            layer_inputs=[
                {
                    "shape": shape,
                    "dtype": dtype,
                    "device": device,
                }
                for shape, dtype, device in content.get("inputs") or ()
            ],
        ),
    )


def _books(folder: Path, root: Root) -> Books | None:
    """What the books of the training hold; none where none were kept."""
    content = read_json_file(folder, "books.json")
    if content:
        return typed(Books, _places_read(content, root))
    return None


def _places_read(value: Any, root: Root) -> Any:
    """The same with each list under the key `place` as a place."""
    if isinstance(value, dict):
        return {
            key: read_place(part, root) if key == "place" else _places_read(part, root)
            for key, part in value.items()
        }
    if isinstance(value, list):
        return [_places_read(part, root) for part in value]
    return value


def read_crash_notes(folder: Path, root: Root) -> Crash | None:
    """The exception of a process that died before it trained anything."""
    for path in sorted(folder.glob("crash-*.json")):
        content = read_json_file(folder, path.name)
        if content and content.get("error"):
            return _crash(content["error"], root)
    return None


def read_stand_ins(folder: Path) -> tuple[str, ...]:
    """Data sets that the program got made-up data for."""
    content = read_json_file(
        folder,
        str(injected.part("standin").FILE),
    )
    if content:
        return tuple(str(name) for name in content["names"])
    return ()


def was_stopped(folder: Path) -> bool:
    """Whether the probe itself ended the program, because enough was seen."""
    ending = read_json_file(folder, "ending.json")
    return bool(ending and ending.get("stopped"))


def read_json_file(folder: Path, name: str) -> Json | None:
    """One JSON object of a trace, or none when the file is not there."""
    content = _bytes(folder, name, MOST_JSON_BYTES)
    if content is None:
        return None
    value = read_json(content, most_bytes=MOST_JSON_BYTES)
    if not isinstance(value, dict):
        raise InputError(f"{name} in {folder} is not a JSON object.")
    return value


def _bytes(folder: Path, name: str, most: int) -> bytes | None:
    try:
        collected = collect(folder, (name,), most)
    except (FileNotFoundError, NotADirectoryError):
        return None
    if name in collected.refused:
        raise ResultRefused(f"{name} in {folder} was refused: {collected.refused[name]}.")
    return collected.results.get(name)
