"""One training step, and one evaluation, of a plan."""

from __future__ import annotations

from reenact_express import by_hand
from reenact_express.losses import compile_loss, fit_targets
from reenact_express.operations import compile_forward
from reenact_express.refused import Refused

CLOSE = 1e-4
"""How far gradients by hand may be from torch's."""
MOST_AT_ONCE = 1 << 22
"""Numbers of the input that are evaluated at once."""


class Engine:
    """The functions of a plan."""

    def __init__(self, torch, plan):
        self.torch = torch
        self.plan = plan
        self.forward = compile_forward(torch, plan)
        self.loss = compile_loss(torch, plan["loss"], plan["steps"][-1].get("activation") == "softmax")
        self.regularised = [tuple(entry) for entry in plan["regularised"]]

    def targets(self, y, weights, x):
        """Targets of the rank and type that the loss needs."""
        with self.torch.no_grad():
            predicted = self.forward(weights, x[:1], False)
        return fit_targets(self.plan["loss"]["name"], y, predicted)

    def total(self, weights, x, y, sample_weight, training):
        """The loss of a batch with what the regularisers add, and the predictions."""
        predicted = self.forward(weights, x, training)
        loss = self.loss(y, predicted, sample_weight)
        if self.regularised:
            loss = loss + self.penalty(weights)
        return loss, predicted

    def penalty(self, weights):
        total = 0.0
        for number, l1, l2 in self.regularised:
            weight = weights[number]
            if l1:
                total = total + l1 * weight.abs().sum()
            if l2:
                total = total + l2 * (weight * weight).sum()
        return total

    def evaluate(self, weights, x, y, sample_weight):
        """The mean loss over all samples, and all predictions. Evaluation treats every sample for itself, so
        the size of the pieces changes nothing.
        """
        torch, count = self.torch, x.shape[0]
        piece = max(1, MOST_AT_ONCE // max(1, x[0].numel()))
        with torch.no_grad():
            if piece >= count:
                loss, predicted = self.total(weights, x, y, sample_weight, False)
                return loss, predicted
            losses, found = 0.0, []
            for first in range(0, count, piece):
                part = slice(first, min(first + piece, count))
                weighted = None if sample_weight is None else sample_weight[part]
                loss, predicted = self.total(weights, x[part], y[part], weighted, False)
                losses = losses + loss * (part.stop - part.start)
                found.append(predicted)
            return losses / count, torch.cat(found)


class Step:
    """Fills the gradients of one batch: by hand where that is known and was seen to agree, else by torch."""

    def __init__(self, engine, weights, gradient, views):
        self.torch, self.engine = engine.torch, engine
        self.weights, self.gradient, self.views = weights, gradient, views
        self.backward = backward_of(engine.torch)
        self._plain = [weight.detach() for weight in weights]
        """The same memory, without a memory of what was done to it."""
        self._hand = None

    def __call__(self, x, y, sample_weight):
        """The loss and the predictions."""
        if self._hand is not None:
            with self.torch.no_grad():
                return self._hand(self._plain, self.views, x, y)
        loss, predicted = self.engine.total(self.weights, x, y, sample_weight, True)
        self.gradient.zero_()
        self.backward(loss)
        return loss.detach(), predicted.detach()

    def targets(self, y):
        """Targets as this step wants them."""
        return y if self._hand is None else by_hand.targets(self.torch, self.engine.plan, y, self._classes)

    def try_by_hand(self, x, y):
        """Take both ways once, with the same draws; no weight moves by it."""
        torch = self.torch
        hand = by_hand.compile_step(torch, self.engine.plan)
        if hand is None or x.dtype != torch.float32:
            return
        before = torch.get_rng_state()
        loss, self._classes = self(x, y, None)
        expected = self.gradient.clone()
        torch.set_rng_state(before)
        self._hand = hand
        found, _ = self(x, self.targets(y), None)
        torch.set_rng_state(before)
        scale = float(expected.abs().max().nan_to_num())
        same = torch.allclose(self.gradient, expected, rtol=CLOSE, atol=CLOSE * scale, equal_nan=True)
        if not same or not torch.allclose(found, loss, rtol=CLOSE, equal_nan=True):
            self._hand = None


def backward_of(torch):
    """The pass back without the doors around it, through which the probe looks at every step."""
    try:
        run = torch.autograd.Variable._execution_engine.run_backward
    except AttributeError:
        raise Refused("this version of torch is not known") from None
    one = torch.ones(())

    def backward(loss):
        seed = one if loss.device == one.device else one.to(loss.device)
        run((loss,), (seed,), False, False, (), allow_unreachable=True, accumulate_grad=True)

    return backward
