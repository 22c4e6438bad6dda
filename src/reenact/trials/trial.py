"""A trial is one training of a program with a patch and a seed; an outcome is what came of it."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from pathlib import Path

from reenact.errors import InputError, PatchRefused
from reenact.probe.crash import Crash
from reenact.probe.outcome import OutcomeKind
from reenact.program.patch import Patch
from reenact.program.program import Program
from reenact.types import JsonValue

Curve = tuple[tuple[int, float], ...]
HOPELESS = "hopeless"
"""How `Outcome.stopped` begins for a training that was pruned."""


@dataclass(frozen=True, slots=True)
class TrialLimits:
    """What one training may take; none means as much as it wants."""

    seconds: float | None = None
    """Wall time."""
    steps: int | None = None
    """Optimiser steps, after which the program is stopped on purpose."""

    def __post_init__(self) -> None:
        if any(limit is not None and limit <= 0 for limit in (self.seconds, self.steps)):
            given = f"seconds={self.seconds}, steps={self.steps}"
            raise InputError(f"A limit is larger than nothing. Received: {given}.")


class Part(StrEnum):
    """Which of the evaluation data a training is measured on."""

    WHOLE = "whole"
    SEARCH = "search"
    """One half, where changes are looked for."""
    JUDGE = "judge"
    """The other half, where the change that was found is judged."""


@dataclass(frozen=True, slots=True)
class Weights:
    """Where a Keras training takes its first weights from, and where it leaves its last ones."""

    start: Path | None = None
    """None, or no such file: it begins as its program says. The name of the file is part of the
    key.
    """
    end: Path | None = None


@dataclass(frozen=True, slots=True)
class Experimenting:
    """Small experiments in place of a training: the program ends before its first step."""

    seconds: float
    """CPU time of each."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """Curves of the unchanged program, compared with which a training that is hopeless is given up."""

    metric: str
    """That is looked at on the way; `step_loss`: the loss of the steps."""
    source: str
    """Where it is read."""
    larger: bool
    """Whether a larger value is better; what follows is oriented, larger is better."""
    steps: float
    """That a whole training takes."""
    curves: tuple[tuple[tuple[float, float], ...], ...]
    """Of each seed: shares of the training and values."""
    target: float
    """What a training must reach to be better by enough to matter."""
    least: float
    """The smallest difference that matters."""

    @property
    def is_loss(self) -> bool:
        return self.metric == "step_loss"

    def for_steps(self, factor: float) -> "Baseline":
        """For trainings of so many times the steps."""
        return replace(self, steps=self.steps * factor)


@dataclass(frozen=True)
class Trial:
    """One training to be done."""

    program: Program
    patch: Patch = field(default_factory=Patch)
    seed: int = 0
    """Takes the place of the program's own global seeds."""
    limits: TrialLimits = field(default_factory=TrialLimits)
    preset: str = "bare"
    """How closely the probe looks; bare: losses and metrics only."""
    keep_trace: bool = False
    """Leave the trace on disk, and say where in the outcome."""
    part: Part = Part.WHOLE
    """Evaluation data to be measured on, as far as they can be taken apart; see
    `Outcome.halved`.
    """
    data: float = 1.0
    """Share of the training data to train on, as far as they can be cut; see `Outcome.cut`."""
    while_finite: bool = False
    """Give it up when its loss has been NaN or infinite for twenty steps in a row."""
    baseline: Baseline | None = None
    """Give it up when it is hopeless compared with these curves, or lost as with `while_finite`."""
    weights: Weights | None = None
    """To continue another training; none starts over and keeps nothing."""
    experiments: Experimenting | None = None
    """None trains."""
    hand_over: Path | None = None
    """Where a training leaves its last weights, and experiments look for those of one."""
    stand_ins: tuple[str, ...] = ()
    """Data sets that the program gets made-up data for, as the watched run did."""
    stdin: bytes = b""
    """What it reads on its stdin."""
    repeat: int = 0
    """Which time it is done: another number trains an equal trial once more."""

    @property
    def patched(self) -> Program:
        """The program that is run; raises PatchRefused when the patch does not fit."""
        return self.patch.apply(self.program)

    @cached_property
    def key(self) -> str:
        """Equal for trainings of the same text with the same arguments, seed, limits and preset.

        The data that the program reads, its interpreter and its packages are not a part of it.
        """
        return self._hash(self.limits.seconds)

    @property
    def identity(self) -> dict[str, JsonValue]:
        """What a run keeps of its program, to tell later whether it has changed and to read it
        again.
        """
        words: list[JsonValue] = list(self.program.launch.words)
        folder = str(self.program.folder)
        working = str(self.program.working)
        return {
            "program": self.key,
            "folder": folder,
            "words": words,
            "working": working,
        }

    @cached_property
    def content(self) -> str:
        """The same for whatever time it may take: patience does not change what a training
        comes to.
        """
        return self._hash(None)

    def _hash(self, seconds: float | None) -> str:
        files, refused = self._text
        parts: list[object] = [
            files,
            list(self.program.launch.words),
            self.seed,
            seconds,
            self.limits.steps,
        ]
        parts += [self.preset, refused]
        parts += [self.part.value] if self.part is not Part.WHOLE else []
        parts += ["while finite"] if self.while_finite else []
        parts += (
            [
                json.dumps(
                    asdict(self.baseline),
                    sort_keys=True,
                )
            ]
            if self.baseline is not None
            else []
        )
        if self.weights is not None:
            parts += [
                "weights",
                self.weights.start.name if self.weights.start is not None else "",
            ]
        parts += ["data", self.data] if self.data < 1 else []
        if self.experiments is not None:
            parts += ["experiments", self.experiments.seconds]
        parts += ["stand-in data", *self.stand_ins] if self.stand_ins else []
        parts += (
            [
                "stdin",
                hashlib.sha256(self.stdin).hexdigest(),
            ]
            if self.stdin
            else []
        )
        parts += ["repeat", self.repeat] if self.repeat else []
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    @cached_property
    def _text(self) -> tuple[list[list[str]], str]:
        """Hashes of the changed files, and the patch where it does not fit."""
        try:
            program, refused = self.patched, ""
        except PatchRefused:
            program = self.program
            refused = self.patch.to_text()
        raw = [
            (
                str(file.path),
                file.raw.encode("utf-8", "surrogatepass"),
            )
            for file in program.files
        ]
        return [[path, hashlib.sha256(body).hexdigest()] for path, body in raw], refused


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a trial. A crash or a time-out is an outcome like any other."""

    kind: OutcomeKind
    steps: int = 0
    epochs: int | None = None
    """Epochs begun; none when there was no sign of them."""
    metrics: Mapping[str, float] = field(default_factory=dict)
    """The last value of each metric, from its best source; what only the probe saw of an evaluation
    is the mean of the last one's batches. `step_loss` is the mean training loss of the last steps.
    """
    sources: Mapping[str, str] = field(default_factory=dict)
    """Where each of them was read: keras, output, probe..."""
    curves: Mapping[str, Curve] = field(default_factory=dict)
    """(step, value) of each metric, thinned to 200 points; `step_loss` is the loss of the steps."""
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    """User and system time of the training and of the processes it started."""
    crash: Crash | None = None
    note: str = ""
    """What the kind alone does not say."""
    trace: Path | None = None
    """Folder of the trace, when it was kept."""
    halved: int = 0
    """Evaluations of which one half of the data was used, as the trial wished."""
    cut: int = 0
    """Sets of training data of which only a share was used, as the trial wished."""
    card_bytes: int | None = None
    """The most memory that its tensors took on one graphics card; none where that is not known."""
    stopped: str = ""
    """Why it was given up; empty when it was not."""

    @property
    def trained(self) -> bool:
        """It finished, or was stopped on purpose, after at least one step."""
        return self.kind in (OutcomeKind.FINISHED, OutcomeKind.STOPPED) and self.steps > 0

    @property
    def pruned(self) -> bool:
        """It was given up because it was hopeless compared with the unchanged program."""
        return self.stopped.startswith(HOPELESS)

    def curve(self, name: str) -> Curve:
        """A metric over the steps; empty when it was not seen."""
        return self.curves.get(name, ())
