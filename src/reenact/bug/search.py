"""The search: context by context, script by script, until one shows the bug.

generate -> parses -> static analysis -> relevance -> run over seeds -> the symptom? -> run on the fixed
revision -> passes? Whatever objects first speaks to the model, and the next script answers it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from reenact.bug.case import Case, CodeContext
from reenact.bug.generate import draft, plan_for, revised
from reenact.bug.report import Plan, planned
from reenact.bug.reproduction import Attempt, SeedRun
from reenact.bug.run.classify import Classification, RunOutcome, classify
from reenact.bug.run.observation import RunObservation
from reenact.bug.run.script_runner import Revision
from reenact.bug.validate.bindings import flowing_lines
from reenact.bug.validate.stage import Stage
from reenact.bug.validate.stages import objections
from reenact.bug.verdict import not_confirmed, not_shown
from reenact.codegen.problem import Problem
from reenact.errors import AnswerUnusable
from reenact.journal import Kind, Scope

ORDER = tuple(Stage)
HOPELESS = 2
"""Scripts in a row that fail for want of a module."""


def search_reproduction(case: Case, run: Scope) -> tuple[Case, tuple[Attempt, ...]]:
    """All attempts, the last of which shows the bug if any does; the case with the check that it fulfils."""
    attempts: list[Attempt] = []
    for number, context in enumerate(case.contexts):
        place = run.under("context", attempt=number)
        case.say(f"context {number + 1} of {len(case.contexts)}: {context.name}")
        plan = plan_for(case, context, place)
        sharper = case.with_symptom(planned(case.symptom, plan))
        for attempt in _in_context(sharper, context, plan, number, place):
            attempts.append(attempt)
            if attempt.shows:
                return sharper, tuple(attempts)
        if _lacks_the_environment(attempts):
            break
    return case, tuple(attempts)


def _in_context(
    case: Case, context: CodeContext, plan: Plan | None, number: int, place: Scope
) -> Iterator[Attempt]:
    last: Attempt | None = None
    done: list[Attempt] = []
    for count in range(case.options.attempts):
        run = place.under("attempt", attempt=count)
        case.say(f"write script {count + 1} of at most {case.options.attempts}")
        if last is None and case.options.samples > 1:
            last = _sampled(case, context, plan, number, count, run)
        else:
            last = _written(case, context, plan, number, count, run, last)
        yield last
        done.append(last)
        if last.shows or _lacks_the_environment(done):
            return
        if not last.script:
            last = None


def _lacks_the_environment(attempts: Sequence[Attempt]) -> bool:
    """Whether the last scripts all missed what is not installed: no other script will find it."""
    last = attempts[-HOPELESS:]
    return len(last) == HOPELESS and all(one.outcome is RunOutcome.ENVIRONMENT for one in last)


def _written(
    case: Case,
    context: CodeContext,
    plan: Plan | None,
    number: int,
    count: int,
    run: Scope,
    last: Attempt | None,
) -> Attempt:
    try:
        script = draft(case, context, plan, run) if last is None else revised(case, context, last, run)
    except AnswerUnusable as error:
        objection = Problem(Stage.ANSWER, error.sentence)
        return Attempt(number, count, last.script if last else "", Stage.ANSWER, (objection,))
    if last is not None and script == last.script:
        objection = Problem(Stage.ANSWER, "The script was not changed.")
        return Attempt(number, count, script, last.stage, (objection, *last.objections), last.runs)
    return tried(case, Attempt(number, count, script, None), run)


def _sampled(
    case: Case, context: CodeContext, plan: Plan | None, number: int, count: int, run: Scope
) -> Attempt:
    """Several first scripts; the best by what became of them, equal outcomes vouching for one another."""
    found: list[Attempt] = []
    for sample in range(case.options.samples):
        try:
            script = draft(case, context, plan, run, sample)
        except AnswerUnusable as error:
            objection = Problem(Stage.ANSWER, error.sentence)
            found.append(Attempt(number, count, "", Stage.ANSWER, (objection,), sample=sample))
            continue
        attempt = Attempt(number, count, script, None, sample=sample)
        found.append(looked_at(case, attempt, run.under("sample", attempt=sample)))
        if found[-1].shows:
            break
    sizes = Counter(_signature(one) for one in found)
    best = max(found, key=lambda one: (_reached(one), sizes[_signature(one)]))
    return tried(case, best, run.under("sample", attempt=best.sample)) if best.shows else best


def _signature(one: Attempt) -> tuple[object, ...]:
    """Attempts with the same signature failed alike."""
    told = next((run.sighting for run in one.runs), None)
    return (one.stage, one.outcome, told.classes[:1] if told else (), told.message[:60] if told else "")


def _reached(one: Attempt) -> tuple[int, int]:
    ranks = (RunOutcome.SYMPTOM, RunOutcome.PROJECT, RunOutcome.NOTHING)
    rank = len(ranks) - ranks.index(one.outcome) if one.outcome in ranks else 0
    return (len(ORDER) if one.stage is None else ORDER.index(one.stage)), rank


def looked_at(case: Case, attempt: Attempt, run: Scope) -> Attempt:
    """The attempt after all stages and one seed."""
    found = objections(attempt.script, case.project, case.symptom, case.options.parts)
    if found:
        return _stopped(attempt, found)
    if not case.options.parts.execution:
        return attempt
    first = run_with(case, run, attempt.script, case.buggy, "buggy", (0,))
    objection = not_shown(case, first)
    return _stopped(attempt, (objection,), runs=first) if objection is not None else attempt


def tried(case: Case, attempt: Attempt, run: Scope) -> Attempt:
    """The attempt after all stages: stopped at one of them, or showing the bug."""
    found = objections(attempt.script, case.project, case.symptom, case.options.parts)
    if found:
        return _stopped(attempt, found)
    if not case.options.parts.execution:
        return attempt
    runs = run_seeds(case, run, attempt.script, case.buggy, "buggy")
    objection = not_shown(case, runs)
    if objection is not None:
        return _stopped(attempt, (objection,), runs=runs)
    if case.fixed is None:
        return _stopped(attempt, (), runs=runs)
    fixed = run_seeds(case, run, attempt.script, case.fixed, "fixed")
    objection = not_confirmed(fixed)
    return _stopped(attempt, (objection,) if objection is not None else (), runs=runs, fixed=fixed)


def _stopped(
    attempt: Attempt,
    found: tuple[Problem, ...],
    runs: tuple[SeedRun, ...] = (),
    fixed: tuple[SeedRun, ...] = (),
) -> Attempt:
    """The attempt with what was found; objections to nothing mean that it shows the bug."""
    stage = Stage(found[0].where) if found else None
    return replace(attempt, stage=stage, objections=found, runs=runs, fixed_runs=fixed)


def run_with(
    case: Case, run: Scope, script: str, revision: Revision, name: str, seeds: Sequence[int]
) -> tuple[SeedRun, ...]:
    """One run a seed, from the journal or from a box."""
    check = case.symptom.check if case.symptom.is_silent else None
    wanted = {f"{name}[{seed}]": seed for seed in seeds}

    def effect(missing: tuple[str, ...]) -> Iterator[Mapping[str, RunObservation]]:
        seen = case.runner.run(script, check, [wanted[one] for one in missing], revision)
        yield {one: seen[wanted[one]] for one in missing}

    inputs = {one: case.runner.inputs(script, check, seed, revision) for one, seed in wanted.items()}
    found = run.many(inputs, effect, kind=Kind.BOX, returns=RunObservation)
    lines = flowing_lines(script, case.project)

    def judged(seen: RunObservation) -> Classification:
        return classify(seen, case.symptom, case.functions, revision.files, lines)

    return tuple(SeedRun(seed, found[one], judged(found[one])) for one, seed in wanted.items())


def run_seeds(case: Case, run: Scope, script: str, revision: Revision, name: str) -> tuple[SeedRun, ...]:
    """All seeds; after the first only those that may end differently."""
    case.say(f"run it ({name})")
    first = run_with(case, run, script, revision, name, (0,))
    rest = range(1, case.options.seeds)
    if first[0].seen.outcome.is_final or not rest:
        return first
    case.say(f"run it with {len(rest)} more seeds ({name})")
    return (*first, *run_with(case, run, script, revision, name, rest))
