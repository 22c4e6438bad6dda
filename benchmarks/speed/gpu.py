"""`python -m benchmarks trials --gpu`: trials an hour on one card, packed by the pool and one after
another.

By itself it needs torch, PyYAML and this tree, on a machine with a card, and about three minutes:
`PYTHONPATH=src python -m benchmarks.speed.gpu`. It also compares the numbers that a seed gives in
both ways.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.scorecard import Goal, Scorecard, Table
from reenact.errors import Inconclusive
from reenact.program.program import Program, read_program
from reenact.trials.cards import Card, cards_here
from reenact.trials.pool import ProcessPool
from reenact.trials.trial import Outcome, Trial
from reenact.types import Progress, Stop, Tell, tell_nobody

SMALL = """\
import torch
from torch import nn

torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.randn(4096, 32, device=device)
y = (x[:, :16].sum(1) > x[:, 16:].sum(1)).long()
model = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2)).to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=0.001)
for step in range({steps}):
    rows = slice(64 * (step % 64), 64 * (step % 64) + 64)
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
    loss.backward()
    optimizer.step()
print(f"test loss: {{nn.functional.cross_entropy(model(x), y).item():.6f}}")
"""
LARGE = """\
import torch
from torch import nn

torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"
width = {width}
x = torch.randn(4096, width, device=device)
layers = [layer for _ in range(8) for layer in (nn.Linear(width, width), nn.ReLU())]
model = nn.Sequential(*layers).to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
for step in range({steps}):
    optimizer.zero_grad()
    with torch.autocast(device, dtype=torch.bfloat16):
        loss = nn.functional.mse_loss(model(x).float(), x)
    loss.backward()
    optimizer.step()
print(f"test loss: {{loss.item():.6f}}")
"""


@dataclass(frozen=True, slots=True)
class Size:
    """A program and how often it is trained."""

    name: str
    text: str
    alone: int
    packed: int
    goal: float
    """Times as many trials an hour."""


SIZES = (
    Size("small", SMALL.format(steps=3000), 3, 32, 4.0),
    Size("large", LARGE.format(width=8192, steps=60), 2, 4, 0.95),
)


@dataclass(frozen=True, slots=True)
class Packed:
    """What was measured of one size."""

    size: Size
    alone: float
    """Trials an hour, one after another."""
    packed: float
    fits: int | None
    """Side by side on the card by memory."""
    gib: float
    same: bool
    """The seeds that were trained in both ways gave the same numbers."""

    @property
    def times(self) -> float:
        return self.packed / self.alone


def measure_gpu(
    *,
    tell: Tell = tell_nobody,
    stop: Stop | None = None,
    workers: int | None = None,
    cards: Sequence[Card] | None = None,
    sizes: Sequence[Size] = SIZES,
) -> Scorecard:
    """Train both sizes in both ways. Raises Inconclusive where there is no card."""
    cards = cards_here()[:1] if cards is None else cards
    if not cards:
        raise Inconclusive("There is no card here, or no driver for it (libnvidia-ml.so.1).")
    stop = stop or Stop()
    workers = workers or os.cpu_count() or 1
    found = []
    with tempfile.TemporaryDirectory(prefix="reenact-gpu-") as folder:
        for size in sizes:
            tell(
                Progress(
                    "gpu",
                    note=f"{size.name}: {size.alone} one after another, {size.packed} packed",
                )
            )
            found.append(_measured(size, Path(folder) / size.name, workers, cards, stop))
    goals = [
        Goal(
            f"{one.size.name} models, packed",
            f">= {one.size.goal:g}x",
            f"{one.times:.2f}x",
            one.times >= one.size.goal,
        )
        for one in found
    ]
    rows = [
        (
            one.size.name,
            f"{one.alone:.0f}",
            f"{one.packed:.0f}",
            f"{one.times:.2f}x",
            f"{one.gib:.1f}",
            str(one.fits),
            "yes" if one.same else "no",
        )
        for one in found
    ]
    heads = (
        "model",
        "one after another",
        "packed",
        "ratio",
        "GiB a training",
        "fit by memory",
        "same numbers",
    )
    return Scorecard(
        name="trials-gpu",
        figures=", ".join(f"{one.size.name}: {one.times:.2f}x" for one in found),
        goals=tuple(goals),
        tables=(Table(f"Trials an hour on one card, {workers} workers", heads, tuple(rows)),),
        facts={
            "workers": workers,
            "free_bytes": cards[0].free,
            "load": list(os.getloadavg()),
        },
    )


def _measured(size: Size, folder: Path, workers: int, cards: Sequence[Card], stop: Stop) -> Packed:
    folder.mkdir()
    (folder / "train.py").write_text(size.text, encoding="utf-8")
    program = read_program(["train.py"], folder)
    with ProcessPool(1, cards=cards) as pool:
        _trained(pool, program, [1000], stop)
        alone, seconds = _trained(pool, program, range(size.alone), stop)
    with ProcessPool(workers, cards=cards) as pool:
        # The first says what one takes; then every server imports torch.
        _trained(pool, program, [1000], stop)
        _trained(pool, program, range(1000, 1000 + min(workers, size.packed)), stop)
        packed, took = _trained(pool, program, range(size.packed), stop)
        fits = pool.side_by_side(Trial(program))
    same = all(one.metrics == other.metrics for one, other in zip(alone, packed, strict=False))
    gib = max(one.card_bytes or 0 for one in packed) / (1 << 30)
    return Packed(size, 3600 * len(alone) / seconds, 3600 * len(packed) / took, fits, gib, same)


def _trained(
    pool: ProcessPool, program: Program, seeds: Sequence[int], stop: Stop
) -> tuple[list[Outcome], float]:
    began = time.perf_counter()
    found = pool.run([Trial(program, seed=seed) for seed in seeds], stop=stop)
    seconds = time.perf_counter() - began
    failed = [one for one in found if not one.trained]
    if failed:
        why = failed[0].crash.message if failed[0].crash is not None else failed[0].note
        raise Inconclusive(
            f"{len(failed)} of {len(found)} trainings failed ({failed[0].kind.value}: {why})."
        )
    return found, seconds


def main() -> None:
    """Without the command line of the benchmarks, whose packages a machine with a card may not
    have.
    """
    card = measure_gpu(tell=lambda progress: print(progress.note, flush=True))  # noqa: T201
    for table in card.tables:
        print(  # noqa: T201
            table.title,
            *(" | ".join(row) for row in (table.columns, *table.rows)),
            sep="\n",
        )
    for goal in card.goals:
        print(f"{goal.name}: {goal.reached}, wanted {goal.wanted}")  # noqa: T201


if __name__ == "__main__":
    main()
