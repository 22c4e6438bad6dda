"""Who answers the questions about a case, and what its scripts run with."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.bugs.cases import BUNDLE, FACTS, ORACLE, REPORT, BugCase
from benchmarks.bugs.variant import Variant
from reenact.bug.options import BugOptions
from reenact.errors import InputError
from reenact.journal import Journal
from reenact.llm.ask import Model
from reenact.llm.recording import Recorder, Replay
from reenact.result import encoded
from reenact.sandbox.box import Sandbox
from reenact.sandbox.environments.prepare import Environments
from reenact.types import JsonValue, Stop, Tell, tell_nobody


@dataclass(frozen=True)
class BenchRunner:
    """What every case is run with."""

    journal: Journal
    sandbox: Sandbox
    model: Model | None = None
    """Answers every case; none: each is answered by its recording."""
    record: bool = False
    """Keep the model's answers in the folder of each case."""
    fresh: bool = False
    """Start over: nothing run before counts, and a recording is made from its beginning."""
    environments: Environments | None = None
    options: BugOptions = field(default_factory=BugOptions)
    tell: Tell = tell_nobody
    stop: Stop = field(default_factory=Stop)

    def __post_init__(self) -> None:
        if self.record and self.model is None:
            raise InputError(
                "Only the answers of a model can be recorded, and none is named.",
                next_step="Add --model, for example --model relay:FOLDER.",
            )

    def answers(self, case: BugCase, variant: Variant) -> bool:
        """Whether anybody answers."""
        return self.model is not None or self.recording(case, variant).is_file()

    def recording(self, case: BugCase, variant: Variant) -> Path:
        """The file that answers."""
        return case.folder / variant.answers

    def inputs(self, case: BugCase, variant: Variant) -> JsonValue:
        """What the outcome depends on: the case, and who answers."""
        names = [] if case.is_foreign else [FACTS, REPORT, BUNDLE, ORACLE]
        contents = [(case.folder / name).read_bytes() for name in names]
        if self.model is None:
            contents.append(self.recording(case, variant).read_bytes())
        return {
            "revisions": [case.source, case.buggy, case.given_fix],
            "files": [hashlib.sha256(content).hexdigest() for content in contents],
            "model": self.model.name if self.model is not None else "recording",
            "record": self.record,
            "options": encoded(variant.options(self.options)),
        }

    def model_for(self, case: BugCase, variant: Variant) -> Model:
        """The model that answers this case."""
        file = self.recording(case, variant)
        if self.model is None:
            return Replay(file, tell=self.tell)
        # Words and code of strangers are not ours to keep: of their bugs the answers alone are.
        return (
            Recorder(self.model, file, prompts=not case.is_foreign) if self.record else self.model
        )

    @contextmanager
    def journal_for(self, case: BugCase, variant: Variant) -> Iterator[tuple[Journal, bool]]:
        """The journal of one pipeline and whether it starts over.

        What a living model answers was paid for and is kept. A recording costs nothing, and a
        journal that knew its answers would not notice when it changes. A recording that is not
        begun yet needs every answer, also those that the journal knows from before.
        """
        if self.model is None:
            with Journal.in_memory() as journal:
                yield journal, True
            return
        unrecorded = self.record and not self.recording(case, variant).exists()
        yield self.journal, self.fresh or unrecorded
