"""No configuration of a benchmark is trained twice: outcomes are kept by the content of their
trial.

A program is taken at its word that it does the same twice. How long a training may take is no part
of it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from pydantic import TypeAdapter, ValidationError

from reenact.errors import StorageError
from reenact.probe.outcome import OutcomeKind
from reenact.trials.executor import Executor, OnOutcome
from reenact.trials.trainer import MORE_PATIENCE, PASSING
from reenact.trials.trial import Outcome, Trial
from reenact.types import Stop

_OUTCOMES = TypeAdapter(Outcome)


class Store(Protocol):
    """Where outcomes are kept."""

    def get(self, key: str) -> Outcome | None:
        """The outcome of a trial, or none."""
        ...

    def put(self, key: str, outcome: Outcome) -> None:
        """Keep it."""
        ...


class MemoryStore:
    """Outcomes of this process."""

    def __init__(self) -> None:
        self._kept: dict[str, Outcome] = {}

    def get(self, key: str) -> Outcome | None:
        return self._kept.get(key)

    def put(self, key: str, outcome: Outcome) -> None:
        self._kept[key] = outcome


class FolderStore:
    """One JSON file an outcome; several processes may share a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, key: str) -> Outcome | None:
        """None also for a file that cannot be read: the training is done again and the file
        written again.
        """
        try:
            return _OUTCOMES.validate_python(json.loads(self._file(key).read_bytes()))
        except (OSError, ValueError, ValidationError):
            return None

    def put(self, key: str, outcome: Outcome) -> None:
        """Written beside its place and moved there. Raises StorageError."""
        target = self._file(key)
        beside = target.with_suffix(f".{os.getpid()}.part")
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            beside.write_text(
                json.dumps(_OUTCOMES.dump_python(outcome, mode="json")),
                encoding="utf-8",
            )
            beside.replace(target)
        except OSError as error:
            raise StorageError(
                f"An outcome could not be kept: {error.strerror or error}. Received: {target}."
            ) from error

    def _file(self, key: str) -> Path:
        return self.folder / f"{key}.json"


class Cached(Executor):
    """Another executor that remembers."""

    def __init__(self, executor: Executor, store: Store | None = None) -> None:
        self.executor = executor
        self.store: Store = store if store is not None else MemoryStore()

    def run(
        self,
        trials: Sequence[Trial],
        *,
        on: OnOutcome | None = None,
        stop: Stop | None = None,
    ) -> list[Outcome]:
        """See `Executor.run`. What is known comes first; equal trials are run once."""
        found: dict[str, Outcome] = {}
        todo: dict[str, Trial] = {}
        for trial in trials:
            known = self._known(trial)
            if known is not None:
                found[trial.content] = known
            elif trial.content not in todo or trial.keep_trace:
                todo[trial.content] = trial

        def keep(trial: Trial, outcome: Outcome) -> None:
            if outcome.kind not in PASSING:
                self.store.put(trial.content, outcome)
            self._tell(trials, trial.content, outcome, on)

        for content, outcome in found.items():
            if content not in todo:
                self._tell(trials, content, outcome, on)
        outcomes = self.executor.run(list(todo.values()), on=keep, stop=stop) if todo else []
        found |= dict(zip(todo, outcomes, strict=True))
        return [found[trial.content] for trial in trials]

    def close(self) -> None:
        """See `Executor.close`; what was kept stays."""
        self.executor.close()

    def _known(self, trial: Trial) -> Outcome | None:
        # It may also be kept under the key that counts how long it might have taken.
        found = self.store.get(trial.content) or self.store.get(trial.key)
        if found is None or (trial.keep_trace and not (found.trace and found.trace.is_dir())):
            return None
        limit = trial.limits.seconds
        late = found.kind is OutcomeKind.TIMEOUT and found.seconds > 0
        return None if late and (limit is None or limit > MORE_PATIENCE * found.seconds) else found

    def _tell(
        self,
        trials: Sequence[Trial],
        content: str,
        outcome: Outcome,
        on: OnOutcome | None,
    ) -> None:
        for trial in trials if on is not None else ():
            if trial.content == content and on is not None:
                on(trial, outcome)
