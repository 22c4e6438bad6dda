"""Is the fault really one here? The buggy program against the fixed one over seeds, at a scale.

A benchmark at lite scale is worth something only where the fault still does harm; this measures it.
"""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from benchmarks.children import environment
from benchmarks.data.packages import run
from benchmarks.faults.case import FaultCase, Scale, Side
from benchmarks.faults.cases import source_text
from benchmarks.faults.programs import availability, materialise
from benchmarks.scorecard import Goal, Scorecard, Table
from benchmarks.several import several
from benchmarks.share import Share
from reenact.errors import InputError, ReenactError
from reenact.journal import Journal
from reenact.own_process import own_module
from reenact.trials.statistics import PairedSamples, compare
from reenact.trials.verify import SIGNIFICANT
from reenact.types import JsonValue, Stop, Tell, tell_nobody

TRAIN_SECONDS = 24 * 3600
"""The longest time for all seeds of one program; at full scale without a GPU it takes hours."""
LONG = ("C", "M", "D4", "D9")
"""Faults, or groups of them, whose trainings take long at full scale: each seed is a step of
its own.
"""
SMALL = ("D1", "D3", "D4", "D6", "D7", "D8")
"""Networks that a GPU only slows: a step of them takes less time than to tell it to start."""


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
    comparison: PairedSamples
    """Buggy before, fixed after, larger is better."""

    @property
    def holds(self) -> bool:
        """Whether the fixed program is significantly better."""
        return self.comparison.p_value < SIGNIFICANT


def train(program: Path, seeds: Sequence[int], *, gpu: bool = True) -> Sequence[Training]:
    """Train a program once a seed, one thread, in a process of its own."""
    environ = environment(KERAS_BACKEND="torch", OMP_NUM_THREADS="1")
    if not gpu:
        environ["CUDA_VISIBLE_DEVICES"] = ""
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


def effect_of(
    case: FaultCase, scale: Scale, trainings: Mapping[Side, tuple[Training, ...]]
) -> Effect:
    """Both programs compared, paired by seed."""
    before, after = (_oriented(trainings[side], case) for side in (Side.BUGGY, Side.FIXED))
    label = availability(case).data.label
    return Effect(
        case,
        scale,
        label,
        trainings[Side.BUGGY],
        trainings[Side.FIXED],
        compare(before, after),
    )


def _oriented(trainings: Sequence[Training], case: FaultCase) -> tuple[float, ...]:
    """The metric so that larger is better; a training that gave no number counts as the worst
    possible.
    """
    signed = (one.metric if case.larger_is_better else -one.metric for one in trainings)
    return tuple(-math.inf if math.isnan(value) else value for value in signed)


@dataclass(frozen=True)
class Step:
    """Some trainings of one program."""

    case: FaultCase
    side: Side
    scale: Scale
    seeds: tuple[int, ...]


@dataclass(frozen=True)
class Trained:
    """What a step came to, in the order of its seeds."""

    trainings: tuple[Training, ...]
    failed: str = ""
    """Why there are none."""


def measure(
    cases: Sequence[FaultCase],
    scale: Scale = Scale.LITE,
    seeds: Sequence[int] = range(6),
    *,
    journal: Journal,
    tell: Tell = tell_nobody,
    stop: Stop | None = None,
    fresh: bool = False,
    jobs: int = 1,
) -> Scorecard:
    """The effect of every case that can be run here, the others named with the reason.

    Programs that are the same to the letter are trained once; killed, the same command continues.
    """
    missing = {case.id: why for case in cases if (why := availability(case).why_not)}
    steps, places = _steps([case for case in cases if case.id not in missing], scale, seeds)
    inputs = {
        name: {
            "text": source_text(one.case, one.side, scale),
            "scale": scale.value,
            "data": availability(one.case).data.label,
            "seeds": one.seeds,
        }
        for name, one in steps.items()
    }
    request = {
        "cases": [case.id for case in cases],
        "scale": scale.value,
        "seeds": list(seeds),
    }
    with journal.run(
        pipeline="bench-effects", request=request, what=scale.value, fresh=fresh
    ) as run:
        found = run.many(
            inputs,
            lambda names: several(
                {name: steps[name] for name in names},
                run_step,
                what="effects",
                jobs=jobs,
                tell=tell,
                stop=stop or Stop(),
            ),
            returns=Trained,
            shared=True,
            # What failed may have lacked memory or data: the next run tries it again.
            still=lambda step: not step.failed,
        )
        run.finish({"steps": len(found)})
    effects = []
    for case in cases:
        if case.id in missing:
            continue
        parts = {side: [found[name] for name in places[case.id, side]] for side in Side}
        if why := next((part.failed for side in Side for part in parts[side] if part.failed), ""):
            missing[case.id] = why
            continue
        trained = {
            side: tuple(one for part in parts[side] for one in part.trainings) for side in Side
        }
        effects.append(effect_of(case, scale, trained))
    return scorecard(scale, effects, missing, cases, len(set(places.values())))


def _steps(
    cases: Sequence[FaultCase], scale: Scale, seeds: Sequence[int]
) -> tuple[dict[str, Step], dict[tuple[str, Side], tuple[str, ...]]]:
    """Steps by name, those that take long first; and which ones a side of a case consists of."""
    steps: dict[str, Step] = {}
    places: dict[tuple[str, Side], tuple[str, ...]] = {}
    known: dict[str, tuple[str, ...]] = {}
    for case in sorted(cases, key=lambda case: not _takes_long(case, scale)):
        for side in Side:
            text = source_text(case, side, scale)
            if text not in known:
                groups = [(seed,) for seed in seeds] if _takes_long(case, scale) else [tuple(seeds)]
                named = {
                    f"{case.id}-{side}-{group[0]}": Step(case, side, scale, group)
                    for group in groups
                }
                steps |= named
                known[text] = tuple(named)
            places[case.id, side] = known[text]
    return steps, places


def _takes_long(case: FaultCase, scale: Scale) -> bool:
    return scale is Scale.FULL and (case.id[0] in LONG or case.id in LONG)


def run_step(step: Step, _: Stop) -> Trained:
    """A program that fails is named, and the others go on."""
    with tempfile.TemporaryDirectory(prefix="reenact-effect-") as scratch:
        try:
            entry = materialise(step.case, step.side, step.scale, Path(scratch))
            return Trained(tuple(train(entry, step.seeds, gpu=step.case.id not in SMALL)))
        except ReenactError as error:
            return Trained((), failed=error.sentence)


def scorecard(
    scale: Scale,
    effects: Sequence[Effect],
    missing: Mapping[str, str],
    cases: Sequence[FaultCase],
    programs: int,
) -> Scorecard:
    """One row a fault; the goal is judged once all of them were run or named."""
    held = sum(effect.holds for effect in effects)
    whole = len(effects) + len(missing) == len(cases)
    share = Share(held, len(effects))
    return Scorecard(
        name=f"effects-{scale}",
        figures=f"{held} of {len(effects)} faults do significant harm, {len(missing)} not run; "
        f"{programs} different programs",
        goals=(
            Goal(
                "significant effect",
                "every fault that was run",
                f"{held} of {len(effects)}",
                held == len(effects) if effects and whole else None,
            ),
        ),
        tables=(
            table(effects),
            Table("Not run", ("fault", "why"), tuple(missing.items())),
        ),
        measured={"harmful": share.figure("faults that do significant harm")} if effects else {},
        facts=[facts(effect) for effect in effects],
    )


def table(effects: Sequence[Effect]) -> Table:
    """One row a fault."""
    return Table(
        "Effect of each fault",
        (
            "fault",
            "data",
            "metric",
            "buggy",
            "fixed",
            "p",
            "CPU s buggy",
            "CPU s fixed",
            "effect",
        ),
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
        "cpu_seconds": [
            fmean(one.cpu_seconds for one in side) for side in (effect.buggy, effect.fixed)
        ],
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
