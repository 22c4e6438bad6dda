"""The search: context by context, script by script, until one shows the bug.

generate -> parses -> static analysis -> relevance -> run over seeds -> the symptom? -> run on the
fixed revision -> passes? -> control runs -> shown by the project? Whatever objects first speaks to
the model, and the next script answers it.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from reenact.bug.beyond import beyond
from reenact.bug.classify import RunOutcome, SeedRun, classified, symptom_of
from reenact.bug.context.context import Context
from reenact.bug.controls.check import controlled
from reenact.bug.generate import Answered, Case, draft, is_claimable, is_open, plan_for, revised
from reenact.bug.report import Plan
from reenact.bug.reproduction import Attempt, Stage, on_fixed
from reenact.bug.validate.bindings import flowing_lines
from reenact.bug.validate.stages import absent_names, objections, refused_form
from reenact.bug.verdict import not_confirmed, not_shown
from reenact.codegen.project import Problem
from reenact.codegen.static_checks import does_not_parse
from reenact.errors import AnswerUnusable
from reenact.journal import Scope

ORDER = tuple(Stage)
PROGRESS = (RunOutcome.NOTHING, RunOutcome.PROJECT, RunOutcome.SYMPTOM)
"""Outcomes of a script that ran as it should, the best last."""
FINAL = (RunOutcome.SCRIPT, RunOutcome.ENVIRONMENT, RunOutcome.NO_RUN)
"""Outcomes that other seeds would have too."""
HOPELESS = 2
"""Scripts in a row that fail for want of a module."""


def search_reproduction(case: Case, run: Scope) -> tuple[Case, tuple[Attempt, ...]]:
    """All attempts, the last of which shows the bug if any does; the case with the check that
    it fulfils.
    """
    attempts: list[Attempt] = []
    for number, context in enumerate(case.contexts):
        place = run.under("context", attempt=number)
        case.say(f"context {number + 1} of {len(case.contexts)}: {context.name}")
        plan = plan_for(case, context, place)
        sharper = (
            replace(
                case,
                symptom=plan.sharpened(case.symptom, case.raw),
            )
            if plan is not None
            else case
        )
        for attempt in _in_context(
            sharper,
            context=context,
            plan=plan,
            number=number,
            place=place,
        ):
            attempts.append(attempt)
            sharper = replace(sharper, symptom=attempt.learned or sharper.symptom)
            if attempt.shows:
                return sharper, tuple(attempts)
        if _lacks_the_environment(attempts) or (attempts and attempts[-1].is_final):
            break
    return case, tuple(attempts)


def _in_context(
    case: Case, context: Context, plan: Plan | None, number: int, place: Scope
) -> Iterator[Attempt]:
    last: Attempt | None = None
    done: list[Attempt] = []
    for count in range(case.options.attempts):
        run = place.under("attempt", attempt=count)
        case.say(f"write script {count + 1} of at most {case.options.attempts}")
        if last is not None:
            last = _refined(
                case,
                context=context,
                last=last,
                count=count,
                run=run,
            )
            case = replace(case, symptom=last.learned or case.symptom)
        else:
            last = _first(
                case,
                context=context,
                plan=plan,
                attempt=Attempt(number, count),
                run=run,
            )
        yield last
        done.append(last)
        if last.shows or last.is_final or _lacks_the_environment(done):
            return
        if not last.script:
            last = None


def _lacks_the_environment(attempts: Sequence[Attempt]) -> bool:
    """Whether the last scripts all missed what is not installed: no other script will find it."""
    last = attempts[-HOPELESS:]
    return len(last) == HOPELESS and all(one.outcome is RunOutcome.ENVIRONMENT for one in last)


def _answered(case: Case, attempt: Attempt, answer: Answered) -> Attempt:
    """With the script and its second forms, or stopped by a form that is refused."""
    attempt = replace(
        attempt,
        script=answer.script,
        forms=answer.forms,
        not_here=answer.not_here,
    )
    if not answer.forms or does_not_parse(Stage.PARSE, answer.script) is not None:
        return attempt
    why = refused_form(answer.script, answer.forms, case.project)
    if why:
        return attempt.stopped(Problem(Stage.RELEVANCE, why))
    return attempt


def _refined(
    case: Case,
    context: Context,
    last: Attempt,
    count: int,
    run: Scope,
) -> Attempt:
    attempt = Attempt(last.context, count, last.script)
    try:
        answer = revised(case, context, last, run)
    except AnswerUnusable as error:
        return attempt.stopped(Problem(Stage.ANSWER, error.sentence))
    symptom = None
    if answer.is_it and is_claimable(case, last):
        symptom = symptom_of(last.runs[0])
    if symptom is not None:
        attempt = replace(
            attempt,
            forms=last.forms,
            learned=symptom,
            claimed=not is_open(case, last),
        )
        return tried(replace(case, symptom=symptom), attempt, run)
    if answer.cannot_here and answer.script == last.script:
        return replace(last, number=count, beyond=f"{answer.cannot_here} (the model's reason)")
    if answer.script == last.script and answer.forms == last.forms:
        objection = Problem(Stage.ANSWER, "The script was not changed.")
        again = replace(
            last,
            number=count,
            objections=(objection, *last.objections),
            fixed_runs=(),
            sample=0,
        )
        return replace(again, not_here=answer.not_here)
    attempt = tried(case, _answered(case, attempt, answer), run)
    if answer.cannot_here and attempt.runs and not attempt.shows and not attempt.beyond:
        return replace(attempt, beyond=f"{answer.cannot_here} (the model's reason)")
    return attempt


def _first(
    case: Case, context: Context, plan: Plan | None, attempt: Attempt, run: Scope
) -> Attempt:
    """A first script; of several the best by what became of them, equal outcomes vouching for
    one another.
    """
    found: list[Attempt] = []
    several = case.options.samples > 1
    for sample in range(case.options.samples if several else 1):
        one = replace(attempt, sample=sample)
        try:
            one = _answered(
                case,
                one,
                draft(
                    case,
                    context=context,
                    plan=plan,
                    run=run,
                    sample=sample if several else None,
                ),
            )
        except AnswerUnusable as error:
            one = one.stopped(Problem(Stage.ANSWER, error.sentence))
        if not several:
            return tried(case, one, run)
        found.append(
            tried(
                case,
                one,
                run.under("sample", attempt=sample),
                quick=True,
            )
        )
        if found[-1].shows:
            break

    def alike(one: Attempt) -> tuple[object, ...]:
        seen = one.runs[0] if one.runs else None
        return (
            one.stage,
            one.outcome,
            seen and seen.exception,
            seen and seen.observation.message[:60],
        )

    sizes = Counter(map(alike, found))

    def reached(one: Attempt) -> tuple[int, int, int]:
        rank = 0
        if one.outcome in PROGRESS:
            rank = PROGRESS.index(one.outcome) + 1
        return (
            len(ORDER) if one.stage is None else ORDER.index(one.stage),
            rank,
            sizes[alike(one)],
        )

    best = max(found, key=reached)
    if best.shows:
        return tried(
            case,
            best,
            run.under("sample", attempt=best.sample),
        )
    return best


def tried(case: Case, attempt: Attempt, run: Scope, *, quick: bool = False) -> Attempt:
    """The attempt after all stages: stopped at one of them, or showing the bug. `quick`: after
    one seed.
    """
    if attempt.stage is not None:
        return attempt
    found = objections(
        attempt.script,
        case.project,
        case.symptom,
        case.options.parts,
    )
    if found and found[0].where == Stage.STATIC and _import_gives(case, attempt.script, run):
        parts = replace(case.options.parts, static=False)
        found = objections(attempt.script, case.project, case.symptom, parts)
    if found or not case.options.parts.execution:
        return attempt.stopped(*found)
    runs = run_seeds(case, run, attempt.script, quick=quick)
    if runs[0].outcome is RunOutcome.ENVIRONMENT and case.runner.repair(
        runs[0].observation.missing
    ):
        case.say("run it again with the package that was missing")
        runs = run_seeds(
            case,
            run.under("rebuilt"),
            attempt.script,
            quick=quick,
        )
    attempt = replace(attempt, runs=runs)
    objection = not_shown(case, runs)
    if objection is not None:
        learned = None if quick else _learned(case, attempt, run)
        why = beyond(case.symptom, runs, case.buggy.files, has_device=case.options.gpu)
        return learned or replace(attempt, beyond=why).stopped(objection)
    if quick:
        return replace(attempt, runs=())
    if case.fixed is None:
        return controlled(case, attempt, run)
    case.say("run it (fixed)")
    script = on_fixed(attempt.script, attempt.forms)
    fixed = run_with(
        case,
        run=run,
        script=script,
        name="fixed",
        seeds=[one.seed for one in runs],
    )
    attempt = replace(attempt, fixed_runs=fixed)
    objection = not_confirmed(runs, fixed)
    if objection is not None:
        return attempt.stopped(objection)
    return controlled(case, attempt, run)


def _import_gives(case: Case, script: str, run: Scope) -> bool:
    """Whether the project has the names after all that its text lacks: some are made when it is
    imported.
    """
    if not case.options.parts.execution:
        return False
    names = absent_names(script, case.project)
    lines = [f"import {module}\n{module}.{name}" for module, name in names]
    if not lines:
        return False
    asked = "\n".join(lines) + "\n"
    seen = case.runner.observe(run, "names", asked, None, (0,), case.buggy)[0]
    return seen.ended == "returned" and not seen.noticed


def _learned(case: Case, attempt: Attempt, run: Scope) -> Attempt | None:
    """The attempt with the symptom that its runs show, where the guessed one was another: an
    exception out of project code that the fixed revision does not raise is evidence by itself.
    """
    first = attempt.other_failure
    symptom = symptom_of(first) if first is not None else None
    if case.fixed is None or symptom is None:
        return None
    known = replace(case, symptom=symptom)
    lines = flowing_lines(attempt.script, case.project)
    seen = ((one.seed, one.observation) for one in attempt.runs)
    files = case.buggy.files
    runs = tuple(
        classified(
            seed,
            seen=one,
            symptom=symptom,
            functions=(),
            files=files,
            lines=lines,
        )
        for seed, one in seen
    )
    case.say("run it (fixed): the project raised something else than was expected")
    fixed = run_with(
        known,
        run=run.under("learned"),
        script=attempt.script,
        name="fixed",
        seeds=[one.seed for one in runs],
    )
    if not_shown(known, runs) is not None or not_confirmed(runs, fixed) is not None:
        return None
    learned = replace(attempt, runs=runs, fixed_runs=fixed, learned=symptom)
    return controlled(known, learned, run.under("learned"))


def run_with(
    case: Case, run: Scope, script: str, name: str, seeds: Sequence[int]
) -> tuple[SeedRun, ...]:
    """One run a seed on the `buggy` or the `fixed` revision, and what each means."""
    revision = case.fixed if name == "fixed" and case.fixed is not None else case.buggy
    observed = case.runner.observe(
        run,
        name,
        script,
        case.symptom.closing,
        seeds,
        revision,
    )
    known = (
        case.symptom,
        case.functions,
        revision.files,
        flowing_lines(script, case.project),
        case.crashes,
    )
    return tuple(classified(seed, seen, *known) for seed, seen in observed.items())


def run_seeds(
    case: Case,
    run: Scope,
    script: str,
    *,
    quick: bool,
) -> tuple[SeedRun, ...]:
    """All seeds; after the first only those that may end differently: a crash that a second seed
    repeats to the line needs no third.
    """
    if not quick:
        case.say("run it (buggy)")
    first = run_with(
        case,
        run=run,
        script=script,
        name="buggy",
        seeds=(0,),
    )
    rest = range(1, case.options.seeds)
    if quick or first[0].outcome in FINAL or not rest:
        return first
    if first[0].observation.ended == "raised":
        first = (
            *first,
            *run_with(
                case,
                run=run,
                script=script,
                name="buggy",
                seeds=rest[:1],
            ),
        )
        rest = rest[1:]
        if first[0].crashed_like(first[1]) or not rest:
            return first
    case.say(f"run it with {len(rest)} more seeds (buggy)")
    return (
        *first,
        *run_with(
            case,
            run=run,
            script=script,
            name="buggy",
            seeds=rest,
        ),
    )
