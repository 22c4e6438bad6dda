"""Development, top to bottom: begin, data, method, experiment, refactor, verify, revise, keep the best.

A stage is written, checked and debugged: analysis first, then edits, so many times at most; the same failure
twice changes tactics. A revision is one plan for all failures together, edits, checks, verification.
Reflection without criteria makes code worse (RePro's ablation), so without criteria nothing is revised.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from reenact.codegen.project import Project
from reenact.errors import AnswerUnusable, BudgetSpent
from reenact.journal import Scope
from reenact.paper.context import PaperContext
from reenact.paper.criterion import Judged, Value
from reenact.paper.develop.checks import Stage, checked
from reenact.paper.develop.development import Development
from reenact.paper.develop.history import History
from reenact.paper.develop.questions import Roles
from reenact.paper.develop.round_log import LoggedRound, RoundLog
from reenact.paper.develop.version import Brief, Version

Verify = Callable[[Project, Scope], tuple[Judged, ...]]
FIRST = "Mend the cause with as few changes as it takes."
ANOTHER = (
    "The same failure came back: what was tried before did not work. Take a different way, not a variation"
    " of it."
)
ANEW = (
    "The same failure came back several times. Write the file in which it arises anew, whole, in the simplest"
    " form that does what the paper asks for."
)
STUBBORN = 3
"""Times that a failure comes back before a file is written anew."""
REFACTOR_TRIES = 2
"""Attempts to fix what a refactoring broke: the version before it runs already."""
PATIENCE = 2
"""Rounds without progress after which no further one is paid for."""


@dataclass(frozen=True, slots=True)
class _Try:
    """One attempt, for whoever tries again."""

    signature: str
    analysis: str
    outcome: str

    def __str__(self) -> str:
        return f"{self.analysis}\nAfterwards: {self.outcome}"


def develop(brief: Brief, context: PaperContext, run: Scope, verify: Verify) -> Development:
    """The whole; the same call after an interruption continues. `verify` judges a version by the criteria."""
    run = run.under("develop")
    log = RoundLog(History(context.out), run, brief.criteria)
    developer = Developer(context, Roles(brief, context.model, context.options.requirements))
    version = developer.written(log, run)
    tidy = developer.refactored(version, run.under("refactor")) if version.runs else None
    if tidy is not None:
        log.enter(version)
        version = tidy
    log.enter(version, _verified(version, brief, verify, log, run))
    developer.revise(log, verify, run)
    return log.closed()


def _verified(
    version: Version, brief: Brief, verify: Verify, log: RoundLog, run: Scope
) -> tuple[Judged, ...]:
    """Verdicts of the first whole version; without a budget for them it is kept all the same."""
    if not brief.criteria:
        return ()
    try:
        return verify(version.project, run.under("verify"))
    except BudgetSpent as error:
        log.notes.append(f"The budget was used up in the first verification: {error.sentence}")
        return ()


@dataclass(frozen=True)
class Developer:
    """Makes versions: asks the roles, and checks what they wrote."""

    context: PaperContext
    roles: Roles

    def written(self, log: RoundLog, run: Scope) -> Version:
        """Data, method, experiment, one after the other; the last is not yet in the log."""
        version = Version()
        version = version.knowing(self.roles.begin(version, run))
        for stage in (Stage.DATA, Stage.METHOD):
            place = run.under(stage.value)
            version = self._learnt(self._staged(version, stage, place), place)
            log.enter(version)
        return self._staged(version, Stage.EXPERIMENT, run.under(Stage.EXPERIMENT.value))

    def refactored(self, version: Version, run: Scope) -> Version | None:
        """The version after a reviewer's reading; none when it changed nothing or broke the run."""
        version = version.at(Stage.REFACTOR)
        self.context.say("refactor: read as a reviewer")
        try:
            project, assumed = self.roles.refactor(version, run)
        except AnswerUnusable:
            return None
        if project.identity == version.project.identity:
            return None
        after = self._debugged(self._checked(version, project, assumed, run), run, REFACTOR_TRIES)
        return after.seen if after.runs else None

    def revise(self, log: RoundLog, verify: Verify, run: Scope) -> None:
        """Rounds, each from the best version, until all hold, nothing helps, or rounds or budget are used."""
        options = self.context.options
        idle = 0
        for number in range(options.rounds if options.parts.refine and log.best.judged else 0):
            best = log.best
            if best.all_hold or idle >= PATIENCE:
                return
            try:
                version, judged = self._revised(
                    best, verify, run.under("revision", attempt=number), log.notes
                )
            except AnswerUnusable as error:
                log.notes.append(f"Revision {number + 1} gave no usable answer: {error.sentence}")
                return
            except BudgetSpent as error:
                log.notes.append(f"The budget was used up in revision {number + 1}: {error.sentence}")
                return
            if version is None:
                return
            log.enter(version, judged, made_from=best.version.project)
            idle = 0 if log.best is not best else idle + 1

    def _staged(self, version: Version, stage: Stage, run: Scope) -> Version:
        """The version after a stage, whether it runs or not. Raises AnswerUnusable when nothing came."""
        version = version.at(stage)
        self.context.say(f"{stage}: write {', '.join(stage.new)}")
        project, assumed = self.roles.write(version, run)
        version = self._checked(version, project, assumed, run)
        if self.context.options.parts.debug:
            version = self._debugged(version, run, self.context.options.tries)
        return version.seen

    def _learnt(self, version: Version, run: Scope) -> Version:
        """With the research role's new state; the old one when no usable answer came."""
        self.context.say(f"{version.stage}: note what was learnt")
        try:
            return version.knowing(self.roles.learn(version, run))
        except AnswerUnusable:
            return version

    def _revised(
        self, best: LoggedRound, verify: Verify, run: Scope, notes: list[str]
    ) -> tuple[Version | None, tuple[Judged, ...]]:
        """The next version; none when the plan gives up all that does not hold yet."""
        version = best.version.at(Stage.REVISION)
        self.context.say("revision: plan")
        planned = self.roles.plan(version, run, best.judged)
        missing = {one.criterion for one in best.judged if one.value is not Value.PASS}
        if missing <= planned.given_up:
            notes += [f"Given up: {one}" for one in planned.hopeless]
            return None, ()
        self.context.say(f"revision: {len(planned.steps)} steps")
        version = self._checked(version, *self.roles.revise(version, run, best.judged, planned), run)
        if self.context.options.parts.debug:
            version = self._debugged(version, run, self.context.options.tries)
        if best.version.runs and not version.runs:
            # It cannot become the best, so nobody pays for its verification.
            return version, ()
        return version.seen, verify(version.project, run.under("verify"))

    def _checked(self, version: Version, project: Project, assumed: Sequence[str], scope: Scope) -> Version:
        """Another version, checked, with what it takes for granted."""
        runner, scale = self.context.runner, self.context.options.scale
        found = checked(version.stage, project, runner, scale, scope)
        return replace(version, project=project, found=found, state=version.state.assuming(*assumed))

    def _debugged(self, version: Version, run: Scope, tries: int) -> Version:
        """The version fixed, or the one that went furthest."""
        best, tried, count = version, list[_Try](), 0
        while not version.runs and count < tries:
            scope = run.under("debug", attempt=count)
            count += 1
            failure = version.found.problems[0]
            self.context.say(f"{version.stage}: fix, try {count} of at most {tries}: {failure}"[:200])
            alike = [one for one in tried if one.signature == failure.signature]
            try:
                version, analysis = self._fixed(version, scope, alike)
            except AnswerUnusable as error:
                words = error.for_model or error.sentence
                tried.append(_Try(failure.signature, "No usable answer came.", words))
                continue
            outcome = "it runs" if version.runs else str(version.found.problems[0])
            tried.append(_Try(failure.signature, analysis, outcome))
            if version.found.reached >= best.found.reached:
                best = version
        return replace(best, tries=version.tries + count)

    def _fixed(self, version: Version, scope: Scope, alike: list[_Try]) -> tuple[Version, str]:
        earlier = "\n\n".join(str(one) for one in alike[-2:])
        seen = self.roles.analyse(version, scope, earlier)
        analysis = f"Cause: {seen.cause}\nRemedy: {seen.remedy}"
        project, assumed = self.roles.fix(version, scope, earlier, analysis, _tactic(len(alike)))
        after = self._checked(version, project, assumed, scope)
        # What was once proposed stays proposed: the user may want to install it.
        wanted = (*version.found.proposed, *after.found.proposed, *filter(None, [seen.requirement]))
        found = replace(after.found, proposed=tuple(dict.fromkeys(wanted)))
        return replace(after, found=found), analysis


def _tactic(alike: int) -> str:
    if not alike:
        return FIRST
    return ANOTHER if alike < STUBBORN else ANEW
