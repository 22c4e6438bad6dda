"""Full runs of the experiment, a seed each, in the sandbox. What a run prints is never evidence:
curves are for the eye, and decide nothing.
"""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import chain
from threading import Event

from reenact.codegen.project import ENTRY, METRICS, Project
from reenact.codegen.runner import PRINTED, ProgramRun, ProjectRunner
from reenact.journal import Scope
from reenact.paper.context import scale_arguments
from reenact.paper.develop.checks import metrics_in
from reenact.paper.measure.curves import Curve, curves_of, log_names
from reenact.paper.options import PaperOptions
from reenact.sandbox.box import Ending

Say = Callable[[str], None]
SPARE = 1.5
"""Memory that a run next to others must find free, as a multiple of what the first one took."""
GIVE_UP = 2
"""Failures from the first run on after which the other seeds are not paid for."""
_METRIC_LINE = re.compile(
    r"^([A-Za-z][\w./@-]{0,80}): ([-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?)$", re.MULTILINE
)
"""How the contract has a metric printed."""


@dataclass(frozen=True, slots=True)
class FullRun:
    """One run of the whole experiment."""

    seed: int
    ok: bool
    """It ended well and left metrics; only then are they a measure."""
    metrics: Mapping[str, float]
    why: str
    """Why it does not count; empty when it does."""
    wall_s: float
    cpu_s: float
    peak_mib: float
    output: str
    """The end of what was printed, for a reader."""
    scale: float = 1.0
    """Share of the paper's training that was done."""
    curves: tuple[Curve, ...] = ()
    """How it trained, in its own words; none when it logged nothing."""
    late: bool = False
    """It ran out of time."""
    partial: Mapping[str, float] = field(default_factory=dict)
    """What it had written or printed of its metrics when time ran out: shown, and no measure."""


def full_runs(
    project: Project,
    runner: ProjectRunner,
    run: Scope,
    seeds: Sequence[int],
    options: PaperOptions,
    say: Say,
) -> tuple[FullRun, ...]:
    """A run for each seed, each in a fresh box without an earlier metrics.json: one by one until
    one counts, then as many at once as there are cores and memory for. Stops after failures in a
    row from the start, and after one that ran out of time.
    """
    late = Event()
    scale = options.scale

    def ran(number: int) -> list[FullRun]:
        if late.is_set():
            # It would take as long.
            return []
        seed = seeds[number]
        say(f"full run {number + 1} of {len(seeds)}, seed {seed}")
        ended = runner.run(
            "full-run",
            run.under("seed", attempt=seed),
            project.without(METRICS),
            (ENTRY, "--seed", str(seed), *scale_arguments(scale)),
            limits=runner.limits(options.run_wall_s),
            collect=(METRICS,),
            logs=log_names(project, seed),
        )
        if ended.ending == Ending.TIMEOUT:
            late.set()
        return [_read(seed, ended, scale)]

    found: list[FullRun] = []
    for number in range(min(GIVE_UP, len(seeds))):
        if not any(one.ok for one in found):
            found += ran(number)
    if any(one.ok for one in found):
        with ThreadPoolExecutor(_at_once(max(one.peak_mib for one in found))) as pool:
            found += chain.from_iterable(
                pool.map(
                    ran,
                    range(len(found), len(seeds)),
                )
            )
    return tuple(found)


def _at_once(peak_mib: float) -> int:
    """Runs that fit next to one another: one a core, and not more than the free memory holds."""
    free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**20
    return max(1, min(len(os.sched_getaffinity(0)), int(free / (1 + SPARE * peak_mib))))


def values(
    runs: Sequence[FullRun],
    metric: str,
) -> dict[int, float]:
    """What the runs that count measured of one metric, by seed."""
    return {one.seed: one.metrics[metric] for one in runs if one.ok and metric in one.metrics}


def metric_names(runs: Sequence[FullRun]) -> tuple[str, ...]:
    """Metrics that the runs that count left."""
    return tuple(sorted({name for one in runs if one.ok for name in one.metrics}))


def _read(seed: int, ran: ProgramRun, scale: float) -> FullRun:
    """What a run left. What ran out of time on a busy machine may not be slow at all."""
    metrics, wrong = metrics_in(ran)
    late = ran.ending == Ending.TIMEOUT
    # Metrics that a run without an end had by then: in its file, or else in the lines that it
    # printed.
    printed = (
        _METRIC_LINE.findall(ran.logs.get(PRINTED, "") + "\n" + ran.output)
        if late and wrong
        else ()
    )
    partial = (
        {
            **metrics,
            **{name: float(value) for name, value in printed},
        }
        if late
        else {}
    )
    if not ran.ok:
        metrics, wrong = {}, ran.sentence
    if late:
        shown = ", ".join(f"{name}={value:.4g}" for name, value in partial.items())
        left = f" By then it had {shown}: partial, and not counted." if shown else ""
        more = "--run-wall gives it longer, --scale makes it shorter"
        wrong = f"{wrong} It had {ran.cpu_s:.0f} s of a processor by then; {more}.{left}"
    return FullRun(
        seed,
        ok=not wrong,
        metrics=metrics,
        why=wrong,
        wall_s=ran.wall_s,
        cpu_s=ran.cpu_s,
        peak_mib=ran.peak_mib,
        output=ran.output,
        scale=scale,
        # A journal of an older version has the end of the output alone.
        curves=curves_of(ran.logs or {PRINTED: ran.output}),
        late=late,
        partial=partial,
    )
