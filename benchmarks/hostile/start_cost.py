"""What it costs to start a box, against a plain subprocess that does the same."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

from reenact.sandbox.box import Command, Limits
from reenact.sandbox.choose import choose
from reenact.types import JsonValue

ROUNDS = 15


@dataclass(frozen=True, slots=True)
class StartCost:
    """Medians over interleaved rounds, in milliseconds."""

    box_ms: float
    plain_ms: float
    python_box_ms: float
    python_plain_ms: float

    def __str__(self) -> str:
        ratio = self.box_ms / self.plain_ms
        python_ratio = self.python_box_ms / self.python_plain_ms
        return (
            f"{self.box_ms:.0f} ms against {self.plain_ms:.1f} ms (x{ratio:.0f}), Python "
            f"{self.python_box_ms:.0f} ms against {self.python_plain_ms:.0f} ms "
            f"(x{python_ratio:.1f})"
        )

    def facts(self) -> JsonValue:
        """The figures for a file."""
        return {
            "box_ms": self.box_ms,
            "plain_ms": self.plain_ms,
            "python_box_ms": self.python_box_ms,
            "python_plain_ms": self.python_plain_ms,
            "rounds": ROUNDS,
        }


def start_cost(tier: str) -> StartCost:
    """Start `true` and an empty Python, in a box of the tier and plainly, in turn."""
    sandbox = choose(tier, trust_code=True)
    nothing, python = ("/bin/true",), (sys.executable, "-I", "-S", "-c", "pass")

    def box(argv: tuple[str, ...]) -> None:
        sandbox.run(Command(argv), Limits(wall_s=60))

    def plain(argv: tuple[str, ...]) -> None:
        subprocess.run(argv, check=True)  # noqa: S603 - fixed words

    turns: list[tuple[Callable[[tuple[str, ...]], None], tuple[str, ...]]] = [
        (box, nothing),
        (plain, nothing),
        (box, python),
        (plain, python),
    ]
    times: list[list[float]] = [[] for _ in turns]
    for _ in range(ROUNDS):
        for taken, (start, argv) in zip(times, turns, strict=True):
            began = time.perf_counter()
            start(argv)
            taken.append((time.perf_counter() - began) * 1000)
    return StartCost(*(statistics.median(taken) for taken in times))
