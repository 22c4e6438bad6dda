"""Bug: a report and a repository become a script that shows the bug, proven by running it.

report -> restructured -> symptom -> environment -> contexts -> search (plan, generate, validate,
run, refine) -> verdict -> minimise -> repro.py, its facts and test, requirements.txt, REPORT.md
"""

from contextlib import ExitStack
from dataclasses import replace
from datetime import date
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory

from reenact.asking import carry_budget
from reenact.bug.context.build import build_contexts
from reenact.bug.context.index import build_index
from reenact.bug.context.rank import installed_embedder
from reenact.bug.finish import MOST_WORDS, ends_of, not_importable, revision_of, written
from reenact.bug.generate import Case
from reenact.bug.minimise import minimised
from reenact.bug.options import BugOptions
from reenact.bug.own_files import NAMES, refuse_foreign
from reenact.bug.project_files import readme_examples
from reenact.bug.ready import Preparation
from reenact.bug.report import BugReport, restructured, symptom_in
from reenact.bug.repro.as_test import test_name
from reenact.bug.reproduction import Minimised, Reproduction, Verdict
from reenact.bug.script_runner import OUTPUT_MIB, Revision, ScriptRunner
from reenact.bug.search import search_reproduction
from reenact.bug.services import BugServices
from reenact.bug.verdict import raises_now, verdict_of
from reenact.codegen.runner import ProjectRunner
from reenact.intake.report import RawReport
from reenact.intake.repository import Checkout
from reenact.journal import Kind, OpenRun, mark
from reenact.types import Progress


def reproduce(
    raw: RawReport,
    checkout: Checkout,
    services: BugServices,
    *,
    fixed: Checkout | None = None,
    options: BugOptions | None = None,
    out: Path | None = None,
) -> Reproduction:
    """The whole pipeline; the same call after an interruption continues. `out` is where the
    files go.
    """
    options = options or BugOptions()
    if options.bisect:
        ends_of(options.bisect)
    if out is not None:
        # Before anything is paid for.
        refuse_foreign(out, (*NAMES, test_name(raw.source)))
    buggy = revision_of(checkout)
    repaired = revision_of(fixed) if fixed is not None else None
    request: dict[str, object] = {
        "report": mark(raw.text()),
        "project": buggy.identity,
        "fixed": repaired.identity if repaired is not None else None,
        "model": services.model.name,
        "options": options,
        "out": str(out.absolute()) if out is not None else None,
    }
    source = checkout.source
    what = (
        f"{raw.title[:80]} ({PurePath(source).name if PurePath(source).is_absolute() else source})"
    )
    with (
        ExitStack() as stack,
        services.journal.run(
            pipeline="bug",
            request=request,
            argv=services.argv,
            what=what,
            fresh=services.fresh,
        ) as run,
    ):
        carry_budget(services.model, run, services.journal)
        day = raw.created.date() if raw.created is not None else buggy.day
        preparation = _preparation(
            raw, day, services, options, Path(stack.enter_context(TemporaryDirectory()))
        )
        runner, buggy, why = preparation.first(buggy, run)
        if why:
            return not_importable(raw, checkout, fixed, services, run, why, runner, out)
        if repaired is not None:
            repaired = preparation.as_built(repaired, runner.environment)
        case, report = _case(
            raw,
            buggy=buggy,
            fixed=repaired,
            services=services,
            options=options,
            run=run,
            preparation=preparation,
            first=runner,
        )
        case, attempts = search_reproduction(case, run)
        verdict, reason = verdict_of(case, attempts)
        shorter: Minimised | None = None
        if attempts and attempts[-1].shows and attempts[-1].runs and options.minimise:
            shortest, shorter = minimised(
                case,
                attempts[-1],
                run.under("minimise"),
            )
            attempts = (*attempts[:-1], shortest)
        if verdict is Verdict.INCOMPLETE:
            # Its script shows the bug; the verdict states what the fix leaves of it.
            attempts = tuple(
                replace(one, stage=None, objections=()) if raises_now(one) else one
                for one in attempts
            )
        environment = case.runner.environment
        forms = [form.words() for one in attempts if one.shows for form in one.forms]
        found = Reproduction(
            title=report.title if report is not None else raw.title,
            source=raw.source,
            words=raw.text()[:MOST_WORDS],
            repository=checkout.source,
            commit=checkout.commit,
            fixed=fixed.commit if fixed is not None else "",
            verdict=verdict,
            reason=reason,
            symptom=case.symptom,
            report=report,
            attempts=attempts,
            contexts=tuple(f"{one.name}: {one.why}" for one in case.contexts),
            packages=environment.packages,
            minimised=shorter,
            findings=_diagnosed(case, services, run),
            notes=tuple(
                note
                for note in (
                    raw.cut,
                    raw.pictures,
                    *forms,
                    *environment.notes,
                    *preparation.notes,
                )
                if note
            ),
            **run.paid,
        )
        found = written(
            found,
            case=case,
            services=services,
            out=out,
            run=run,
            preparation=preparation,
        )
        asked = [
            one.duration_s for one in services.journal.steps(run.record) if one.kind is Kind.LLM
        ]
        found = replace(
            found,
            reused=run.reused,
            requests=len(asked),
            model_s=sum(asked),
        )
        found = replace(
            found,
            waited_s=sum(case.runner.waited),
            seconds=run.worked_s,
        )
        run.note("result", found)
        run.finish(
            {
                "verdict": found.verdict.value,
                "reason": found.reason[:500],
            },
            found.verdict.exit_code,
        )
    return found


def _case(
    raw: RawReport,
    buggy: Revision,
    fixed: Revision | None,
    services: BugServices,
    options: BugOptions,
    run: OpenRun,
    preparation: Preparation,
    first: ScriptRunner,
) -> tuple[Case, BugReport | None]:
    """Everything before the search."""
    services.tell(Progress("bug", 1, 4, "read the report"))
    report = None
    if options.parts.restructuring:
        report = restructured(raw, services.model, run)
    text = report.text() if report is not None else raw.text()
    # The symptom is read from the reporter's own words: a summary may lose the message that proves
    # it.
    unread = f"\n\n[{raw.pictures}]" if raw.pictures else ""
    symptom = symptom_in(
        raw.text() + unread,
        services.model,
        run,
    )
    services.tell(Progress("bug", 2, 4, "prepare what it runs with"))
    installed = report.environment if report is not None else ()
    second = preparation.second(first, buggy, installed, symptom.absent_module)
    scripts = preparation.proven(first, second, buggy, run)
    environment = scripts.environment
    services.tell(Progress("bug", 3, 4, "look for the code that matters"))
    code = build_index(buggy.files, services.tell)
    embed = installed_embedder() if options.dense else None
    contexts = build_contexts(
        code,
        f"{text}\n\n{raw.text()}",
        options,
        embed=embed,
    )
    made = {
        "key": environment.key,
        "packages": list(environment.packages),
        "notes": list(environment.notes),
    }
    run.note("environment", made)
    run.note(
        "contexts",
        [
            {
                "name": one.name,
                "why": one.why,
            }
            for one in contexts
        ],
    )
    services.tell(Progress("bug", 4, 4, "search for a script that shows it"))
    case = Case(
        raw=raw.text(),
        report=text + unread,
        symptom=symptom,
        contexts=contexts,
        code=code,
        buggy=buggy,
        fixed=fixed,
        runner=scripts,
        model=services.model,
        options=options,
        tell=services.tell,
        stop=services.stop,
        readme=readme_examples(buggy.files),
    )
    return case, report


def _preparation(
    raw: RawReport, day: date | None, services: BugServices, options: BugOptions, folder: Path
) -> Preparation:
    limits = (options.wall_s, options.memory_mib, OUTPUT_MIB)
    return Preparation(
        boxes=ProjectRunner(services.sandbox, *limits, stop=services.stop),
        options=options,
        environments=services.environments,
        day=day,
        report=raw.text(),
        folder=folder,
        say=lambda note: services.tell(Progress("bug", note=note)),
        stop=services.stop,
    )


def _diagnosed(
    case: Case,
    services: BugServices,
    run: OpenRun,
) -> tuple[str, ...]:
    """A silent bug may be a fault of the training: its programs are read, and nothing of them
    runs.
    """
    if not case.options.diagnose or not case.symptom.is_silent:
        return ()
    from reenact.bug.handover import read_findings

    services.tell(Progress("bug", note="read the training programs"))
    given = {"project": case.buggy.identity}
    findings = run.step(
        "diagnose", lambda: list(read_findings(case.code)), kind=Kind.NOTE, inputs=given
    )
    return tuple(findings) or ("No rule finds anything in the training programs of the project.",)
