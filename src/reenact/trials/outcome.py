"""What came of a trial, and the same as JSON for the journal and the cache."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from reenact.errors import InputError
from reenact.probe.outcome import Crash, LayerInput, OutcomeKind
from reenact.types import JsonValue, Place

Curve = tuple[tuple[int, float], ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a trial. A crash or a time-out is an outcome like any other."""

    kind: OutcomeKind
    steps: int = 0
    epochs: int | None = None
    """Epochs begun; none when there was no sign of them."""
    metrics: Mapping[str, float] = field(default_factory=dict)
    """The last value of each metric, from its best source; what only the probe saw of an evaluation is the
    mean of the last one's batches. `step_loss` is the mean training loss of the last steps.
    """
    sources: Mapping[str, str] = field(default_factory=dict)
    """Where each of them was read: keras, output, probe..."""
    curves: Mapping[str, Curve] = field(default_factory=dict)
    """(step, value) of each metric, thinned to 200 points; `step_loss` is the loss of the steps."""
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    """User and system time of the training and of the processes it started."""
    crash: Crash | None = None
    note: str = ""
    """What the kind alone does not say."""
    trace: Path | None = None
    """Folder of the trace, when it was kept."""
    halved: int = 0
    """Evaluations of which one half of the data was used, as the trial wished."""
    cut: int = 0
    """Sets of training data of which only a share was used, as the trial wished."""
    stopped: str = ""
    """Why it was given up as hopeless; empty when it was not."""
    expressed: bool = False
    """Its trainings ran as bare torch loops."""
    fallback: str = ""
    """Why they did not, although the executor was asked to."""

    @property
    def trained(self) -> bool:
        """It finished, or was stopped on purpose, after at least one step."""
        return self.kind in (OutcomeKind.FINISHED, OutcomeKind.STOPPED) and self.steps > 0

    def curve(self, name: str) -> Curve:
        """A metric over the steps; empty when it was not seen."""
        return self.curves.get(name, ())

    def to_json(self) -> JsonValue:
        """Plain JSON; `from_json` makes an equal outcome of it. JSON has no NaN: such numbers are text."""
        return {
            "kind": self.kind.value,
            "steps": self.steps,
            "epochs": self.epochs,
            "metrics": {name: _number(value) for name, value in self.metrics.items()},
            "sources": dict(self.sources),
            "curves": {
                name: [[step, _number(value)] for step, value in points]
                for name, points in self.curves.items()
            },
            "seconds": self.seconds,
            "cpu_seconds": self.cpu_seconds,
            "crash": None if self.crash is None else _crash(self.crash),
            "note": self.note,
            "trace": None if self.trace is None else str(self.trace),
            "halved": self.halved,
            "cut": self.cut,
            "stopped": self.stopped,
            "expressed": self.expressed,
            "fallback": self.fallback,
        }

    @classmethod
    def from_json(cls, data: object) -> Outcome:
        """The outcome that `to_json` wrote; raises InputError for anything else."""
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
