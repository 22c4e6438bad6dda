"""Who answers the questions about a case, and what its code runs with."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from benchmarks.identity import code_identity
from benchmarks.papers.cases import DATA, RECORDINGS, PaperCase
from benchmarks.papers.twins import TwinReplay
from benchmarks.papers.variant import WHOLE, Variant
from reenact.errors import InputError
from reenact.journal import Journal
from reenact.llm.ask import Model
from reenact.llm.recording import Recorder, Replay
from reenact.paper.options import PaperOptions
from reenact.sandbox.box import Sandbox
from reenact.sandbox.environments.prepare import Environments
from reenact.types import JsonValue, Stop, Tell, tell_nobody

LEAST_WALL_S = 120.0
TIMES = 40
"""What a full run may take, in units of what the reference takes: generated code is slower,
machines too.
"""


@dataclass(frozen=True)
class CaseRun:
    """One case, one variant, one of several runs."""

    case: PaperCase
    variant: Variant
    run: int = 0

    @property
    def name(self) -> str:
        return f"{self.case.id}-{self.variant.key}" + (f"-{self.run + 1}" if self.run else "")

    @property
    def recording(self) -> Path:
        return self.case.folder / RECORDINGS / self.variant.recording(self.run)


@dataclass(frozen=True)
class BenchRunner:
    """What every case is digest with."""

    journal: Journal
    sandbox: Sandbox
    cache: Path
    """Where repositories of cited papers are kept."""
    model: Model | None = None
    """Answers every case; none: each is answered by its recording."""
    record: bool = False
    """Keep the model's answers in the folder of each case."""
    fresh: bool = False
    """Start over: nothing run before counts, and a recording is made from its beginning."""
    environments: Environments | None = None
    options: PaperOptions = field(default_factory=PaperOptions)
    tell: Tell = tell_nobody
    stop: Stop = field(default_factory=Stop)

    def __post_init__(self) -> None:
        if self.record and self.model is None:
            raise InputError(
                "Only the answers of a model can be recorded, and none is named.",
                next_step="Add --model, for example --model relay:FOLDER.",
            )

    def answers(self, case_run: CaseRun) -> bool:
        """Whether anybody answers. A twin asks whether a verdict is true, and a method
        without a part is not judged by that."""
        judges = case_run.variant == WHOLE or case_run.variant.baseline
        if case_run.case.twin is not None and (self.record or not judges):
            return False
        return self.model is not None or case_run.recording.is_file()

    def options_for(self, case_run: CaseRun) -> PaperOptions:
        """What the user of this case would ask for, with the parts of the variant left out."""
        case = case_run.case
        asked = replace(
            self.options,
            goal=case.goal.goal,
            data=case.data,
            seeds=case.seeds,
            scale=case.scale,
            run_wall_s=max(LEAST_WALL_S, TIMES * case.seconds),
        )
        return case_run.variant.options(asked)

    def inputs(self, case_run: CaseRun) -> JsonValue:
        """What the outcome depends on: reenact itself, the case, and who answers."""
        case = case_run.case
        return {
            "code": code_identity(),
            "case": _digest(case.folder),
            "twin": repr(case.twin) if case.twin is not None else "",
            "recording": "" if self.model is not None else _recorded(case_run),
            "model": self.model.name if self.model is not None else "recording",
            "record": self.record,
            "options": self.options_for(case_run).to_json(),
            "run": case_run.run,
        }

    def model_for(self, case_run: CaseRun) -> Model:
        """The model that answers this case_run."""
        if self.model is None:
            replay = Replay(case_run.recording, tell=self.tell)
            return replay if case_run.case.twin is None else TwinReplay(replay, case_run.case.twin)
        return Recorder(self.model, case_run.recording) if self.record else self.model

    @contextmanager
    def journal_for(self, case_run: CaseRun) -> Iterator[tuple[Journal, bool]]:
        """The journal of one pipeline and whether it starts over.

        What a living model answers was paid for and is kept. A recording costs nothing, and a
        journal that knew its answers would not notice when it changes. A recording that is not
        begun yet needs every answer, also those that the journal knows from before. A second run of
        the same case is another conversation, so it has a journal of its own, which would else
        answer it from the first one.
        """
        if self.model is None:
            with Journal.in_memory() as journal:
                yield journal, True
            return
        unrecorded = self.record and not case_run.recording.exists()
        if case_run.run:
            with Journal.open(self.cache / "runs" / case_run.name) as journal:
                yield journal, self.fresh or unrecorded
            return
        yield self.journal, self.fresh or unrecorded


def _digest(folder: Path) -> str:
    """One name for the files of a case but its recordings; data may be huge: known by names and
    sizes.
    """
    digest = hashlib.sha256()
    for file in sorted(one for one in folder.rglob("*") if one.is_file()):
        parts = file.relative_to(folder).parts
        if parts[0] == RECORDINGS or "__pycache__" in parts:
            continue
        known = str(file.stat().st_size).encode() if parts[0] == DATA else file.read_bytes()
        digest.update(f"{'/'.join(parts)}\0".encode("utf-8", "replace") + known + b"\0")
    return digest.hexdigest()


def _recorded(case_run: CaseRun) -> str:
    file = case_run.recording
    return hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else ""
