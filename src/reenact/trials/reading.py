"""Makes an outcome of a trial that has ended: its ending in one word, its metrics, its curves."""

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean

from reenact.errors import InputError, ReenactError
from reenact.probe.experiment import NAME as EXPERIMENTS
from reenact.probe.experiment import read_experiments
from reenact.probe.outcome import OutcomeKind
from reenact.probe.read import read_trace
from reenact.probe.trace import Experiments, Root, Series, Trace
from reenact.probe.watch import Ended, Watched, read_watched
from reenact.trials.job import CARD, GIVEN_UP, OUTPUT, TRACE, TREE, Job, root_of
from reenact.trials.metric import LOSS_FALL, SEEN_ACCURACY, STEP_LOSS, metric_sources, seen_accuracy
from reenact.trials.trial import Curve, Outcome, Trial

MOST_POINTS = 200
"""Points kept of a curve."""
HALVES = f"{TRACE}/halves.txt"
"""Where a training reports each evaluation that it took apart: a line with the number of rows."""
SUBSET = f"{TRACE}/subset.txt"
"""Where it reports each set of training data that it took a share of."""
MOVED = "tree.txt"
"""Next to a trace that came from another machine: where the program stood there."""
_TAIL, _TAIL_SHARE = 50, 20
LAST_WORDS = 400
"""Characters of the program's last words that are kept where nothing else says what happened."""


def read_outcome(job: Job, ended: Ended, cpu: float, *, keep_trace: bool) -> Outcome:
    """What came of a trial. A trace that cannot be read leaves an outcome without numbers, and
    says so.
    """
    try:
        watched = read_watched(ended, job.options, job.root)
    except ReenactError as error:
        kind = OutcomeKind.FINISHED if ended.exit_code == 0 else OutcomeKind.KILLED
        return Outcome(
            kind,
            seconds=ended.seconds,
            cpu_seconds=cpu,
            note=error.sentence,
        )
    home = str(job.root.folder)
    outcome = at_home(
        outcome_of(watched, cpu, keep_trace=keep_trace),
        job.root.seen_as,
        home,
    )
    silent = outcome.kind not in (OutcomeKind.EXITED, OutcomeKind.KILLED)
    last_words = "" if silent else job.left(OUTPUT)[-LAST_WORDS:].decode("utf-8", "replace").strip()
    halved, cut = (len(job.left(name).splitlines()) for name in (HALVES, SUBSET))
    outcome = replace(
        outcome,
        note=outcome.note or last_words,
        halved=halved,
        cut=cut,
    )
    card_bytes = job.left(CARD)
    stopped = job.left(GIVEN_UP).decode()
    return replace(
        outcome,
        card_bytes=int(card_bytes) if card_bytes else None,
        stopped=stopped,
    )


def outcome_of(watched: Watched, cpu: float, *, keep_trace: bool) -> Outcome:
    """The outcome of a watched run; `cpu` are its seconds of processor time."""
    ended = watched.outcome
    left = watched.trace is not None or (watched.folder / EXPERIMENTS).is_file()
    kept = watched.folder if keep_trace and left else None
    outcome = Outcome(
        ended.kind,
        seconds=watched.seconds,
        cpu_seconds=cpu,
        crash=ended.crash,
    )
    outcome = replace(outcome, note=ended.note, trace=kept)
    return outcome if watched.trace is None else _with_numbers(outcome, watched.trace)


def read_kept(trial: Trial, outcome: Outcome) -> Trace:
    """The trace that a trial left, its places named as in the user's own program.

    Raises InputError when none was kept.
    """
    if outcome.trace is None:
        given = f"kind={outcome.kind.value}, keep_trace={trial.keep_trace}"
        raise InputError(f"This trial kept no trace. Received: {given}.")
    return read_trace(outcome.trace, root=_root(trial, outcome.trace))


def read_tried(trial: Trial, outcome: Outcome) -> Experiments:
    """What came of the small experiments of a trial; nothing where they left nothing."""
    if outcome.trace is None:
        return Experiments(missing=(f"the small experiments: {outcome.kind.value}",))
    return read_experiments(outcome.trace, root=_root(trial, outcome.trace))


def _root(trial: Trial, folder: Path) -> Root:
    """Where the places of a trace count from that a trial left."""
    moved = folder.parent / MOVED
    tree = Path(moved.read_text(encoding="utf-8")) if moved.is_file() else folder.parent / TREE
    return root_of(trial.patched, tree)


def at_home(outcome: Outcome, there: str, home: str) -> Outcome:
    """The outcome as if the program had stood in the user's folder: the trial's is gone when it
    is read.
    """
    crash = outcome.crash
    if not there:
        return outcome
    if crash is not None:
        message, missing = (
            text.replace(there, home) for text in (crash.message, crash.missing_file)
        )
        frames = tuple(frame.replace(there, home) for frame in crash.frames)
        crash = replace(crash, message=message, frames=frames, missing_file=missing)
    return replace(
        outcome,
        crash=crash,
        note=outcome.note.replace(there, home),
    )


def _with_numbers(outcome: Outcome, trace: Trace) -> Outcome:
    curves = {name: _points(trace.metric(name)) for name in trace.metric_names()}
    sources = metric_sources(trace)
    metrics = {}
    for name in curves:
        series = trace.metric(name)
        # Of what the probe saw of an evaluation, batch by batch, the mean of the last one.
        latest = series.steps == series.steps[-1]
        metrics[name] = float(
            series.values[latest].mean() if sources[name] == "probe" else series.values[-1]
        )
    accuracy = seen_accuracy(trace)
    if not metrics and accuracy is not None:
        metrics[SEEN_ACCURACY] = accuracy
    if len(trace.losses.known):
        curves[STEP_LOSS] = _points(trace.losses)
        losses = trace.losses.values.tolist()
        first = _late(losses[::-1])
        last = _late(losses)
        metrics[STEP_LOSS] = last
        # By how much of its first value the loss fell, -1 when it at least doubled or was lost;
        # that has no meaning where the loss does not start above zero.
        if 0 < first < math.inf:
            metrics[LOSS_FALL] = max(-1.0, 1 - last / first) if math.isfinite(last) else -1.0
    steps = trace.step_count
    epochs = trace.epoch_count
    return replace(
        outcome,
        steps=steps,
        epochs=epochs,
        metrics=metrics,
        sources=sources,
        curves=curves,
    )


def _late(losses: Sequence[float]) -> float:
    """The mean of the last steps; NaN when none of them had a number any more."""
    last = losses[-min(_TAIL, max(1, len(losses) // _TAIL_SHARE)) :]
    known = [loss for loss in last if not math.isnan(loss)]
    return fmean(known) if known else math.nan


def _points(series: Series) -> Curve:
    """At most 200 points, evenly spread, the last one among them."""
    stride = max(1, -(-len(series) // MOST_POINTS))
    first = (len(series) - 1) % stride
    steps = series.steps[first::stride].tolist()
    values = series.values[first::stride].tolist()
    return tuple(zip(steps, values, strict=True))
