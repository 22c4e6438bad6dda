"""What a pipeline that trains works with: journal, folder of traces, progress, stop, model,
executor.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from reenact.faults.evidence import Evidence
from reenact.faults.facts.series import guessing
from reenact.journal import Journal, OpenRun, Scope
from reenact.probe.answers import Answers
from reenact.program.program import Program
from reenact.program.training.loss_families import least_value
from reenact.types import Stop, Tell, tell_nobody

if TYPE_CHECKING:
    from reenact.llm.ask import Model
    from reenact.probe.terminal import Screen
    from reenact.sandbox.box import Sandbox
    from reenact.trials.executor import Executor
    from reenact.trials.trainer import BudgetedTrainer


@dataclass(frozen=True)
class DiagnoseServices:
    """What a pipeline that trains needs from outside."""

    journal: Journal
    traces: Path
    """Folder below which traces are kept."""
    tell: Tell = tell_nobody
    stop: Stop = field(default_factory=Stop)
    stdout: int | IO[bytes] | None = None
    """Where the program's own output goes."""
    screen: Screen | None = None
    """What shows a line of ours on the terminal and passes the program's output on; none: no
    line.
    """
    answers: Answers = field(default_factory=Answers)
    """What the program reads on its stdin; nothing by default."""
    notice: Callable[[str], None] | None = None
    """Who hears once that a training takes long and how to end it earlier; none: no one."""
    model: Model | None = None
    """A language model that looks for faults, or proposes changes."""
    sandbox: Callable[[], Sandbox] | None = None
    """Where its edits and checks run; none: they are not executed."""
    executor: Callable[[], Executor] | None = None
    """Another way to train; none: a pool of processes."""
    argv: Sequence[str] = ()
    fresh: bool = False
    """Start over instead of resuming an interrupted run."""

    def open_run(self, pipeline: str, program: Program, request: object) -> OpenRun:
        """The unfinished run of this request, or a new one."""
        return self.journal.run(
            pipeline=pipeline,
            request=request,
            argv=self.argv,
            what=str(program.entry),
            fresh=self.fresh,
        )

    def reused_line(self, run: OpenRun, trainings: int) -> str:
        """What of a result was taken from earlier runs; where its trainings were not, why."""
        from reenact.diagnosis.not_reused import reused_line

        return reused_line(run, self.journal, trainings=trainings, fresh=self.fresh)

    def open_executor(
        self, workers: int, python: str, name: str = "process", data: Sequence[str] = ()
    ) -> Executor:
        """What trains: the executor of this name, unless another way was given."""
        if self.executor is not None:
            return self.executor()
        from reenact.trials.choose import open_executor

        return open_executor(
            name,
            workers=workers,
            python=python,
            data=data,
            stop=self.stop,
        )

    def trainer(
        self,
        evidence: Evidence,
        executor: Executor,
        run: Scope,
        python: str,
        *,
        seconds: float | None = None,
        **more: Any,
    ) -> BudgetedTrainer:
        """Trains the program that was watched; `more` is what `BudgetedTrainer` needs besides.

        `seconds` is how long one training takes, where that is not the time of the watched run.
        """
        from reenact.probe.surroundings import training_mark
        from reenact.trials.trainer import BudgetedTrainer

        program = evidence.program
        assert program is not None
        if seconds is None:
            seconds = evidence.trace.seconds if evidence.trace is not None else 0.0
        mark = more.pop("around", "") or training_mark(program, python, evidence.opened)
        return BudgetedTrainer(
            program,
            executor,
            trials=run.under("trials"),
            stop=self.stop,
            one_training=seconds,
            one_wall=seconds,
            around=mark,
            label_spread=evidence.label_spread,
            majority=evidence.majority,
            several_labels=has_several_labels(evidence),
            loss_floor=least_value(evidence.loss_name),
            constant_loss=constant_loss(evidence),
            stand_ins=evidence.stand_in_data,
            stdin=self.answers.text,
            **more,
        )


def has_several_labels(evidence: Evidence) -> bool:
    """Whether the model has several outputs, or a row several labels (the tokens of a sequence)."""
    labels = evidence.labels
    single = labels is None or labels.one_hot or labels.shape[1:] in ((), (1,))
    return evidence.several_outputs or not single


def constant_loss(evidence: Evidence) -> float | None:
    """The loss of the best answer that ignores the inputs; none where it is not known, as where
    penalties of the weights are added to the loss.
    """
    layers = evidence.graph.layers if evidence.graph is not None else ()
    settings = [setting for layer in layers for setting in layer.settings.items()]
    penalised = any(name.endswith("_regularizer") and value for name, value in settings)
    return None if penalised else guessing(evidence)
