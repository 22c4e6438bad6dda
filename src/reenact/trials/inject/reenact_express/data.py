"""Arrays as tensors, converted as Keras converts its batches; and the order in which Keras would have taken
them, drawn from the same generator at the same moments.
"""

from __future__ import annotations

import itertools

from reenact_express.refused import Refused

MOST_ELEMENTS = 1 << 27
"""Numbers of one array that are held as one tensor."""


def check_arrays(torch, *arrays):
    """Only plain arrays can be looked at without using them up."""
    for array in arrays:
        if array is None:
            continue
        if type(array).__module__.partition(".")[0] != "numpy" and not isinstance(array, torch.Tensor):
            raise Refused("the data is no plain array")
        if array.ndim == 0 or array.shape[0] == 0:
            raise Refused("the data is empty")


def tensors_of(torch, iterator):
    """Everything that an iterator of Keras would give in batches: inputs, targets, weights or none."""
    adapter = iterator.data_adapter
    if type(adapter).__name__ != "ArrayDataAdapter":
        raise Refused("the data is no plain array")
    if adapter._shuffle == "batch":
        raise Refused("the data is shuffled within batches")
    dataset = adapter.get_torch_dataloader().dataset
    found = list(dataset.__getitems__(slice(None)))
    if len(found) < 2 or any(not isinstance(part, torch.Tensor) for part in found):
        raise Refused("there are no targets, or several")
    if any(part.numel() > MOST_ELEMENTS for part in found):
        raise Refused("the data is too large to be held at once")
    return (*found, None) if len(found) == 2 else tuple(found)


class Order:
    """Which samples come when. Keras makes a loader at the beginning of an epoch and one more at its end, and
    each draws from the global generator. The first epoch is taken from Keras itself and imitated beside it;
    only when both are equal the imitation, which is quicker, goes on alone.
    """

    def __init__(self, torch, iterator):
        self.torch = torch
        self.iterator = iterator
        self.shuffled = bool(iterator.data_adapter._shuffle)
        self.size = iterator.data_adapter._num_samples
        self._imitates = None
        self._open = None

    def begin(self):
        """The order of an epoch, or none for the order of the arrays."""
        if self._imitates:
            return self._imitation()
        torch = self.torch
        before = torch.get_rng_state()
        imitated = self._imitation()
        reached = torch.get_rng_state()
        torch.set_rng_state(before)
        order = self._real()
        if self._imitates is None:
            same = order is imitated or (order is not None and torch.equal(order, imitated))
            self._imitates = same and torch.equal(reached, torch.get_rng_state())
        return order

    def end(self):
        """The epoch is over."""
        if self._open is None:
            self._draw()
            return
        before = self.torch.get_rng_state()
        self._draw()
        reached = self.torch.get_rng_state()
        self.torch.set_rng_state(before)
        for _ in self._open:
            pass
        self._open = None
        self._imitates = self._imitates and self.torch.equal(reached, self.torch.get_rng_state())

    def _real(self):
        self._open = self.iterator._enumerate_iterator()
        count = self.iterator.num_batches
        if not self.shuffled:
            for _ in itertools.islice(self._open, count):
                pass
            return None
        taken = [next(loader._sampler_iter) for _, _, loader in itertools.islice(self._open, count)]
        return self.torch.tensor([number for batch in taken for number in batch])

    def _imitation(self):
        self._draw()
        if not self.shuffled:
            return None
        generator = self.torch.Generator()
        generator.manual_seed(self._draw())
        return self.torch.randperm(self.size, generator=generator)

    def _draw(self):
        return int(self.torch.empty((), dtype=self.torch.int64).random_().item())
