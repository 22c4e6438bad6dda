"""Trainings of one shape trained at once: seeds, and candidates that differ in numbers alone.

Every trial starts in its own process like in the pool. At a recognised Keras `fit` it writes down its initial
weights, data and the order of its data, and waits. Those of one signature are trained together in one
process, their weights stacked, where a short measurement says that this is faster; then each goes on by
itself from what came of it: callbacks, evaluation, whatever follows in the program. All others train like in
the pool.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from reenact.errors import PatchRefused
from reenact.probe.outcome import OutcomeKind
from reenact.trials.job import ANSWER, CAPTURED, Job, ensemble_job, make_job
from reenact.trials.outcome import Outcome
from reenact.trials.pool import ProcessPool, clear
from reenact.trials.reading import read_outcome
from reenact.trials.server import Ended, Parked, Server, ServerDied
from reenact.trials.trial import Trial
from reenact.types import Stop

MOST = 16
"""Trials that wait in one worker at a time: each is a process with a model and data in its memory."""
LEAST = 4
"""Fewer are not worth the measurement."""
GAIN = 1.1
TRAINED, ALONE = "t", "a"


@dataclass(frozen=True, slots=True)
class _Waiting:
    number: int
    trial: Trial
    job: Job
    folder: Path
    parked: Parked


class Ensemble(ProcessPool):
    """The pool, with trainings of one shape trained together."""

    def __init__(
        self,
        workers: int | None = None,
        *,
        python: str = "",
        scratch: Path | None = None,
        gain: float = GAIN,
    ) -> None:
        """See `ProcessPool`. `gain`: how many times faster than one after the other the stack must be."""
        super().__init__(workers, python=python, scratch=scratch, express=True)
        self.gain = gain
        self.gains: dict[str, float] = {}
        """By signature: how many times faster a step of the stack was than its steps one after the other."""
        self._slow: set[str] = set()
        """Programs whose trainings were not taken together: theirs do not wait again."""

    def portion(self, trials: int) -> int:
        """An equal share for every worker, as far as so many may wait."""
        return max(1, min(MOST, -(-trials // self.workers)))

    def attempts(self, trials: Sequence[Trial], stop: Stop) -> Iterator[tuple[int, Outcome]]:
        """See `ProcessPool.attempts`. What is to be trained as it stands is, after the others; so is what had
        not ended when the server died."""
        left = dict(enumerate(trials))
        folders: dict[int, Path] = {}
        try:
            with self.server(self.scratch()) as server:
                for number, outcome in self._together(server, trials, folders, stop):
                    yield number, outcome
                    del left[number]
        except ServerDied:
            for number in left.keys() & folders.keys():
                clear(folders[number], keep_trace=False)
        for number, trial in left.items():
            yield number, self.attempt(trial, stop)

    def _together(
        self, server: Server, trials: Sequence[Trial], folders: dict[int, Path], stop: Stop
    ) -> Iterator[tuple[int, Outcome]]:
        waiting: list[_Waiting] = []
        for number, trial in enumerate(trials):
            if trial.plain:
                continue
            folder = folders[number] = self.folder()
            begun = self._begin(server, trial, folder, number, stop)
            if isinstance(begun, _Waiting):
                waiting.append(begun)
            else:
                clear(folder, keep_trace=trial.keep_trace)
                yield number, self._judged(trial, begun, stop)
        for group in _groups(waiting):
            share = self._train(server, group, stop)
            for one in group:
                outcome = self._finish(server, one, share, stop)
                clear(one.folder, keep_trace=one.trial.keep_trace)
                yield one.number, self._judged(one.trial, outcome, stop)

    def _begin(
        self, server: Server, trial: Trial, folder: Path, number: int, stop: Stop
    ) -> _Waiting | Outcome:
        """Run a trial until it waits, or to its end."""
        if stop.asked:
            return Outcome(OutcomeKind.INTERRUPTED)
        park = trial.limits.steps is None and _text(trial) not in self._slow
        try:
            job = make_job(trial, folder, self.python, express=True, park=park)
        except PatchRefused as error:
            return Outcome(OutcomeKind.NOT_STARTED, note=error.sentence)
        ended = server.run(job.message, lambda: stop.asked)
        if isinstance(ended, Parked):
            return _Waiting(number, trial, job, folder, ended)
        return read_outcome(job, ended, keep_trace=trial.keep_trace)

    def _train(self, server: Server, group: Sequence[_Waiting], stop: Stop) -> float | None:
        """Train what waits together: seconds of processor time for each; none when each is to train alone."""
        if len(group) < LEAST or stop.asked:
            return None
        folder = self.folder()
        limits = [one.trial.limits.seconds for one in group]
        seconds = min((limit for limit in limits if limit is not None), default=None)
        try:
            message = ensemble_job([one.folder for one in group], folder, gain=self.gain, seconds=seconds)
            ended = server.run(message, lambda: stop.asked)
            taken, gain = _answer(folder / ANSWER)
        finally:
            clear(folder, keep_trace=False)
        if gain is not None:
            self.gains[_signature(group[0].folder)] = gain
        if not taken or not isinstance(ended, Ended):
            self._slow |= {_text(one.trial) for one in group}
            return None
        return ended.cpu / len(group)

    def _finish(self, server: Server, one: _Waiting, share: float | None, stop: Stop) -> Outcome:
        """Let a waiting trial go on to its end."""
        word = ALONE if share is None else TRAINED
        ended = server.resume(one.parked, word, lambda: stop.asked)
        outcome = read_outcome(one.job, ended, keep_trace=one.trial.keep_trace)
        return replace(outcome, cpu_seconds=outcome.cpu_seconds + (share or 0.0))

    def _judged(self, trial: Trial, outcome: Outcome, stop: Stop) -> Outcome:
        """Whether the program itself is at fault only its own training can tell."""
        ours = outcome.kind is OutcomeKind.CRASHED and outcome.expressed
        return self._attempt(trial, stop, express=False) if ours else outcome


def _groups(waiting: Sequence[_Waiting]) -> list[list[_Waiting]]:
    found: dict[str, list[_Waiting]] = defaultdict(list)
    for one in waiting:
        found[_signature(one.folder)].append(one)
    return list(found.values())


def _signature(folder: Path) -> str:
    try:
        return str(json.loads((folder / CAPTURED).read_bytes())["signature"])
    except (OSError, ValueError, KeyError, TypeError):
        return str(folder)


def _answer(note: Path) -> tuple[bool, float | None]:
    try:
        found = json.loads(note.read_bytes())
        return bool(found["taken"]), float(found["gain"])
    except (OSError, ValueError, KeyError, TypeError):
        return False, None


def _text(trial: Trial) -> str:
    """The program before its patch."""
    text = "\0".join(file.raw for file in trial.program.files)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
