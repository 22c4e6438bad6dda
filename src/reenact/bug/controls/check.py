"""Control runs of a script that shows the symptom: is it the project that shows it, or the script?

1. what the script hands over is watched: an exception that it built itself is not the project's
2. the buggy revision in another layout shows it too, the fixed one passes too
3. up to the first different answer both revisions are given the same, and after it the script
   chooses nothing
4. the buggy revision with the names that only the fix adds still shows it
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from reenact.bug.classify import RunOutcome, SeedRun, classified
from reenact.bug.controls.added import with_added_names
from reenact.bug.controls.compare import (
    Found,
    compared,
    functions_of_one,
    names_in,
    unstable_places,
)
from reenact.bug.controls.relaid import lay_out, reads_docstrings
from reenact.bug.controls.routes import chosen
from reenact.bug.generate import Case
from reenact.bug.project_files import ProjectFiles
from reenact.bug.recorded_calls import RecordedCalls
from reenact.bug.reproduction import Attempt, Controls, Stage, on_fixed
from reenact.bug.script_runner import Mode, Revision
from reenact.bug.validate.bindings import flowing_lines
from reenact.bug.verdict import not_shown
from reenact.claims.check import Relation
from reenact.codegen.project import Problem
from reenact.journal import Scope

MEASURED = (Relation.WARNS, Relation.SLOWER, Relation.MEMORY)
"""What the watcher measures by itself: there no value that comes back has to differ."""
TIMED = (Relation.SLOWER, Relation.MEMORY)
"""What recording the calls would change."""
DIFFERENTLY = "The script treats the revisions differently"
ITSELF = "This is shown by the script itself"


class Refused(Exception):
    """A control run says that the script makes what it shows; the message is for the model and the report."""


def controlled(case: Case, attempt: Attempt, run: Scope) -> Attempt:
    """The attempt with what its control runs came to, or stopped by one of them."""
    case.say("run its controls")
    check = _Check(case, attempt, run.under("controls"))
    try:
        check.hands_over()
        check.lays_out("buggy", case.buggy)
        if case.fixed is not None:
            check.lays_out("fixed", case.fixed)
            check.compares(case.fixed)
            check.adds_names(case.fixed)
    except Refused as refusal:
        attempt = replace(attempt, controls=check.controls)
        return attempt.stopped(Problem(Stage.CONTROL, str(refusal)))
    return replace(attempt, controls=check.controls)


@dataclass
class _Check:
    """The controls of one script, one after another."""

    _case: Case
    _attempt: Attempt
    _run: Scope
    _results: list[str] = field(default_factory=list)
    _doubts: list[str] = field(default_factory=list)
    _calls: dict[str, RecordedCalls | None] = field(default_factory=dict)

    @property
    def controls(self) -> Controls:
        return Controls(
            tuple(self._results),
            "; ".join(self._doubts),
        )

    @property
    def _shown(self) -> SeedRun:
        return next(one for one in self._attempt.runs if one.shows)

    @property
    def _relation(self) -> Relation | None:
        check = self._case.symptom.closing
        return check.relation if check is not None else None

    @property
    def _records(self) -> bool:
        """Whether calls are compared: there is something to compare with, and nothing to be
        timed.
        """
        return self._case.fixed is not None and self._relation not in TIMED

    def hands_over(self) -> None:
        """Whether an exception, or a warning, comes out of something that the script built and
        handed in.
        """
        if self._case.symptom.is_silent and self._relation is not Relation.WARNS:
            return
        mode = Mode.HANDS if self._case.fixed is not None else Mode.ALONE
        (seen,) = self._runs("handed-over", self._case.buggy, mode)
        if seen.observation.made:
            raise Refused(f"{ITSELF}, not by the project: {seen.observation.made}.")
        if seen.observation.noticed:
            raise Refused(f"{ITSELF}: {seen.observation.noticed}.")
        if self._is_like_the_shown(seen):
            self._results.append("not raised by what the script hands in")
        elif seen.observation.plain:
            raise Refused(f"{ITSELF}: it does not show when {seen.observation.plain}.")
        elif self._relation is Relation.WARNS:
            raise Refused(
                f"{ITSELF}: the warning comes from what the script handed to the project."
            )
        else:
            self._doubts.append(f"what it hands in could not be watched ({seen.sentence[:200]})")

    def lays_out(self, name: str, revision: Revision) -> None:
        """Whether the revision gives the same verdict when it reads otherwise and does the same."""
        mode = Mode.CALLS if self._records else Mode.OUTCOME
        kept = reads_docstrings(revision.files)
        for docstrings in (False,) if kept else (True, False):
            with TemporaryDirectory(prefix="reenact-control-") as folder:
                files = lay_out(revision.files, Path(folder), docstrings=docstrings)
                copy = _copy_of(revision, files)
                step = f"{name}-laid-out" if docstrings or kept else f"{name}-laid-out-comments"
                (seen,) = self._runs(step, copy, mode)
                others = self._other_seeds(step, copy, seen) if name == "buggy" else ()
            self._calls[f"{name} again"] = seen.observation.calls
            if not self._stops_at_import(seen):
                break
        else:
            self._doubts.append(
                f"the {name} revision cannot be imported when it is in another layout"
            )
            return
        how = "" if docstrings else " (docstrings kept)"
        if name == "fixed":
            if seen.outcome is not RunOutcome.NOTHING:
                raise Refused(
                    f"{DIFFERENTLY}: on the fixed one with other line breaks, "
                    f"{_small(seen.sentence)}"
                )
            self._results.append(f"re-laid fixed passes{how}")
            return
        if not self._is_like_the_shown(seen) and not self._shows_over_seeds((seen, *others)):
            raise Refused(
                f"{DIFFERENTLY}: on the buggy one with other line breaks, {_small(seen.sentence)}"
            )
        self._results.append(f"re-laid buggy shows{how}")

    def compares(self, fixed: Revision) -> None:
        """Whether both revisions are given the same until they answer differently."""
        if not self._records:
            return
        (buggy_run,) = self._runs(
            "buggy-calls",
            self._case.buggy,
            Mode.CALLS,
        )
        (fixed_run,) = self._runs("fixed-calls", fixed, Mode.CALLS)
        buggy = buggy_run.observation.calls
        other = fixed_run.observation.calls
        self._calls["buggy"] = buggy
        if buggy is None or other is None:
            self._doubts.append("the calls of the project could not be recorded")
            return
        result = compared(
            buggy,
            other,
            unstable=self._unstable("buggy", buggy) | self._unstable("fixed", other),
            only=functions_of_one(self._case.buggy.files, fixed.files),
            used=names_in(self._attempt.script),
        )
        if result.found is not Found.GIVEN and (choice := self._choice(buggy, other)):
            after = f" after {result.function} answered differently" if result.function else ""
            raise Refused(
                f"{DIFFERENTLY}:{after} it goes another way through its own code, and {choice}."
            )
        if result.found is Found.ANSWERS:
            self._results.append(f"calls equal up to {result.function}")
        elif result.found is Found.GIVEN:
            raise Refused(
                f"{DIFFERENTLY}: {result.why}, before the project has answered differently."
            )
        elif result.found is Found.UNKNOWN:
            self._doubts.append(f"its calls cannot be compared: {result.why}")
        elif self._relation in MEASURED:
            self._results.append("calls equal")
        elif buggy.closed or other.closed:
            self._results.append("calls equal as far as values can be read")
        else:
            raise Refused(f"{DIFFERENTLY}: every call of the project gives the same on both.")

    def _choice(self, buggy: RecordedCalls, fixed: RecordedCalls) -> str:
        """What the script hands to the buggy revision alone because it branches; nothing where it
        has another form for each revision, or does not go the same route twice on one.
        """
        again = self._calls.get("buggy again")
        if self._attempt.forms or (again is not None and chosen(buggy, again)):
            return ""
        return chosen(buggy, fixed)

    def adds_names(self, fixed: Revision) -> None:
        """Whether the bug still shows when the buggy revision has the names of the fixed one."""
        with TemporaryDirectory(prefix="reenact-control-") as folder:
            files, count = with_added_names(
                self._case.buggy.files,
                fixed.files,
                Path(folder),
            )
            if not count:
                self._results.append("the fix adds no name")
                return
            mode = Mode.CALLS if self._records else Mode.OUTCOME
            (seen,) = self._runs(
                "added-names",
                _copy_of(self._case.buggy, files),
                mode,
            )
        buggy = self._calls.get("buggy")
        other = seen.observation.calls
        if self._is_like_the_shown(seen):
            self._results.append("shows with the names that the fix adds")
        elif self._stops_at_import(seen) or buggy is None or other is None:
            self._results.append("no control with the names that the fix adds")
        else:
            unstable = self._unstable("buggy", buggy)
            result = compared(
                buggy,
                other,
                unstable=unstable,
                used=names_in(self._attempt.script),
            )
            if result.found is not Found.ANSWERS:
                raise Refused(
                    f"{DIFFERENTLY}: with the names that the fix adds the buggy one passes for "
                    f"fixed."
                )
            # The new code is called by the old: it is no longer the buggy revision.
            self._results.append("no control with the names that the fix adds")

    def _unstable(self, name: str, calls: RecordedCalls) -> frozenset[tuple[int, str]]:
        again = self._calls.get(f"{name} again")
        if again is not None:
            return unstable_places(calls, again)
        return frozenset()

    def _runs(
        self, step: str, revision: Revision, mode: Mode, seeds: Sequence[int] = ()
    ) -> tuple[SeedRun, ...]:
        """The script on a revision, with the seed that showed the symptom."""
        case = self._case
        attempt = self._attempt
        script = (
            on_fixed(attempt.script, attempt.forms) if step.startswith("fixed") else attempt.script
        )
        check = case.symptom.closing
        seeds = seeds or (self._shown.seed,)
        observed = case.runner.observe(
            self._run,
            step,
            script,
            check,
            seeds,
            revision,
            mode,
        )
        if mode is Mode.CALLS and not all(seen.ended for seen in observed.values()):
            # Recording may have been too much for the limits: the verdict does not depend on it.
            observed = case.runner.observe(
                self._run, f"{step}-plain", script, check, seeds, revision
            )
        lines = flowing_lines(script, case.project)
        return tuple(
            classified(
                seed,
                seen=seen,
                symptom=case.symptom,
                functions=case.functions,
                files=revision.files,
                lines=lines,
                crashes=case.crashes,
            )
            for seed, seen in observed.items()
        )

    def _other_seeds(
        self,
        step: str,
        revision: Revision,
        seen: SeedRun,
    ) -> tuple[SeedRun, ...]:
        """More runs of a copy that does not show what was shown: chance may have a part in it."""
        seeds = [one.seed for one in self._attempt.runs if one.seed != seen.seed]
        if not seeds or self._is_like_the_shown(seen):
            return ()
        return self._runs(
            f"{step}-seeds",
            revision,
            Mode.OUTCOME,
            seeds,
        )

    def _shows_over_seeds(self, runs: Sequence[SeedRun]) -> bool:
        alike = [one for one in runs if not one.shows or self._is_like_the_shown(one)]
        return len(alike) == len(runs) and not_shown(self._case, runs) is None

    def _is_like_the_shown(self, seen: SeedRun) -> bool:
        return seen.shows and seen.failure == self._shown.failure

    def _stops_at_import(self, seen: SeedRun) -> bool:
        failure = seen.failure
        return failure is not None and failure.phase == "import" and failure != self._shown.failure


def _copy_of(revision: Revision, files: ProjectFiles) -> Revision:
    return replace(
        revision,
        identity=f"{revision.identity} as {files.digest}",
        files=files,
    )


def _small(sentence: str) -> str:
    return f"{sentence[:1].lower()}{sentence[1:400]}"
