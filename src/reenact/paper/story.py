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
from reenact.intake.papers.clients import Clients
from reenact.intake.papers.library import Library
from reenact.intake.papers.paper import Paper
from reenact.journal import Journal, OpenRun, Scope, mark
from reenact.llm.ask import Model
from reenact.paper.criterion import Judged
from reenact.paper.develop.brief import Brief
from reenact.paper.develop.develop import develop
from reenact.paper.develop.development import Development
from reenact.paper.develop.folders import listing
from reenact.paper.develop.workshop import Workshop
from reenact.paper.exemplar import Exemplar
from reenact.paper.fingerprint.take import Fingerprint, take_fingerprint
from reenact.paper.lineage.trace import trace_lineage
from reenact.paper.measure.measure import Measured, measured
from reenact.paper.project import Project
from reenact.paper.reproduction import Reproduction
from reenact.paper.review.claims import Claims, stated_claims, withheld, without_results
from reenact.paper.review.review import Review, review
from reenact.paper.verify.verify import verify
from reenact.paper.wishes import Wishes
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
    """Start anew instead of continuing an interrupted run."""


def reproduce(
    paper: Paper, services: Services, *, wishes: Wishes | None = None, out: Path | None = None
) -> Reproduction:
    """The whole story; the same call after an interruption continues. `out` is where the project goes."""
    wishes = wishes or Wishes()
    request = {
        "paper": mark(paper.text()),
        "model": services.model.name,
        "wishes": wishes.to_json(),
        "out": str(out.absolute()) if out is not None else None,
    }
    with services.journal.run(
        story="paper", request=request, argv=services.argv, what=paper.title[:120], fresh=services.fresh
    ) as run:
        carry_budget(services.model, run, services.journal)
        said, claims = _reviewed(paper, wishes, services, run)
        exemplars = _lineage(paper, wishes, services, run)
        fingerprint = _fingerprint(paper, wishes, services, run)
        workshop = _workshop(wishes, services, out)
        brief = _brief(paper, said, claims, exemplars, fingerprint, workshop)
        development = _developed(brief, paper, workshop, services, run)
        _tell(services, 6, "run the experiment and compare it with the paper")
        outcome = measured(
            claims.asked, fingerprint.criteria, development, workshop, run.under("measure"),
            services.journal, services.traces,
        )  # fmt: skip
        found = Reproduction(
            paper=paper, goal=wishes.goal, judgement=outcome.judgement, review=said, claims=claims.claims,
            exemplars=exemplars, fingerprint=fingerprint, development=development, runs=outcome.runs,
            comparisons=outcome.comparisons, mending=outcome.mending, scale=wishes.scale,
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


def _reviewed(paper: Paper, wishes: Wishes, services: Services, run: OpenRun) -> tuple[Review, Claims]:
    _tell(services, 1, "read it, and what it claims")
    said = review(paper, wishes.goal, services.model, run, figures=wishes.parts.figures)
    return said, stated_claims(paper, wishes.goal, services.model, run)


def _lineage(paper: Paper, wishes: Wishes, services: Services, run: OpenRun) -> tuple[Exemplar, ...]:
    if not wishes.parts.lineage or not wishes.exemplars:
        return ()
    _tell(services, 2, "trace its lineage")
    return trace_lineage(
        paper, wishes.goal, services.model, run.under("lineage"), most=wishes.exemplars, box=services.sandbox,
        library=services.library, clients=services.clients, checkouts=services.cache / "checkouts",
        tell=services.tell, stop=services.stop,
    )  # fmt: skip


def _fingerprint(paper: Paper, wishes: Wishes, services: Services, run: OpenRun) -> Fingerprint:
    if not wishes.parts.fingerprint:
        return Fingerprint((), ())
    _tell(services, 3, "take its fingerprint")
    return take_fingerprint(paper, wishes.goal, services.model, run, wishes.parts)


def _workshop(wishes: Wishes, services: Services, out: Path | None) -> Workshop:
    return Workshop(
        model=services.model, sandbox=services.sandbox, wishes=wishes, environments=services.environments,
        packages=services.packages, out=out, tell=services.tell, stop=services.stop,
    )  # fmt: skip


def _brief(
    paper: Paper, said: Review, claims: Claims, exemplars: tuple[Exemplar, ...], fingerprint: Fingerprint,
    workshop: Workshop,
) -> Brief:  # fmt: skip
    """All that whoever writes the code may know: the paper without its results."""
    hidden = withheld(paper, claims.claims)
    goal = workshop.wishes.goal
    return Brief(
        paper_text=paper.text(hide=hidden),
        goal=goal.text(),
        review=said.text(hide=hidden),
        exemplars="\n\n".join(one.text() for one in exemplars),
        criteria=without_results(fingerprint.criteria, claims.claims, hidden),
        addendum=goal.addendum,
        data=listing(workshop.wishes),
        wishes=workshop.wishes,
    )


def _developed(
    brief: Brief, paper: Paper, workshop: Workshop, services: Services, run: OpenRun
) -> Development:
    def against_the_paper(project: Project, scope: Scope) -> tuple[Judged, ...]:
        return verify(brief.criteria, project, paper, services.model, scope, box=workshop)

    _tell(services, 4, "write code that runs, and verify it")
    return develop(brief, workshop, run, against_the_paper)


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
