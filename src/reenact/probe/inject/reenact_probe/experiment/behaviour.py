"""What the live model does with inputs that were changed on purpose, before its first step.

Each test is two forward passes in evaluation mode without gradients: as the program called the
model, and with a change that must not matter. A row's output must not move when other rows change;
the scores of a token must not move when later tokens change, where the next token is to be
predicted; padding that is cut off must not matter. The first module whose output moves is named.
Random state, modes, buffers and gradients are as before.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import random
from collections.abc import Callable, Iterator

from reenact_probe.clock import CLOCK
from reenact_probe.experiment import senses
from reenact_probe.experiment.senses import Ended, Pass, following
from reenact_probe.experiment.tape import same, tensors_in
from reenact_probe.types import Facts, Function, Library, Module, Tensor

MOST_PASSES = 4
MOVED = 1e-3
"""Share of the spread of an output beyond which it moved."""
FEW_TOKENS = 4
_ALONG_TIME = ("LSTM", "GRU", "RNN", "Attention", "Transformer", "Conv1d")
"""Parts of the names of modules that read a sequence, which may be given without a batch."""
AGREE = 0.98
"""Share of the targets that must be the token so many places on."""


class Subject:
    """One model and the inputs it was called with; `batch` are the tensors that a loader gave last,
    `padding` is what the program pads rows with.
    """

    def __init__(
        self,
        torch: Library,
        call: Pass,
        batch: list[Tensor],
        until: float,
        padding: float | None,
    ) -> None:
        self.torch = torch
        self.call = call
        self.padding = padding
        self.batch = {id(tensor) for tensor in batch}
        self.rows = int(batch[0].shape[0]) if batch and batch[0].dim() else 0
        """Of the loader's batch; 0 without a loader."""
        self.until = until
        self.was_late = False
        """A test was left out for want of time."""
        self.names = {id(module): name for name, module in call.module.named_modules()}

    def facts(self, targets: list[Tensor], at_end: bool) -> Facts:
        found: Facts = {
            "model": type(self.call.module).__name__,
            "at_end": at_end,
        }
        with _untouched(self.torch, self.call.module):
            base = self._scores(same)
            if base is None:
                return dict(found, missing="it gives no scores")
            found["noise"] = _moved(
                base,
                self._scores(same, seed=1),
            )
            found["mask_blind"] = self._mask_blind(targets)
            quiet = (found["noise"] or 0.0) < MOVED
            everything = list(self._tokens(targets))
            tokens = everything[0] if everything else None
            time_axis = None
            for number, given in enumerate(everything):
                axis, shift = _shift(given, targets)
                # A first input that is the target is an autoencoder's.
                answers = shift
                if axis is not None and number and quiet and bool(shift) == ("shift" in found):
                    # Anyone who gives the model the tokens before each alone (teacher forcing) may
                    # hand it all of them, and anyone who lets it compute the loss its labels: scores
                    # must depend on them.
                    answers = (self._leak(base, given, axis, own=True)[0] or 0.0) > MOVED
                if axis is not None and answers:
                    tokens = given
                    time_axis = axis
                    found["shift"] = shift
            if quiet:
                rows = self._batch_axis(base, time_axis, targets)
                self._without_noise(found, base, tokens, time_axis, rows)
                sources = [given for given in everything if given is not tokens]
                if found.get("shift") == 1 and time_axis == 1 and len(sources) == 1:
                    self._source_padding(found, base, sources[0], tokens)
                if rows == 0 and self.in_time():
                    found["ignored_inputs"] = senses.ignored(
                        self.torch,
                        self.call,
                        targets,
                        at_end,
                    )
                    if at_end:
                        found["order_blind"] = senses.order_blind(self.torch, self.call, base)
        return found

    def _without_noise(
        self,
        found: Facts,
        base: Tensor,
        tokens: Tensor | None,
        time_axis: int | None,
        rows: int | None,
    ) -> None:
        """The tests of tokens, and of the axis along which the rows lie."""
        if (
            tokens is not None
            and time_axis is not None
            and found.get("shift") == 1
            and self.in_time()
        ):
            found["leak"], found["leak_at"] = self._leak(base, tokens, time_axis)
        if rows is not None and self.in_time():
            found["mixing"], found["mixing_at"] = self._mixing(base, rows)
        if tokens is not None and time_axis is None and rows == 0 and self.in_time():
            found["padding"] = self._padding(base, tokens)

    def in_time(self) -> bool:
        """Whether there is time for one more test; notes where there is none."""
        late = CLOCK.now() >= self.until
        self.was_late = self.was_late or late
        return not late

    def _tokens(self, targets: list[Tensor]) -> Iterator[Tensor]:
        """Inputs of whole numbers with rows and columns; of those that are given by name no masks
        and no labels: such hold ones and zeros, or what a loss compares with, or say by negative
        numbers what does not count.
        """
        named = [
            tensor
            for tensor in tensors_in(self.call.kwargs)
            if not senses.is_mask(tensor)
            and not senses.equals_any(tensor, targets)
            and not bool((tensor < 0).any())
        ]
        for tensor in (*tensors_in(self.call.args), *named):
            whole = not tensor.is_floating_point() and not tensor.is_complex()
            if (
                whole
                and tensor.dtype is not self.torch.bool
                and tensor.dim() == 2
                and min(tensor.shape) > 1
            ):
                yield tensor

    def _mask_blind(self, targets: list[Tensor]) -> bool | None:
        """Whether a mask that is given next to padded tokens is the same everywhere; none without
        padding at the end of rows, or without a mask. Whole numbers that are all zero are types of
        tokens, no mask.
        """
        blind: bool | None = None
        for tokens in self._tokens(targets) if self.padding is not None else ():
            filled = tokens == self.padding
            # A token may have the number of padding: padding has nothing but padding after it.
            if not bool((filled[:, 1:] >= filled[:, :-1]).all()):
                continue
            beside = [t for t in self.call.given if t is not tokens and t.shape == tokens.shape]
            whole = [t for t in beside if bool(((t == 0) | (t == 1)).all())]
            masks = [t for t in whole if t.dtype is self.torch.bool or bool(t.any())]
            if masks and bool(filled.any()) and not bool(filled.all()):
                blind = (blind is not False) and all(
                    bool((t == t.flatten()[0]).all()) for t in masks
                )
        return blind

    def _batch_axis(
        self,
        base: Tensor,
        time_axis: int | None,
        targets: list[Tensor],
    ) -> int | None:
        """The axis of the rows: the one that is not time, or the one of the batch size."""
        if time_axis is not None:
            return 1 - time_axis
        given = self.call.given
        rows = self.rows or self._rows_without_loader(given, base, targets)
        sized = rows > 2 and all(t.dim() and t.shape[0] == rows for t in given)
        # What the loader gave has its rows first; what was made of it may have them second.
        unclear = any(t.dim() > 1 and t.shape[1] == rows and id(t) not in self.batch for t in given)
        fits = sized and base.shape[0] == rows and not self._relates(base, rows)
        return 0 if fits and given and not unclear else None

    def _rows_without_loader(
        self,
        given: list[Tensor],
        base: Tensor,
        targets: list[Tensor],
    ) -> int:
        """The size of a batch that no loader made: inputs of different lengths have their rows
        first, and so has an input with one target per row; 0 where the first axis may be time.
        """
        rows = int(given[0].shape[0]) if given and given[0].dim() else 0
        if len({t.shape[1] for t in given if t.dim() > 1}) > 1:
            return rows
        labelled = any(target.dim() in (1, 2) and target.shape[0] == rows for target in targets)
        first = given[0] if given else base
        one_series = first.shape[1] == 1 if first.dim() > 2 else first.is_floating_point()
        series = one_series and self.call.has_part(_ALONG_TIME)
        if labelled and base.dim() <= 2 and not series:
            return rows
        return 0

    def _relates(self, base: Tensor, rows: int) -> bool:
        """Whether rows are related on purpose: scores of pairs, a matrix of rows by rows (a graph),
        or numbers of rows next to what the rows hold (the neighbours of each).
        """
        # The weights of a layer of PyTorch relate its channels, of which there may be as many as
        # rows.
        parts = [
            p for p in self.call.module.modules() if not type(p).__module__.startswith("torch.nn.")
        ]
        held = [value for part in parts for value in vars(part).values()]
        tensors = [
            base,
            *self.call.given,
            *self.call.module.buffers(),
            *tensors_in(held),
        ]
        if any(t.dim() == 2 and tuple(t.shape) == (rows, rows) for t in tensors):
            return True
        features = any(
            t.is_floating_point() and t.dim() > 1 and len(t) == rows for t in self.call.given
        )
        return features and any(_are_numbers_of_rows(t, rows) for t in tensors)

    def _leak(
        self,
        base: Tensor,
        tokens: Tensor,
        axis: int,
        own: bool = False,
    ) -> tuple[float | None, Facts | None]:
        """How far the scores of earlier tokens move when later ones change; `own`: and those of the
        first that changes.
        """
        length = tokens.shape[axis]
        half = length // 2
        if base.dim() != 3 or base.shape[axis] != length or length < FEW_TOKENS:
            return None, None
        later = tokens.clone()
        part = later.narrow(axis, half, length - half)
        part.copy_(
            part.flip(axis).roll(
                1,
                1 - axis,
            )
        )
        if self.torch.equal(later, tokens):
            return None, None

        def changed(tensor: Tensor) -> Tensor:
            return later if tensor is tokens else tensor

        def early(tensor: Tensor) -> Tensor | None:
            fits = tensor.dim() >= 2 and tensor.shape[:2] == tokens.shape
            if fits:
                return tensor.narrow(axis, 0, half + own)
            return None

        return self._compare(base, changed, early)

    def _mixing(self, base: Tensor, axis: int) -> tuple[float | None, Facts | None]:
        """How far the output of the last row moves when others take the place of the rows before
        it: what runs along the batch comes to the last row last.
        """
        rows = base.shape[axis] if base.dim() > axis else 0
        if rows < 3:
            return None, None

        def changed(tensor: Tensor) -> Tensor:
            if tensor.dim() <= axis or tensor.shape[axis] != rows:
                return tensor
            others = tensor.narrow(axis, 0, rows - 1)
            last = tensor.narrow(axis, rows - 1, 1)
            # The first row stands in for all others: other rows, and each still one of the
            # program's.
            return self.torch.cat(
                [others.narrow(axis, 0, 1).expand_as(others), last],
                axis,
            )

        def last_row(tensor: Tensor) -> Tensor | None:
            # Inside the model rows may come second.
            axes = [
                one for one in (axis, 1 - axis) if tensor.dim() > one and tensor.shape[one] == rows
            ]
            if axes:
                return tensor.narrow(
                    axes[0],
                    rows - 1,
                    1,
                )
            return None

        share, where = self._compare(base, changed, last_row)
        first = base.narrow(axis, 0, 1)
        alike = float((base - first).abs().max()) <= 1e-5 * float(first.abs().max())
        if (share or 0.0) < MOVED and alike:
            # Every row gets the same answer, whatever it is given: the layers inside may show more.
            def clear(tensor: Tensor) -> Tensor | None:
                one_axis = list(tensor.shape).count(rows) == 1 and tensor.shape[0] == rows
                return last_row(tensor) if one_axis else None

            return self._where(changed, clear)
        return share, where

    def _padding(
        self,
        base: Tensor,
        tokens: Tensor,
        whole: Tensor | None = None,
    ) -> float | None:
        """How far outputs of rows move when padding at their end is cut off; `whole` stays as
        it is.
        """
        length = tokens.shape[1]
        same = (tokens == tokens[:, -1:]).flip(1).cumprod(1).sum(1)
        values, counts = tokens[:, -1][same > 1].unique(return_counts=True)
        if not len(values) or base.shape[0] != len(tokens):
            return None
        padded = (tokens[:, -1] == values[counts.argmax()]) & (same > 1) & (same < length - 1)
        if int(padded.sum()) < max(2, len(tokens) // 5):
            return None
        cut = int(same[padded].min())
        rows = padded.nonzero().reshape(-1)

        def changed(tensor: Tensor) -> Tensor:
            kept_whole = tensor is whole
            if tensor.dim() and tensor.shape[0] == len(tokens):
                tensor = tensor[rows]
            square = tensor.dim() >= 2 and tensor.shape[1] == length and not kept_whole
            return tensor[:, : length - cut] if square else tensor

        kept = base[rows]
        if kept.dim() == 3 and kept.shape[1] == length:
            return None
        moved = _moved(kept, self._scores(changed))
        if moved is not None:
            return moved
        return self._refilled(base, tokens, values[counts.argmax()])

    def _refilled(
        self,
        base: Tensor,
        tokens: Tensor,
        padding: Tensor,
    ) -> float | None:
        """How far outputs move when other tokens are where a mask says that there are none; for
        models that take rows of one length alone.
        """
        filled = tokens == padding
        beside = [t for t in self.call.given if t is not tokens and t.shape == tokens.shape]
        if not any(bool(((t == t[filled][0]) == filled).all()) for t in beside):
            return None
        real = tokens[~filled]
        other = tokens.masked_scatter(
            filled,
            real.repeat(-(-int(filled.sum()) // len(real))),
        )
        return _moved(
            base,
            self._scores(lambda tensor: other if tensor is tokens else tensor),
        )

    def _source_padding(
        self,
        found: Facts,
        base: Tensor,
        source: Tensor,
        tokens: Tensor,
    ) -> None:
        """The same for what a decoder is given next to its own tokens. Batches of rows of one length
        have no padding: then some is added, where it is known what the program pads with.
        Recurrence reads on through padding, and is often left to.
        """
        recurrent = any(
            type(part).__name__ in ("LSTM", "GRU", "RNN") for part in self.call.module.modules()
        )
        if recurrent or base.dim() != 3 or base.shape[0] != len(source) or not self.in_time():
            return
        found["padding"] = self._padding(base, source, tokens)
        given = [t for t in self.call.given if t is not tokens and t.dim() > 1]
        alike = [t for t in given if t.shape[:2] == source.shape]
        if len(alike) == 1 and found["padding"] is None and self.padding is not None:
            longer = self.torch.cat(
                [
                    source,
                    self.torch.full_like(source[:, :2], self.padding),
                ],
                1,
            )
            scores = self._scores(lambda tensor: longer if tensor is source else tensor)
            found["padding_added"] = _moved(base, scores)

    def _compare(
        self,
        base: Tensor,
        change: Function,
        part: Callable[[Tensor], Tensor | None],
    ) -> tuple[float | None, Facts | None]:
        """How far this part of the scores moves with the change, and the first module where it
        does.
        """
        kept = part(base)
        scores = self._scores(change)
        other = part(scores) if scores is not None else None
        share = _moved(kept, other, base) if kept is not None else None
        return share, self._where(change, part)[1] if (share or 0.0) > MOVED else None

    def _scores(self, change: Function, seed: int = 0) -> Tensor | None:
        """The first output of numbers that has rows; none where the model refuses the change."""
        given = self.call.outputs(self.torch, change, seed)
        for scores in given:
            if len(scores) > 1:
                return scores
        return None

    def _where(
        self, change: Function, part: Callable[[Tensor], Tensor | None]
    ) -> tuple[float, Facts | None]:
        """How far the output of the first module moves that moves, in the order in which they
        end.
        """
        runs: tuple[list[Ended], list[Ended]] = ([], [])
        for ended, changing in zip(runs, (same, change)):
            with following(self.call.module, part, ended):
                self._scores(changing)
        for before, after in zip(*runs):
            share = _moved(before.part, after.part, before.whole) or 0.0
            if share > MOVED:
                return share, before.facts(
                    self.names.get(
                        id(before.module),
                        "",
                    )
                )
        return 0.0, None


@contextlib.contextmanager
def _untouched(torch: Library, module: Module) -> Iterator[None]:
    """Evaluation without gradients; modes, buffers and random state are put back."""
    modes = [(part, part.training) for part in module.modules()]
    buffers = [(buffer, buffer.detach().clone()) for buffer in module.buffers()]
    numbers = random.getstate()
    with torch.random.fork_rng(), torch.no_grad():
        module.eval()
        try:
            yield
        finally:
            for part, training in modes:
                part.training = training
            for buffer, first in buffers:
                buffer.copy_(first)
            random.setstate(numbers)


def _are_numbers_of_rows(tensor: Tensor, rows: int) -> bool:
    """Whether whole numbers reach from the first rows to the last: tokens and classes rarely
    end there.
    """
    if tensor.dim() != 2 or not tensor.numel() or tensor.is_floating_point() or tensor.is_complex():
        return False
    return int(tensor.min()) >= 0 and 0.9 * (rows - 1) <= int(tensor.max()) < rows


def _moved(
    before: Tensor,
    after: Tensor | None,
    whole: Tensor | None = None,
) -> float | None:
    """The largest change, as a share of the spread of the values; none where that is not known.
    `whole`: what the values are a part of, for a part may be a single number.
    """
    if after is None or before.shape != after.shape or not before.numel():
        return None
    whole = before if whole is None else whole
    spread = float((whole - whole.mean()).abs().mean())
    share = float((before - after).abs().max()) / spread if spread > 1e-6 else math.nan
    return None if math.isnan(share) else share


def _shift(
    tokens: Tensor,
    targets: list[Tensor],
) -> tuple[int | None, int | None]:
    """The axis of time and how many places on the target of a token is; none where it is not
    such target.
    """
    for target, axis, places in itertools.product(
        targets,
        (1, 0),
        (1, 2, 0),
    ):
        if _is_shifted(tokens, target, axis, places):
            return axis, places
    return None, None


def _is_shifted(
    tokens: Tensor,
    target: Tensor,
    axis: int,
    places: int,
) -> bool:
    length = tokens.shape[axis]
    rows = tokens.shape[1 - axis]
    if target.is_floating_point() or target.numel() % rows or length <= places + 1:
        return False
    width = target.numel() // rows
    if not length - 2 <= width <= length:
        return False
    wanted = target.reshape((rows, width) if axis else (width, rows)).to(tokens.device)
    span = min(width, length - places)
    wanted = wanted.narrow(axis, 0, span)
    given = tokens.narrow(axis, places, span)
    counted = wanted >= 0
    # The last targets of a row may be tokens that no input has: they were cut off to make room for
    # the shift.
    left = counted.flip(axis).cumsum(axis).flip(axis)
    counted &= left > places
    # Where neighbours are alike, every shift fits.
    repeats = tokens.narrow(axis, 1, length - 1) == tokens.narrow(axis, 0, length - 1)
    agree = float((wanted == given)[counted].float().mean()) if bool(counted.any()) else 0.0
    return float(repeats.float().mean()) <= 0.5 and agree > AGREE
