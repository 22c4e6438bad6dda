"""Paper: what a paper says becomes code that runs, verified criterion by criterion, and measured.

review, claims -> lineage -> fingerprint -> develop (write, run, mend, verify, revise) -> full runs
-> claims against measured -> gap too large? diagnose and repair what the paper leaves open -> report
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

from reenact.asking import carry_budget
from reenact.codegen.project import Project
from reenact.intake.papers.clients import Clients
from reenact.intake.papers.library import Library
from reenact.intake.papers.paper import Paper
from reenact.journal import Journal, OpenRun, Scope, mark
from reenact.llm.ask import Model
from reenact.paper.context import PaperContext, folders_text, project_runner
from reenact.paper.criterion import Judged
from reenact.paper.develop.develop import develop
from reenact.paper.develop.development import Development
from reenact.paper.develop.version import Brief
from reenact.paper.exemplar import Exemplar
from reenact.paper.fingerprint.take import Fingerprint, take_fingerprint
from reenact.paper.lineage.trace import trace_lineage
from reenact.paper.measure.measure import Measured, measured
from reenact.paper.options import PaperOptions
from reenact.paper.reproduction import Reproduction
from reenact.paper.review.claims import Claims, stated_claims, withheld, without_results
from reenact.paper.review.review import Review, review
from reenact.paper.verify.verify import verify
from reenact.paper.write.report_file import report_text
from reenact.sandbox.box import Sandbox
from reenact.sandbox.environments.prepare import Environments
from reenact.types import Progress, Stop, Tell, tell_nobody

STEPS = 6


@dataclass(frozen=True)
class Services:
    """What the story needs from outside."""

    journal: Journal
    model: Model
    sandbox: Sandbox
    cache: Path
    """Where repositories of cited papers are kept."""
    traces: Path
    """Where watched runs are kept."""
    environments: Environments | None = None
    """Builds environments; without it only this interpreter's packages can be used."""
    library: Library | None = None
    """Cited papers and their code, offline."""
    clients: Clients | None = None
    """Ways to fetch cited papers; none: no network is used."""
    packages: tuple[str, ...] = ()
    """Names of packages that the user vouches for."""
    tell: Tell = tell_nobody
    stop: Stop = field(default_factory=Stop)
    argv: Sequence[str] = ()
    fresh: bool = False
    """Start over instead of resuming an interrupted run."""


def reproduce(
    paper: Paper, services: Services, *, options: PaperOptions | None = None, out: Path | None = None
) -> Reproduction:
    """The whole story; the same call after an interruption continues. `out` is where the project goes."""
    options = options or PaperOptions()
    request = {
        "paper": mark(paper.text()),
        "model": services.model.name,
        "wishes": options.to_json(),
        "out": str(out.absolute()) if out is not None else None,
    }
    with services.journal.run(
        pipeline="paper", request=request, argv=services.argv, what=paper.title[:120], fresh=services.fresh
    ) as run:
        carry_budget(services.model, run, services.journal)
        said, claims = _reviewed(paper, options, services, run)
        exemplars = _lineage(paper, options, services, run)
        fingerprint = _fingerprint(paper, options, services, run)
        context = _context(options, services, out)
        brief = _brief(paper, said, claims, exemplars, fingerprint, context)
        development = _developed(brief, paper, context, services, run)
        _tell(services, 6, "run the experiment and compare it with the paper")
        outcome = measured(
            claims.asked, fingerprint.criteria, development, context, run.under("measure"),
            services.journal, services.traces,
        )  # fmt: skip
        found = Reproduction(
            paper=paper, goal=options.goal, judgement=outcome.judgement, review=said, claims=claims.claims,
            exemplars=exemplars, fingerprint=fingerprint, development=development, runs=outcome.runs,
            comparisons=outcome.comparisons, mending=outcome.mending, scale=options.scale,
            tokens=run.record.tokens_in + run.record.tokens_out,
            money=None if run.record.unpriced else Decimal(run.record.money),
            seconds=run.worked_s, run_id=run.record.id, reused=run.record.reused,
            reused_line=run.reused, notes=_notes(claims, said, outcome),
        )  # fmt: skip
        found = _written(found, out, run)
        run.finish(found.in_short(), found.verdict.exit_code)
    return found


def _tell(services: Services, step: int, note: str) -> None:
    services.tell(Progress("paper", step, STEPS, note))


def _reviewed(paper: Paper, options: PaperOptions, services: Services, run: OpenRun) -> tuple[Review, Claims]:
    _tell(services, 1, "read it, and what it claims")
    said = review(paper, options.goal, services.model, run, figures=options.parts.figures)
    return said, stated_claims(paper, options.goal, services.model, run)


def _lineage(paper: Paper, options: PaperOptions, services: Services, run: OpenRun) -> tuple[Exemplar, ...]:
    if not options.parts.lineage or not options.exemplars:
        return ()
    _tell(services, 2, "trace its lineage")
    return trace_lineage(
        paper, options.goal, services.model, run.under("lineage"), most=options.exemplars,
        box=services.sandbox, library=services.library, clients=services.clients,
        checkouts=services.cache / "checkouts", tell=services.tell, stop=services.stop,
    )  # fmt: skip


def _fingerprint(paper: Paper, options: PaperOptions, services: Services, run: OpenRun) -> Fingerprint:
    if not options.parts.fingerprint:
        return Fingerprint((), ())
    _tell(services, 3, "take its fingerprint")
    return take_fingerprint(paper, options.goal, services.model, run, options.parts)


def _context(options: PaperOptions, services: Services, out: Path | None) -> PaperContext:
    runner = project_runner(
        options, services.sandbox, environments=services.environments, packages=services.packages,
        stop=services.stop,
    )  # fmt: skip
    return PaperContext(services.model, runner, options, out, services.tell)


def _brief(
    paper: Paper, said: Review, claims: Claims, exemplars: tuple[Exemplar, ...], fingerprint: Fingerprint,
    context: PaperContext,
) -> Brief:  # fmt: skip
    """All that whoever writes the code may know: the paper without its results."""
    hidden = withheld(paper, claims.claims)
    goal = context.options.goal
    return Brief(
        paper_text=paper.text(hide=hidden),
        goal=goal.text(),
        review=said.text(hide=hidden),
        exemplars="\n\n".join(one.text() for one in exemplars),
        criteria=without_results(fingerprint.criteria, claims.claims, hidden),
        addendum=goal.addendum,
        data=folders_text(context.runner.folders),
    )


def _developed(
    brief: Brief, paper: Paper, context: PaperContext, services: Services, run: OpenRun
) -> Development:
    def against_the_paper(project: Project, scope: Scope) -> tuple[Judged, ...]:
        return verify(brief.criteria, project, paper, services.model, scope, runner=context.runner)

    _tell(services, 4, "write code that runs, and verify it")
    return develop(brief, context, run, against_the_paper)


def _notes(claims: Claims, said: Review, outcome: Measured) -> tuple[str, ...]:
    dropped = (f"Not taken for a claim: {text}" for text in claims.dropped)
    left = (f"Not asked for, and not compared: {one}." for one in claims.claims if not one.asked)
    return (*said.notes, *dropped, *left, *outcome.notes)


def _written(found: Reproduction, out: Path | None, run: OpenRun) -> Reproduction:
    """The report beside the project, and everything for whoever looks at the run later."""
    run.note("result", found)
    if out is None:
        return found
    files = {"REPORT.md": report_text(found)}
    run.edit("report", out, {name: text.encode("utf-8", "replace") for name, text in files.items()})
    return found.at(out, (*sorted(found.development.project.files), *files))
