"""A small pipeline for the tests: it counts its effects and can be made to end at any of them."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

import pytest

from reenact.journal import Cost, Journal, Kind, OpenRun


@dataclass(frozen=True, slots=True)
class Reading:
    """A result with a bit of everything."""

    name: str
    words: tuple[str, ...]
    score: float
    raw: bytes = b""


@dataclass
class Pipeline:
    """Five model calls, three trials, all of them shared, and a verdict."""

    paid: Counter[str] = field(default_factory=Counter)
    before: Callable[[str], None] = lambda name: None
    """Called before each effect; may raise."""

    def effect(self, name: str) -> Reading:
        self.before(name)
        self.paid[name] += 1
        return Reading(name, (name, name.upper()), len(name) / 7, name.encode() * 700)

    def tell(self, run: OpenRun) -> list[Reading]:
        readings = []
        for number in range(5):
            name = f"call{number}"
            readings.append(
                run.under("read", attempt=number).step(
                    "ask",
                    lambda name=name: self.effect(name),
                    kind=Kind.LLM,
                    inputs={"prompt": name},
                    returns=Reading,
                    cost=lambda reading: Cost(Decimal("0.01"), 10, 2),
                    shared=True,
                )
            )
        trials = run.many(
            {f"seed{seed}": {"seed": seed} for seed in range(3)},
            lambda names: ({name: self.effect(name)} for name in names),
            returns=Reading,
            shared=True,
        )
        return [*readings, *trials.values()]

    def run(self, journal: Journal, *, fresh: bool = False) -> list[Reading]:
        with journal.run(
            pipeline="tale",
            request={"of": "tests"},
            argv=["tale", "--of", "tests"],
            fresh=fresh,
        ) as run:
            readings = self.tell(run)
            run.finish({"readings": len(readings)})
        return readings


@pytest.fixture
def pipeline() -> Pipeline:
    return Pipeline()


@pytest.fixture
def journal() -> Iterator[Journal]:
    with Journal.in_memory() as opened:
        yield opened


@pytest.fixture
def folder(in_ram: Path) -> Path:
    return in_ram / ".reenact"


@pytest.fixture
def in_ram(tmp_path: Path) -> Iterator[Path]:
    """A folder where flushing costs nothing, for tests that open hundreds of journals."""
    ram = Path("/dev/shm")
    if not os.access(ram, os.W_OK):
        yield tmp_path / "ram"
        return
    folder = Path(tempfile.mkdtemp(dir=ram, prefix="reenact-test-"))
    yield folder / "ram"
    shutil.rmtree(folder)


@pytest.fixture
def on_disk(folder: Path) -> Iterator[Journal]:
    with Journal.open(folder) as opened:
        yield opened
