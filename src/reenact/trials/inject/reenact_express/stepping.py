"""One training step, and one evaluation, of a plan."""

from __future__ import annotations

from reenact_express.losses import compile_loss, fit_targets
from reenact_express.operations import compile_forward
from reenact_express.refused import Refused

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
