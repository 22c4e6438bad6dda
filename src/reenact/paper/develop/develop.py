"""Development, top to bottom: begin, data, method, experiment, refactor, verify, revise, keep the best."""

from __future__ import annotations

from reenact.errors import BudgetSpent
from reenact.journal import Scope
from reenact.paper.criterion import Judged
from reenact.paper.develop import asking
from reenact.paper.develop.book import Book
from reenact.paper.develop.brief import Brief
from reenact.paper.develop.checks import Stage
from reenact.paper.develop.development import Development
from reenact.paper.develop.history import History
from reenact.paper.develop.revise import Verify, revise
from reenact.paper.develop.stages import learnt, refactored, staged
from reenact.paper.develop.work import Work
from reenact.paper.develop.workshop import Workshop


def develop(brief: Brief, services: Workshop, run: Scope, verify: Verify) -> Development:
    """The whole; the same call after an interruption continues. `verify` judges a version by the criteria."""
    run = run.under("develop")
    book = Book(History(services.out), run, brief.criteria)
    work = _written(Work(brief, services), book, run)
    tidy = refactored(work, run.under("refactor")) if work.runs else None
    if tidy is not None:
        book.enter(work)
        work = tidy
    book.enter(work, _verified(work, verify, book, run))
    revise(book, verify, run)
    return book.closed()


def _written(work: Work, book: Book, run: Scope) -> Work:
    """Data, method, experiment, one after the other; the last is not yet in the book."""
    work = work.knowing(asking.begin(work, run))
    for stage in (Stage.DATA, Stage.METHOD):
        place = run.under(stage.value)
        work = learnt(staged(work, stage, place), place)
        book.enter(work)
    return staged(work, Stage.EXPERIMENT, run.under(Stage.EXPERIMENT.value))


def _verified(work: Work, verify: Verify, book: Book, run: Scope) -> tuple[Judged, ...]:
    """Verdicts of the first whole version; without a budget for them it is kept all the same."""
    if not work.brief.criteria:
        return ()
    try:
        return verify(work.project, run.under("verify"))
    except BudgetSpent as error:
        book.notes.append(f"The budget was used up in the first verification: {error.sentence}")
        return ()
