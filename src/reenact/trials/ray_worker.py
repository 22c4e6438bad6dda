"""What runs on a node of a Ray cluster: one worker for each trial at a time, with a warm pool of its own."""

from __future__ import annotations

import platform
from dataclasses import dataclass, replace
from pathlib import Path

from reenact.probe.outcome import OutcomeKind
from reenact.trials.boxed import Boxed
from reenact.trials.folder import Scratch
from reenact.trials.job import TREE
from reenact.trials.parcel import Parcel, arrived, needs_of, take_variables, unpack
from reenact.trials.pool import ProcessPool
from reenact.trials.reading import at_home
from reenact.trials.trial import Outcome, Trial, Weights
from reenact.types import Stop


@dataclass(frozen=True, slots=True)
class NodeReport:
    """Where a worker came to be."""

    node: str
    """Ray's id."""
    name: str


@dataclass(frozen=True, slots=True)
class Sent:
    """A trial on its way: the weights that it continues from are bytes."""

    trial: Trial
    weights: bytes | None = None


@dataclass(frozen=True, slots=True)
class Returned:
    """An outcome on its way back."""

    outcome: Outcome
    refused: tuple[str, ...] = ()
    """Why this node cannot train the program; then there is no outcome."""
    trace: tuple[tuple[str, bytes], ...] = ()
    tree: str = ""
    """Where the program stood when the trace was written."""
    weights: bytes | None = None


class Worker:
    """An actor, with more threads than one to hear `stop`."""

    def __init__(self, python: str, boxed: bool) -> None:
        import ray

        self._report = NodeReport(ray.get_runtime_context().get_node_id(), platform.node())
        self._python = python
        self._scratch = Scratch.make()
        self._executor = Boxed(python=python) if boxed else ProcessPool(1, python=python)
        self._refusals: dict[str, tuple[str, ...]] = {}
        self._stops: dict[int, Stop] = {}
        """By the number of the call of `train`."""

    def report(self) -> NodeReport:
        """Answers when the worker is there."""
        return self._report

    def train(self, call: int, sent: Sent, parcel: Parcel) -> Returned:
        """One trial, unless this node differs in what matters to its program. `call` is another number each
        time."""
        if parcel.mark not in self._refusals:
            here = needs_of(parcel.modules, map(Path, parcel.needs.data), self._python)
            self._refusals[parcel.mark] = tuple(parcel.needs.differences(here))
        if refused := self._refusals[parcel.mark]:
            return Returned(Outcome(OutcomeKind.NOT_STARTED), refused)
        root = self._scratch.path / parcel.mark
        if parcel.home and not root.exists():
            unpack(parcel, root)
        take_variables(parcel, [file.text for file in sent.trial.program.files])
        trial, end = self._with_weights(sent)
        trial = replace(trial, program=arrived(trial.program, parcel, root))
        (outcome,) = self._executor.run([trial], stop=self._stops.setdefault(call, Stop()))
        kept = outcome.trace
        trace: tuple[tuple[str, bytes], ...] = ()
        if kept is not None:
            files = sorted(path for path in kept.rglob("*") if path.is_file())
            trace = tuple((str(path.relative_to(kept)), path.read_bytes()) for path in files)
        outcome = at_home(replace(outcome, trace=None), str(trial.program.folder), parcel.home)
        tree = str(kept.parent / TREE) if kept is not None else ""
        weights = end.read_bytes() if end is not None and end.is_file() else None
        return Returned(outcome, trace=trace, tree=tree, weights=weights)

    def _with_weights(self, sent: Sent) -> tuple[Trial, Path | None]:
        """The trial with files of this node, and where it leaves its last weights."""
        given = sent.trial.weights
        if given is None:
            return sent.trial, None
        folder = self._scratch.trial_folder()
        start = end = None
        if given.start is not None:
            start = folder / given.start.name
            if sent.weights is not None:
                start.write_bytes(sent.weights)
        if given.end is not None:
            end = folder / f"end-{given.end.name}"
        return replace(sent.trial, weights=Weights(start, end)), end

    def stop(self, call: int) -> None:
        """End a trial, also one that has not begun yet."""
        self._stops.setdefault(call, Stop()).ask()

    def close(self) -> None:
        """Leave nothing behind."""
        for stop in list(self._stops.values()):
            stop.ask()
        self._executor.close()
        self._scratch.close()
