"""Makes an outcome of a trial that has ended: its ending in one word, its metrics, its curves."""

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean

from reenact.errors import InputError, ReenactError
from reenact.probe.outcome import OutcomeKind
from reenact.probe.read import read_trace
from reenact.probe.trace import Series, Trace
from reenact.probe.watch import Ended as ProbeEnded
from reenact.probe.watch import Watched, read_watched
from reenact.trials.job import TREE, Job, root_of
from reenact.trials.metric import LOSS_FALL, STEP_LOSS, metric_sources
from reenact.trials.server import Ended
from reenact.trials.trial import Curve, Outcome, Trial

MOST_POINTS = 200
"""Points kept of a curve."""
HALVES = "halves.txt"
"""Where a training tells of each evaluation that it took apart: a line with the number of rows."""
SUBSET = "subset.txt"
"""Where it tells of each set of training data that it took a share of."""
MOVED = "tree.txt"
"""Beside a trace that came from another machine: where the program stood there."""
_TAIL, _TAIL_SHARE = 50, 20
_NOTE = 400
"""Characters of the program's last words that are kept where nothing else says what happened."""


def read_outcome(job: Job, ended: Ended, *, keep_trace: bool) -> Outcome:
    """What came of a trial. A trace that cannot be read leaves an outcome without numbers, and says so."""
    probe_ended = ProbeEnded(ended.code, ended.seconds, ended.ended == "timeout", ended.ended == "stopped")
    try:
        watched = read_watched(probe_ended, job.options, job.root)
    except ReenactError as error:
        kind = OutcomeKind.FINISHED if ended.code == 0 else OutcomeKind.KILLED
        return Outcome(kind, seconds=ended.seconds, cpu_seconds=ended.cpu, note=error.sentence)
    home = str(job.root.folder)
    outcome = at_home(outcome_of(watched, ended.cpu, keep_trace=keep_trace), job.root.seen_as, home)
    return replace(
        outcome,
        note=outcome.note or _last_words(outcome.kind, job.output),
        halved=_lines(job.options.folder / HALVES),
        cut=_lines(job.options.folder / SUBSET),
        card_bytes=int(job.card_note.read_text(encoding="ascii")) if job.card_note.is_file() else None,
        stopped=job.given_up.read_text(encoding="utf-8") if job.given_up.is_file() else "",
    )


def outcome_of(watched: Watched, cpu: float, *, keep_trace: bool) -> Outcome:
    """The outcome of a watched run; `cpu` are its seconds of processor time."""
    outcome = Outcome(
        kind=watched.outcome.kind,
        seconds=watched.seconds,
        cpu_seconds=cpu,
        crash=watched.outcome.crash,
        note=watched.outcome.note,
        trace=watched.folder if keep_trace and watched.trace is not None else None,
    )
    return outcome if watched.trace is None else _with_numbers(outcome, watched.trace)


def read_kept(trial: Trial, outcome: Outcome) -> Trace:
    """The trace that a trial left, its places named as in the user's own program.

    Raises InputError when none was kept.
    """
    if outcome.trace is None:
        raise InputError(
            f"This trial kept no trace. Received: kind={outcome.kind.value}, keep_trace={trial.keep_trace}."
        )
    moved = outcome.trace.parent / MOVED
    tree = Path(moved.read_text(encoding="utf-8")) if moved.is_file() else outcome.trace.parent / TREE
    return read_trace(outcome.trace, root=root_of(trial.patched, tree))


def at_home(outcome: Outcome, there: str, home: str) -> Outcome:
    """The outcome as if the program had stood in the user's folder: the trial's is gone when it is read."""
    crash = outcome.crash
    if not there:
        return outcome
    if crash is not None:
        crash = replace(
            crash,
            message=crash.message.replace(there, home),
            frames=tuple(frame.replace(there, home) for frame in crash.frames),
            missing_file=crash.missing_file.replace(there, home),
        )
    return replace(outcome, crash=crash, note=outcome.note.replace(there, home))


def _with_numbers(outcome: Outcome, trace: Trace) -> Outcome:
    curves = {name: _points(trace.metric(name)) for name in trace.metric_names()}
    sources = metric_sources(trace)
    metrics = {name: _last(trace.metric(name), sources[name]) for name in curves}
    if len(trace.losses.known):
        curves[STEP_LOSS] = _points(trace.losses)
        losses = trace.losses.values.tolist()
        metrics[STEP_LOSS] = _late(losses)
        metrics |= _fall(losses)
    return replace(
        outcome,
        steps=trace.step_count,
        epochs=trace.epoch_count,
        metrics=metrics,
        sources=sources,
        curves=curves,
    )


def _last(series: Series, source: str) -> float:
    """The last value; of what the probe saw of an evaluation, batch by batch, the mean of the last one."""
    if source != "probe":
        return float(series.values[-1])
    return float(series.values[series.steps == series.steps[-1]].mean())


def _late(losses: Sequence[float]) -> float:
    """The mean of the last steps; NaN when none of them had a number any more."""
    last = losses[-min(_TAIL, max(1, len(losses) // _TAIL_SHARE)) :]
    known = [loss for loss in last if not math.isnan(loss)]
    return fmean(known) if known else math.nan


def _fall(losses: Sequence[float]) -> dict[str, float]:
    """By how much of its first value the loss fell, -1 when it at least doubled or was lost; nothing where
    that has no meaning because the loss does not start above zero."""
    first, last = _late(losses[::-1]), _late(losses)
    if not 0 < first < math.inf:
        return {}
    return {LOSS_FALL: max(-1.0, 1 - last / first) if math.isfinite(last) else -1.0}


def _points(series: Series) -> Curve:
    """At most 200 points, evenly spread, the last one among them."""
    stride = max(1, -(-len(series) // MOST_POINTS))
    first = (len(series) - 1) % stride
    steps, values = series.steps[first::stride].tolist(), series.values[first::stride].tolist()
    return tuple(zip(steps, values, strict=True))


def _lines(file: Path) -> int:
    return len(file.read_text(encoding="ascii").splitlines()) if file.is_file() else 0


def _last_words(kind: OutcomeKind, output: Path) -> str:
    if kind not in (OutcomeKind.EXITED, OutcomeKind.KILLED) or not output.is_file():
        return ""
    return output.read_bytes()[-_NOTE:].decode("utf-8", "replace").strip()
