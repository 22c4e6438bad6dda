"""Bug: a report and a repository become a script that shows the bug, proven by running it.

report -> restructured -> symptom -> environment -> contexts -> hunt (plan, generate, validate, run, refine)
-> verdict -> minimise -> repro.py, requirements.txt, REPORT.md
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path

from reenact.asking import carry_budget
from reenact.bug.case import Case, CodeContext
from reenact.bug.environment import prepare
from reenact.bug.minimise import minimised
from reenact.bug.options import BugOptions
from reenact.bug.project.files import identity, project_files
from reenact.bug.project.lookup import Codebase
from reenact.bug.report import BugReport, installed_packages, restructured, symptom_in
from reenact.bug.reproduction import Attempt, Minimised, Reproduction
from reenact.bug.run.script_runner import OUTPUT_MIB, Revision, ScriptRunner
from reenact.bug.search import search_reproduction
from reenact.bug.verdict import verdict_of
from reenact.bug.write.folder import proof, result_files, unproven
from reenact.bug.write.report_file import report_text
from reenact.codegen.environment import Environment
from reenact.codegen.runner import ProjectRunner
from reenact.intake.report import RawReport
from reenact.intake.repository import Checkout
from reenact.journal import Journal, Kind, OpenRun, mark
from reenact.llm.ask import Model
from reenact.sandbox.box import Sandbox
from reenact.sandbox.environments.prepare import Environments
from reenact.types import Progress, Stop, Tell, tell_nobody

Retrieve = Callable[[Checkout, str, BugOptions], Sequence[CodeContext]]


@dataclass(frozen=True)
class Services:
    """What the story needs from outside."""

    journal: Journal
    model: Model
    sandbox: Sandbox
    environments: Environments | None = None
    """Builds environments; without it only this interpreter's packages can be used."""
    retrieve: Retrieve | None = None
    """Another way to find contexts; none: the project's own."""
    index_folder: Path | None = None
    """Where indexes of repositories are kept."""
    tell: Tell = tell_nobody
    stop: Stop = field(default_factory=Stop)
    argv: Sequence[str] = ()
    fresh: bool = False
    """Start over instead of resuming an interrupted run."""


def reproduce(
    raw: RawReport,
    checkout: Checkout,
    services: Services,
    *,
    fixed: Checkout | None = None,
    options: BugOptions | None = None,
    out: Path | None = None,
) -> Reproduction:
    """The whole story; the same call after an interruption continues. `out` is where the files go."""
    options = options or BugOptions()
    buggy = _revision(checkout)
    mended = _revision(fixed) if fixed is not None else None
    request = {
        "report": mark(raw.text()),
        "project": buggy.identity,
        "fixed": mended.identity if mended is not None else None,
        "model": services.model.name,
        "wishes": options.to_json(),
        "out": str(out.absolute()) if out is not None else None,
    }
    what = f"{raw.title[:80]} ({checkout.source})"
    with services.journal.run(
        pipeline="bug", request=request, argv=services.argv, what=what, fresh=services.fresh
    ) as run:
        carry_budget(services.model, run, services.journal)
        case, report = _case(raw, checkout, buggy, mended, services, options, run)
        case, attempts = search_reproduction(case, run)
        verdict, reason = verdict_of(case, attempts)
        attempts, shorter = _shortest(case, attempts, run)
        found = Reproduction(
            title=report.title if report is not None else raw.title,
            source=raw.source,
            repository=checkout.source,
            commit=checkout.commit,
            fixed=fixed.commit if fixed is not None else "",
            verdict=verdict,
            reason=reason,
            symptom=case.symptom,
            report=report,
            attempts=attempts,
            contexts=tuple(f"{one.name}: {one.why}" for one in case.contexts),
            packages=case.runner.environment.packages,
            minimised=shorter,
            notes=tuple(note for note in (raw.cut, *case.runner.environment.notes) if note),
            tokens=run.record.tokens_in + run.record.tokens_out,
            money=None if run.record.unpriced else Decimal(run.record.money),
            seconds=run.worked_s,
            run_id=run.record.id,
        )
        found = _diagnosed(found, checkout, buggy, services, options, run)
        found = replace(_written(found, case, out, run), reused=run.reused)
        run.note("result", found)
        run.finish({"verdict": verdict.value, "reason": reason[:500]}, verdict.exit_code)
    return found


def _revision(checkout: Checkout) -> Revision:
    files = project_files(checkout.folder)
    return Revision(checkout.folder, identity(checkout, files), files)


def _case(
    raw: RawReport,
    checkout: Checkout,
    buggy: Revision,
    fixed: Revision | None,
    services: Services,
    options: BugOptions,
    run: OpenRun,
) -> tuple[Case, BugReport | None]:
    """Everything before the search."""
    services.tell(Progress("bug", 1, 4, "read the report"))
    report = restructured(raw, services.model, run) if options.parts.restructuring else None
    text = report.text() if report is not None else raw.text()
    # The symptom is read from the reporter's own words: a summary may lose the message that proves it.
    symptom = symptom_in(raw.text(), services.model, run)
    services.tell(Progress("bug", 2, 4, "prepare what it runs with"))
    created = raw.created.date() if raw.created is not None else None
    environment = prepare(buggy.files, installed_packages(report), created, options, services.environments)
    services.tell(Progress("bug", 3, 4, "look for the code that matters"))
    contexts = _contexts(checkout, f"{text}\n\n{raw.text()}", options, services)
    _note(run, environment, contexts)
    runner = ProjectRunner(
        services.sandbox, options.wall_s, options.memory_mib, OUTPUT_MIB, stop=services.stop
    )
    services.tell(Progress("bug", 4, 4, "search for a script that shows it"))
    case = Case(
        raw=raw.text(), report=text, symptom=symptom, contexts=contexts, project=Codebase(buggy.files),
        buggy=buggy, fixed=fixed, runner=ScriptRunner(runner, environment, options.stubs),
        model=services.model, options=options, tell=services.tell, stop=services.stop,
    )  # fmt: skip
    return case, report


def _contexts(
    checkout: Checkout, query: str, options: BugOptions, services: Services
) -> Sequence[CodeContext]:
    if services.retrieve is not None:
        return services.retrieve(checkout, query, options)
    from reenact.bug.context.build import Retrieval, build_contexts
    from reenact.bug.context.rank import installed_embedder

    parts = options.parts
    return build_contexts(
        checkout,
        query,
        budget_tokens=options.context_tokens,
        most=options.contexts,
        index_folder=services.index_folder,
        embedder=installed_embedder() if options.dense else None,
        retrieval=Retrieval(
            rerank=parts.rerank,
            modules=parts.modules,
            loops=parts.loops,
            loop_order=parts.loop_order,
            dependencies=parts.dependencies,
        ),
        tell=services.tell,
    )


def _note(run: OpenRun, environment: Environment, contexts: Sequence[CodeContext]) -> None:
    run.note(
        "environment",
        {"key": environment.key, "packages": list(environment.packages), "notes": list(environment.notes)},
    )
    run.note("contexts", [{"name": one.name, "why": one.why} for one in contexts])


def _shortest(
    case: Case, attempts: tuple[Attempt, ...], run: OpenRun
) -> tuple[tuple[Attempt, ...], Minimised | None]:
    """The attempts with the showing one made as short as it can be."""
    if not attempts or not attempts[-1].shows or not attempts[-1].runs or not case.options.minimise:
        return attempts, None
    shorter, told = minimised(case, attempts[-1], run.under("minimise"))
    return (*attempts[:-1], shorter), told


def _diagnosed(
    found: Reproduction,
    checkout: Checkout,
    buggy: Revision,
    services: Services,
    options: BugOptions,
    run: OpenRun,
) -> Reproduction:
    """A silent bug may be a fault of the training: its programs are read, and nothing of them runs."""
    if not options.diagnose or not found.symptom.is_silent:
        return found
    from reenact.bug.handover import read_findings

    services.tell(Progress("bug", note="read the training programs"))
    findings = run.step(
        "diagnose",
        lambda: list(read_findings(checkout.folder, services.index_folder)),
        kind=Kind.NOTE,
        inputs={"project": buggy.identity},
    )
    none = "No training program of the project is accused of anything by reading it."
    return replace(found, findings=tuple(findings) or (none,))


def _written(found: Reproduction, case: Case, out: Path | None, run: OpenRun) -> Reproduction:
    """The files of the result; repro.py is proven first, as the user will run it."""
    files = result_files(found, case)
    found = replace(found, repro=files.get("repro.py", ""))
    if files and case.options.parts.execution:
        codes = proof(case, run, files["repro.py"])
        found = replace(found, exits=codes, notes=(*found.notes, *unproven(codes)))
    if out is None:
        return found
    found = replace(found, folder=out, written=(*files, "REPORT.md"))
    files["REPORT.md"] = report_text(found)
    run.edit("files", out, {name: text.encode("utf-8", "replace") for name, text in files.items()})
    return found
