"""A trial is one training of a program with a patch and a seed."""

from __future__ import annotations

import hashlib
import json
from dataclasses import astuple, dataclass, field
from enum import StrEnum
from functools import cached_property
from pathlib import Path

from reenact.errors import InputError, PatchRefused
from reenact.program.patch import Patch
from reenact.program.program import Program


@dataclass(frozen=True, slots=True)
class TrialLimits:
    """What one training may take; none means as much as it wants."""

    seconds: float | None = None
    """Wall time."""
    steps: int | None = None
    """Optimiser steps, after which the program is stopped on purpose."""

    def __post_init__(self) -> None:
        if any(limit is not None and limit <= 0 for limit in (self.seconds, self.steps)):
            raise InputError(
                f"A limit is larger than nothing. Received: seconds={self.seconds}, steps={self.steps}."
            )


class Part(StrEnum):
    """Which of the evaluation data a training is measured on."""

    WHOLE = "whole"
    SEARCH = "search"
    """One half, where changes are looked for."""
    JUDGE = "judge"
    """The other half, where the change that was found is judged."""


@dataclass(frozen=True, slots=True)
class StopRule:
    """When a training is hopeless and need not go on. What it logged until then is kept."""

    metric: str = ""
    """The metric whose curve is looked at; empty for none."""
    bar: float | None = None
    """The best value so far must have reached this when the share of the epochs is over."""
    larger_is_better: bool = True
    share: float = 0.5
    """Of the epochs, after which the bar counts; an epoch is one value of the metric."""
    epochs: int | None = None
    """How many there will be; none takes those of Keras's `fit`, and elsewhere never stops by the bar."""
    not_finite: bool = True
    """Stop too when the loss has been NaN or infinite for many steps in a row."""

    def __post_init__(self) -> None:
        if not 0 < self.share <= 1:
            raise InputError(f"A share lies above 0 and is at most 1. Received: share={self.share}.")
        if (self.bar is None) == bool(self.metric):
            raise InputError(f"A bar belongs to a metric. Received: metric={self.metric!r}, bar={self.bar}.")


@dataclass(frozen=True, slots=True)
class Weights:
    """Where a Keras training takes its first weights from, and where it leaves its last ones."""

    start: Path | None = None
    """None, or no such file: it begins as its program says. The name of the file is part of the key."""
    end: Path | None = None


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
    """Evaluation data to be measured on, as far as they can be taken apart; see `Outcome.halved`."""
    data: float = 1.0
    """Share of the training data to train on, as far as they can be cut; see `Outcome.cut`."""
    hopeless: StopRule | None = None
    """When to give it up early; none lets it run."""
    weights: Weights | None = None
    """To continue another training; none starts over and keeps nothing."""
    plain: bool = False
    """Train the program itself, never a faster loop in its place: for what decides a verdict."""
    repeat: int = 0
    """Which time it is done: another number trains an equal trial once more."""

    @property
    def patched(self) -> Program:
        """The program that is run; raises PatchRefused when the patch does not fit."""
        return self.patch.apply(self.program)

    @cached_property
    def key(self) -> str:
        """Equal for trainings of the same text with the same arguments, seed, limits and preset.

        The data that the program reads, its interpreter and its packages are no part of it.
        """
        return self._hash(self.limits.seconds)

    @cached_property
    def content(self) -> str:
        """The same for whatever time it may take: patience does not change what a training comes to."""
        return self._hash(None)

    def _hash(self, seconds: float | None) -> str:
        files, refused = self._text
        parts = [files, list(self.program.launch.words), self.seed, seconds, self.limits.steps]
        part = [] if self.part is Part.WHOLE else [self.part.value]
        ruled = [] if self.hopeless is None else [list(astuple(self.hopeless))]
        first = self.weights.start if self.weights is not None else None
        continued = [] if self.weights is None else ["weights", first.name if first is not None else ""]
        fewer = ["data", self.data] if self.data < 1 else []
        again = ["repeat", self.repeat] if self.repeat else []
        text = json.dumps([*parts, self.preset, refused, *part, *ruled, *continued, *fewer, *again])
        return hashlib.sha256(text.encode()).hexdigest()

    @cached_property
    def _text(self) -> tuple[list[list[str]], str]:
        """Hashes of the changed files, and the patch where it does not fit."""
        try:
            program, refused = self.patched, ""
        except PatchRefused:
            program, refused = self.program, self.patch.to_text()
        return [
            [str(file.path), hashlib.sha256(file.raw.encode("utf-8", "surrogatepass")).hexdigest()]
            for file in program.files
        ], refused
