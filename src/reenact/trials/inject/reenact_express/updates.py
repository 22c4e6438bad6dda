"""The update rules of Keras's optimisers on flat vectors, with Keras's conventions: where epsilon stands, how
bias is corrected, weight decay before the step and by the learning rate.

Settings are numbers, or columns of numbers when many models are trained at once.
"""

from __future__ import annotations

from reenact_express.refused import Refused

SLOTS = {
    "SGD": ("momentums",),
    "Adam": ("_momentums", "_velocities", "_velocity_hats"),
    "AdamW": ("_momentums", "_velocities", "_velocity_hats"),
    "RMSprop": ("_velocities", "_average_gradients", "_momentums"),
    "Adagrad": ("_accumulators",),
    "Adadelta": ("_accumulated_grads", "_accumulated_delta_vars"),
    "Adamax": ("_m", "_u"),
    "Nadam": ("_momentums", "_velocities"),
}
"""Where each optimiser keeps what it remembers of every weight."""
_NUMBERS = ("momentum", "rho", "beta_1", "beta_2", "epsilon", "weight_decay")
_FLAGS = ("nesterov", "amsgrad", "centered")
_CLIPS = ("clipnorm", "global_clipnorm", "clipvalue")


def read_optimizer(keras, optimizer):
    """Kind, numbers and flags of an optimiser as plain data. Raises Refused."""
    kind = type(optimizer).__name__
    public = getattr(keras.optimizers, kind, None) if kind in SLOTS else None
    # On torch Keras makes an optimiser of a class of its own below the public one.
    inside = type(optimizer).__module__.startswith("keras.src.")
    if public is None or not inside or not isinstance(optimizer, public):
        raise Refused(f"the optimiser {kind} is not known")
    odd = ("use_ema", "gradient_accumulation_steps", "loss_scale_factor")
    if any(getattr(optimizer, name, None) for name in odd):
        raise Refused("the optimiser averages, accumulates or scales")
    if getattr(optimizer, "_exclude_from_weight_decay", None) or getattr(
        optimizer, "_exclude_from_weight_decay_pattern", None
    ):
        raise Refused("some weights are spared from weight decay")
    numbers = {name: float(getattr(optimizer, name, None) or 0.0) for name in (*_NUMBERS, *_CLIPS)}
    flags = {name: bool(getattr(optimizer, name, False)) for name in _FLAGS}
    return {"kind": kind, "numbers": numbers, "flags": flags}


def slot_names(plan):
    """The slots that these settings use."""
    flags, numbers = plan["flags"], plan["numbers"]
    unused = {
        "_velocity_hats": not flags["amsgrad"],
        "_average_gradients": not flags["centered"],
        "momentums": not numbers["momentum"],
        "_momentums": plan["kind"] == "RMSprop" and not numbers["momentum"],
    }
    return [name for name in SLOTS[plan["kind"]] if not unused.get(name)]


class Update:
    """One optimiser on one vector of weights; `carried` holds Nadam's running product."""

    def __init__(self, torch, plan, numbers, weights, gradient, slots, bounds):
        self.torch = torch
        self.numbers = numbers
        self.flags = plan["flags"]
        self.weights, self.gradient, self.slots = weights, gradient, slots
        self.bounds = bounds
        self.carried = 1.0
        self._rule = getattr(self, f"_{plan['kind'].lower()}")
        self._clip = next((name for name in _CLIPS if plan["numbers"][name] > 0), None)
        self._decays = bool(plan["numbers"]["weight_decay"]) or plan["kind"] == "AdamW"

    def __call__(self, rate, step):
        """`step` counts from 1."""
        if self._clip is not None:
            getattr(self, f"_clip_{self._clip}")()
        if self._decays:
            self.weights.mul_(1.0 - self.numbers["weight_decay"] * rate)
        self._rule(rate, step)

    def _clip_clipvalue(self):
        bound = self.numbers["clipvalue"]
        if isinstance(bound, float):
            self.gradient.clamp_(-bound, bound)
        else:
            self.torch.minimum(self.gradient, bound, out=self.gradient)
            self.torch.maximum(self.gradient, -bound, out=self.gradient)

    def _clip_global_clipnorm(self):
        norm = self.gradient.norm(dim=-1, keepdim=True)
        self.gradient.mul_(self._factor(norm, self.numbers["global_clipnorm"]))

    def _clip_clipnorm(self):
        for first, end in self.bounds:
            part = self.gradient[..., first:end]
            part.mul_(self._factor(part.norm(dim=-1, keepdim=True), self.numbers["clipnorm"]))

    def _factor(self, norm, bound):
        return bound / (
            norm.clamp(min=bound) if isinstance(bound, float) else self.torch.maximum(norm, bound)
        )

    # The rules --------------------------------------------------------------------------------------------

    def _sgd(self, rate, _):
        gradient = self.gradient
        if not self.slots:
            self.weights.sub_(gradient * rate)
            return
        momentum, speed = self.numbers["momentum"], self.slots[0]
        speed.mul_(momentum).sub_(gradient * rate)
        if self.flags["nesterov"]:
            self.weights.sub_(gradient * rate).add_(speed * momentum)
        else:
            self.weights.add_(speed)

    def _adam(self, rate, step):
        numbers, gradient = self.numbers, self.gradient
        beta_1, beta_2 = numbers["beta_1"], numbers["beta_2"]
        first, second = self.slots[0], self.slots[1]
        first.lerp_(gradient, 1.0 - beta_1)
        second.lerp_(gradient * gradient, 1.0 - beta_2)
        if self.flags["amsgrad"]:
            second = self.torch.maximum(self.slots[2], second, out=self.slots[2])
        alpha = rate * (1.0 - beta_2**step) ** 0.5 / (1.0 - beta_1**step)
        self.weights.addcdiv_(first * -alpha, second.sqrt().add_(numbers["epsilon"]))

    _adamw = _adam

    def _rmsprop(self, rate, _):
        numbers, gradient, slots = self.numbers, self.gradient, list(self.slots)
        velocity = slots.pop(0)
        velocity.lerp_(gradient * gradient, 1.0 - numbers["rho"])
        below = velocity + numbers["epsilon"]
        if self.flags["centered"]:
            average = slots.pop(0)
            average.lerp_(gradient, 1.0 - numbers["rho"])
            below.sub_(average * average)
        change = (gradient * rate).div_(below.sqrt_())
        if slots:
            change = slots[0].mul_(numbers["momentum"]).add_(change)
        self.weights.sub_(change)

    def _adagrad(self, rate, _):
        gradient, seen = self.gradient, self.slots[0]
        seen.addcmul_(gradient, gradient)
        self.weights.addcdiv_(gradient * -rate, (seen + self.numbers["epsilon"]).sqrt_())

    def _adadelta(self, rate, _):
        rho, epsilon = self.numbers["rho"], self.numbers["epsilon"]
        gradient, (seen, moved) = self.gradient, self.slots
        seen.lerp_(gradient * gradient, 1.0 - rho)
        change = (moved + epsilon).sqrt_().mul_(gradient).div_((seen + epsilon).sqrt_())
        moved.lerp_(change * change, 1.0 - rho)
        self.weights.sub_(change * rate)

    def _adamax(self, rate, step):
        numbers, gradient, (first, largest) = self.numbers, self.gradient, self.slots
        first.lerp_(gradient, 1.0 - numbers["beta_1"])
        self.torch.maximum(largest.mul_(numbers["beta_2"]), gradient.abs(), out=largest)
        below = (largest + numbers["epsilon"]).mul_(1.0 - numbers["beta_1"] ** step)
        self.weights.addcdiv_(first * -rate, below)

    def _nadam(self, rate, step):
        numbers, gradient, (first, second) = self.numbers, self.gradient, self.slots
        beta_1, beta_2 = numbers["beta_1"], numbers["beta_2"]
        now = beta_1 * (1.0 - 0.5 * 0.96**step)
        next_one = beta_1 * (1.0 - 0.5 * 0.96 ** (step + 1))
        self.carried = self.carried * now
        first.lerp_(gradient, 1.0 - beta_1)
        second.lerp_(gradient * gradient, 1.0 - beta_2)
        ahead = first * (next_one / (1.0 - self.carried * next_one))
        ahead.add_(gradient * ((1.0 - now) / (1.0 - self.carried)))
        below = (second / (1.0 - beta_2**step)).sqrt_().add_(numbers["epsilon"])
        self.weights.addcdiv_(ahead * -rate, below)
