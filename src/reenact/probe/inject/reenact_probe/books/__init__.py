"""The books of a training, kept while it runs: what came in, what was spent, what is left of it.

A book notes what happens, whatever the text of the program says. It looks only while the observer of torch
looks (`TorchObserver.window`), beside a few counts that cost nothing. It never draws a random number, never
moves, keeps or changes a tensor of the program. An error in a book closes that book alone.
"""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Any

from reenact_probe.recorder import Recorder
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


class Book:
    """What every book may be told; each takes what it needs. Told only while somebody looks, where
    nothing else is said.
    """

    name = ""
    """Its key in the file."""

    def look_begins(self) -> None:
        """A step that is looked at begins: the one before it has just ended."""

    def model_called(self, module: Module, args: Args, kwargs: Kwargs, output: Any) -> None:
        """A model passed forward, in training or, a few passes each time, in evaluation."""

    def layer_called(self, module: Module, kwargs: Kwargs) -> None:
        """A layer ran, within a pass of a model that is told of when it ends."""

    def batch_given(self, loader: Any, batch: Any) -> None:
        """A loader gave a batch. Always told: `loader` is a `torch.loaders.Loader`, or none."""

    def followed(self, calls: list[LossCall], trail: Trail) -> None:
        """A loss is about to go backward: the calls of losses it may be made of, and the lines of its
        nodes, where the pass was followed. Told before `goes_back`.
        """

    def goes_back(self, loss: Tensor) -> None:
        """A loss is about to go backward, by its own number: what a scaler made of it is undone."""

    def compared(self, prediction: Tensor, target: Tensor, place: Place | None) -> None:
        """What that loss compares, where it is known, and the line that does."""

    def came(self) -> None:
        """The gradients of that loss have come."""

    def cleared(self, optimizer: Optimizer | None) -> None:
        """`zero_grad` is about to be called: of an optimizer, or of a module. Always told."""

    def steps(self, optimizer: Optimizer | None, parameters: list[Tensor]) -> None:
        """Weights are about to move; without an optimizer the program may move them by hand."""

    def stepped(self) -> None:
        """Weights have moved."""

    def ends(self) -> None:
        """The process ends: `facts` is asked a last time."""

    def evaluation_begins(self) -> bool:
        """An evaluation begins, the first between two steps: whether all its passes are wanted,
        each of which will be told by `judged`. Always told.
        """
        return False

    def judged(
        self,
        module: Module,  # noqa: ARG002
        source: Any,  # noqa: ARG002
        given: Tensor | None,  # noqa: ARG002
        output: Any,  # noqa: ARG002
        labels: Tensor | None,  # noqa: ARG002
    ) -> bool:
        """A pass of an evaluation all of whose passes are wanted; gives whether more are.

        `source` is the name of its loader and the round it is in.
        """
        return False

    def judged_by_loss(self, prediction: Tensor, target: Tensor) -> None:
        """A loss compares these in such an evaluation."""

    def answered(self, answers: Tensor, labels: Tensor, made_of: list[Tensor]) -> None:
        """Answers were asked whether they are these labels, in such an evaluation; they may be
        made of the others.
        """

    def facts(self) -> Facts | None:
        """What there is to write so far, as JSON; none for nothing. A key `place` holds a place."""
        return None


class Books:
    """All books of a recording."""

    def __init__(self, recorder: Recorder, books: list[Book]) -> None:
        self.recorder = recorder
        self.books = books
        self.spent = 0.0
        """Seconds that the books took."""
        self._told = False
        self._of_layers = [
            book for book in books if type(book).layer_called is not Book.layer_called
        ]

    def look_begins(self) -> float:
        return self._tell("look_begins")

    def model_called(self, module: Module, args: Args, kwargs: Kwargs, output: Any) -> float:
        return self._tell("model_called", module, args, kwargs, output)

    def layer_called(self, module: Module, kwargs: Kwargs) -> None:
        """Told of every layer of a pass: only those books that ask for it are."""
        for book in self._of_layers:
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

    def compared(self, prediction: Tensor, target: Tensor, place: Place | None) -> float:
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
        return self._tell("stepped")

    def evaluation_begins(self) -> bool:
        return self._ask("evaluation_begins")

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

    def answered(self, answers: Tensor, labels: Tensor, made_of: list[Tensor]) -> float:
        return self._tell("answered", answers, labels, made_of)

    def _ask(self, event: str, *given: Any) -> bool:
        """Tell every book, and whether one of them says yes."""
        answers: list[bool] = []
        self._tell(event, *given, answers=answers)
        return any(answers)

    def _tell(self, event: str, *given: Any, answers: list[bool] | None = None) -> float:
        """Tell every book; gives the seconds that it took."""
        if not self.books:
            return 0.0
        began = perf_counter()
        for book in list(self.books):
            try:
                answer = getattr(book, event)(*given)
                if answers is not None:
                    answers.append(bool(answer))
            except Exception as error:  # noqa: BLE001 - a book's error is no reason to stop looking
                self._close(book, error)
        self._told = True
        took = perf_counter() - began
        self.spent += took
        return took

    def _close(self, book: Book, error: Exception) -> None:
        self.books.remove(book)
        self.recorder.note_missing(
            f"the book of {book.name}: {type(error).__name__}: {error}"[:300]
        )

    def write(self, at_end: bool = False) -> None:
        """Write what the books hold, where they were told something since, and when all is over."""
        if not (self._told or (at_end and self.books)) or not self.recorder.owned:
            return
        self._told = False
        held: Facts = {"spent": self.spent}
        for book in list(self.books):
            try:
                held[book.name] = book.facts()
            except Exception as error:  # noqa: BLE001 - the others are still worth writing
                self._close(book, error)
        self.recorder.folder.write_json(NAME, held)


def all_books(torch: Library, recorder: Recorder) -> list[Book]:
    """Every book there is, by the order in which they are told."""
    if recorder.schedule.bare or not recorder.config.books:
        return []
    # Books are written in terms of what is above.
    from reenact_probe.books.formulas import FormulasBook
    from reenact_probe.books.gradients import Gradients
    from reenact_probe.books.metrics import MetricsBook
    from reenact_probe.books.models import ModelsBook
    from reenact_probe.books.parameters import ParametersBook
    from reenact_probe.books.rows import RowsBook
    from reenact_probe.books.shelf import Shelf

    shelf = Shelf(torch)
    return [
        RowsBook(torch, recorder),
        Gradients(torch, recorder),
        ParametersBook(torch, recorder, shelf),
        ModelsBook(torch, recorder, shelf),
        MetricsBook(torch, recorder),
        FormulasBook(torch, recorder),
    ]
