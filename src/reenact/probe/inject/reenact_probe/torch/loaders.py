"""Sees data loaders: epochs, batch sizes, shuffling, the time spent waiting, and the data set
after them.
"""

from __future__ import annotations

import weakref
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Protocol

from reenact_probe.guard import after, guarded, patch
from reenact_probe.places import callers
from reenact_probe.recorder import Recorder
from reenact_probe.torch.samples import first_tensor, plain
from reenact_probe.types import Function, Library, Tensor

A_FEW = 4
"""Rows that tell one batch from another."""
LINES = 4
"""Lines of the program that lead to a round, by which it is known again."""


@dataclass(eq=False)
class Loader:
    """The loaders of one data set that draw alike from it: a program may make a new one each
    epoch.
    """

    index: int
    name: str
    rounds: int = 0
    """Iterations begun; one that gave a single batch and was dropped does not count."""
    given: int = 0
    batches: int | None = None
    """How many a round gives, where that is known."""
    open: bool = False
    origin: int = -1
    """The number of the first one, where the data set is made again each epoch; else its own."""
    likeness: Any = None
    """What it has in common with one that takes its place."""
    dataset: Any = None
    """The data set, held weakly; none where that cannot be."""

    @property
    def gone(self) -> bool:
        """Whether the program let go of its data set."""
        return self.dataset is None or self.dataset() is None


class LoaderListener(Protocol):
    """Who is notified of loaders."""

    @property
    def looking(self) -> bool: ...
    @property
    def in_fit(self) -> bool: ...
    @property
    def optimizer_count(self) -> int: ...
    def loader_found(self, loader: Any, known: Loader) -> None: ...
    def loader_begins(self, known: Loader) -> None: ...
    def loader_exhausted(self, known: Loader | None) -> None: ...
    def last_batch(self, known: Loader) -> None: ...
    def batch_given(self, loader: Loader | None, batch: Any) -> None: ...


class Loaders:
    """All DataLoaders; `current` is the one that gave the last batch."""

    def __init__(
        self,
        torch: Library,
        recorder: Recorder,
        listener: LoaderListener,
    ) -> None:
        self.torch = torch
        self.recorder = recorder
        self.listener = listener
        self.known: dict[tuple[Any, Any, str], Loader] = {}
        self.count = 0
        self.current: Loader | None = None
        self.batch: Any = None
        """The last batch, kept only while somebody looks."""
        self._earlier: Any = None
        """The one before it: some libraries ask a loader for a batch ahead."""
        self.label_part: Any = None
        """Where the labels stand in a batch of many parts, once a loss was seen to take them."""
        self.batch_size = 0
        self.wait = 0.0
        """Seconds waited for data since the last step."""
        data = torch.utils.data
        after(
            data.DataLoader,
            "__iter__",
            lambda iterator, loader: self._begins(loader, iterator),
        )
        patch(data.dataloader._BaseDataLoaderIter, "__next__", self._wrap_next)

    def _wrap_next(self, original: Function) -> Function:
        def __next__(iterator: Any) -> Any:  # noqa: N807
            began = perf_counter()
            try:
                batch = original(iterator)
            except StopIteration:
                self._exhausted(iterator)
                raise
            self.wait += perf_counter() - began
            self.current = loader = iterator.__dict__.get("_reenact_loader")
            if loader is not None:
                loader.given += 1
            self._got(batch, loader)
            return batch

        return __next__

    @guarded("loader")
    def _begins(self, loader: Any, iterator: Any) -> None:
        sampler = type(_sampler(loader)).__name__
        key = (_identity(loader.dataset), loader.batch_size, sampler)
        known = self.known.get(key)
        if known is None or not _is_of(known, loader.dataset):
            known = self.known[key] = self._new(loader, sampler)
        if not (known.open and known.given == 1):
            known.rounds += 1
        known.open = True
        known.given = 0
        known.batches = _length(loader)
        iterator._reenact_loader = known
        self.listener.loader_begins(known)

    def _new(self, loader: Any, sampler: str) -> Loader:
        """A loader that was not seen before. Where a program makes its data set again each epoch, it
        takes the place of the one before: it is drawn from at the same lines of the program, by the
        same optimizers, and of the other data set nothing is left.
        """
        dataset = loader.dataset
        rows = _length(dataset)
        kind = (type(dataset).__name__, rows, loader.batch_size, sampler)
        ways = (self.torch.is_grad_enabled(), self.listener.optimizer_count, callers(LINES))
        number = self.count
        self.count += 1
        alike = [one for one in self.known.values() if one.likeness == (kind, ways) and one.gone]
        before = max(alike, key=lambda one: one.index, default=None)
        known = Loader(
            number,
            f"loader-{number}" if before is None else before.name,
            rounds=0 if before is None else before.rounds,
            origin=number if before is None else before.origin,
            likeness=(kind, ways),
            dataset=_weakly(dataset),
        )
        if before is None and not self.listener.in_fit:
            self.recorder.event(
                "loader",
                loader=known.index,
                sampler=sampler,
                dataset=kind[0],
                rows=rows,
            )
            self.listener.loader_found(loader, known)
        return known

    @guarded("batch")
    def _got(self, batch: Any, loader: Loader | None) -> None:
        first = batch[0] if type(batch) in (list, tuple) and batch else batch
        if type(first) is not self.torch.Tensor:
            first = first_tensor(self.torch, batch)
        self.batch_size = first.shape[0] if first is not None and first.dim() else 0
        self._earlier = self.batch
        self.batch = batch if self.listener.looking else None
        self.listener.batch_given(loader, batch)
        if loader is not None and loader.given == loader.batches:
            self.listener.last_batch(loader)

    @guarded("exhausted")
    def _exhausted(self, iterator: Any) -> None:
        loader = getattr(iterator, "_reenact_loader", None)
        if loader is not None:
            loader.open = False
        self.listener.loader_exhausted(loader)

    def batch_behind(self, given: Tensor | None) -> Any:
        """The batch that a model was given: the last one, unless this is of the one before it."""
        if self._earlier is None or self._is_part(given, self.batch):
            return self.batch
        if self._is_part(given, self._earlier):
            return self._earlier
        return self.batch

    def _is_part(self, given: Tensor | None, batch: Any) -> bool:
        """Whether a batch holds this tensor, by its first rows."""
        if given is None or not plain(self.torch, given) or not given.dim():
            return False
        parts = [one for one in _parts(batch).values() if isinstance(one, self.torch.Tensor)]
        parts = [batch] if isinstance(batch, self.torch.Tensor) else parts
        alike = [one for one in parts if one.shape == given.shape and plain(self.torch, one)]
        if not alike:
            return False
        rows = given.detach()[:A_FEW].to("cpu")
        return any(self._equal(one.detach()[:A_FEW].to("cpu"), rows) for one in alike)

    def forget(self) -> None:
        """Let go of every batch."""
        self.batch = self._earlier = None

    def labels_taken(self, target: Tensor) -> None:
        """Learn which part of a batch a loss takes for labels: of three parts or of names it is
        any.
        """
        parts = _parts(self.batch)
        unclear = self.label_part is None and (isinstance(self.batch, dict) or len(parts) > 2)
        for key, part in parts.items() if unclear else ():
            same = isinstance(part, self.torch.Tensor) and part.numel() == target.numel()
            if same and (part.data_ptr() == target.data_ptr() or self._equal(part, target)):
                self.label_part = key

    def _equal(self, part: Tensor, target: Tensor) -> bool:
        if part.device != target.device or part.is_complex() or target.is_complex():
            return False
        return bool((part.reshape(-1) == target.detach().reshape(-1)).all())

    def labels_in(self, batch: Any) -> Tensor | None:
        """The labels of a batch: what a loss takes, by custom the second part or the one of
        that name.
        """
        names = (1, "labels", "label", "targets", "target", "y")
        keys = names if self.label_part is None else [self.label_part]
        parts = _parts(batch)
        label = next(
            (parts[key] for key in keys if key in parts),
            None,
        )
        if isinstance(label, self.torch.Tensor):
            return label
        return None


def _parts(batch: Any) -> dict[Any, Any]:
    """The parts of a batch, by name or number."""
    if isinstance(batch, (tuple, list)):
        return dict(enumerate(batch))
    return batch if isinstance(batch, dict) else {}


def _sampler(loader: Any) -> Any:
    """What decides the order of the rows: of a loader that was given its batches by a sampler of
    batches, as accelerate makes them, `sampler` is a default that no one asks.
    """
    batches = loader.batch_sampler
    while getattr(batches, "batch_sampler", None) is not None:
        batches = batches.batch_sampler
    if batches is None:
        return loader.sampler
    return getattr(batches, "sampler", batches)


def _identity(dataset: Any) -> Any:
    """What distinguishes one data set from another: a program may wrap the same tensors again each
    epoch.
    """
    tensors = vars(dataset).get("tensors") if hasattr(dataset, "__dict__") else None
    if type(tensors) is tuple:
        return tuple(map(id, tensors))
    return id(dataset)


def _is_of(known: Loader, dataset: Any) -> bool:
    """Whether a loader that was found by the identity of its data set is of this one: another may have
    the identity of one that is gone. Tensors that are wrapped again are known by their own.
    """
    if known.dataset is None or isinstance(_identity(dataset), tuple):
        return True
    return known.dataset() is dataset


def _weakly(dataset: Any) -> Any:
    try:
        return weakref.ref(dataset)
    except TypeError:
        return None


def _length(dataset: Any) -> int | None:
    try:
        return len(dataset)
    except Exception:  # noqa: BLE001 - the program's own `__len__`, whatever it raises
        return None
