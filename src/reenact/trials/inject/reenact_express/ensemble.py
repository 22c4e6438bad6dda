"""Many captured trainings of one signature trained at once: their weights stacked, one forward and one
backward pass for all of them, one update on one matrix; on a CUDA device where that is faster still.

A short measurement comes first. Where the stack would be slower than one after the other, nothing is trained.
"""

from __future__ import annotations

import json
import os
import time
import warnings

from reenact_express.flat import Flat
from reenact_express.stepping import MOST_AT_ONCE, Engine, Step, backward_of
from reenact_express.updates import Update

WARM, LOOKS = 2, 5
"""Steps before the measurement, and of it."""


def main(folders, answer, least):
    """Train what lies in the folders if that is at least so many times faster; `answer` is where to say
    whether it was done.
    """
    import torch

    torch.set_num_threads(1)
    # Stacked weights are slices of a matrix: that is how it is meant.
    warnings.filterwarnings("ignore", message="grad and param do not obey")
    captured = [torch.load(os.path.join(folder, "captured.pt"), weights_only=True) for folder in folders]
    gain, device = measure(torch, captured)
    taken = gain >= least
    if taken:
        found = Stack(torch, captured, device).train()
        for folder, one in zip(folders, found):
            beside = os.path.join(folder, "trained.part")
            torch.save(one, beside)
            os.rename(beside, os.path.join(folder, "trained.pt"))
    with open(answer, "w", encoding="utf-8") as file:
        json.dump({"taken": taken, "gain": gain}, file)


def measure(torch, captured):
    """How many times faster the stack takes a step than the same trainings one after the other, and where."""
    alone = _seconds(torch, Stack(torch, captured[:1], torch.device("cpu")))
    names = ("cpu", "cuda") if torch.cuda.is_available() else ("cpu",)
    together = {name: _seconds(torch, Stack(torch, captured, torch.device(name))) for name in names}
    best = min(names, key=together.__getitem__)
    return alone * len(captured) / max(together[best], 1e-9), torch.device(best)


def _seconds(torch, stack):
    began = 0.0
    for number in range(WARM + LOOKS):
        if number == WARM:
            _wait(torch, stack)
            began = time.perf_counter()
        stack.step(0, number % stack.steps)
    _wait(torch, stack)
    return time.perf_counter() - began


def _wait(torch, stack):
    if stack.device.type == "cuda":
        torch.cuda.synchronize()


class Stack:
    """Trainings side by side. One alone is trained without the extra axis, as it would be in the pool."""

    def __init__(self, torch, captured, device):
        self.torch, self.device = torch, device
        first = captured[0]
        self.plan, self.batch, self.steps = first["plan"], first["batch"], first["steps"]
        self.count = len(captured)
        self.many = self.count > 1
        self.engine = Engine(torch, self.plan)
        self.backward = backward_of(torch)
        self.held = Rows(torch, [one["train"] for one in captured], device)
        within = [one["validation"] for one in captured]
        self.within = None if within[0] is None else Rows(torch, within, device)
        self.orders = torch.stack([one["orders"] for one in captured]).to(device)
        self._weigh(captured)
        self._settle_numbers(captured)
        self._total = self._mapped(self.held)
        self._alone = None if self.many else self._settle_alone()

    def _mapped(self, rows):
        """The loss of every training on its own samples."""
        sides = (0, 0, 0, 0 if rows.weighted else None, None)
        return self.torch.func.vmap(self.engine.total, in_dims=sides, randomness="different")

    def _settle_alone(self):
        """One training by itself takes its steps as the bare loop does."""
        step = Step(self.engine, self.weights, self.gradient, self.flat.views(self.gradient))
        x, y, weighted = self.held.take(self.orders[:, 0, : self.batch], False)
        if weighted is None:
            step.try_by_hand(x, y)
        return step

    def _weigh(self, captured):
        """Weights, gradients and slots as matrices; what is not trainable beside them."""
        torch, trainable = self.torch, self.plan["trainable"]
        shapes = [tuple(weight.shape) for weight in captured[0]["weights"]]
        rows = (self.count,) if self.many else ()
        flat = self.flat = Flat(torch, shapes[:trainable], rows)

        def gather(parts):
            return flat.gather([self._stacked(list(part)) for part in zip(*parts)])

        self.vector = gather([one["weights"][:trainable] for one in captured])
        kept = range(len(captured[0]["slots"]))
        self.slots = [gather([one["slots"][number] for one in captured]) for number in kept]
        self.gradient = flat.vector(self.vector)
        self.weights = []
        for view, gradient in zip(flat.views(self.vector), flat.views(self.gradient)):
            leaf = view.detach().requires_grad_()
            leaf.grad = gradient
            self.weights.append(leaf)
        for number in range(trainable, len(shapes)):
            self.weights.append(self._stacked([one["weights"][number] for one in captured]).clone())

    def _stacked(self, tensors):
        together = self.torch.stack(tensors) if self.many else tensors[0]
        return together.to(self.device)

    def _settle_numbers(self, captured):
        rules = [one["rule"] for one in captured]
        numbers = {
            name: self._column([rule["numbers"][name] for rule in rules]) for name in rules[0]["numbers"]
        }
        slots, bounds = self.slots, self.flat.bounds
        self.update = Update(self.torch, rules[0], numbers, self.vector, self.gradient, slots, bounds)
        self.rates = [self._column(list(rates)) for rates in zip(*(one["rates"] for one in captured))]

    def _column(self, values):
        """One number where all agree; else a column, one row a training."""
        if len(set(values)) == 1:
            return float(values[0])
        return self.torch.tensor(values, dtype=self.torch.float32, device=self.device).unsqueeze(-1)

    def step(self, epoch, number):
        """One step of all: their losses and predictions."""
        torch = self.torch
        part = slice(number * self.batch, (number + 1) * self.batch)
        chosen = self.orders[:, epoch, part]
        x, y, weighted = self.held.take(chosen, self.many)
        if self._alone is not None:
            losses, predicted = self._alone(x, self._alone.targets(y), weighted)
        else:
            losses, predicted = self._total(self.weights, x, y, weighted, True)
            self.gradient.zero_()
            self.backward(losses.sum())
        done = epoch * self.steps + number
        with torch.no_grad():
            self.update(self.rates[done], done + 1)
        return losses.detach(), predicted.detach()

    def train(self):
        """All epochs; what came of each training."""
        torch = self.torch
        told = {"losses": [], "predicted": [], "validation_losses": [], "validation_predicted": []}
        for epoch in range(self.orders.shape[1]):
            losses, predicted = zip(*(self.step(epoch, number) for number in range(self.steps)))
            told["losses"].append(torch.stack(losses, -1).cpu())
            told["predicted"].append(torch.cat(predicted, 1 if self.many else 0).cpu())
            if self.within is not None:
                losses, predicted = self._validate()
                told["validation_losses"].append(losses.cpu())
                told["validation_predicted"].append(predicted.cpu())
        return [self._one(told, number) for number in range(self.count)]

    def _validate(self):
        """All at once where that is little; else each for itself, in the pieces of the bare loop."""
        if self.many and self.within.size * self.within.x[0].numel() * self.count <= MOST_AT_ONCE:
            everything = self.torch.arange(self.within.size, device=self.device).expand(self.count, -1)
            with self.torch.no_grad():
                return self._mapped(self.within)(self.weights, *self.within.take(everything, True), False)
        found = []
        for number in range(self.count):
            weights = [weight[number] if self.many else weight for weight in self.weights]
            found.append(self.engine.evaluate(weights, *self.within.whole(number)))
        if not self.many:
            return found[0]
        return self.torch.stack([loss for loss, _ in found]), self.torch.stack([p for _, p in found])

    def _one(self, told, number):
        def mine(tensor):
            return (tensor[number] if self.many else tensor).detach().cpu().clone()

        carried = self.update.carried
        return {
            **{name: [mine(epoch) for epoch in epochs] for name, epochs in told.items()},
            "weights": [mine(weight) for weight in self.weights],
            "slots": [[mine(view) for view in self.flat.views(slot)] for slot in self.slots],
            "carried": float(carried if isinstance(carried, float) else carried[number, 0]),
        }


class Rows:
    """The samples of all trainings in one tensor: once where all have the same, else one after the other."""

    def __init__(self, torch, parts, device):
        self.torch = torch
        xs, ys, weights = zip(*parts)
        self.weighted = weights[0] is not None
        self.size = xs[0].shape[0]
        same = all(self._equal(parts[0], part) for part in parts[1:])
        self.x, self.y, self.sample_weight = (
            None if column[0] is None else (column[0] if same else torch.cat(column)).to(device)
            for column in (xs, ys, weights)
        )
        shift = torch.zeros(len(parts), dtype=torch.long) if same else torch.arange(len(parts)) * self.size
        self.shift = shift.unsqueeze(-1).to(device)

    def _equal(self, one, other):
        return all(a is b or (a is not None and self.torch.equal(a, b)) for a, b in zip(one, other))

    def take(self, chosen, many):
        """The chosen samples of each training: inputs, targets, weights."""
        shape = tuple(chosen.shape) if many else (chosen.shape[1],)
        flat = (chosen + self.shift).flatten()
        return tuple(
            None if part is None else part.index_select(0, flat).view(*shape, *part.shape[1:])
            for part in (self.x, self.y, self.sample_weight)
        )

    def whole(self, number):
        """All samples of one training."""
        first = int(self.shift[number, 0])
        part = slice(first, first + self.size)
        return tuple(None if each is None else each[part] for each in (self.x, self.y, self.sample_weight))
