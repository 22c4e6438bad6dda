"""A program, edited or not, for a few steps in a scratch copy: what the detectors say of that run, and its
books.

It runs as a trial does: in a likeness of the user's folder, trackers off, on a seed of ours, in the sandbox
where a model wrote it. The experiments follow in a process of their own, with the weights that it left.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from reenact.diagnosis.fixes.kept import Kept
from reenact.diagnosis.fixes.spoken import Spoken
from reenact.faults.evidence import Evidence
from reenact.faults.finding import Finding
from reenact.probe import outcome as probe
from reenact.probe.experiment import ENDED
from reenact.probe.outcome import CUT_OFF, OutcomeKind
from reenact.probe.read import is_trace
from reenact.program.patch import Patch
from reenact.program.static_graph import static_graph
from reenact.trials.executor import Executor
from reenact.trials.reading import read_kept, read_tried
from reenact.trials.trial import Experimenting, Outcome, Trial, TrialLimits
from reenact.types import Stop

SEED = 0
TESTS = ("one_batch", "learning_rates", "behaviour")
"""Small experiments, by their field of `Experiments`."""


@dataclass(frozen=True, slots=True)
class Length:
    """How far a program is run."""

    seconds: float
    """Wall time, after which it is ended."""
    steps: int | None = None
    """Steps after which it is stopped; none: to its end."""
    experiments: float = 1.0
    """CPU seconds of each small experiment."""


@dataclass(frozen=True, slots=True)
class ScratchRun:
    """What one run in a scratch copy showed."""

    outcome: Outcome
    spoken: Spoken
    kept: Kept
    was_cut_off: bool = False
    """Whether it, or its experiments, ended before they had come so far as was asked."""
    tests: frozenset[str] = frozenset()
    """Small experiments that were done."""

    @property
    def steps_on(self) -> bool:
        """Whether it trained, and went so far as was asked."""
        return self.outcome.trained

    @property
    def fails(self) -> bool:
        """Whether it ended as no program should."""
        ended_well = (OutcomeKind.FINISHED, OutcomeKind.STOPPED, OutcomeKind.NO_TRAINING)
        return self.outcome.kind not in ended_well

    @property
    def ending(self) -> str:
        """How it failed, in a few words."""
        crash = self.outcome.crash
        if crash is not None:
            at = f" at line {crash.place.line}" if crash.place is not None else ""
            return f"it ends with {crash.type}{at}: {crash.message[:120]}"
        if self.outcome.kind is OutcomeKind.NOT_STARTED:
            return self.outcome.note.rstrip(".")
        return f"it takes no step ({self.outcome.kind.value})"


@dataclass
class Scratch:
    """Runs edits of one program."""

    evidence: Evidence
    executor: Executor
    listen: Callable[[Evidence], Sequence[Finding]]
    """What the detectors say of evidence."""
    length: Length
    stop: Stop
    stdin: bytes = b""
    cpu_seconds: float = field(default=0.0, init=False)
    """What all runs took."""

    def runs(self, patches: Sequence[Patch], *, experiments: bool) -> list[ScratchRun]:
        """Each edited program, at once where there are several cores."""
        with tempfile.TemporaryDirectory(prefix="reenact-fixes-") as folder:
            weights = [Path(folder) / f"weights-{at}" for at in range(len(patches))]
            trainings = [
                self._trial(patch, file if experiments else None)
                for patch, file in zip(patches, weights, strict=True)
            ]
            seen = self._run(trainings)
            tried: list[tuple[Trial, Outcome] | None] = [None] * len(patches)
            if experiments:
                for file in weights:
                    file.with_name(file.name + ENDED).touch()
                tests = [self._experiment(one) for one in trainings]
                tried = list(zip(tests, self._run(tests), strict=True))
            whole = zip(trainings, seen, tried, strict=True)
            return [self._read(*one) for one in whole]

    def _trial(self, patch: Patch, weights: Path | None) -> Trial:
        assert self.evidence.program is not None
        return Trial(
            self.evidence.program,
            patch,
            seed=SEED,
            limits=TrialLimits(self.length.seconds, self.length.steps),
            preset="normal",
            keep_trace=True,
            hand_over=weights,
            stand_ins=self.evidence.stand_in_data,
            stdin=self.stdin,
        )

    def _experiment(self, training: Trial) -> Trial:
        return replace(
            training,
            limits=TrialLimits(self.length.seconds),
            preset="bare",
            experiments=Experimenting(self.length.experiments),
        )

    def _run(self, trials: Sequence[Trial]) -> list[Outcome]:
        outcomes = self.executor.run(trials, stop=self.stop)
        self.cpu_seconds += sum(one.cpu_seconds for one in outcomes)
        return outcomes

    def _read(
        self, trial: Trial, outcome: Outcome, tried: tuple[Trial, Outcome] | None
    ) -> ScratchRun:
        if outcome.kind is OutcomeKind.NOT_STARTED:
            return ScratchRun(outcome, Spoken(), Kept())
        cut = outcome.kind in CUT_OFF or (tried is not None and tried[1].kind in CUT_OFF)
        traced = outcome.trace is not None and is_trace(outcome.trace)
        trace = read_kept(trial, outcome) if traced else None
        program = trial.patched
        ended = probe.Outcome(outcome.kind, crash=outcome.crash, note=outcome.note)
        evidence = Evidence(
            program,
            static_graph(program),
            trace,
            ended,
            opened=self.evidence.opened,
            stand_in_data=self.evidence.stand_in_data,
        )
        if tried is not None:
            evidence = replace(evidence, experiments=read_tried(*tried))
        spoken = Spoken.of(self.listen(evidence))
        tests = frozenset(name for name in TESTS if getattr(evidence.experiments, name))
        return ScratchRun(replace(outcome, trace=None), spoken, Kept.of(trace), cut, tests)
