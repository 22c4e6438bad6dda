"""A recognised training set aside: all that it needs is written down and its process waits, until somebody
says that it was trained among others, and plays that back, or that it shall train by itself.
"""

from __future__ import annotations

import hashlib
import json
import os

TRAINED, ALONE = b"t", b"a"
"""What a waiting process is told."""
MOST_DATA = 1 << 22
"""Numbers of the training data: they are written down by every training that waits."""
MOST_PREDICTIONS = 1 << 24
"""Numbers that a training may predict in all its epochs: they are kept, for Keras's metrics to look at."""


class Park:
    """Where one trial may wait. `folder` is its own; the two descriptors lead to the server and back."""

    def __init__(self, folder, telling, hearing):
        self.folder = folder
        self.telling, self.hearing = telling, hearing

    def __call__(self, training, epochs, validation):
        """What plays the training back; none when it shall go on by itself."""
        torch = training.torch
        if self.telling is None or not self._fits(training, epochs):
            return None
        state = torch.get_rng_state()
        captured = capture(training, epochs, validation)
        signature = signature_of(captured)
        torch.save(captured, os.path.join(self.folder, "captured.pt"))
        with open(os.path.join(self.folder, "captured.json"), "w", encoding="utf-8") as file:
            json.dump({"signature": signature}, file)
        os.write(self.telling, b"p")
        told = os.read(self.hearing, 1)
        os.close(self.telling)
        os.close(self.hearing)
        self.telling = None
        if told == TRAINED:
            # With dropout the draws of the training itself are missing; nobody can tell.
            return Replay(
                training, torch.load(os.path.join(self.folder, "trained.pt"), weights_only=True), captured
            )
        torch.set_rng_state(state)
        return None

    @staticmethod
    def _fits(training, epochs):
        if training.held.x.numel() > MOST_DATA:
            return False
        output = training.model.outputs[0].shape[1:]
        size = training.held.x.shape[0] * max(1, len(epochs))
        for part in output:
            size *= part or 1
        fresh = int(training.optimizer._iterations.value.detach()) == 0
        return fresh and len(epochs) > 0 and size <= MOST_PREDICTIONS and training.rows.left is None


def capture(training, epochs, validation):
    """All of a training as plain data and tensors. Draws the order of every epoch, as the training would."""
    torch, held = training.torch, training.held
    within = validation() if validation is not None else None
    if within is not None:
        within.targets = training.engine.targets(within.y, training.weights, within.x)
    orders = []
    for _ in epochs:
        order = held.order.begin()
        held.order.end()
        if within is not None:
            within.order.begin()
            within.order.end()
        orders.append(torch.arange(held.x.shape[0]) if order is None else order)
    return {
        "plan": training.plan,
        "rule": training.rule,
        "batch": training.batch,
        "steps": training.steps,
        "rates": training.rates(0, training.steps * len(epochs)),
        "orders": torch.stack(orders),
        "weights": [weight.detach().cpu().clone() for weight in training.weights],
        "slots": [[v.value.detach().cpu().clone() for v in slot] for slot in training.slots()],
        "train": _parts(held),
        "validation": None if within is None else _parts(within),
    }


def _parts(held):
    return [None if part is None else part.cpu() for part in (held.x, held.targets, held.sample_weight)]


def signature_of(captured):
    """Equal for trainings that can be trained together: they differ in numbers alone."""
    rule = captured["rule"]
    used = sorted(name for name, value in rule["numbers"].items() if value)
    shapes = [
        None if part is None else [list(part.shape), str(part.dtype)]
        for held in (captured["train"], captured["validation"] or [])
        for part in held
    ]
    told = [
        captured["plan"], rule["kind"], rule["flags"], used, captured["batch"], shapes,
        list(captured["orders"].shape), [list(weight.shape) for weight in captured["weights"]],
    ]  # fmt: skip
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


class Replay:
    """Plays a training back to Keras's callbacks, epoch by epoch, and leaves its weights behind."""

    def __init__(self, training, trained, captured):
        self.training = training
        self.trained = trained
        self.rates, self.orders = captured["rates"], captured["orders"]
        self.number = -1

    def begin(self):
        """Nothing is trained here."""

    def epoch(self, done):
        self.number += 1
        losses = self.trained["losses"][self.number]
        rates = self.rates[done : done + len(losses)]
        return losses, rates, self.trained["predicted"][self.number], self.orders[self.number]

    def validated(self, _):
        return self.trained["validation_losses"][self.number], self.trained["validation_predicted"][
            self.number
        ]

    def end(self):
        """What was trained stands in Keras's own variables."""
        training, trained = self.training, self.trained
        for variable, value in zip(training.variables, trained["weights"]):
            variable.assign(value)
        for slot, values in zip(training.slots(), trained["slots"]):
            for variable, value in zip(slot, values):
                variable.assign(value)
        training.optimizer._iterations.assign(len(self.rates))
        if training.rule["kind"] == "Nadam":
            training.optimizer._u_product.assign(trained["carried"])
