"""Learning curves as they are kept: one line of JSON for each faulty program, packed for the
repository.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

from pydantic import TypeAdapter

from benchmarks.curves.plan import half_of

PACKED = Path(__file__).parent / "curves.jsonl.gz"
"""Those of the repository."""
POINTS = 50
"""Of a curve."""

Points = tuple[tuple[int, float], ...]
"""Steps and values."""


@dataclass(frozen=True)
class KeptTraining:
    """One training, to its end."""

    seed: int
    steps: int
    cpu_seconds: float
    score: float | None
    """Of the metric that judges, larger is better; none for a failed training."""
    watched: Points
    """Of the metric that is looked at on the way, as it was logged."""
    loss: Points
    """Of the steps."""


@dataclass(frozen=True)
class KeptChange:
    """A change of a faulty program, trained over seeds."""

    patch: str
    factor: float
    """Times as many steps as the faulty program takes, by epochs and batch size."""
    other_loss: bool
    """It exchanges the loss, so that losses cannot be compared."""
    trainings: tuple[KeptTraining, ...]


@dataclass(frozen=True)
class KeptStart:
    """A faulty program with its changes."""

    name: str
    group: str
    metric: str
    bounded: bool
    watched: str
    """Name of the metric that is looked at on the way; empty where none is logged often enough."""
    larger: bool
    """Whether a larger value of the watched metric is better."""
    base: tuple[KeptTraining, ...]
    changes: tuple[KeptChange, ...]

    @cached_property
    def half(self) -> str:
        return half_of(self.group)


_START: TypeAdapter[KeptStart] = TypeAdapter(KeptStart)


def read_kept(file: Path) -> list[KeptStart]:
    """Packed or not; none where there is no such file."""
    if not file.is_file():
        return []
    text = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
    return [_START.validate_python(json.loads(line)) for line in text.splitlines()]


def append(file: Path, found: Iterable[KeptStart]) -> None:
    """Write them behind what is there."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a", encoding="utf-8") as sink:
        for start in found:
            sink.write(f"{_line(start)}\n")


def pack_curves(kept: Iterable[KeptStart], file: Path = PACKED) -> None:
    """The same bytes for the same curves."""
    lines = "".join(f"{_line(start)}\n" for start in kept)
    file.write_bytes(gzip.compress(lines.encode(), 9, mtime=0))


def _line(start: KeptStart) -> str:
    return json.dumps(asdict(start), separators=(",", ":"))


def thinned(curve: Iterable[tuple[int, float]]) -> Points:
    """Evenly spread points with four digits, one a step, the last one among them."""
    by_step: dict[int, list[float]] = {}
    for step, value in curve:
        by_step.setdefault(step, []).append(value)
    points = [(step, float(f"{sum(values) / len(values):.4g}")) for step, values in by_step.items()]
    stride = max(1, -(-len(points) // POINTS))
    return tuple(points[(len(points) - 1) % stride :: stride])
