"""Trainings of changed versions: in boxes with the user's folders, and none that contradicts the paper."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from reenact.paper.develop.workshop import Workshop
from reenact.paper.measure.fixed import forbidden
from reenact.probe.outcome import OutcomeKind
from reenact.program.knob import KnobId
from reenact.sandbox.box import BoxResult, Command, Limits, Mount, OnOutput, Sandbox
from reenact.trials.boxed import Boxed
from reenact.trials.outcome import Outcome
from reenact.trials.trial import Trial
from reenact.types import Stop


class WithinPaper(Boxed):
    """Trains changed programs in boxes, but none that contradicts the paper: such a change fails at once."""

    def __init__(self, fixed: Mapping[KnobId, str], *, sandbox: Sandbox, python: str) -> None:
        super().__init__(1, sandbox=sandbox, python=python)
        self.fixed = fixed

    def attempts(self, trials: Sequence[Trial], stop: Stop) -> Iterator[tuple[int, Outcome]]:
        """See `Boxed.attempts`."""
        for number, trial in enumerate(trials):
            why = forbidden(trial.patch, self.fixed)
            if why:
                yield number, Outcome(OutcomeKind.NOT_STARTED, note=why)
                continue
            for _, outcome in super().attempts([trial], stop):
                yield number, outcome


class Furnished:
    """The sandbox of a workshop, with the user's folders and the environment of the code in every box."""

    def __init__(self, services: Workshop) -> None:
        self.name = services.sandbox.name
        self._services = services

    def run(
        self, command: Command, limits: Limits, *, on_output: OnOutput | None = None, stop: Stop | None = None
    ) -> BoxResult:
        """See `Sandbox.run`."""
        services = self._services
        furnished = replace(
            command,
            mounts=(*command.mounts, *self._environment(command), *services.mounts()),
            environment={**services.environment(), **command.environment},
        )
        memory = services.limits(limits.wall_s).memory_bytes
        limits = replace(limits, memory_bytes=memory)
        return services.sandbox.run(furnished, limits, on_output=on_output, stop=stop)

    def missing(self) -> str:
        """See `Sandbox.missing`."""
        return self._services.sandbox.missing()

    def does_not_stop(self) -> tuple[str, ...]:
        """See `Sandbox.does_not_stop`."""
        return self._services.sandbox.does_not_stop()

    def _environment(self, command: Command) -> tuple[Mount, ...]:
        """Mounts of a prepared interpreter, when the command starts one."""
        environments = self._services.environments
        made = environments.listing() if environments is not None else ()
        return next((one.mounts for one in made if one.python == command.argv[0]), ())
