"""`diagnose`, `repair`: training programs of yours, run and changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from reenact.api import session as call
from reenact.api.options import (
    ASKING,
    RUN,
    TRAINING,
    ModelOptions,
    RunOptions,
    TrainingOptions,
)
from reenact.api.session import Cancel, File, Output, ShowProgress, Words
from reenact.diagnosis.options import EXPERIMENTS
from reenact.errors import InputError, require

if TYPE_CHECKING:
    from reenact.diagnosis.diagnosis import Diagnosis
    from reenact.journal import Journal
    from reenact.probe.trace import Trace
    from reenact.program.patch import Patch
    from reenact.program.program import Program
    from reenact.repairs.verdict import Repair


APPLIED = ("repair", "diagnose")
"""Commands whose result has a change to be written."""
MOST_SUSPECT = 1500
"""Characters of what a user suspects."""


def diagnose(
    program: File | Sequence[str],
    *arguments: str,
    depth: str = "quick",
    select: Words = (),
    ignore: Words = (),
    budget: str | None = None,
    metric: str | None = None,
    threshold: float | str = "likely",
    learned: bool = False,
    suspect: str | None = None,
    experiments: float = EXPERIMENTS,
    max_time: float | None = None,
    model: str | None = None,
    samples: int = 2,
    training: TrainingOptions = TRAINING,
    asking: ModelOptions = ASKING,
    run: RunOptions = RUN,
    output: Output = None,
    progress: ShowProgress = False,
    cancel: Cancel = None,
) -> Diagnosis:
    """Say what is wrong with a training program, at which layer and line, and what would fix it.

    The program's source is never changed; it runs as you run it (your interpreter, folder, files and
    network), and changed copies of it run in scratch folders.

    Example:
        report = reenact.diagnose("train.py", "--epochs", "3", depth="normal", metric="val_accuracy")
        report.sentence, report.exit_code, report.findings

    Args:
        program: a script, a notebook, or a list such as ["-m", "package.train"]; its folder is the
            current one.
        arguments: what the program itself gets on its command line.
        depth: "static" reads the text; "quick" watches one run; "normal" and "deep" also change the
            suspects and train, to see which change helps.
        select, ignore: faults or detectors to look for or to leave out: codes, prefixes, names, categories,
            families.
        budget: for normal and deep: "20x" (times one training), "40t" (trainings) or time ("90s", "5m").
        metric: the metric that judges a change, for example "val_accuracy"; default: chosen from what is
            logged.
        threshold: how sure a finding must be at least: proven, likely, possible, or a number.
        learned: ask the learned detector too.
        suspect: what you believe is wrong, in words; the model looks at it. For a check of your own without a
            model: `reenact.test_hypothesis`.
        experiments: share of the training's own time that each small experiment (one batch over and over, a
            range of learning rates) may take next to it: at least 0.8 s of CPU time, at most 20 s.
        max_time: seconds that the whole call may take; what was seen until then is judged.
        model: a language model to ask too ("anthropic:NAME", "ollama:NAME", ...), `samples` times; what it
            thinks is in `opinions`, and no finding until a training confirms it.
        training, asking, run: how programs are trained, within which limits the model is asked, how the run
            is kept: `reenact.TrainingOptions`, `reenact.ModelOptions`, `reenact.RunOptions`.
        output: where the program's own output goes: a file or a file descriptor; default: nowhere.
        progress: True shows it on stderr; a function gets each `Progress`.
        cancel: a `threading.Event` that ends the call when it is set.

    Returns:
        The diagnosis: findings (surest first), symptoms, what was tried, the judgement and its sentence.
    """
    from reenact.diagnosis.options import Depth, DiagnoseOptions
    from reenact.diagnosis.pipeline import diagnose as run_diagnosis
    from reenact.diagnosis.services import DiagnoseServices

    if depth != "static":
        require("train")
    selected, ignored = call.rules_of(select, ignore)
    least = call.least_confidence(threshold)
    call.within("experiments", experiments, 0, 1)
    call.within("samples", samples, 1, 20)
    if suspect and not model:
        fix = "Name one with --model, or test it yourself: reenact test-hypothesis."
        raise InputError(
            "What you suspect is looked at by a model, and none is named.", next_step=fix
        )
    read = call.program_of(program, arguments)
    given = {
        "max_time": max_time,
        "model": model,
        "training": training,
        "asking": asking,
        "run": run,
        "progress": progress,
        "cancel": cancel,
    }
    with call.open_session(given) as session:
        options = DiagnoseOptions(
            depth=Depth(call.one_of("depth", depth, list(Depth))),
            select=selected,
            ignore=ignored,
            budget=budget or "",
            threshold=least,
            metric=metric or "",
            workers=training.workers,
            python=session.settings.python,
            learned=learned,
            suspect=" ".join((suspect or "").split())[:MOST_SUSPECT],
            samples=samples,
            training_time=training.training_time,
            stand_in_data=training.stand_in_data,
            experiments=experiments,
            prune=training.prune,
            executor=training.executor,
            data=tuple(map(str, training.data)),
        )
        services = session.services(
            DiagnoseServices,
            output=output,
            fresh=run.fresh,
            model=model,
        )
        return run_diagnosis(read, options, services)


def apply_fix(
    found: Diagnosis, *, allow_dirty: bool = False, runs_dir: File | None = None
) -> Diagnosis:
    """Write the first fix of a diagnosis that ran into your files, with a backup; nothing is trained.

    Of several fixes each was tried by itself, so one is written: diagnose again for the next.

    Example:
        found = reenact.apply_fix(reenact.diagnose("train.py")); print(found.applied)

    Args:
        found: a diagnosis of this process.
        allow_dirty: write also over changes that were not committed.
        runs_dir: folder of the journal; default: that of the settings (.reenact).

    Returns:
        The diagnosis, with what was written and where in `applied`.
    """
    program = found.evidence.program
    if program is None:
        raise InputError("A diagnosis without a program has nothing that could be changed.")
    with call.open_session({"runs_dir": runs_dir}) as session:
        return _fix_written(found, program, None, session.journal, allow_dirty=allow_dirty)


def _fix_written(
    found: Diagnosis,
    program: Program,
    branch: str | None,
    journal: Journal,
    *,
    allow_dirty: bool,
) -> Diagnosis:
    """The first fix that ran is written; of several each was tried by itself."""
    fixes = (one.fix for one in found.findings)
    ran = [one for one in fixes if one is not None and one.tried.ran and not one.patch.is_code]
    if not ran:
        return replace(found, applied="Nothing was written: no fix ran.")
    first = ran[0]
    if branch:
        message = f"Fix the training\n\n{found.sentence}\n"
        written = _committed(program, first.patch, branch, message, allow_dirty=allow_dirty)
    else:
        written = _written(program, first.patch, journal, allow_dirty=allow_dirty)
    more = " Diagnose again for the next fix." if len(ran) > 1 else ""
    return replace(found, applied=f"{written}{more}", written=first.diff)


def refuse_dirty_program(words: Sequence[str]) -> None:
    """Raise InputError where a file of this program has changes that were not committed."""
    from reenact.repairs.apply import refuse_dirty

    program = call.program_of(list(words), ())
    refuse_dirty(program, [str(file.path) for file in program.files])


def diagnose_trace(
    trace: File | Trace,
    *,
    program: Program | File | Sequence[str] | None = None,
    select: Words = (),
    ignore: Words = (),
    threshold: float | str = "likely",
) -> Diagnosis:
    """What the detectors find in a training that was watched before, or is being watched: nothing is run,
    nothing is recorded.

    Example:
        reenact.diagnose_trace("traces/today", program="train.py")

    Args:
        trace: folder of `reenact watch --out FOLDER`, also while it grows, or what `reenact.watch` gives.
        program: the program that was watched; with it findings have their lines and fixes.
        select: only these rules, by code, prefix, name or family.
        ignore: not these rules.
        threshold: how sure a finding must be at least: proven, likely, possible, or a number.
    """
    from reenact.diagnosis.judge import diagnose_evidence, read_only
    from reenact.diagnosis.judgement import counted
    from reenact.diagnosis.options import DiagnoseOptions
    from reenact.faults.evidence import Evidence
    from reenact.probe.trace import Trace
    from reenact.program.program import Program

    require("train")
    selected, ignored = call.rules_of(select, ignore)
    least = call.least_confidence(threshold)
    options = DiagnoseOptions(select=selected, ignore=ignored, threshold=least)
    read = (
        program if program is None or isinstance(program, Program) else call.program_of(program, ())
    )
    notes: tuple[str, ...] = ()
    if not isinstance(trace, Trace):
        folder = Path(trace)
        trace = _trace_in(folder, read)
        notes = (
            f"Judged from the {counted(trace.step_count, 'step')} in {folder}; nothing was run.",
        )
    evidence = read_only(read) if read is not None else Evidence()
    evidence = replace(evidence, trace=trace, stand_in_data=trace.stand_in_data)
    found = diagnose_evidence(evidence, options)
    return replace(
        found,
        notes=(*notes, *found.notes, *trace.missing),
    )


def _trace_in(folder: Path, program: Program | None) -> Trace:
    from reenact.probe.read import is_trace, read_trace
    from reenact.probe.watch import program_root

    if not is_trace(folder):
        raise InputError(
            f"There is no trace in this folder. Received: {folder}. A process that was started "
            "without reenact cannot be looked into.",
            next_step=(
                f"Start it with `reenact watch --out {folder} PROGRAM`, then give the same folder."
            ),
        )
    return read_trace(
        folder,
        root=program_root(program, folder) if program is not None else None,
    )


def repair(
    program: File | Sequence[str],
    *arguments: str,
    strategy: str = "guided",
    budget: str | None = None,
    metric: str | None = None,
    seeds: int = 10,
    select: Words = (),
    ignore: Words = (),
    space: str = "own",
    search_seed: int = 0,
    samples: int = 5,
    temperature: float | None = None,
    max_time: float | None = None,
    apply: bool = False,
    branch: str | None = None,
    allow_dirty: bool = False,
    model: str | None = None,
    training: TrainingOptions = TRAINING,
    asking: ModelOptions = ASKING,
    run: RunOptions = RUN,
    output: Output = None,
    progress: ShowProgress = False,
    cancel: Cancel = None,
) -> Repair:
    """Find the smallest change that makes a training program significantly better, verified on fresh seeds.

    Changed copies are trained in scratch folders; your files are changed only with `apply`, and only when
    the change held on seeds that chose nothing.

    Example:
        fix = reenact.repair("train.py", metric="val_accuracy", budget="20x")
        print(fix.sentence); print(fix.diff)

    Args:
        program, arguments: as for `diagnose`.
        strategy: how to search: "guided", "random", "bohb", "hebo", "autotrainer", "autotrainer-scratch",
            "llm".
        budget: for search and minimising: a multiple of one training ("20x"), a time ("5m"), trainings
            ("40t"); default: "20x", and more where a training takes less than 1.5 s.
        metric: the metric that judges, for example "val_accuracy"; default: chosen from what is logged.
        seeds: fresh seeds for the final verification, at least 6.
        select, ignore: only what these faults or detectors name, or not these.
        space: values for random, bohb and hebo: "own", or those of the "study".
        search_seed: random seed of the search.
        samples: how often the model is asked for faults, whose fixes are tried like others, and by the
            strategy "llm" for changes.
        temperature: of the answers of the strategy "llm".
        apply: write a verified change into your files, with a backup; with `branch`, commit it on a new
            git branch instead. Refused, before anything is trained, where a file that may be written has
            changes that were not committed; `allow_dirty` writes all the same.
        max_time, model, training, asking, run, output, progress, cancel: as for `diagnose`.

    Returns:
        The repair: decision and sentence, the diff, metrics before and after over seeds, p-values, costs.
    """
    from reenact.program.static_graph import hyperparameters_of
    from reenact.repairs.apply import refuse_dirty
    from reenact.repairs.options import RepairOptions
    from reenact.repairs.pipeline import repair as run_repair
    from reenact.repairs.prepare import RepairServices

    require("train")
    if branch and not apply:
        raise InputError("`branch` says where `apply` writes. Received: branch without apply.")
    selected, ignored = call.rules_of(select, ignore)
    call.within("seeds", seeds, 6, 1000)
    call.within("samples", samples, 1, 20)
    read = call.program_of(program, arguments)
    if apply and not allow_dirty:
        params = (param for param in hyperparameters_of(read) if param.changeable)
        refuse_dirty(
            read,
            {str(param.place.file) for param in params if param.place is not None},
        )
    given = {
        "max_time": max_time,
        "model": model,
        "training": training,
        "asking": asking,
        "run": run,
        "progress": progress,
        "cancel": cancel,
    }
    with call.open_session(given) as session:
        options = RepairOptions(
            strategy=strategy,
            budget=budget or "",
            metric=metric or "",
            seeds=seeds,
            select=selected,
            ignore=ignored,
            space=space,
            python=session.settings.python,
            workers=training.workers,
            chance=search_seed,
            samples=samples,
            temperature=temperature,
            training_time=training.training_time,
            executor=training.executor,
            prune=training.prune,
            stand_in_data=training.stand_in_data,
            data=tuple(map(str, training.data)),
        )
        services = session.services(
            RepairServices,
            output=output,
            fresh=run.fresh,
            model=model,
        )
        services = replace(services, study_url=session.settings.study_url)
        result = run_repair(read, options, services)
        if not apply:
            return result
        return replace(
            result,
            applied=_apply(
                result,
                program=read,
                branch=branch,
                journal=session.journal,
                allow_dirty=allow_dirty,
            ),
        )


def apply_repair(
    run: str = "last",
    *,
    branch: str | None = None,
    allow_dirty: bool = False,
    runs_dir: File | None = None,
) -> str:
    """Write the change of a recorded repair, or the first fix of a recorded diagnosis that ran, into
    your files, with a backup; nothing is trained.

    Refused where the change did not hold, where the program has changed since, and for a run that you did not
    record on this machine.

    Example:
        reenact.repair("train.py"); print(reenact.apply_repair())

    Args:
        run: which repair; "last": the newest run.
        branch, allow_dirty: as for `repair`.
        runs_dir: folder of the journal; default: that of the settings (.reenact).

    Returns:
        What was written and where, in a sentence.
    """
    from reenact.api.reference import program_of_run, stale
    from reenact.diagnosis.diagnosis import Diagnosis
    from reenact.journal import JournalReader
    from reenact.repairs.verdict import Repair
    from reenact.report.recorded import Stored

    with call.open_session({"runs_dir": runs_dir}) as session:
        with JournalReader.open(session.settings.runs_dir) as shelf:
            record = shelf.find(run)
            shelf.require_ours(record)
            if record.pipeline not in APPLIED or shelf.status_of(record) != "finished":
                got = f"{record.id}, {record.pipeline}, {shelf.status_of(record)}"
                says = f"Only a finished repair or diagnosis can be applied. Received: {got}."
                raise InputError(says, next_step="reenact runs list --command repair")
            stored = Stored(shelf, record, session.settings.runs_dir)
            kind: type[Repair | Diagnosis] = Repair
            if record.pipeline == "diagnose":
                kind = Diagnosis
            result = stored.result(kind)
        program = program_of_run(record)
        if program is None or stale(record):
            says = (
                f"{record.what} has changed since run {record.id}, so its change is not verified "
                f"any more."
            )
            raise InputError(says, next_step=f"Run the {record.pipeline} again.")
        if isinstance(result, Diagnosis):
            fixed = _fix_written(result, program, branch, session.journal, allow_dirty=allow_dirty)
            return fixed.applied
        return _apply(
            result,
            program=program,
            branch=branch,
            journal=session.journal,
            allow_dirty=allow_dirty,
        )


def _apply(
    result: Repair,
    program: Program,
    branch: str | None,
    journal: Journal,
    allow_dirty: bool,
) -> str:
    """Where the change was written, in a sentence; nothing is written that did not hold."""
    if not result.decision.helps:
        return "Nothing was written: no change held on fresh seeds."
    if branch:
        message = f"Repair the training\n\n{result.sentence}\n"
        return _committed(program, result.patch, branch, message, allow_dirty=allow_dirty)
    return _written(program, result.patch, journal, allow_dirty=allow_dirty)


def _committed(
    program: Program, patch: Patch, branch: str, message: str, *, allow_dirty: bool
) -> str:
    """Put a change on a new branch; which commit that is, in a sentence."""
    from reenact.repairs.apply import commit_on_branch

    commit = commit_on_branch(program, patch, branch, message, allow_dirty=allow_dirty)
    return f"Committed as {commit[:12]} on the new branch {branch}; your files are as they were."


def _written(program: Program, patch: Patch, journal: Journal, *, allow_dirty: bool) -> str:
    """Put a change into the files, with a backup; where that is, in a sentence."""
    from reenact.repairs.apply import write

    request = {
        "program": str(program.entry),
        "patch": patch.to_json(),
    }
    with journal.run(
        pipeline="apply",
        request=request,
        what=str(program.entry),
        fresh=True,
    ) as run:
        backups = write(program, patch, run, allow_dirty=allow_dirty)
        run.finish({"backups": [str(path) for path in backups]})
    return f"Written; what stood there before: {', '.join(map(str, backups))}."
