"""The book of rows: every row that reaches a model, by its content.

Which rows train and which judge, with which partner and label, in which order, by whose statistics they are
scaled, and whether inputs say nothing or everything about their labels. Passes are read on steps that are
looked at, batches of loaders in the first rounds of each.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from reenact_probe.books import Book
from reenact_probe.books.passes import Passes
from reenact_probe.books.row_columns import Columns
from reenact_probe.books.row_labels import ClassOrder, Labelled
from reenact_probe.books.row_pairs import Maps, Pairs
from reenact_probe.books.row_reach import Reach
from reenact_probe.books.row_rounds import MOST_HEADS, Classes, Rounds
from reenact_probe.books.row_sets import MOST_SETS, READ_ROUNDS, RowSet, Sets
from reenact_probe.books.row_values import keys_of, rows_of, same_rows, tensors_in
from reenact_probe.places import caller
from reenact_probe.recorder import Recorder
from reenact_probe.rows import are_places
from reenact_probe.types import Args, Array, Facts, Kwargs, Library, Module, Place, Tensor

GROWN = 1.5
"""What is worked out from kept rows is worked out again when there are so many times as many."""
MOST_PASSES = 4


class Pass(NamedTuple):
    """A training pass: what the model was given, row by row."""

    model: int
    parts: list[Array]
    keys: Array
    number: int | None
    """By which its graph is known; none where nothing that it gave has one."""

    def is_behind(self, numbers: set[int]) -> bool:
        """Whether it is one of these passes; one without a graph may be part of any."""
        return self.number is None or self.number in numbers


class RowsBook(Book):
    """Which rows train, which judge, and what goes with them."""

    name = "rows"

    def __init__(
        self,
        torch: Library,
        recorder: Recorder,
        passes: Passes,
    ) -> None:
        self.torch = torch
        self.recorder = recorder
        self.graphs = passes
        self.sets = Sets()
        self.labels, self.towers = Pairs(), Pairs()
        self.maps = Maps()
        self.labelled = Labelled()
        self.reach = Reach(torch)
        self.orders: dict[int, ClassOrder] = {}
        self.rounds: dict[int, Rounds] = {}
        self.origins: dict[int, int] = {}
        """By loader: the first of those whose place it took."""
        self.classes = Classes()
        self.passes: list[Pass] = []
        """With gradients, of this step, that did not go backward yet."""
        self.backward: list[Pass] = []
        """Of the loss that goes backward."""
        self.loader: Any = None
        """That gave the last batch."""
        self.since: dict[int, Any] = {}
        """Loaders that gave a batch, with gradients on, since the look began."""
        self.asked: set[int] = set()
        """Loaders after whose batch a model was asked without gradients, since the look began."""
        self.compared_at: Place | None = None
        self.trained_rows = 0
        self._held: Facts = {}
        self._worked = 0
        self._ends = False

    def look_begins(self) -> None:
        self.passes = []
        self.since = {}
        self.asked = set()
        self.graphs.clear()

    def batch_given(self, loader: Any, batch: Any) -> None:
        self.loader = loader
        if loader is None or (loader.index not in self.sets.by_loader and self._crowded()):
            return
        if self.torch.is_grad_enabled():
            self.since[loader.index] = loader
        rows = self.sets.by_loader.get(loader.index)
        if rows is None:
            rows = self.sets.by_loader[loader.index] = RowSet(labelled=False)
            self.origins[loader.index] = loader.origin
            if loader.origin in self.origins_that_train:
                self._was_training(loader.index)
        trains = loader.index in self.sets.training
        if loader.given == 1:
            rows.is_read = rows.times < READ_ROUNDS
            self._round_begins(loader.index, rows, trains)
            rounds = self.rounds.setdefault(loader.origin, Rounds())
            parts = tensors_in(self.torch, batch) if rounds.begun < MOST_HEADS else []
            first = rows_of(self.torch, parts[0]) if parts else None
            rounds.begins(loader.batches, first, rows.is_read)
        if loader.origin in self.rounds:
            self.rounds[loader.origin].given = loader.given
        if rows.is_read:
            self._read(loader, rows, batch, trains)
        if loader.given == loader.batches:
            self._round_ends(loader.index, rows, trains)

    @property
    def origins_that_train(self) -> set[int]:
        return {self.origins.get(index, index) for index in self.sets.training}

    def _crowded(self) -> bool:
        return len(self.sets.by_loader) >= MOST_SETS

    def _round_begins(self, index: int, rows: RowSet, trains: bool) -> None:
        if rows.is_read:
            fresh = RowSet(rows.labelled)
            rows.rows, rows.left = 0, fresh.left
            rows.columns, rows.series = fresh.columns, fresh.series
        if not trains:
            rows.judge(self.sets.trained, self.sets.trained.current)
        else:
            rows.times += 1
        self.orders.setdefault(index, ClassOrder()).begins()

    def _read(
        self,
        loader: Any,
        rows: RowSet,
        batch: Any,
        trains: bool,
    ) -> None:
        parts = tensors_in(self.torch, batch)
        inputs = rows_of(self.torch, parts[0]) if parts else None
        if inputs is None:
            return
        rows.labelled = len(parts) > 1
        last = rows_of(self.torch, parts[-1]) if len(parts) > 1 else None
        keys = rows.add([inputs], last if last is not None and len(last) == len(inputs) else None)
        self.rounds[loader.origin].read(keys, last)
        if trains and inputs.ndim > 1:
            self.sets.trained.add(self.sets.trained.current, keys)
        if last is not None:
            self.orders[loader.index].add(last)

    def _round_ends(self, index: int, rows: RowSet, trains: bool) -> None:
        rows.complete = rows.complete or rows.is_read
        if rows.is_read:
            self.orders[index].ends()
            if trains and rows.certain:
                self.sets.trained.twins.add(rows.rows, len(rows.keys))
        if not trains:
            rows.meets(self.sets.trained, self.sets.trained.current)

    def model_called(
        self,
        module: Module,
        args: Args,
        kwargs: Kwargs,
        output: Any,
    ) -> None:
        parts = same_rows(self.torch, (args, kwargs))
        if not parts:
            return
        keys = keys_of(parts)
        model = self.sets.trained.number(module)
        if self.torch.is_grad_enabled():
            known = Pass(model, parts, keys, self.graphs.mark(output))
            self.passes = [*self.passes[1 - MOST_PASSES :], known]
        else:
            self._evaluated(model, parts)

    def _evaluated(self, model: int, parts: list[Array]) -> None:
        self.reach.evaluated(len(parts[0]))
        loader = self.loader
        if loader is not None:
            self.asked.add(loader.index)
        if loader is not None and loader.open and loader.index not in self.sets.training:
            rows = self.sets.by_loader.get(loader.index)
            if rows is not None:
                rows.place = rows.place or caller()
                rows.meets(self.sets.trained, model)
            return
        self.sets.evaluated(model, parts, self.recorder.step, caller())

    def goes_back(self, loss: Tensor) -> None:
        behind = self.graphs.behind(loss)
        self.backward = [one for one in self.passes if one.is_behind(behind)]
        drawn = {index for index, one in self.since.items() if one.open or one is self.loader}
        for index in drawn - self.sets.training if self.backward else ():
            if index not in self.asked or self._brought(index):
                self._was_training(index)
        for one in self.backward:
            self.sets.trains(one.model, one.parts, one.keys, bool(drawn))
            self.trained_rows += len(one.keys)

    def _brought(self, index: int) -> bool:
        """Whether the rows that go backward are of the last batch of this loader."""
        rows = self.sets.by_loader.get(index)
        latest = rows.latest if rows is not None else set()
        return any(not latest.isdisjoint(keys_of(one.parts[:1]).tolist()) for one in self.backward)

    def _was_training(self, index: int) -> None:
        """A loader turns out to be one that training draws from."""
        self.sets.training.add(index)
        rows = self.sets.by_loader.get(index)
        # Single numbers are not rows but ask for some.
        if rows is not None and rows.is_table:
            for one in self.backward:
                self.sets.trained.keys.setdefault(one.model, set()).update(rows.keys)

    def compared(
        self,
        prediction: Tensor,
        target: Tensor,
        place: Place | None,
    ) -> None:
        labels = rows_of(self.torch, target)
        behind = self.graphs.behind(prediction)
        passes = [one for one in self.backward if one.is_behind(behind)]
        self.compared_at = place or self.compared_at
        if labels is None or not passes:
            return
        same = [one for one in passes if len(one.keys) == len(labels)]
        if len(same) == len(passes) == 2 and are_places(labels, in_order=True):
            self.towers.add(same[0].keys, same[1].keys, self.recorder.step)
        if len(same) == 1 == len(passes) and not are_places(labels):
            self._pair(same[0], labels)
            self.classes.trains(prediction, labels)
        if len(passes) == 1:
            whole = int(passes[0].keys.sum())
            self.reach.trains(whole, prediction, target, place)

    def _pair(self, one: Pass, labels: Array) -> None:
        """Inputs and labels of one pass, row by row."""
        step = self.recorder.step
        self.labels.add(one.keys, keys_of([labels]), step)
        if not self.labelled.full:
            self.labelled.add(one.parts, labels, one.keys)
        if labels.ndim >= 3:
            self.maps.add(one.parts[0], labels, step)

    def came(self) -> None:
        over = {id(one) for one in self.backward}
        self.passes = [one for one in self.passes if id(one) not in over]
        self.backward = []

    def stepped(self) -> None:
        self.passes = []

    def judged_by_loss(self, prediction: Tensor, target: Tensor) -> None:
        self._judged(prediction, target)

    def answered(
        self,
        answers: Tensor,  # noqa: ARG002
        labels: Tensor,
        made_of: list[Tensor],
    ) -> None:
        scores = next((one for one in made_of if one.dim() == 2), None)
        if scores is not None:
            self._judged(scores, labels)

    def judged(
        self,
        module: Module,  # noqa: ARG002
        source: Any,  # noqa: ARG002
        given: Tensor | None,  # noqa: ARG002
        output: Any,
        labels: Tensor | None,
    ) -> bool:
        scores = tensors_in(self.torch, output)
        if labels is not None and scores:
            self._judged(scores[0], labels)
        return False

    def _judged(self, prediction: Tensor, target: Tensor) -> None:
        """Classes of rows that judge."""
        labels = rows_of(self.torch, target) if target.dim() == 1 else None
        if labels is not None and not are_places(labels):
            self.classes.judges(prediction, labels)

    def ends(self) -> None:
        self._ends = True

    def facts(self) -> Facts | None:
        if not self.trained_rows:
            return None
        if self._ends or self.labels.rows >= GROWN * self._worked:
            self._worked = self.labels.rows + 1
            self._held = {
                "labelled": self.labelled.facts(),
                "maps": self.maps.facts(),
                "labels": self.labels.facts(),
                "towers": self.towers.facts(),
            }
        return {
            "rows": self.trained_rows,
            "distinct": sum(map(len, self.sets.trained.keys.values())),
            "train": next(iter(self.sets.train_columns()), Columns()).facts(),
            "padding": self.sets.padding.facts(),
            "nearly": self.sets.sketches.usual() if self._ends else 0.0,
            "sets": self.sets.facts(self._ends),
            "twins": self.sets.trained.twins.facts(),
            "orders": [self.orders[index].facts() for index in self._trains()],
            "reach": self.reach.facts(),
            "rounds": [
                {"trains": index in self.origins_that_train, **one.facts(index)}
                for index, one in list(self.rounds.items())[:16]
            ],
            "classes": self.classes.facts(),
            "place": self.compared_at,
            **self._held,
        }

    def _trains(self) -> list[int]:
        return [index for index in sorted(self.sets.training) if index in self.orders][:8]
