"""All books of a recording: what happens reaches each, and what they hold is written."""

from __future__ import annotations

from time import perf_counter, thread_time
from typing import TYPE_CHECKING, Any

from reenact_probe.books import Book
from reenact_probe.books.formulas import FormulasBook
from reenact_probe.books.gradients import Gradients
from reenact_probe.books.metrics import MetricsBook
from reenact_probe.books.models import ModelsBook
from reenact_probe.books.parameters import ParametersBook
from reenact_probe.books.passes import Passes
from reenact_probe.books.rows import RowsBook
from reenact_probe.books.shelf import Shelf
from reenact_probe.recorder import Recorder
from reenact_probe.torch.transfer import Transfer
from reenact_probe.types import (
    Args,
    Facts,
    Kwargs,
    Library,
    Module,
    Optimizer,
    Place,
    Tensor,
)

if TYPE_CHECKING:
    from reenact_probe.torch.capture import LossCall
    from reenact_probe.torch.trail import Trail

NAME = "books.json"
FIRST = 100
"""Looks that every book takes part in."""
ALLOWED_S = 0.5
SHARE = 0.01
"""Of the work since the start: what the books may take next to that, before they pass looks over."""
WRITTEN_AGAIN = 0.2
"""Of the time since the start: what passes at least before the books are written once more."""
OF_A_LOOK = frozenset(
    (
        "model_called",
        "layer_called",
        "followed",
        "goes_back",
        "compared",
        "came",
        "steps",
        "stepped",
    )
)
"""What happens in a step that is looked at, which a book may miss as a whole."""


class Books:
    """All books of a recording."""

    def __init__(self, recorder: Recorder, books: list[Book]) -> None:
        self.recorder = recorder
        self.books = books
        self.spent = 0.0
        """Seconds that the books worked, as far as it was reckoned up."""
        self._took = 0.0
        """Seconds by the clock that they took since the last look began."""
        self._began = self._worked = thread_time()
        self._then = self._opened = perf_counter()
        self._next_write = 0.0
        self._looks = 0
        self._takes_part = True
        """In the look under way; between looks they do."""
        self._notified = False
        self._by_event: dict[str, list[Book]] = {}
        self._of_layers = [
            book for book in books if type(book).layer_called is not Book.layer_called
        ]

    def look_begins(self) -> float:
        """Begin a look, unless the books have had their share of the work."""
        if not self.books:
            return 0.0
        self._reckon()
        share = SHARE * (self._worked - self._began)
        self._takes_part = self._looks < FIRST or self.spent <= ALLOWED_S + share
        if not self._takes_part:
            return 0.0
        self._looks += 1
        return self._tell("look_begins")

    def _reckon(self) -> None:
        """Add what the books took since the last time, as work.

        On a busy machine the clock runs on while nothing is worked. To ask a thread for its work takes a
        hundred times as long as to read the clock: so it is asked once a look, and not in every step.
        """
        now = perf_counter()
        worked = thread_time()
        passed = now - self._then
        share = min(1.0, (worked - self._worked) / passed) if passed > 0 else 1.0
        self.spent += self._took * share
        self._took = 0.0
        self._then = now
        self._worked = worked

    def model_called(
        self,
        module: Module,
        args: Args,
        kwargs: Kwargs,
        output: Any,
    ) -> float:
        return self._tell("model_called", module, args, kwargs, output)

    def layer_called(self, module: Module, kwargs: Kwargs) -> None:
        """Notified of every layer of a pass: only those books that ask for it are."""
        for book in self._of_layers if self._takes_part else ():
            if book in self.books:
                try:
                    book.layer_called(module, kwargs)
                except Exception as error:  # noqa: BLE001 - as below
                    self._close(book, error)

    def batch_given(self, loader: Any, batch: Any) -> float:
        return self._tell("batch_given", loader, batch)

    def followed(self, calls: list[LossCall], trail: Trail) -> float:
        return self._tell("followed", calls, trail)

    def goes_back(self, loss: Tensor) -> float:
        return self._tell("goes_back", loss)

    def compared(
        self,
        prediction: Tensor,
        target: Tensor,
        place: Place | None,
    ) -> float:
        return self._tell("compared", prediction, target, place)

    def ends(self) -> float:
        return self._tell("ends")

    def came(self) -> float:
        return self._tell("came")

    def cleared(self, optimizer: Optimizer | None) -> float:
        return self._tell("cleared", optimizer)

    def steps(self, optimizer: Optimizer | None, parameters: list[Tensor]) -> float:
        return self._tell("steps", optimizer, parameters)

    def stepped(self) -> float:
        took = self._tell("stepped")
        self._takes_part = True
        return took

    def evaluation_begins(self) -> bool:
        return self._ask("evaluation_begins")

    def settled(self) -> float:
        return self._tell("settled")

    def judged(
        self,
        module: Module,
        source: Any,
        given: Tensor | None,
        output: Any,
        labels: Tensor | None,
    ) -> bool:
        return self._ask("judged", module, source, given, output, labels)

    def judged_by_loss(self, prediction: Tensor, target: Tensor) -> float:
        return self._tell("judged_by_loss", prediction, target)

    def answered(
        self,
        answers: Tensor,
        labels: Tensor,
        made_of: list[Tensor],
    ) -> float:
        return self._tell("answered", answers, labels, made_of)

    def _ask(self, event: str, *given: Any) -> bool:
        """Tell every book, and whether one of them says yes."""
        answers: list[bool] = []
        self._tell(event, *given, answers=answers)
        return any(answers)

    def _tell(
        self,
        event: str,
        *given: Any,
        answers: list[bool] | None = None,
    ) -> float:
        """Tell every book that wants to know; gives the seconds that it took."""
        if event in OF_A_LOOK and not self._takes_part:
            return 0.0
        wanted = self._wanted(event)
        if not wanted:
            return 0.0
        began = perf_counter()
        for book in wanted:
            try:
                answer = getattr(book, event)(*given)
                if answers is not None:
                    answers.append(bool(answer))
            except Exception as error:  # noqa: BLE001 - a book's error is not a reason to stop looking
                self._close(book, error)
        self._notified = True
        took = perf_counter() - began
        self._took += took
        return took

    def _wanted(self, event: str) -> list[Book]:
        """The books that do something about an event."""
        if event not in self._by_event:
            base = getattr(Book, event)
            self._by_event[event] = [
                book for book in self.books if getattr(type(book), event) is not base
            ]
        return self._by_event[event]

    def _close(self, book: Book, error: Exception) -> None:
        self.books.remove(book)
        self._by_event = {}
        self.recorder.note_missing(
            f"the book of {book.name}: {type(error).__name__}: {error}"[:300]
        )

    def write(self, at_end: bool = False) -> None:
        """Write what the books hold, where they were notified of something since, and when all is over."""
        if not (self._notified or (at_end and self.books)) or not self.recorder.owned:
            return
        began = perf_counter()
        if began < self._next_write and not at_end:
            return
        self._notified = False
        self._reckon()
        held: Facts = {"spent": self.spent}
        for book in list(self.books):
            try:
                held[book.name] = book.facts()
            except Exception as error:  # noqa: BLE001 - the others are still worth writing
                self._close(book, error)
        self.recorder.folder.write_json(NAME, held)
        now = perf_counter()
        self._took += now - began
        self._next_write = now + WRITTEN_AGAIN * (now - self._opened)


def all_books(torch: Library, recorder: Recorder) -> list[Book]:
    """Every book there is, by the order in which they are notified."""
    if recorder.schedule.bare or not recorder.config.books:
        return []
    transfer = Transfer(torch)
    shelf, passes = Shelf(torch, transfer), Passes(torch)
    return [
        RowsBook(torch, recorder, passes, transfer),
        Gradients(torch, recorder, transfer),
        ParametersBook(torch, recorder, shelf),
        ModelsBook(torch, recorder, shelf, passes),
        MetricsBook(torch, recorder, transfer),
        FormulasBook(torch, recorder),
    ]
