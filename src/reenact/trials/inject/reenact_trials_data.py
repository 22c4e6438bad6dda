"""A part of the data that a program trains or evaluates on, the same rows in every training.

A half of the evaluation data: changes are searched on the first half and judged on the other.
Covered: arrays that Keras is given in `evaluate` and, in `fit`, as `validation_data` or by
`validation_split`. Not covered: data sets and generators, and evaluations that a program writes
itself.

A share of the training data: a first look at a training that has few epochs to leave out. Covered:
arrays that Keras's `fit` is given, and `DataLoader`s of torch that shuffle a data set of known
length. Not covered: generators, samplers of the program's own, loops over tensors. Evaluation data
stay as they are.

How often that was done is written to a file, so that no one takes for a part what was the whole.

And a training that continues another: before the first `fit` of Keras it takes weights from a file,
after it leaves them in one. They are matched in order, by shape: layers that a change has put in
keep their beginning.
"""

from __future__ import annotations

import functools
import importlib
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reenact_probe.types import Array, Function, Kwargs, Library, Module

FEWEST_HALVED, FEWEST_CUT = 60, 200
"""Rows below which data stay whole: a part would say too little."""
HALVES, SUBSET = "halves.txt", "subset.txt"


class Part:
    """Chooses rows, drawn apart from the program's own random numbers, and counts how often: the
    `second` half of them, or a `share`.
    """

    def __init__(self, notes: str, *, second: bool = False, share: float = 1.0) -> None:
        self.notes = notes
        self.second = second
        self.share = share
        self.inside = 0
        """Depth of calls: Keras calls `evaluate` inside `fit`."""

    def note(self, *numbers: int) -> None:
        with open(self.notes, "a", encoding="ascii") as file:
            file.write(" ".join(map(str, numbers)) + "\n")

    def wrap(self, owner: Module, name: str, change: Function) -> None:
        """Let `change(x, y, named)` change what a method of Keras's model is given, at its
        outermost call.
        """
        # On the class that programs derive from: what the probe has put there is called by us.
        method = getattr(owner, name)

        @functools.wraps(method)
        def wrapped(
            model: Any,
            x: Any = None,
            y: Any = None,
            *args: Any,
            **named: Any,
        ) -> Any:
            if not self.inside:
                x, y, named = change(x, y, dict(named))
            self.inside += 1
            try:
                return method(model, x, y, *args, **named)
            finally:
                self.inside -= 1

        setattr(owner, name, wrapped)


class Half(Part):
    """One half of the evaluation data."""

    def of(self, *arrays: Any) -> tuple[Any, ...] | None:
        """The same rows of each array, or none when they are not arrays of one length."""
        count = (
            next(
                (len(one) for one in arrays if one is not None),
                0,
            )
            if _alike(arrays)
            else 0
        )
        if count < FEWEST_HALVED:
            return None
        self.note(count)
        rows = _chosen(
            count,
            *((count // 2, count) if self.second else (0, count // 2)),
        )
        return tuple(one if one is None else one[rows] for one in arrays)

    def in_evaluate(
        self,
        x: Any,
        y: Any,
        named: Kwargs,
    ) -> tuple[Any, Any, Kwargs]:
        taken = (
            self.of(
                x,
                y,
                named.get("sample_weight"),
            )
            if x is not None
            else None
        )
        if taken is None:
            return x, y, named
        return (
            taken[0],
            taken[1],
            named | ({} if taken[2] is None else {"sample_weight": taken[2]}),
        )

    def in_fit(
        self,
        x: Any,
        y: Any,
        named: Kwargs,
    ) -> tuple[Any, Any, Kwargs]:
        given = named.get("validation_data")
        if isinstance(given, (tuple, list)) and len(given) in (2, 3):
            taken = self.of(*given)
            return x, y, named | ({} if taken is None else {"validation_data": taken})
        share = named.get("validation_split") or 0.0
        if (
            not share
            or named.get("sample_weight") is not None
            or not (_is_array(x) and _is_array(y))
        ):
            return x, y, named
        border = _border(x, share)
        taken = self.of(
            x[border:],
            y[border:],
        )
        if taken is None or not border:
            return x, y, named
        return (
            x[:border],
            y[:border],
            named | {"validation_split": 0.0, "validation_data": taken},
        )


class Share(Part):
    """A share of the training data."""

    def rows(self, count: int) -> Array | None:
        """Numbers of rows in their order, or none when they stay whole."""
        if count < FEWEST_CUT:
            return None
        kept = max(FEWEST_CUT // 2, round(self.share * count))
        self.note(kept, count)
        return _chosen(count, 0, kept)

    def in_fit(
        self,
        x: Any,
        y: Any,
        named: Kwargs,
    ) -> tuple[Any, Any, Kwargs]:
        weights = named.get("sample_weight")
        if x is None or not _alike((x, y, weights)):
            return x, y, named
        split = named.get("validation_split") or 0.0
        held = {}
        if split and weights is None and y is not None and named.get("validation_data") is None:
            border = _border(x, split)
            held = {
                "validation_split": 0.0,
                "validation_data": (x[border:], y[border:]),
            }
            x = x[:border]
            y = y[:border]
        elif split:
            return x, y, named
        rows = self.rows(len(x))
        if rows is None:
            return x, y, named | held
        named |= held | ({} if weights is None else {"sample_weight": weights[rows]})
        return x[rows], None if y is None else y[rows], named

    def wrap_loader(self, data: Library) -> None:
        """Data loaders that shuffle get fewer rows."""
        begin = data.DataLoader.__init__
        rows_of = self.rows

        class Few(data.Subset):
            """Some rows of a data set; whatever else is asked of it is asked of the data set."""

            def __getattr__(self, name: Any) -> Any:
                if name in ("dataset", "indices"):
                    raise AttributeError(name)
                return getattr(self.dataset, name)

        @functools.wraps(begin)
        def cut(
            loader: Any,
            dataset: Any,
            batch_size: Any = 1,
            shuffle: Any = None,
            *args: Any,
            **named: Any,
        ) -> None:
            sized = hasattr(dataset, "__len__") and hasattr(dataset, "__getitem__")
            if shuffle and not self.inside and sized:
                rows = rows_of(len(dataset))
                dataset = dataset if rows is None else Few(dataset, rows.tolist())
            begin(loader, dataset, batch_size, shuffle, *args, **named)

        data.DataLoader.__init__ = cut


def install_half(part: str, folder: str) -> None:
    """`part` is search or judge; `folder` holds the notes."""
    from reenact_probe import late

    half = Half(
        os.path.join(folder, HALVES),
        second=part == "judge",
    )

    def wrap(keras: Library) -> None:
        half.wrap(keras.Model, "fit", half.in_fit)
        half.wrap(keras.Model, "evaluate", half.in_evaluate)

    late.when_imported("keras", wrap)


def install_share(share: float, folder: str) -> None:
    """`share` of the training data; `folder` holds the notes."""
    from reenact_probe import late

    fewer = Share(
        os.path.join(folder, SUBSET),
        share=share,
    )
    late.when_imported(
        "keras",
        lambda keras: fewer.wrap(keras.Model, "fit", fewer.in_fit),
    )
    late.when_imported(
        "torch",
        lambda _: fewer.wrap_loader(importlib.import_module("torch.utils.data")),
    )


def _is_array(value: Any) -> bool:
    return hasattr(value, "shape") and hasattr(value, "dtype") and len(value.shape) > 0


def _alike(arrays: tuple[Any, ...]) -> bool:
    """Whether those that are there are arrays of one length."""
    given = [one for one in arrays if one is not None]
    return all(map(_is_array, given)) and len({len(one) for one in given}) == 1


def _border(x: Any, share: float) -> int:
    """The border that Keras draws: the last rows are held out."""
    return int(len(x) * (1.0 - share))


def _chosen(count: int, first: int, end: int) -> Array:
    """Numbers of the rows between two places of a fixed shuffle, in their order."""
    import numpy as np

    return np.sort(np.random.RandomState(count % 2**32).permutation(count)[first:end])


def install_weights(start: str, end: str) -> None:
    """`start`: file to take weights from, or empty; `end`: file to leave them in, or empty."""
    from reenact_probe import late

    late.when_imported(
        "keras",
        lambda keras: _continue(keras, start, end),
    )


def _continue(keras: Library, start: str, end: str) -> None:
    fit = keras.Model.fit
    waiting = [start] if start and os.path.isfile(start) else []

    @functools.wraps(fit)
    def continued(self: Any, x: Any = None, *args: Any, **named: Any) -> Any:
        import numpy as np

        if waiting:
            if not self.built and x is not None:
                self(x[:1])
            with np.load(waiting.pop(), allow_pickle=False) as kept:
                _assign(
                    self,
                    [kept[name] for name in sorted(kept.files)],
                )
        history = fit(self, x, *args, **named)
        if end:
            arrays = map(keras.ops.convert_to_numpy, self.trainable_variables)
            values: dict[str, Any] = {
                f"w{number:05}": np.asarray(one) for number, one in enumerate(arrays)
            }
            beside = f"{end}.{os.getpid()}.npz"
            np.savez(beside, **values)
            os.replace(beside, end)
        return history

    keras.Model.fit = continued


def _assign(model: Module, known: list[Array]) -> None:
    for weight in model.trainable_variables:
        fitting = next(
            (at for at, value in enumerate(known) if value.shape == tuple(weight.shape)),
            None,
        )
        if fitting is not None:
            weight.assign(known[fitting])
            known = known[fitting + 1 :]
