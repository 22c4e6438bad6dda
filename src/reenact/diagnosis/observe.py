"""Gather the evidence: read the program, watch one run, try the small experiments."""

from __future__ import annotations

import hashlib
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from reenact.diagnosis.options import EXPERIMENTS, TrainingOptions
from reenact.diagnosis.services import DiagnoseServices
from reenact.diagnosis.watched_run import WatchedRun
from reenact.errors import Stopped
from reenact.host_program import Stream
from reenact.journal import Kind, Scope
from reenact.probe.clock import contention
from reenact.probe.experiment import ENDED, run_experiments
from reenact.probe.growing import epochs_of, telling_of
from reenact.probe.opened import read_opened
from reenact.probe.options import WatchOptions, fresh_folder
from reenact.probe.outcome import CUT_OFF, OutcomeKind
from reenact.probe.read import is_trace, read_stand_ins, read_trace
from reenact.probe.surroundings import surroundings
from reenact.probe.trace import Experiments, Trace
from reenact.probe.watch import Watched, program_root, watch
from reenact.program.program import Program
from reenact.trials.trial import Trial
from reenact.types import Stop

EXPERIMENT_SECONDS = 0.8
"""Of each experiment, however short the training is, on a machine that does nothing else."""
EXPERIMENT_WALL = 120.0
"""Most that the program may take on its way to the first step, in the process of the
experiments; like the next, on a machine that does nothing else.
"""
LEAST_WAIT = 30.0
"""Seconds that the experiments may go on after the watched run, however short that was."""
WAIT_SHARE = 0.3
"""Share of the training's own time for which they may."""


def observe(
    program: Program,
    options: TrainingOptions,
    services: DiagnoseServices,
    folder: Path,
    *,
    bare: bool,
) -> tuple[Watched, Experiments]:
    """One watched run, and next to it the small experiments in a process of their own; `bare` looks
    at losses and metrics alone, and does without experiments.
    """
    # Ends with us, and by itself once the watched run was ended for want of time.
    until = Stop(parent=services.stop)
    with (
        ThreadPoolExecutor(1) as beside,
        tempfile.TemporaryDirectory(prefix="reenact-beside-") as scratch,
    ):
        weights = Path(scratch) / "weights"
        watch_options = WatchOptions(
            folder,
            "bare" if bare else "normal",
            python=options.python,
            max_time=options.training_time,
            interrupts=False,
            weights=None if bare else weights,
            note_opened=True,
            stand_ins=() if options.stand_in_data else None,
        )
        try_them = _experiments if not bare else lambda *_: Experiments()
        stdin = services.answers.as_they_come()
        tried = beside.submit(try_them, program, options, weights, until, stdin)
        try:
            limited = options.training_time is not None or services.stop.limit is not None
            look = telling_of(
                program,
                folder,
                services.tell,
                None if limited else services.notice,
            )
            seen = watch(
                program,
                watch_options,
                stdout=services.stdout,
                stdin=services.answers.for_watched_run(),
                screen=services.screen,
                answers=services.answers,
                stop=services.stop,
                look=look,
            )
        except BaseException:
            until.ask()
            raise
        finally:
            services.answers.end()
        weights.with_name(weights.name + ENDED).touch()
        if seen.outcome.kind in CUT_OFF:
            until.ask()
        try:
            wait = max(LEAST_WAIT * contention(), WAIT_SHARE * seen.seconds)
            return seen, tried.result(wait)
        except TimeoutError:
            # What they found until now is kept.
            until.ask()
            return seen, tried.result()


def watched_run(
    program: Program,
    options: TrainingOptions,
    services: DiagnoseServices,
    run: Scope,
    *,
    bare: bool = False,
) -> tuple[WatchedRun, Trace | None]:
    """One watched run as a step of the journal; done again only when something that it read has
    changed.
    """
    journal = services.journal
    traces = services.traces
    stop = services.stop
    new_folders: set[Path] = set()

    def effect() -> WatchedRun:
        folder = fresh_folder(program.entry.stem, traces).resolve()
        run.note(
            "watching",
            {"folder": str(folder), "epochs": epochs_of(program)},
        )
        seen, tried = observe(program, options, services, folder, bare=bare)
        journal.seal(folder)
        new_folders.add(folder)
        if stop.by_user:
            raise Stopped("Stopped while the program was being watched.")
        own = [program.folder.resolve() / file.path for file in program.files]
        opened = read_opened(folder, own, aside=traces.parent)
        stand_ins = read_stand_ins(folder)
        traced = seen.trace is not None
        return WatchedRun(
            folder=folder,
            outcome=seen.outcome,
            experiments=tried,
            opened=opened,
            answered=services.answers.typed,
            traced=traced,
            stand_in_data=stand_ins,
        )

    def holds(kept: WatchedRun) -> bool:
        """Whether the program would be seen to do the same now: all that it read is as it was, the
        trace was not cleared away, and the user neither ended it nor typed answers for it.
        """
        if kept.folder in new_folders:
            mine = True
        else:
            ended_early = kept.outcome.kind is OutcomeKind.INTERRUPTED
            mine = not (ended_early or kept.answered) and journal.is_sealed(kept.folder, traces)
        return mine and kept.opened.is_unchanged() and (not kept.traced or is_trace(kept.folder))

    redirected = services.answers.text
    inputs: dict[str, object] = {
        "program": Trial(program).key,
        "preset": "bare" if bare else "normal",
        "training_time": options.training_time,
        "max_time": stop.limit,
        "around": surroundings(program, options.python),
        **({"stdin": hashlib.sha256(redirected).hexdigest()} if redirected else {}),
        **({"stand_in_data": True} if options.stand_in_data else {}),
        **({"experiments": options.experiments} if options.experiments != EXPERIMENTS else {}),
    }
    kept = run.step(
        "watch", effect, kind=Kind.TRIAL, inputs=inputs, returns=WatchedRun, still=holds
    )
    root = program_root(program, kept.folder)
    return kept, read_trace(kept.folder, root=root) if is_trace(kept.folder) else None


def _experiments(
    program: Program, options: TrainingOptions, weights: Path, stop: Stop, stdin: Stream
) -> Experiments:
    """One batch over and over, a range of learning rates, how the model behaves at the start
    and the end.
    """
    folder = weights.with_name("trace")
    longest = EXPERIMENT_WALL * contention()
    most = min(longest, options.training_time or longest)
    return run_experiments(
        program,
        folder,
        python=options.python,
        max_time=most,
        seconds=EXPERIMENT_SECONDS,
        share=options.experiments,
        stdin=stdin,
        stop=stop,
        weights=weights,
        stand_ins=() if options.stand_in_data else None,
    )
