"""Diagnose: read the program, watch it, ask the detectors, change the suspects, say what is at
fault.

program -> static findings -> watched run and small experiments -> our detectors and others
-> suspects -> intervention -> findings, surest first
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING

from reenact.diagnosis.diagnosis import Diagnosis, suspected_source
from reenact.diagnosis.judge import conclude, findings_of, listed, read_only
from reenact.diagnosis.options import PLANS, DiagnoseOptions, budget_for
from reenact.diagnosis.services import DiagnoseServices
from reenact.errors import InputError, TimeSpent
from reenact.faults.evidence import Evidence
from reenact.faults.finding import Finding
from reenact.journal import Scope
from reenact.probe.outcome import CUT_OFF, OutcomeKind
from reenact.program.program import Program
from reenact.trials.budget import TrainingUsage
from reenact.trials.metric import Measure, choose_measure
from reenact.trials.trial import Trial
from reenact.types import Progress

if TYPE_CHECKING:
    from reenact.claims.verdict import ClaimVerdict
    from reenact.diagnosis.llm_detector import ModelAnswers
    from reenact.probe.crash import Crash
    from reenact.trials.executor import Executor


def ending_of(evidence: Evidence) -> Crash | None:
    """The exception that ends the program after its training; none where there is no such."""
    from reenact.trials.ending import behind_training

    program = evidence.program
    outcome = evidence.outcome
    trace = evidence.trace
    if program is None or outcome is None or trace is None:
        return None
    return behind_training(program, outcome.crash, trace.step_count)


def diagnose(
    program: Program,
    options: DiagnoseOptions,
    services: DiagnoseServices,
    seen: Evidence | None = None,
) -> Diagnosis:
    """All of it, as a run of its own; the same call after an interruption continues it, after a
    finished one it is made again.

    `seen` is evidence that somebody gathered already: the program is not watched again.
    """
    asked = services.model.name if services.model is not None else None
    request = {
        **Trial(program).identity,
        "model": asked,
        **options.to_json(),
    }
    with services.open_run("diagnose", program, request) as run:
        found = diagnose_within(program, options, services, run, seen)
        found = replace(
            found,
            reused=services.reused_line(run, found.spent.trainings),
        )
        run.finish(
            found.in_short(),
            found.exit_code,
            reused=found.reused,
        )
    return found


def diagnose_within(
    program: Program,
    options: DiagnoseOptions,
    services: DiagnoseServices,
    run: Scope,
    seen: Evidence | None,
) -> Diagnosis:
    """The same as steps of a run that somebody else has opened: a repair is one run with its
    diagnosis.
    """
    begun = time.monotonic()
    trains = options.depth.intervenes
    with ExitStack() as stack:
        # Opened first: a cluster that cannot be reached is known before the program is trained.
        how = (options.workers, options.python, options.executor, options.data)
        executor = stack.enter_context(services.open_executor(*how)) if trains else None
        evidence, notes = (
            (seen, ()) if seen is not None else _observe(program, options, services, run)
        )
        asked, remarks = _other_detectors(evidence, options, services, run)
        suspected = findings_of(evidence, options, asked.findings)
        hypotheses, shown, untested = _tested(asked, evidence, options, services, run)
        if seen is None:
            suspected = _with_fixes(suspected, evidence, options, services, run, executor)
        findings, spent, measure, more = _intervene(
            suspected, evidence, options, services, run, executor
        )
    spent = replace(spent, seconds=time.monotonic() - begun)
    notes = (*notes, *remarks, *untested, *more)
    found = conclude(
        evidence,
        options,
        [*findings, *shown],
        spent,
        measure=measure,
        notes=notes,
    )
    found = replace(found, hypotheses=tuple(hypotheses))
    run.note("result", found.to_store())
    run.note("source", suspected_source(found))
    return found


def _observe(
    program: Program, options: DiagnoseOptions, services: DiagnoseServices, run: Scope
) -> tuple[Evidence, tuple[str, ...]]:
    """Read the program; when the depth allows it, watch one run and experiment next to it. Notes say
    what could not be seen.
    """
    evidence = read_only(program)
    unread = tuple(f"{file.path} could not be read: {file.unparsed}." for file in program.unparsed)
    if not options.depth.runs:
        return evidence, unread
    doing = "train once under the probe; overfit one batch and LR range test next to it"
    services.tell(Progress("diagnose", 1, 5, doing))
    from reenact.diagnosis.observe import watched_run

    kept, trace = watched_run(program, options, services, run)
    unseen: tuple[str, ...] = (kept.outcome.sentence,)
    if trace is not None and kept.outcome.crash is None:
        unseen = (*kept.experiments.missing, *trace.missing)
    seen = replace(
        evidence,
        trace=trace,
        outcome=kept.outcome,
        experiments=kept.experiments,
    )
    seen = replace(seen, opened=kept.opened, stand_in_data=kept.stand_in_data)
    return seen, (*unread, *unseen)


def _other_detectors(
    evidence: Evidence, options: DiagnoseOptions, services: DiagnoseServices, run: Scope
) -> tuple[ModelAnswers, tuple[str, ...]]:
    """What the learned detector and a language model find, when asked, and notes on their
    answers.
    """
    from reenact.diagnosis.llm_detector import ModelAnswers, answers_of
    from reenact.diagnosis.proposals.context import facts_of

    learned: tuple[Finding, ...] = ()
    if options.learned:
        from reenact.diagnosis.learned.findings import learned_findings

        learned = learned_findings(evidence)
    if services.model is None or evidence.program is None:
        return ModelAnswers(learned, (), ()), ()
    services.tell(
        Progress(
            "diagnose",
            2,
            5,
            f"ask {services.model.name} for its opinion",
        )
    )
    scope = run.under("model")
    try:
        found = answers_of(
            evidence.program,
            services.model,
            options.samples,
            scope,
            facts_of(evidence, _shown(findings_of(evidence, options), options)),
            options.suspect,
        )
    except TimeSpent as error:
        late = f"The model was not asked to the end. {error.sentence}"
        return ModelAnswers(learned, (), ()), (late,)
    return replace(found, findings=(*learned, *found.findings)), found.notes


def _shown(findings: Sequence[Finding], options: DiagnoseOptions) -> list[Finding]:
    """Those that a user would see."""
    return [one for one in findings if one.confidence >= options.threshold]


def _tested(
    asked: ModelAnswers,
    evidence: Evidence,
    options: DiagnoseOptions,
    services: DiagnoseServices,
    run: Scope,
) -> tuple[list[ClaimVerdict], list[Finding], list[str]]:
    """What execution makes of the claims of a model, those that are findings, and notes on what
    could not be tested.
    """
    if services.model is None or evidence.program is None or not options.depth.runs:
        return [], [], []
    from reenact.diagnosis.proposals.tested import findings_of_claims, tested_claims

    services.tell(Progress("diagnose", 2, 5, "test what the model claims"))
    verdicts, notes = tested_claims(
        asked.claims,
        evidence,
        options,
        services,
        run.under("claims"),
        effect=options.depth.intervenes,
    )
    return verdicts, findings_of_claims(verdicts), notes


def _with_fixes(
    findings: Sequence[Finding],
    evidence: Evidence,
    options: DiagnoseOptions,
    services: DiagnoseServices,
    run: Scope,
    executor: Executor | None,
) -> tuple[Finding, ...]:
    """The findings; those that are listed have a fix that was executed, or the reason why it was not."""
    from reenact.diagnosis.fixes.steps import fixes_of

    wanted = listed(findings, options)
    fixed = fixes_of(wanted, evidence, options, services, run, executor)
    return tuple(fixed.get(one.key, one) for one in findings)


def _intervene(
    findings: Sequence[Finding],
    evidence: Evidence,
    options: DiagnoseOptions,
    services: DiagnoseServices,
    run: Scope,
    executor: Executor | None,
) -> tuple[Sequence[Finding], TrainingUsage, Measure | None, tuple[str, ...]]:
    """Change what may be a cause, when that was asked for and the program can be judged: the
    findings with what that has shown, what it took, which metric judged, and notes.
    """
    nothing = (findings, TrainingUsage(0.0), None)
    suspects = [one for one in findings if one.is_root_cause]
    if executor is None or not suspects or evidence.trace is None or evidence.outcome is None:
        return (*nothing, ())
    if evidence.outcome.kind in CUT_OFF:
        late = (
            "Nothing was tried: the training did not come to its end within the time that it had."
        )
        if evidence.outcome.kind is OutcomeKind.INTERRUPTED:
            late = "Nothing was tried: the training was stopped before its end."
        return (*nothing, (late,))
    try:
        measure = choose_measure(
            evidence.trace,
            evidence.task,
            options.metric or None,
        )
    except InputError as error:
        if options.metric:
            raise
        return (*nothing, (f"Nothing was tried. {error}",))
    from reenact.diagnosis.candidates import Screening
    from reenact.diagnosis.intervene import intervene

    trainer = services.trainer(
        evidence,
        executor,
        run,
        options.python,
        measure=measure,
        budget=budget_for(options.depth, options.budget),
        ending=ending_of(evidence),
        training_time=options.training_time,
        prunes=options.prune,
    )
    try:
        trainer.measure_cost()
        short = trainer.budget.stretches(trainer.one_training)
        plan = PLANS[options.depth].for_short_trainings() if short else PLANS[options.depth]
        screening = Screening(trainer, plan, services.tell)
        tried, remarks = intervene(suspects, screening, threshold=options.threshold)
    except TimeSpent as error:
        tried = suspects
        remarks = [f"The suspects were not tried. {error.sentence}"]
    noted = [note for note in (trainer.budget.note, trainer.pruning_note) if note]
    symptoms = [one for one in findings if not one.is_root_cause]
    return (
        [*tried, *symptoms],
        trainer.usage,
        trainer.measure,
        (*noted, *remarks, *executor.notes),
    )
