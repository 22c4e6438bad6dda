"""Outcomes as JSON, for the journal and the cache. JSON knows no NaN: such numbers are written as text."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from reenact.errors import InputError
from reenact.probe.outcome import Crash, LayerInput, OutcomeKind
from reenact.trials.trial import Outcome
from reenact.types import JsonValue, Place


def outcome_to_json(outcome: Outcome) -> JsonValue:
    """See `Outcome.to_json`."""
    return {
        "kind": outcome.kind.value,
        "steps": outcome.steps,
        "epochs": outcome.epochs,
        "metrics": {name: _number(value) for name, value in outcome.metrics.items()},
        "sources": dict(outcome.sources),
        "curves": {
            name: [[step, _number(value)] for step, value in points]
            for name, points in outcome.curves.items()
        },
        "seconds": outcome.seconds,
        "cpu_seconds": outcome.cpu_seconds,
        "crash": None if outcome.crash is None else _crash(outcome.crash),
        "note": outcome.note,
        "trace": None if outcome.trace is None else str(outcome.trace),
        "halved": outcome.halved,
        "cut": outcome.cut,
        "stopped": outcome.stopped,
        "expressed": outcome.expressed,
        "fallback": outcome.fallback,
    }


def outcome_from_json(data: object) -> Outcome:
    """See `Outcome.from_json`."""
    try:
        return _outcome(data)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"This is no outcome of a trial that reenact wrote ({error!r}).") from error


def _outcome(data: Any) -> Outcome:
    return Outcome(
        kind=OutcomeKind(data["kind"]),
        steps=int(data["steps"]),
        epochs=None if data["epochs"] is None else int(data["epochs"]),
        metrics={str(name): float(value) for name, value in data["metrics"].items()},
        sources={str(name): str(source) for name, source in data["sources"].items()},
        curves={
            str(name): tuple((int(step), float(value)) for step, value in points)
            for name, points in data["curves"].items()
        },
        seconds=float(data["seconds"]),
        cpu_seconds=float(data["cpu_seconds"]),
        crash=None if data["crash"] is None else _read_crash(data["crash"]),
        note=str(data["note"]),
        trace=None if data["trace"] is None else Path(str(data["trace"])),
        halved=int(data.get("halved", 0)),
        cut=int(data.get("cut", 0)),
        stopped=str(data.get("stopped", "")),
        expressed=bool(data.get("expressed", False)),
        fallback=str(data.get("fallback", "")),
    )


def _number(value: float) -> float | str:
    return value if math.isfinite(value) else str(value)


def _crash(crash: Crash) -> Mapping[str, JsonValue]:
    return {
        "type": crash.type,
        "message": crash.message,
        "place": _place(crash.place),
        "source": crash.source,
        "frames": list(crash.frames),
        "bases": list(crash.bases),
        "missing_file": crash.missing_file,
        "layer": crash.layer,
        "layer_place": _place(crash.layer_place),
        "layer_inputs": [[list(given.shape), given.dtype, given.device] for given in crash.layer_inputs],
    }


def _read_crash(data: Any) -> Crash:
    return Crash(
        type=str(data["type"]),
        message=str(data["message"]),
        place=_read_place(data["place"]),
        source=str(data["source"]),
        frames=tuple(map(str, data["frames"])),
        bases=tuple(map(str, data["bases"])),
        missing_file=str(data["missing_file"]),
        layer=str(data["layer"]),
        layer_place=_read_place(data["layer_place"]),
        layer_inputs=tuple(
            LayerInput(tuple(map(int, shape)), str(kind), str(device))
            for shape, kind, device in data["layer_inputs"]
        ),
    )


def _place(place: Place | None) -> Sequence[JsonValue] | None:
    if place is None:
        return None
    return [str(place.file), place.line, place.column, place.end_line, place.end_column]


def _read_place(data: Any) -> Place | None:
    if data is None:
        return None
    file, line, column, end_line, end_column = data
    return Place(PurePosixPath(str(file)), int(line), int(column), int(end_line), int(end_column))
