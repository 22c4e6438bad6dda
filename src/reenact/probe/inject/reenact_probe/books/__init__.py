"""The books of a training, kept while it runs: what came in, what was spent, what is left of it.

A book notes what happens, whatever the text of the program says. It looks only while the observer of torch
looks (`TorchObserver.window`), beside a few counts that cost nothing. It never draws a random number, never
moves, keeps or changes a tensor of the program. An error in a book closes that book alone.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

from reenact_probe.recorder import Recorder
from reenact_probe.types import Args, Facts, Kwargs, Library, Module, Optimizer, Tensor

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

    def batch_given(self, loader: Any, batch: Any) -> None:
        """A loader gave a batch. Always told: `loader` is a `torch.loaders.Loader`, or none."""

    def goes_back(self, loss: Tensor) -> None:
        """A loss is about to go backward, by its own number: what a scaler made of it is undone."""

    def came(self) -> None:
        """The gradients of that loss have come."""

    def cleared(self, optimizer: Optimizer | None) -> None:
        """`zero_grad` is about to be called: of an optimizer, or of a module. Always told."""

    def steps(self, optimizer: Optimizer | None, parameters: list[Tensor]) -> None:
        """Weights are about to move; without an optimizer the program may move them by hand."""

    def stepped(self) -> None:
        """Weights have moved."""

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

    def look_begins(self) -> float:
        return self._tell("look_begins")

    def model_called(self, module: Module, args: Args, kwargs: Kwargs, output: Any) -> float:
        return self._tell("model_called", module, args, kwargs, output)

    def batch_given(self, loader: Any, batch: Any) -> float:
        return self._tell("batch_given", loader, batch)

    def goes_back(self, loss: Tensor) -> float:
        return self._tell("goes_back", loss)

    def came(self) -> float:
        return self._tell("came")

    def cleared(self, optimizer: Optimizer | None) -> float:
        return self._tell("cleared", optimizer)

    def steps(self, optimizer: Optimizer | None, parameters: list[Tensor]) -> float:
        return self._tell("steps", optimizer, parameters)

    def stepped(self) -> float:
        return self._tell("stepped")

    def _tell(self, event: str, *given: Any) -> float:
        """Tell every book; gives the seconds that it took."""
        if not self.books:
            return 0.0
        began = perf_counter()
        for book in list(self.books):
            try:
                getattr(book, event)(*given)
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

    def write(self) -> None:
        """Write what the books hold, where they were told something since."""
        if not self._told or not self.recorder.owned:
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
    from reenact_probe.books.gradients import Gradients

    kept: list[Callable[[Library, Recorder], Book]] = [Gradients]
    return [book(torch, recorder) for book in kept]
