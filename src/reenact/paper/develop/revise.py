"""Revision: one plan for all failures together, edits, checks, verification; the best version is kept.

Reflection without criteria makes code worse (RePro's ablation), so without criteria nothing is revised.
"""

from __future__ import annotations

from collections.abc import Callable

from reenact.errors import AnswerUnusable, BudgetSpent
from reenact.journal import Scope
from reenact.paper.criterion import Judged, Value
from reenact.paper.develop import asking
from reenact.paper.develop.book import Book, Entry
from reenact.paper.develop.checks import Stage
from reenact.paper.develop.debug import debugged
from reenact.paper.develop.work import Work
from reenact.paper.project import Project

Verify = Callable[[Project, Scope], tuple[Judged, ...]]
PATIENCE = 2
"""Rounds without progress after which no further one is paid for."""


def revise(book: Book, verify: Verify, run: Scope) -> None:
    """Rounds, each from the best version, until all hold, nothing helps, or rounds or budget are used."""
    wishes = book.best.work.brief.wishes
    idle = 0
    for number in range(wishes.rounds if wishes.parts.refine and book.best.judged else 0):
        best = book.best
        if best.all_hold or idle >= PATIENCE:
            return
        try:
            work, judged = _revised(best, verify, run.under("revision", attempt=number), book.notes)
        except AnswerUnusable as error:
            book.notes.append(f"Revision {number + 1} gave no usable answer: {error.sentence}")
            return
        except BudgetSpent as error:
            book.notes.append(f"The budget was used up in revision {number + 1}: {error.sentence}")
            return
        if work is None:
            return
        book.enter(work, judged, made_from=best.work.project)
        idle = 0 if book.best is not best else idle + 1


def _revised(
    best: Entry, verify: Verify, run: Scope, notes: list[str]
) -> tuple[Work | None, tuple[Judged, ...]]:
    """The next version; none when the plan gives up all that does not hold yet."""
    work = best.work.at(Stage.REVISION)
    work.shop.say("revision: plan")
    planned = asking.plan(work, run, best.judged)
    missing = {one.criterion for one in best.judged if one.value is not Value.PASS}
    if missing <= planned.given_up:
        notes += [f"Given up: {one}" for one in planned.hopeless]
        return None, ()
    work.shop.say(f"revision: {len(planned.steps)} steps")
    work = work.with_project(*asking.revise(work, run, best.judged, planned), run)
    if work.brief.wishes.parts.debug:
        work = debugged(work, run, work.brief.wishes.tries)
    if best.work.runs and not work.runs:
        # It cannot become the best, so nobody pays for its verification.
        return work, ()
    return work.seen, verify(work.project, run.under("verify"))
