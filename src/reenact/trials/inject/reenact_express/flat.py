"""Parameters and optimiser slots as one vector each, so that an update is a handful of operations whatever
the number of layers. The Keras variables look into the same memory: what is trained here is seen there.
"""

from __future__ import annotations


class Flat:
    """The trainable weights of one model, or of many: then the first axis counts the models."""

    def __init__(self, torch, shapes, rows=()):
        self.torch = torch
        self.shapes = [tuple(shape) for shape in shapes]
        self.rows = tuple(rows)
        self.bounds = _bounds(self.shapes)
        self.size = self.bounds[-1][1] if self.bounds else 0

    def vector(self, like):
        """A vector of zeros of the size of all weights."""
        return self.torch.zeros((*self.rows, self.size), dtype=like.dtype, device=like.device)

    def views(self, vector):
        """The vector's parts in the shapes of the weights."""
        return [
            vector[..., first:end].view(*self.rows, *shape)
            for (first, end), shape in zip(self.bounds, self.shapes)
        ]

    def gather(self, tensors):
        """One vector of the values of many tensors."""
        vector = self.vector(tensors[0])
        for view, tensor in zip(self.views(vector), tensors):
            view.copy_(tensor.detach())
        return vector


class Shared:
    """Makes Keras variables look into a vector, and lets them go again."""

    def __init__(self, flat, variables):
        self.tensors = [variable.value for variable in variables]
        self.vector = flat.gather(self.tensors)
        for tensor, view in zip(self.tensors, flat.views(self.vector)):
            tensor.data = view

    def release(self):
        """Each its own memory again, as before."""
        for tensor in self.tensors:
            tensor.data = tensor.data.clone()


def _bounds(shapes):
    found, first = [], 0
    for shape in shapes:
        size = 1
        for part in shape:
            size *= part
        found.append((first, first + size))
        first += size
    return found
