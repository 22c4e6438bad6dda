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
from reenact_probe.books.row_groups import groups_of
from reenact_probe.books.row_indices import Indices
from reenact_probe.books.row_labels import ClassOrder, Labelled
from reenact_probe.books.row_pairs import Maps, Pairs
from reenact_probe.books.row_reach import Reach
from reenact_probe.books.row_rounds import MOST_HEADS, Classes, Rounds
from reenact_probe.books.row_sets import MOST_SETS, READ_ROUNDS, RowSet, Sets
from reenact_probe.books.row_values import first_rows_of, keys_of, same_rows, tensors_in
from reenact_probe.places import caller
from reenact_probe.recorder import Recorder
from reenact_probe.rows import are_places
from reenact_probe.torch.transfer import Later, Transfer
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


class Batch(NamedTuple):
    """A batch that a loader gave."""

    loader: int
    origin: int
    number: int
    """In its round, from 1."""
    batches: int | None
    is_read: bool
    parts: int
    """Tensors in it; 0 where they are not read."""


class RowsBook(Book):
    """Which rows train, which judge, and what goes with them."""

    name = "rows"

    def __init__(
        self,
        torch: Library,
        recorder: Recorder,
        passes: Passes,
        transfer: Transfer,
    ) -> None:
        self.torch = torch
        self.recorder = recorder
        self.graphs = passes
        self.later = Later(transfer)
        """What is done with rows, once they have come over from a device."""
        self.sets = Sets()
        self.labels, self.towers = Pairs(), Pairs()
        self.maps = Maps()
        self.labelled = Labelled()
        self.reach = Reach(torch)
        self.orders: dict[int, ClassOrder] = {}
        self.rounds: dict[int, Rounds] = {}
        self.indices = Indices(torch)
        self.begun: dict[int, int] = {}
        """Rounds of each loader that have begun."""
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
        self.since = {}
        self.asked = set()
        self.graphs.clear()
        self.later.do([], self._forget_passes)

    def _forget_passes(self, _: list[Array]) -> None:
        self.passes = []

    def settled(self) -> None:
        self.later.settle()

    def batch_given(self, loader: Any, batch: Any) -> None:
        self.loader = loader
        if loader is None or (loader.index not in self.begun and self._crowded()):
            return
        if self.torch.is_grad_enabled():
            self.since[loader.index] = loader
        if loader.index not in self.begun:
            self.indices.add(loader.index, loader.dataset() if loader.dataset is not None else None)
        begins = loader.given == 1
        begun = self.begun[loader.index] = self.begun.get(loader.index, 0) + begins
        self.origins.setdefault(loader.index, loader.origin)
        is_read = begun <= READ_ROUNDS
        ends = loader.given == loader.batches
        wanted = is_read or (begins and begun < MOST_HEADS)
        if not (wanted or begins or ends):
            if loader.origin in self.rounds:
                self.rounds[loader.origin].given = loader.given
            return
        parts = tensors_in(self.torch, batch) if wanted else []
        ends_of = [first_rows_of(self.torch, one) for one in (parts[:1] + parts[1:][-1:])]
        given = Batch(
            loader.index, loader.origin, loader.given, loader.batches, is_read, len(parts)
        )
        known = [one for one in ends_of if one is not None]
        has_inputs = bool(ends_of) and ends_of[0] is not None
        has_last = len(ends_of) > 1 and ends_of[1] is not None

        def entered(rows: list[Array]) -> None:
            inputs = rows[0] if has_inputs else None
            self._given(given, inputs, rows[-1] if has_last else None)

        self.later.do(known, entered)

    def _crowded(self) -> bool:
        return len(self.begun) >= MOST_SETS

    @property
    def origins_that_train(self) -> set[int]:
        return {self.origins.get(index, index) for index in self.sets.training}

    def _given(self, batch: Batch, inputs: Array | None, last: Array | None) -> None:
        """A loader gave a batch: the rows of its first part, and those of its last, where they are read."""
        rows = self.sets.by_loader.get(batch.loader)
        if rows is None:
            rows = self.sets.by_loader[batch.loader] = RowSet(labelled=False)
            if batch.origin in self.origins_that_train:
                self._was_training(batch.loader)
        trains = batch.loader in self.sets.training
        if batch.number == 1:
            rows.is_read = batch.is_read
            self._round_begins(batch.loader, rows, trains)
            rounds = self.rounds.setdefault(batch.origin, Rounds())
            rounds.begins(batch.batches, inputs, rows.is_read)
        if batch.origin in self.rounds:
            self.rounds[batch.origin].given = batch.number
        if rows.is_read and inputs is not None:
            self._read(batch, rows, inputs, last, trains)
        if batch.number == batch.batches:
            self._round_ends(batch.loader, rows, trains)

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
        batch: Batch,
        rows: RowSet,
        inputs: Array,
        last: Array | None,
        trains: bool,
    ) -> None:
        rows.labelled = batch.parts > 1
        keys = rows.add([inputs], last if last is not None and len(last) == len(inputs) else None)
        self.rounds[batch.origin].read(keys, last)
        if trains and inputs.ndim > 1:
            self.sets.trained.add(self.sets.trained.current, keys)
        if last is not None:
            self.orders[batch.loader].add(last)

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
        given = same_rows(self.torch, (args, kwargs))
        if not given:
            return
        model = self.sets.trained.number(module)
        if self.torch.is_grad_enabled():
            number = self.graphs.mark(output)
            self.later.do(given, lambda parts: self._passed(model, parts, number))
            return
        loader = self.loader
        if loader is not None:
            self.asked.add(loader.index)
        from_loader = loader.index if loader is not None and loader.open else None
        step, place = self.recorder.step, caller()
        self.reach.evaluated(len(given[0]))
        self.later.do(given, lambda parts: self._evaluated(model, parts, from_loader, step, place))

    def _passed(self, model: int, parts: list[Array], number: int | None) -> None:
        self.passes = [*self.passes[1 - MOST_PASSES :], Pass(model, parts, keys_of(parts), number)]

    def _evaluated(
        self,
        model: int,
        parts: list[Array],
        loader: int | None,
        step: int,
        place: Place | None,
    ) -> None:
        if loader is not None and loader not in self.sets.training:
            self.indices.judges(loader, model)
            rows = self.sets.by_loader.get(loader)
            if rows is not None:
                rows.place = rows.place or place
                rows.meets(self.sets.trained, model)
            return
        self.sets.evaluated(model, parts, step, place)

    def goes_back(self, loss: Tensor) -> None:
        behind = self.graphs.behind(loss)
        drawn = {index for index, one in self.since.items() if one.open or one is self.loader}
        asked = set(self.asked)
        self.later.do([], lambda _: self._goes_back(behind, drawn, asked))

    def _goes_back(self, behind: set[int], drawn: set[int], asked: set[int]) -> None:
        self.backward = [one for one in self.passes if one.is_behind(behind)]
        for index in drawn - self.sets.training if self.backward else ():
            if index not in asked or self._brought(index):
                self._was_training(index)
        for one in self.backward:
            for index in drawn & self.sets.training:
                self.indices.trains(index, one.model)
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
        labels = first_rows_of(self.torch, target)
        behind = self.graphs.behind(prediction)
        self.compared_at = place or self.compared_at
        if labels is None:
            return
        self.reach.trains(prediction, target, place)
        scores, step = prediction.detach(), self.recorder.step
        self.later.do([labels], lambda rows: self._compared(scores, rows[0], behind, step))

    def _compared(
        self,
        scores: Tensor,
        labels: Array,
        behind: set[int],
        step: int,
    ) -> None:
        passes = [one for one in self.backward if one.is_behind(behind)]
        same = [one for one in passes if len(one.keys) == len(labels)]
        if len(same) == len(passes) == 2 and are_places(labels, in_order=True):
            self.towers.add(same[0].keys, same[1].keys, step)
        if len(same) == 1 == len(passes) and not are_places(labels):
            self._pair(same[0], labels, step)
            self.classes.trains(scores, labels)
        if len(passes) == 1:
            self.reach.given(int(passes[0].keys.sum()), labels)

    def _pair(self, one: Pass, labels: Array, step: int) -> None:
        """Inputs and labels of one pass, row by row."""
        self.labels.add(one.keys, keys_of([labels]), step)
        if not self.labelled.full:
            self.labelled.add(one.parts, labels, one.keys)
        if labels.ndim >= 3:
            self.maps.add(one.parts[0], labels, step)

    def came(self) -> None:
        self.later.do([], self._came)

    def _came(self, _: list[Array]) -> None:
        over = {id(one) for one in self.backward}
        self.passes = [one for one in self.passes if id(one) not in over]
        self.backward = []

    def stepped(self) -> None:
        self.later.do([], self._forget_passes)

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
        labels = first_rows_of(self.torch, target) if target.dim() == 1 else None
        if labels is not None:
            scores = prediction.detach()
            self.later.do([labels], lambda rows: self._counted(scores, rows[0]))

    def _counted(self, scores: Tensor, labels: Array) -> None:
        if not are_places(labels):
            self.classes.judges(scores, labels)

    def ends(self) -> None:
        self._ends = True

    def facts(self) -> Facts | None:
        self.later.settle()
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
            "groups": self._groups() if self._ends else None,
            "indexed": self.indices.facts(self.sets.training),
            "place": self.compared_at,
            **self._held,
        }

    def _groups(self) -> Facts | None:
        """Groups of the rows that train, in the first set that judges and has such rows."""
        trained = self.labelled.tables()
        if trained is None:
            return None
        for one in self.sets.judging()[:4]:
            known = groups_of(*trained, one.sample.table())
            if known is not None and not one.shared:
                return {**known, "place": one.place}
        return None

    def _trains(self) -> list[int]:
        return [index for index in sorted(self.sets.training) if index in self.orders][:8]
