"""Is the fault really one here? The buggy program against the fixed one over seeds, at a scale.

A benchmark at lite scale is worth something only where the fault still does harm; this measures it.
"""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import TypeAlias

from benchmarks.children import environment
from benchmarks.data.packages import run
from benchmarks.faults.case import FaultCase, Scale, Side
from benchmarks.faults.programs import availability, materialise
from benchmarks.scorecard import Goal, Scorecard, Table
from reenact.errors import InputError
from reenact.own_process import own_module
from reenact.trials.statistics import Comparison, compare
from reenact.trials.verify import SIGNIFICANT
from reenact.types import JsonValue, Progress, Stop, Tell, tell_nobody

TRAIN_SECONDS = 24 * 3600
"""The longest time for all seeds of one program; at full scale without a GPU it takes hours."""


@dataclass(frozen=True, slots=True)
class Training:
    """One training of one program."""

    metric: float
    cpu_seconds: float


@dataclass(frozen=True, slots=True)
class Effect:
    """What a fault does to its program's metric."""

    case: FaultCase
    scale: Scale
    data: str
    """Label of the data."""
    buggy: tuple[Training, ...]
    fixed: tuple[Training, ...]
    comparison: Comparison
    """Buggy before, fixed after, larger is better."""

    @property
    def holds(self) -> bool:
        """Whether the fixed program is significantly better."""
        return self.comparison.p_value < SIGNIFICANT


Train: TypeAlias = Callable[[Path, Sequence[int]], Sequence[Training]]


def train(program: Path, seeds: Sequence[int]) -> Sequence[Training]:
    """Train a program once a seed, one thread, in a process of its own."""
    environ = environment(KERAS_BACKEND="torch", OMP_NUM_THREADS="1")
    command = own_module("benchmarks.faults.runner", str(program), *map(str, seeds))
    output = run(
        command,
        program.parent,
        f"{program.name} did not end well",
        environ=environ,
        seconds=TRAIN_SECONDS,
    )
    lines = [line for line in output.decode().splitlines() if line.startswith("{")]
    if len(lines) != len(seeds):
        raise InputError(f"{program} gave {len(lines)} results for {len(seeds)} seeds.")
    return [Training(**json.loads(line)) for line in lines]


def verify_effect(
    case: FaultCase,
    scale: Scale = Scale.LITE,
    seeds: Sequence[int] = range(6),
    *,
    environ: Mapping[str, str] | None = None,
    train: Train = train,
) -> Effect:
    """Train both programs over the same seeds and compare them, paired by seed."""
    trainings = {}
    with tempfile.TemporaryDirectory(prefix="reenact-effect-") as scratch:
        for side in Side:
            entry = materialise(case, side, scale, Path(scratch) / side, environ)
            trainings[side] = tuple(train(entry, seeds))
    before, after = (_oriented(trainings[side], case) for side in (Side.BUGGY, Side.FIXED))
    label = availability(case, environ).data.label
    return Effect(case, scale, label, trainings[Side.BUGGY], trainings[Side.FIXED], compare(before, after))


def _oriented(trainings: Sequence[Training], case: FaultCase) -> tuple[float, ...]:
    """The metric so that larger is better; a training that gave no number counts as the worst possible."""
    signed = (one.metric if case.larger_is_better else -one.metric for one in trainings)
    return tuple(-math.inf if math.isnan(value) else value for value in signed)


def measure(
    cases: Sequence[FaultCase],
    scale: Scale = Scale.LITE,
    seeds: Sequence[int] = range(6),
    *,
    tell: Tell = tell_nobody,
    stop: Stop | None = None,
) -> Scorecard:
    """The effect of every case that can be run here, the others named with the reason."""
    effects, missing = [], []
    for number, case in enumerate(cases):
        if stop is not None and stop.asked:
            break
        tell(Progress("effects", number, len(cases), case.id))
        ready = availability(case)
        if ready.runnable:
            effects.append(verify_effect(case, scale, seeds))
        else:
            missing.append((case.id, ready.why_not))
    held = sum(effect.holds for effect in effects)
    whole = len(effects) + len(missing) == len(cases)
    return Scorecard(
        name=f"effects-{scale}",
        figures=f"{held} of {len(effects)} faults do significant harm, {len(missing)} not run",
        goals=(
            Goal(
                "significant effect",
                "every fault that was run",
                f"{held} of {len(effects)}",
                held == len(effects) if effects and whole else None,
            ),
        ),
        tables=(table(effects), Table("Not run", ("fault", "why"), tuple(missing))),
        facts=[facts(effect) for effect in effects],
    )


def table(effects: Sequence[Effect]) -> Table:
    """One row a fault."""
    return Table(
        "Effect of each fault",
        ("fault", "data", "metric", "buggy", "fixed", "p", "CPU s buggy", "CPU s fixed", "effect"),
        tuple(_row(effect) for effect in effects),
    )


def facts(effect: Effect) -> JsonValue:
    """Everything measured, as data."""
    return {
        "case": effect.case.id,
        "scale": effect.scale.value,
        "data": effect.data,
        "buggy": [one.metric for one in effect.buggy],
        "fixed": [one.metric for one in effect.fixed],
        "p_value": effect.comparison.p_value,
        "cpu_seconds": [fmean(one.cpu_seconds for one in side) for side in (effect.buggy, effect.fixed)],
    }


def _row(effect: Effect) -> tuple[str, ...]:
    def mean(side: tuple[Training, ...]) -> str:
        values = [one.metric for one in side]
        return f"{fmean(values):.3f} ({min(values):.3f} to {max(values):.3f})"

    return (
        effect.case.id,
        effect.data,
        effect.case.metric,
        mean(effect.buggy),
        mean(effect.fixed),
        f"{effect.comparison.p_value:.3f}",
        f"{fmean(one.cpu_seconds for one in effect.buggy):.1f}",
        f"{fmean(one.cpu_seconds for one in effect.fixed):.1f}",
        "yes" if effect.holds else "NO",
    )
