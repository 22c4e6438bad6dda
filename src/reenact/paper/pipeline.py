"""Paper: what a paper states becomes code that runs, verified criterion by criterion, and measured.

review, claims -> lineage -> fingerprint -> develop (write, run, fix, verify, revise) -> second
judge -> full runs -> too slow at every scale? a cheaper design -> claims against measured -> gap
too large? diagnose and repair what the paper leaves open -> report
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from reenact.asking import carry_budget
from reenact.codegen.project import Project
from reenact.errors import (
    AnswerUnusable,
    BudgetSpent,
    Inconclusive,
    ReenactError,
    Stopped,
)
from reenact.intake.papers.clients import Clients, Library
from reenact.intake.papers.paper import Paper
from reenact.journal import Journal, OpenRun, Scope, mark
from reenact.llm.ask import Model
from reenact.paper.bearing import bearing_text, with_added
from reenact.paper.context import (
    PaperContext,
    folders_text,
    machine_text,
    project_runner,
)
from reenact.paper.criterion import Judged
from reenact.paper.develop.checks import time_text
from reenact.paper.develop.develop import Verify, cheaper_design, develop
from reenact.paper.develop.development import Development, RoundLog, is_foreign
from reenact.paper.develop.questions import Brief
from reenact.paper.estimate import paper_estimate
from reenact.paper.fingerprint.fingerprint import Fingerprint
from reenact.paper.fingerprint.pipeline import take_fingerprint
from reenact.paper.lineage.cited import Shelves
from reenact.paper.lineage.trace import Exemplar, trace_lineage
from reenact.paper.measure.gap import compare
from reenact.paper.measure.measure import Measured, measure
from reenact.paper.measure.runs import FullRun
from reenact.paper.measure.verdict import Verdict, verdict_of
from reenact.paper.options import PaperOptions
from reenact.paper.reproduction import Reproduction
from reenact.paper.review.claims import (
    FORM,
    Claims,
    given_claims,
    stated_claims,
    withheld,
    without_results,
)
from reenact.paper.review.review import Review, figure_claims, review
from reenact.paper.verify.mechanical import Earlier
from reenact.paper.verify.verify import JudgesAgreement, second_judge, verify
from reenact.sandbox.box import Sandbox
from reenact.sandbox.environments.prepare import Environments
from reenact.types import Progress, Stop, Tell, tell_nobody

STEPS = 6
REPORT = "REPORT.md"
NO_NUMBER = (
    "The paper states no number for this task in its text or tables: nothing can be compared."
)
STATE_A_CLAIM = (
    f"State what it claims (--claim '{FORM}'), or have the code written all the same (--anyway)."
)


@dataclass(frozen=True)
class PaperServices:
    """What a reproduction needs from outside."""

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
    report: Callable[[Reproduction], Mapping[str, str]] | None = None
    """The files of the report next to the project, by name; none: it is not written."""


def reproduce(
    paper: Paper,
    services: PaperServices,
    *,
    options: PaperOptions | None = None,
    out: Path | None = None,
) -> Reproduction:
    """The whole of it; the same call after an interruption continues. `out` is where the
    project goes.
    """
    options = options or PaperOptions()
    given = Claims(given_claims(options.claims), ())
    model = services.model
    place = None
    if out is not None:
        place = str(out.absolute())
    request = {
        "paper": mark(paper.text()),
        "model": model.name,
        "options": options.to_json(),
        "out": place,
    }
    with services.journal.run(
        pipeline="paper",
        request=request,
        argv=services.argv,
        what=paper.title[:120],
        fresh=services.fresh,
    ) as run:
        carry_budget(model, run, services.journal)
        made = _Making(
            with_added(paper, options.goal),
            options,
            services,
            run,
            out,
        )
        try:
            made.all_of_it(given)
        except (Stopped, BudgetSpent) as error:
            made.report_what_there_is(error)
            raise
        found = made.reproduction()
        run.note("result", found)
        if out is not None:
            names = (
                *sorted(found.development.project.files),
                *made.written(found),
            )
            found = replace(found, folder=out, written=names)
        run.finish(found.in_short(), found.verdict.exit_code)
    return found


class _Making:
    """A reproduction on its way: what there is of it, also where it is stopped."""

    def __init__(
        self,
        paper: Paper,
        options: PaperOptions,
        services: PaperServices,
        run: OpenRun,
        out: Path | None,
    ) -> None:
        self.paper = paper
        self.options = options
        self.services = services
        self.run = run
        self.out = out
        self.at = ""
        self.review = Review((), (), ())
        self.claims = Claims((), ())
        self.exemplars: tuple[Exemplar, ...] = ()
        self.fingerprint = Fingerprint((), ())
        self.development = Development(
            Project(),
            rounds=(),
            best=0,
            runs=False,
            judged=(),
            notes=(),
        )
        self.measured = Measured(
            (),
            (),
            verdict_of((), runs=False),
            scale=options.scale,
        )
        self.log: RoundLog | None = None
        self.judges: JudgesAgreement | None = None
        self.estimate = paper_estimate(paper, options, services.model)

    def step(self, number: int, note: str) -> None:
        self.at = f"step {number} of {STEPS} ({note})"
        self.services.tell(Progress("paper", number, STEPS, note))

    def all_of_it(self, given: Claims) -> None:
        """Every step, top to bottom."""
        paper = self.paper
        options = self.options
        services = self.services
        run = self.run
        model = services.model
        goal = options.goal
        parts = options.parts
        services.tell(
            Progress(
                "paper",
                note=f"cost: {self.estimate.sentence}",
            )
        )
        self.step(1, "read it, and what it claims")
        self.review = review(
            paper,
            goal,
            model,
            run,
            figures=parts.figures,
        )
        self.claims = stated_claims(paper, goal, model, run).beside(given)
        if not self.claims.asked and parts.figures:
            self.claims = self.claims.beside(figure_claims(paper, goal, model, run))
        if not self.claims.asked and not options.anyway:
            raise Inconclusive(NO_NUMBER, next_step=STATE_A_CLAIM)
        if parts.lineage and options.exemplars:
            self.step(2, "trace its lineage")
            checkouts = services.cache / "checkouts"
            shelves = Shelves(
                services.sandbox,
                checkouts=checkouts,
                library=services.library,
                clients=services.clients,
                stop=services.stop,
            )
            place = run.under("lineage")
            most = options.exemplars
            tell = services.tell
            self.exemplars = trace_lineage(
                paper,
                goal=goal,
                model=model,
                run=place,
                shelves=shelves,
                most=most,
                tell=tell,
            )
        if parts.fingerprint:
            self.step(3, "take its fingerprint")
            self.fingerprint = take_fingerprint(
                paper,
                goal=goal,
                model=model,
                run=run,
                parts=parts,
            )
        box = services.sandbox
        environments = services.environments
        packages = services.packages
        runner = project_runner(
            options,
            sandbox=box,
            environments=environments,
            packages=packages,
            stop=services.stop,
        )
        journal = services.journal
        traces = services.traces
        context = PaperContext(
            model,
            runner=runner,
            options=options,
            journal=journal,
            traces=traces,
            out=self.out,
            tell=services.tell,
        )
        brief = self._brief(context)

        def against_the_paper(
            project: Project, scope: Scope, earlier: Earlier | None
        ) -> tuple[Judged, ...]:
            return verify(
                brief.criteria,
                project,
                paper,
                model,
                scope,
                runner,
                self.exemplars,
                earlier,
            )

        self.step(4, "write code that runs, and verify it")
        self.development = develop(
            brief,
            context=context,
            run=run,
            verify=against_the_paper,
            follow=partial(setattr, self, "log"),
        )
        self.step(5, "have a second judge read it")
        self._judge_again(brief, run)
        self.step(6, "run the experiment and compare it with the paper")
        self.measured = self._measure(context, run)
        runs = self.measured.runs
        log = self.log
        if runs and all(one.late for one in runs) and log is not None and parts.debug:
            self._make_cheaper(
                brief,
                context,
                against_the_paper,
                log,
                runs[-1],
            )

    def _brief(self, context: PaperContext) -> Brief:
        """All that anyone who writes the code may know: the paper without its results."""
        paper = self.paper
        goal = self.options.goal
        claims = self.claims.claims
        criteria = self.fingerprint.criteria
        hidden = withheld(paper, claims)
        # Where the paper speaks of what is asked for, as far as review and criteria tell.
        found = [one.places for one in (*self.review.method, *self.review.experiment)]
        places = {place for one in (*found, *(one.places for one in criteria)) for place in one}
        text = bearing_text(paper, () if goal.is_all else places, hidden)
        review = self.review.text(hide=hidden)
        cited = "\n\n".join(one.text() for one in self.exemplars)
        kept = without_results(criteria, claims, hidden)
        data = folders_text(context.runner.folders)
        machine = machine_text(context.options, context.runner)
        return Brief(
            text,
            goal=goal.text(),
            review=review,
            exemplars=cited,
            criteria=kept,
            addendum=goal.addendum,
            data=data,
            machine=machine,
        )

    def _judge_again(self, brief: Brief, run: Scope) -> None:
        made = self.development
        model = self.services.model
        self.judges = second_judge(
            brief.criteria,
            judged=made.judged,
            project=made.project,
            model=model,
            run=run,
            exemplars=self.exemplars,
        )

    def _measure(self, context: PaperContext, run: Scope) -> Measured:
        criteria = self.fingerprint.criteria
        return measure(
            self.claims.asked,
            criteria=criteria,
            made=self.development,
            context=context,
            run=run.under("measure"),
        )

    def _make_cheaper(
        self,
        brief: Brief,
        context: PaperContext,
        verify: Verify,
        log: RoundLog,
        late: FullRun,
    ) -> None:
        """Every full run took too long, with the smallest share of the training too: a cheaper
        design is asked for, replaces the other, and is run with that share.
        """
        before = self.measured
        context = replace(
            context,
            options=replace(context.options, scale=before.scale),
        )
        limits = context.runner.limits(context.options.run_wall_s)
        time = time_text(
            f"A full run at scale {late.scale:g}",
            late.cpu_s,
            late.wall_s,
            limits,
        )
        dry_s = log.best.found.dry_run_s
        dry = f"The dry run at scale {self.options.scale:g} took {dry_s:.1f} s of CPU time."
        note = "Every full run took too long, and no cheaper design came of it."
        try:
            made = cheaper_design(
                brief,
                context=context,
                run=self.run,
                verify=verify,
                log=log,
                time=f"{time} {dry}",
            )
        except (AnswerUnusable, BudgetSpent) as error:
            made = None
            note = f"{note} {error.sentence}"
        if made is None:
            self.measured = replace(
                before,
                notes=(note, *before.notes),
            )
            return
        self.development = made
        place = self.run.under("cheaper")
        self._judge_again(brief, place)
        after = self._measure(context, place)
        runs = (*before.runs, *after.runs)
        notes = (*before.notes, *after.notes)
        self.measured = replace(after, runs=runs, notes=notes)

    def reproduction(self) -> Reproduction:
        """What came of it so far."""
        run = self.run
        claims = self.claims
        measured = self.measured
        dropped = (f"Not taken for a claim: {text}" for text in claims.dropped)
        left = (
            f"Not asked for, and not compared: {one}." for one in claims.claims if not one.asked
        )
        return Reproduction(
            paper=self.paper,
            goal=self.options.goal,
            judgement=measured.judgement,
            review=self.review,
            claims=claims.claims,
            exemplars=self.exemplars,
            fingerprint=self.fingerprint,
            development=self.development,
            runs=measured.runs,
            comparisons=measured.comparisons,
            orderings=measured.orderings,
            gap_repair=measured.gap_repair,
            scale=measured.scale,
            judges=self.judges,
            estimate=self.estimate,
            **run.paid,
            seconds=run.worked_s,
            reused=run.record.reused,
            reused_line=run.reused,
            notes=(
                *self.review.notes,
                *dropped,
                *left,
                *measured.notes,
            ),
        )

    def report_what_there_is(self, error: ReenactError) -> None:
        """The report of a run that ends early; the claims stand in it as not measured."""
        if self.log is not None and not self.development.rounds:
            self.development = self.log.so_far()
        why = f"It ended early, at {self.at}. {error.sentence}"
        compared = compare(self.claims.asked, (), ())
        judgement = replace(
            verdict_of(compared, runs=True), verdict=Verdict.INCONCLUSIVE, reason=why
        )
        self.measured = replace(self.measured, comparisons=compared, judgement=judgement)
        foreign = self.out is not None and is_foreign(self.out, REPORT)
        if not foreign and self.written(self.reproduction()):
            self.services.tell(
                Progress(
                    "paper",
                    note=f"the report so far: {self.out}/{REPORT}",
                )
            )

    def written(self, found: Reproduction) -> tuple[str, ...]:
        """The files of the report, in the output folder."""
        if self.out is None or self.services.report is None:
            return ()
        files = self.services.report(found)
        encoded = {name: text.encode("utf-8", "replace") for name, text in files.items()}
        self.run.edit("report", self.out, encoded)
        return tuple(files)
