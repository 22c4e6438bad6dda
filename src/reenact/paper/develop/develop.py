"""Development, top to bottom: begin, data, method, experiment, refactor, verify, revise, keep the
best.

A stage is written, checked and debugged: analysis first, then edits, so many times at most; the
same failure twice changes tactics; what takes too long is made cheaper. A revision is one plan for
all failures together, edits, checks, verification. Reflection without criteria makes code worse
(RePro's ablation), so without criteria nothing is revised.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from reenact.codegen.project import Project
from reenact.errors import AnswerUnusable, BudgetSpent
from reenact.files import packaged_table
from reenact.journal import Scope
from reenact.paper.context import PaperContext
from reenact.paper.criterion import Judged
from reenact.paper.develop import questions
from reenact.paper.develop.checks import Stage, checked
from reenact.paper.develop.development import Development, History, RoundLog
from reenact.paper.develop.questions import Analysis, Brief, Made, Plan, Roles, Version
from reenact.paper.verify.mechanical import Earlier

Verify = Callable[[Project, Scope, Earlier | None], tuple[Judged, ...]]
"""Judges a project, which may have been made from one that was judged earlier."""
TACTICS = ("first", "another", "another", "rewrite")
"""Which sentence of prompts/texts.toml goes with a failure that came back so many times."""
REFACTOR_TRIES = 2
"""Attempts to fix what a refactoring broke: the version before it runs already."""
CHEAPER = 3
"""Cheaper designs that are asked for before code that takes too long is given up."""
PATIENCE = 2
"""Rounds without progress after which no further one is paid for."""


def develop(
    brief: Brief,
    context: PaperContext,
    run: Scope,
    verify: Verify,
    follow: Callable[[RoundLog], None] = lambda _: None,
) -> Development:
    """The whole; the same call after an interruption continues. `verify` judges a version by the
    criteria; `follow` gets the log before its first round.
    """
    run = run.under("develop")
    log = RoundLog(History(context.out), run, brief.criteria)
    follow(log)
    developer = Developer(brief, context)
    version = developer.written(log, run)
    tidy = None
    if version.runs:
        tidy = developer.refactored(version, run.under("refactor"))
    if tidy is not None:
        log.enter(version)
        version = tidy
    try:
        judged = (
            verify(
                version.project,
                run.under("verify"),
                None,
            )
            if brief.criteria
            else ()
        )
        version = replace(version, judged=judged)
    except BudgetSpent as error:
        # The first whole version is kept all the same.
        log.notes.append(f"The budget was used up in the first verification: {error.sentence}")
    log.enter(version)
    developer.revise(log, verify, run)
    return log.closed()


def cheaper_design(
    brief: Brief,
    context: PaperContext,
    run: Scope,
    verify: Verify,
    log: RoundLog,
    time: str,
) -> Development | None:
    """The development after full runs that took too long: its best version is made cheaper, checked
    and verified, and replaced by that; none when no such version came.
    """
    run = run.under("develop").under("cheaper")
    best = log.best
    context.say("cheaper: make it faster")
    version = best.at(Stage.CHEAPER).slow(time)
    developer = Developer(brief, context)
    version = developer.changed(
        version,
        run,
        "cheaper",
        time=time,
        earlier="nothing",
    )
    if not version.runs:
        return None
    if brief.criteria:
        version = replace(
            version,
            judged=_judged_after(best, version, verify, run),
        )
    log.enter(version, made_from=best.project, keep=True)
    return log.closed()


def _judged_after(
    best: Version,
    version: Version,
    verify: Verify,
    run: Scope,
) -> tuple[Judged, ...]:
    """The verdicts of a version that was made from the best one."""
    return verify(
        version.project,
        run.under("verify"),
        Earlier(best.project, best.judged),
    )


class Developer(Roles):
    """Makes versions: asks as both roles, and checks what they wrote."""

    def written(self, log: RoundLog, run: Scope) -> Version:
        """Data, method, experiment, one after the other; the last is not yet in the log."""
        version = Version()
        version = replace(
            version,
            state=self.learn(version, run, "begin"),
        )
        for stage in (Stage.DATA, Stage.METHOD):
            place = run.under(stage.value)
            version = self._staged(version, stage, place)
            self.context.say(f"{version.stage}: note what was learnt")
            with suppress(AnswerUnusable):
                version = replace(version, state=self.learn(version, place))
            log.enter(version)
        return self._staged(
            version,
            Stage.EXPERIMENT,
            run.under(Stage.EXPERIMENT.value),
        )

    def refactored(self, version: Version, run: Scope) -> Version | None:
        """The version after a reviewer's reading; none when it changed nothing or broke the run."""
        self.context.say("refactor: read as a reviewer")
        try:
            after = self.changed(
                version.at(Stage.REFACTOR),
                run,
                "refactor",
            )
        except AnswerUnusable:
            return None
        if after.runs and after.project.identity != version.project.identity:
            return after
        return None

    def changed(
        self,
        version: Version,
        run: Scope,
        name: str,
        **shown: str,
    ) -> Version:
        """The version after the edits that a question asks for, fixed in few attempts: the version
        before it runs already. One that changes nothing is not checked again.
        """
        made = self.edit(name, version, run, **shown)
        if made[0].identity == version.project.identity:
            return version
        return self._debugged(
            self._checked(version, made, run),
            run,
            REFACTOR_TRIES,
        )

    def revise(self, log: RoundLog, verify: Verify, run: Scope) -> None:
        """Rounds, each from the best version, until all hold, nothing helps, or rounds or
        budget are used.
        """
        options = self.context.options
        idle = 0
        for number in range(options.rounds if options.parts.refine and log.best.judged else 0):
            best = log.best
            all_hold = best.runs and all(one.value.is_settled for one in best.judged)
            if all_hold or idle >= PATIENCE:
                return
            try:
                version = self._revised(
                    best, verify, run.under("revision", attempt=number), log.notes
                )
            except (AnswerUnusable, BudgetSpent) as error:
                unusable = "Revision {} gave no usable answer"
                spent = "The budget was used up in revision {}"
                what = (spent if isinstance(error, BudgetSpent) else unusable).format(number + 1)
                log.notes.append(f"{what}: {error.sentence}")
                return
            if version is None:
                return
            log.enter(version, made_from=best.project)
            idle = 0 if log.best is not best else idle + 1

    def _staged(self, version: Version, stage: Stage, run: Scope) -> Version:
        """The version after a stage, whether it runs or not. Raises AnswerUnusable when nothing
        came.
        """
        version = version.at(stage)
        self.context.say(f"{stage}: write {', '.join(stage.new)}")
        return self._debugged(
            self._checked(version, self.write(version, run), run),
            run,
        )

    def _revised(
        self,
        best: Version,
        verify: Verify,
        run: Scope,
        notes: list[str],
    ) -> Version | None:
        """The next version; none when the plan gives up all that does not hold yet."""
        version = best.at(Stage.REVISION)
        self.context.say("revision: plan")
        failing = questions.judged_text(self.brief.criteria, best.judged)
        planned = self.ask("plan", version, run, Plan, judged=failing)
        missing = {one.criterion for one in best.judged if not one.value.is_settled}
        if missing <= {one.partition(":")[0].strip() for one in planned.hopeless}:
            notes += [f"Given up: {one}" for one in planned.hopeless]
            return None
        self.context.say(f"revision: {len(planned.steps)} steps")
        made = self.edit(
            "revise",
            version,
            run,
            judged=failing,
            plan=planned.text(),
        )
        version = self._debugged(
            self._checked(version, made, run),
            run,
        )
        if best.runs and not version.runs:
            # It cannot become the best, so no one pays for its verification.
            return version
        return replace(version, judged=_judged_after(best, version, verify, run))

    def _checked(self, version: Version, made: Made, scope: Scope) -> Version:
        """Another version, checked, with what it takes for granted."""
        project, assumed = made
        found = checked(
            version.stage,
            project=project,
            runner=self.context.runner,
            scale=self.context.options.scale,
            scope=scope,
        )
        state = version.state.adding(assumed=[one.strip()[: questions.LONGEST] for one in assumed])
        return replace(version, project=project, found=found, state=state)

    def _debugged(
        self,
        version: Version,
        run: Scope,
        tries: int | None = None,
    ) -> Version:
        """The version fixed, or the one that went furthest, with what its executions showed."""
        if tries is None:
            tries = 0
            if self.context.options.parts.debug:
                tries = self.context.options.tries
        best = version
        tried = list[tuple[str, str]]()
        count = 0
        late = 0
        while not version.runs and count < tries and (late < CHEAPER or not version.found.late):
            scope = run.under("debug", attempt=count)
            count += 1
            late += bool(version.found.late)
            failure = version.found.problems[0]
            self.context.say(
                f"{version.stage}: fix, try {count} of at most {tries}: {failure}"[:200]
            )
            alike = [words for signature, words in tried if signature == failure.signature]
            try:
                version, analysis = self._fixed(version, scope, alike)
                outcome = "it runs"
                if not version.runs:
                    outcome = str(version.found.problems[0])
            except AnswerUnusable as error:
                analysis = "No usable answer came."
                outcome = error.for_model or error.sentence
            tried.append(
                (
                    failure.signature,
                    f"{analysis}\nAfterwards: {outcome}",
                )
            )
            if version.found.reached >= best.found.reached:
                best = version
        return replace(
            best,
            tries=version.tries + count,
            state=best.state.adding(observed=best.found.facts),
        )

    def _fixed(
        self,
        version: Version,
        scope: Scope,
        alike: list[str],
    ) -> tuple[Version, str]:
        earlier = "\n\n".join(alike[-2:]) or "nothing"
        if time := version.found.late:
            slow = version.slow(time)
            made = self.edit(
                "cheaper",
                slow,
                scope,
                time=time,
                earlier=earlier,
            )
            needed = ""
            after = self._checked(slow, made, scope)
            analysis = " ".join(("It was made cheaper.", *made[1]))
        else:
            seen = self.ask(
                "analyse",
                version,
                scope,
                Analysis,
                earlier=earlier,
            )
            analysis = f"Cause: {seen.cause}\nRemedy: {seen.remedy}"
            needed = seen.requirement
            tactics = packaged_table(questions.PACKAGE, questions.TEXTS)["tactics"]
            tactic = tactics[TACTICS[min(len(alike), len(TACTICS) - 1)]]
            made = self.edit(
                "fix",
                version,
                scope,
                earlier=earlier,
                analysis=analysis,
                tactic=tactic,
            )
            after = self._checked(version, made, scope)
        # What was once proposed stays proposed: the user may want to install it.
        wanted = (
            *version.found.proposed,
            *after.found.proposed,
            *filter(None, [needed]),
        )
        return replace(
            after,
            found=replace(
                after.found,
                proposed=tuple(dict.fromkeys(wanted)),
            ),
        ), analysis
