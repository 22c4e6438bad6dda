"""Predictions of a model and the labels that they are compared with, caught while a program runs.

A *root* is what an outermost module with parameters gave. Whatever a torch function makes of a root
comes from it too; a tensor that does not, meets it in a torch function and has as many rows, is a
candidate for its labels (the cross-entropy of the two, their difference, their equality). What was
made with the help of a tensor is not a prediction of that tensor: `label + noise` is never paired with
the label. Where predictions leave torch as arrays or lists, candidates are looked for among the
variables of the calling functions, and are called *guessed*: a metric may be confirmed by them, and
is never refused because of them.

Calls between two updates are one evaluation; predictions that an update followed were training and
are dropped, unless they were made without gradients. Not covered: models that are not modules;
labels compared in another process; more than `MOST_VALUES` predictions in one evaluation.
"""

from __future__ import annotations

import sys
import weakref
from collections import deque
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import FrameType

    from reenact.paper.measure.inside.quantities import Quantities, quantities
else:
    from quantities import quantities

MOST_PASSES = 1000
"""Evaluations that are kept, the last ones."""
MOST_CALLS = 4096
MOST_PARTNERS = 4
MOST_VALUES = 20_000_000
FEW_CALLS = 8
"""Calls of an evaluation up to which each is looked at by itself."""
MOST_MIXED = 16
"""Tensors from elsewhere that are remembered of what a prediction was made of."""
SURELY_THE_SAME = 0.9999
"""Correlation from which on two tensors say the same."""
FRAMES_UP = 6
MOST_GUESSED = 6
LEAVES_TORCH = frozenset(("numpy", "tolist", "__array__", "item"))


class Call:
    """One root: the prediction, and what it was compared with."""

    def __init__(
        self,
        output: Any,
        model: int,
        inputs: list[Any],
        *,
        for_training: bool,
    ) -> None:
        self.output = output
        self.model = model
        self.inputs = inputs
        self.for_training = for_training
        self.pairs: list[tuple[Any, Any]] = []
        """A prediction or what was made of it, and its partner."""
        self.guessed: list[Any] = []

    @property
    def rows(self) -> int:
        return int(self.output.shape[0])

    def candidates(self) -> list[tuple[Any, Any, bool]]:
        """Predictions, labels, and whether these are guessed."""
        found = []
        for made, partner in self.pairs:
            found.append((made, partner, False))
            if made is not self.output:
                found.append((self.output, partner, False))
        for labels in self.guessed:
            found.append((self.output, labels, True))
        return found


class Predictions:
    """Everything of that kind in one run."""

    def __init__(self) -> None:
        self.passes: deque[dict[str, Any]] = deque(maxlen=MOST_PASSES)
        self.roots = 0
        self.left_out = 0
        """Evaluations with more predictions than are kept."""
        self._calls: list[Call] = []
        self._values = 0
        self._from: dict[int, tuple[Any, Call, list[Any]]] = {}
        """By the id of a tensor: a weak reference to it, the root that it comes from, and the
        tensors from elsewhere that went into it on the way.
        """

    def comes_from(self, tensor: Any) -> Call | None:
        """The root that a tensor comes from."""
        known = self._from.get(id(tensor))
        if known is not None and known[0]() is tensor:
            return known[1]
        return None

    def root(
        self,
        output: Any,
        model: Any,
        inputs: list[Any],
        *,
        for_training: bool,
    ) -> None:
        """A model gave this."""
        self.roots += 1
        self._values += output.numel()
        if self._values > MOST_VALUES or len(self._calls) >= MOST_CALLS:
            return
        call = Call(
            output.detach(),
            id(model),
            inputs,
            for_training=for_training,
        )
        self._calls.append(call)
        self._trace(output, call, [])

    def _trace(self, tensor: Any, call: Call, mixed: list[Any]) -> None:
        key = id(tensor)
        self._from[key] = (
            weakref.ref(
                tensor,
                lambda _: self._from.pop(key, None),
            ),
            call,
            mixed,
        )

    def _mixed_into(self, tensor: Any) -> list[Any]:
        """Tensors from elsewhere that went into one that comes from a root."""
        known = self._from.get(id(tensor))
        if known is not None and known[0]() is tensor:
            return known[2]
        return []

    def seen(
        self,
        function: Any,
        inputs: list[Any],
        results: list[Any],
    ) -> None:
        """A torch function was called with these tensors and gave those."""
        if not self._from:
            return
        roots = [(one, call) for one in inputs if (call := self.comes_from(one)) is not None]
        if not roots:
            return
        made, call = roots[-1]
        strangers = [other for other in inputs if self.comes_from(other) is None]
        for other in strangers:
            self._meet(made, other, call)
        mixed = [one for root, _ in roots for one in self._mixed_into(root)]
        mixed += [other.detach() for other in strangers if other.ndim]
        for result in results:
            self._trace(result, call, mixed[:MOST_MIXED])
        name = getattr(function, "__name__", "")
        if name in LEAVES_TORCH and not call.pairs and not call.for_training and not call.guessed:
            call.guessed = _labels_nearby(call, sys._getframe(2))

    def _meet(self, made: Any, other: Any, call: Call) -> None:
        """A tensor of as many values, or one value per row, next to what comes from a root."""
        if (
            type(other).__name__ == "Parameter"
            or len(call.pairs) >= MOST_PARTNERS
            or other.ndim == 0
        ):
            return
        if any(_is_made_of(other, one) for one in self._mixed_into(made)):
            return
        count = int(other.numel())
        size = int(made.numel())
        last = 1
        if made.ndim:
            last = int(made.shape[-1])
        second = 1
        if made.ndim > 1:
            second = int(made.shape[1])
        if count > 1 and (count == size or count * last == size or count * second == size):
            call.pairs.append((made.detach(), other.detach()))

    def updated(self) -> None:
        """The model was updated: what was predicted since the last time is complete."""
        calls = [call for call in self._calls if not call.for_training]
        if self._values > MOST_VALUES and calls:
            self.left_out += 1
        elif calls:
            self._evaluated(calls)
        self._calls = []
        self._values = 0
        self._from = {}

    def ended(self) -> None:
        """The program is over. A prediction with gradients that no update followed was an
        evaluation.
        """
        for call in self._calls:
            call.for_training = False
        self.updated()

    def _evaluated(self, calls: list[Call]) -> None:
        groups: list[list[Call]] = []
        for call in calls:
            if groups and groups[-1][-1].model == call.model:
                groups[-1].append(call)
            else:
                groups.append([call])
        for group in groups:
            for place, several in enumerate(_several(group)):
                self._joined(
                    several,
                    f"{len(groups)}/{place}",
                )

    def _joined(self, calls: list[Call], place: str) -> None:
        """Metrics of all these calls together, for each way to pair predictions and labels."""
        import torch

        ways = [call.candidates() for call in calls]
        for number in range(min(map(len, ways))):
            picked = [candidates[number] for candidates in ways]
            guessed = any(one[2] for one in picked)
            try:
                predicted = torch.cat([one[0].cpu() for one in picked])
                labels = torch.cat([one[1].cpu() for one in picked])
                whole = quantities(predicted, labels)
                parts = []
                if len(picked) > 1:
                    parts = [quantities(*one[:2]) for one in picked]
            except (RuntimeError, TypeError, ValueError, IndexError):
                continue
            series = f"{place}/{number}"
            if whole:
                self._keep(series, guessed, whole)
            if parts and all(parts):
                self._keep(
                    f"{series}/mean",
                    guessed,
                    _averages(parts),
                )

    def _keep(self, series: str, guessed: bool, found: Quantities) -> None:
        """`series` names evaluations that were made in the same way: only these may be averaged."""
        self.passes.append(
            {
                "series": series,
                "guessed": guessed,
                "of": found,
            }
        )


def _is_made_of(labels: Any, mixed: Any) -> bool:
    """Whether one tensor is the other, or the other times a number plus a number."""
    import torch

    if labels is mixed or labels.data_ptr() == mixed.data_ptr():
        return True
    if labels.numel() != mixed.numel() or labels.numel() < 3:
        return False
    rows = torch.stack([one.detach().cpu().double().flatten() for one in (labels, mixed)])
    correlation = float(torch.corrcoef(rows)[0, 1].abs())
    return correlation > SURELY_THE_SAME or torch.equal(
        rows[0],
        rows[1],
    )


def _averages(parts: list[Quantities]) -> Quantities:
    """Means over mini-batches, as programs that average per batch report them."""
    names = set.intersection(*(set(part) for part in parts))
    found: Quantities = {}
    for name in names:
        values = [part[name][0] for part in parts]
        constants = [part[name][1] for part in parts]
        found[name] = (
            sum(values) / len(values),
            sum(constants) / len(constants),
        )
    return found


def _several(group: list[Call]) -> list[list[Call]]:
    """The calls of one model together; loaders that follow one another, which end with a smaller
    batch; and single calls where they are few.
    """
    found = [group]
    piece: list[Call] = []
    pieces: list[list[Call]] = []
    for call in group:
        piece.append(call)
        if call.rows < piece[0].rows:
            pieces.append(piece)
            piece = []
    if piece:
        pieces.append(piece)
    if len(pieces) > 1:
        found += pieces
    if 1 < len(group) <= FEW_CALLS:
        found += [[call] for call in group if [call] not in pieces]
    return found


def _labels_nearby(call: Call, frame: FrameType | None) -> list[Any]:
    """Tensors, arrays and lists of as many rows among the variables of the calling functions."""
    found: list[Any] = []
    for _ in range(FRAMES_UP):
        if frame is None:
            break
        if "site-packages" not in frame.f_code.co_filename:
            for value in list(frame.f_locals.values()):
                found += _rows_in(value, call, deep=True)
        frame = frame.f_back
    return found[:MOST_GUESSED]


def _rows_in(value: Any, call: Call, *, deep: bool) -> list[Any]:
    import torch

    if isinstance(value, torch.Tensor):
        fits = value.ndim > 0 and len(value) == call.rows and value.detach() is not call.output
        if fits and not any(value is one for one in call.inputs):
            return [value.detach()]
        return []
    is_array = type(value).__module__ == "numpy" and hasattr(value, "__len__")
    if is_array and value.ndim and len(value) == call.rows:
        try:
            return [torch.as_tensor(value)]
        except TypeError:
            return []
    is_list = isinstance(value, (list, tuple)) and len(value) == call.rows
    if is_list and all(isinstance(one, (int, float)) for one in value):
        return [torch.tensor(value)]
    parts = _parts_of(value) if deep else []
    return [one for part in parts[:50] for one in _rows_in(part, call, deep=False)]


def _parts_of(value: Any) -> list[Any]:
    """What a dictionary, a tuple or an object holds; a module holds weights, and no labels."""
    import torch

    inner: list[Any] = []
    if isinstance(value, dict):
        inner = list(value.values())
    elif isinstance(value, tuple):
        inner = list(value)
    elif hasattr(value, "__dict__") and not isinstance(value, (type, torch.nn.Module)):
        inner = list(vars(value).values())
    return inner
