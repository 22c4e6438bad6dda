"""`python -m benchmarks probe`: what watching costs, as ratios to the unobserved run.

Each program is trained in interleaved pairs, one run alone and one under the probe, in alternating
order; a ratio is the median over its pairs. The clock is the program's own, around its training
loop, so the start of the interpreter does not dilute it. Where most unobserved trainings had to
wait for their core, ratios of CPU time are judged instead, and a note says so. The traces are
checked: a preset that is cheap because it looks away misses a goal.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.scorecard import Scorecard
from benchmarks.watching.card import REPEATS, scorecard
from benchmarks.watching.measured import BOUNDS, Measured, Pair
from benchmarks.watching.promises import kept
from benchmarks.watching.runs import Case, train_alone, train_naively, train_watched
from reenact.errors import InputError
from reenact.types import Progress, Stop, Tell

SCRIPTS = Path(__file__).parents[1] / "cases" / "probe"
CASES = tuple(
    Case(f"{framework} {model}", SCRIPTS / f"{framework}_{model}.py", framework)
    for framework in ("torch", "keras")
    for model in ("mlp", "cnn", "transformer")
)


def measure(
    *,
    tell: Tell,
    stop: Stop,
    repeats: int = REPEATS,
    naive_repeats: int = 2,
    programs: Sequence[str] = (),
    cases: Sequence[Case] = CASES,
) -> Scorecard:
    """Train every program (or those whose name holds one of the words in `programs`) and judge
    the ratios.
    """
    chosen = [case for case in cases if not programs or any(word in case.name for word in programs)]
    if not chosen or repeats < 1:
        names = ", ".join(case.name for case in cases)
        raise InputError(
            f"Nothing to measure. Received: programs={list(programs)}, repeats={repeats}; known: "
            f"{names}."
        )
    here = [case for case in chosen if importlib.util.find_spec(case.framework) is not None]
    before = os.getloadavg()
    results = [Measured(case) for case in here]
    total = len(here) * (repeats * len(BOUNDS) + naive_repeats)
    for done, (result, kind) in enumerate(_plan(results, repeats, naive_repeats)):
        tell(Progress("probe", done, total, f"{result.case.name}, {kind}"))
        nth = len(result.naive if kind == "naive" else result.pairs[kind])
        _measure_pair(result, kind, alone_first=nth % 2 == 0, stop=stop)
    return scorecard(results, wanted=len(cases), repeats=repeats, load=(before, os.getloadavg()))


def _plan(
    results: Sequence[Measured], repeats: int, naive_repeats: int
) -> Iterator[tuple[Measured, str]]:
    """Round by round, so that a busy minute of the machine falls on one pair of a program and
    not on all.
    """
    for _ in range(repeats):
        for result in results:
            for preset in BOUNDS:
                yield result, preset
    for _ in range(naive_repeats):
        for result in results:
            yield result, "naive"


def _measure_pair(result: Measured, kind: str, *, alone_first: bool, stop: Stop) -> None:
    case = result.case
    alone = train_alone(case, stop=stop) if alone_first else None
    if kind == "naive":
        beside = train_naively(case, stop=stop)
    else:
        beside = train_watched(case, kind, stop=stop)
        result.promises[kind].append(kept(beside.trace))
    pairs = result.naive if kind == "naive" else result.pairs[kind]
    pairs.append(Pair(alone or train_alone(case, stop=stop), beside))
