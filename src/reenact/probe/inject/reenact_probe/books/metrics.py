"""The book of metrics: what evaluations saw, what was reported of them, which states were kept and when.

Of some evaluations every pass is read: predictions next to their labels become the sums of `measures`. What
the program prints or logs before the next step is noted next to them. States of models that the program
takes out (`state_dict`) are counted by line and step, and so is what a scheduler that waits for a plateau is
given.
"""

from __future__ import annotations

from time import thread_time
from typing import Any

from reenact_probe.books import Book
from reenact_probe.books.measures import Stream, is_made_of, whole
from reenact_probe.books.states import States
from reenact_probe.guard import before, guarded
from reenact_probe.places import caller
from reenact_probe.recorder import Recorder
from reenact_probe.torch.samples import plain
from reenact_probe.torch.transfer import Transfer
from reenact_probe.types import Facts, Library, Module, Optimizer, Tensor

MOST_EVALUATIONS = 64
MOST_STREAMS = 6
MOST_REPORTED = 24
MOST_PASSES = 3000
"""Of one evaluation: a longer one is no longer read, and says so."""
MOST_LINES = 16
MOST_GIVEN = 100
"""Values given to a scheduler that are noted."""
SHARE = 0.01
"""Of the time of the run that reading evaluations may take, after the first ones."""
CHEAP = 0.1
"""Seconds of the processor that it may take in any case."""
ALWAYS = 2
"""Evaluations that are read whatever they cost."""
MOST_SILENT = 4
"""Evaluations of one line of which nothing was reported, before it is left alone."""
READ = ("output", "lightning", "torchmetrics", "user", "pattern")
"""Sources of metrics that report an evaluation; a progress bar writes over itself."""


class Evaluation:
    """What happens between two steps."""

    def __init__(self, step: int, line: tuple[Any, ...]) -> None:
        self.step = step
        self.line = line
        """File and line at which it begins."""
        self.streams: dict[Any, Stream] = {}
        self.reported: list[Facts] = []
        self.passes = 0
        self.read = True
        """Passes are read."""


class MetricsBook(Book):
    """Reads evaluations, and listens to what is reported of them."""

    name = "metrics"

    def __init__(self, torch: Library, recorder: Recorder, transfer: Transfer) -> None:
        self.torch = torch
        self.recorder = recorder
        self.spent = 0.0
        self._evaluations: list[Evaluation] = []
        self._open: Evaluation | None = None
        self._silent: dict[tuple[Any, ...], int] = {}
        """By line, evaluations of which nothing was reported: a teacher in each step is one."""
        self._waiting: tuple[Any, Tensor] | None = None
        """The last output whose labels no loader gave, and what its streams are known by."""
        self._states = States(torch, recorder, transfer)
        self._plateaus: dict[int, Facts] = {}
        self._known: list[tuple[str, int, int]] = []
        """Labels that were compared since the last pass: how, where they lie and how many."""
        self._given = ""
        """The loader that gave the last batch, where gradients are kept."""
        self._stretched: list[Facts] = []
        self._feeds: set[str] = set()
        """Loaders whose batches went into steps."""
        recorder.on_metric.append(guarded("metrics-book")(self._reported))
        plateau = torch.optim.lr_scheduler.ReduceLROnPlateau
        before(plateau, "step", self._plateau_stepped)

    def evaluation_begins(self) -> bool:
        """Whether every pass of the evaluation that begins is wanted."""
        self._waiting = None
        self._settle()
        if len(self._evaluations) >= MOST_EVALUATIONS:
            return False
        if len(self._evaluations) >= ALWAYS and self.spent > CHEAP + SHARE * self.recorder.now():
            return False
        line = tuple((caller() or ())[:2])
        if self._silent.get(line, 0) >= MOST_SILENT:
            return False
        self._open = Evaluation(self.recorder.step, line)
        return True

    def _settle(self) -> None:
        """Keep the evaluation that is over where something was reported of it."""
        seen, self._open = self._open, None
        if seen is not None and seen.reported and seen.streams:
            self._evaluations.append(seen)
        elif seen is not None and len(self._silent) < MOST_EVALUATIONS:
            self._silent[seen.line] = self._silent.get(seen.line, 0) + 1

    def batch_given(self, loader: Any, batch: Any) -> None:  # noqa: ARG002
        trains = loader is not None and self.torch.is_grad_enabled()
        self._given = loader.name if trains else ""

    def steps(self, optimizer: Optimizer | None, parameters: list[Tensor]) -> None:  # noqa: ARG002
        if self._given:
            self._feeds.add(self._given)
        self._given = ""

    def look_begins(self) -> None:
        self._waiting = None

    @property
    def _current(self) -> Evaluation | None:
        """The evaluation under way: its step has not been followed by another."""
        seen = self._open
        if seen is not None and seen.step == self.recorder.step:
            return seen
        return None

    def judged(
        self,
        module: Module,
        source: Any,
        given: Tensor | None,
        output: Any,
        labels: Tensor | None,
    ) -> bool:
        """An evaluation pass was made; `source` reports its loader. Whether more are wanted."""
        seen = self._current
        self._given = ""
        if seen is None or not seen.read:
            return False
        began = thread_time()
        prediction = self._prediction(output)
        self._waiting = None
        if prediction is not None:
            key = self._key(module, source, given)
            self._waiting = None if labels is not None else (key, prediction)
            self._known = []
            if labels is not None:
                self._add(key, prediction, labels)
        seen.passes += 1
        seen.read = seen.passes < MOST_PASSES
        if not seen.read:
            for stream in seen.streams.values():
                stream.complete = False
        self.spent += thread_time() - began
        return seen.read

    def judged_by_loss(self, prediction: Tensor, target: Tensor) -> None:
        """A loss compared something made of the last output with labels that no loader gave."""
        if self._is_news(target, "loss"):
            key, _ = self._waiting or ("", None)
            self._add((*key, "loss", len(self._known)), prediction, target)

    def answered(
        self,
        answers: Tensor,
        labels: Tensor,
        made_of: list[Tensor],
    ) -> None:
        """Answers made of the last output were compared with labels that no loader gave."""
        if self._is_news(labels, "answers") and self._waiting is not None:
            key, _ = self._waiting
            self._note_stretched(answers, labels)
            with self.torch.no_grad():
                scores = (one for one in made_of if is_made_of(one, answers, labels))
                source = next(scores, None)
                source = whole(answers) if source is None else source
            self._add((*key, "answers", len(self._known)), source, labels)

    def _note_stretched(self, answers: Tensor, labels: Tensor) -> None:
        """Keep where each answer is compared with the labels of all rows."""
        shapes = [list(answers.shape), list(labels.shape)]
        rows = max(map(len, (answers, labels)))
        if rows > 1 and sorted(shapes) == sorted([[rows], [rows, 1]]) and not self._stretched:
            self._stretched.append({"rows": rows, "place": caller()})

    def _is_news(self, labels: Tensor, kind: str) -> bool:
        """Whether these labels were not yet compared in this way since the last pass."""
        seen = (kind, labels.data_ptr(), labels.numel())
        if self._waiting is None or self._current is None or seen in self._known:
            return False
        self._known.append(seen)
        return len(self._known) <= MOST_STREAMS

    def _add(self, key: Any, prediction: Tensor, labels: Tensor) -> None:
        began = thread_time()
        stream = self._stream(key)
        if stream is None:
            return
        if plain(self.torch, prediction) and plain(self.torch, labels) and labels.dim():
            with self.torch.no_grad():
                stream.add(self.torch, prediction, labels)
        else:
            stream.complete = False
        self.spent += thread_time() - began

    def _prediction(self, output: Any) -> Tensor | None:
        """The first tensor of an output that has rows: a loss may come before it."""
        values = list(output.values()) if isinstance(output, dict) else output
        values = values if isinstance(values, (list, tuple)) else [values]
        tensors = (value for value in values[:4] if isinstance(value, self.torch.Tensor))
        for value in tensors:
            if value.dim():
                return value
        return None

    def _key(self, module: Module, source: Any, given: Tensor | None) -> Any:
        """What a stream is known by: its model, its loader and round, or its rows."""
        name, rows = source if source is not None else ("", self._rows_of(given))
        return (id(module), type(module).__name__, name, rows)

    def _stream(self, key: Any) -> Stream | None:
        seen = self._current
        if seen is None:
            return None
        stream = seen.streams.get(key)
        if stream is None and len(seen.streams) < MOST_STREAMS:
            asked_at = key[3][0][1] if not key[2] and key[3] and key[3][0] else 0
            stream = seen.streams[key] = Stream(key[1], key[2], key[2] in self._feeds, asked_at)
        return stream

    @staticmethod
    def _rows_of(given: Tensor | None) -> Any:
        """What distinguishes rows of no loader: the line that asks, and what they are a slice of."""
        base = getattr(given, "_base", None)
        place = caller()
        return (tuple(place or ()), id(base) if base is not None else 0)

    def _reported(self, name: str, value: Any, source: str) -> None:
        seen = self._current
        if seen is None or source not in READ or len(seen.reported) >= MOST_REPORTED:
            return
        try:
            number = float(value)
        except (TypeError, ValueError, RuntimeError):
            return
        seen.reported.append(
            {
                "name": name[:80],
                "value": number if abs(number) < float("inf") else None,
                "source": source,
                "place": caller() if source == "output" else None,
            }
        )

    @guarded("plateau")
    def _plateau_stepped(
        self,
        scheduler: Any,
        metrics: Any,
        *_: Any,
        **__: Any,
    ) -> None:
        known = self._plateaus.get(id(scheduler))
        if known is None and len(self._plateaus) < MOST_LINES:
            known = {"mode": str(scheduler.mode), "place": caller(), "given": []}
            self._plateaus[id(scheduler)] = known
        if known is not None and len(known["given"]) < MOST_GIVEN:
            known["given"].append([self.recorder.step, float(metrics)])

    def facts(self) -> Facts | None:
        seen = [*self._evaluations, self._open]
        return {
            "evaluations": [self._evaluation(one) for one in seen if one is not None],
            "stretched": self._stretched,
            **self._states.facts(),
            "plateaus": list(self._plateaus.values()),
        }

    def _evaluation(self, seen: Evaluation) -> Facts:
        streams = [stream.facts(self.torch) for stream in seen.streams.values()]
        return {
            "step": seen.step,
            "streams": [facts for facts in streams if facts is not None],
            "reported": seen.reported,
        }
