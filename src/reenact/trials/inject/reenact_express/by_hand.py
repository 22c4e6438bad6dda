"""Chains of dense layers differentiated by hand: in small nets the automatic way costs more than the numbers.

Each rule is the one that torch applies to the operations of `operations` and `losses`. What is not a plain
chain, or has regularisers or weighted samples, is left to torch.
"""

from __future__ import annotations

from reenact_express.losses import EPSILON

ACTIVATIONS = ("linear", "relu", "sigmoid", "tanh", "softmax")
LOSSES = (
    "mean_squared_error",
    "binary_crossentropy",
    "categorical_crossentropy",
    "sparse_categorical_crossentropy",
)


def compile_step(torch, plan):
    """A function (weights, gradients, x, y) -> (loss, predictions) that fills the gradients; none when the
    plan is not a plain chain.
    """
    if not _is_chain(plan):
        return None
    layers = [_LAYERS[step["op"]](torch, step) for step in plan["steps"]]
    measure = _LOSSES[plan["loss"]["name"]](torch)

    def step(weights, gradients, x, y):
        kept = []
        for layer in layers:
            x, back = layer(weights, gradients, x)
            kept.append(back)
        loss, change = measure(y, x)
        while kept:
            change = kept.pop()(change, bool(kept))
        return loss, x

    return step


def targets(torch, plan, y, predicted):
    """Targets as the rules here want them: classes as rows of zeros and a one."""
    if plan["loss"]["name"] != "sparse_categorical_crossentropy":
        return y
    return torch.nn.functional.one_hot(y, predicted.shape[-1]).to(predicted.dtype)


def _is_chain(plan):
    steps, loss = plan["steps"], plan["loss"]
    known = all(
        step["op"] in _LAYERS
        and step["from"] == [number - 1]
        and step.get("activation", "linear") in ACTIVATIONS
        and (step.get("activation") != "softmax" or number == len(steps) - 1)
        and (step["op"] != "reshape" or step["shape"] == [-1])
        for number, step in enumerate(steps)
    )
    weights = [number for step in steps for number in step["weights"]]
    own = sorted(weights) == list(range(plan["trainable"]))
    normal = "categorical" not in loss["name"] or steps[-1].get("activation") == "softmax"
    settings = [value for key, value in loss.items() if key != "name"]
    plain = loss["name"] in LOSSES and not any(settings) and not plan["regularised"]
    return known and own and normal and plain


def _backwards(name):
    """What comes back through an activation, of its output and the change behind it."""
    return {
        "linear": lambda _, change: change,
        "relu": lambda out, change: change * (out > 0),
        "sigmoid": lambda out, change: change * (out * (1.0 - out)),
        "tanh": lambda out, change: change * (1.0 - out * out),
        "softmax": lambda out, change: out * (change - (change * out).sum(-1, keepdim=True)),
    }[name]


def _forwards(torch, name):
    return {
        "linear": lambda x: x,
        "relu": torch.relu,
        "sigmoid": torch.sigmoid,
        "tanh": torch.tanh,
        "softmax": lambda x: torch.softmax(x, -1),
    }[name]


def _dense(torch, step):
    act, back_act = _forwards(torch, step["activation"]), _backwards(step["activation"])
    kernel, bias = (*step["weights"], None)[:2]

    def run(weights, gradients, x):
        weight = weights[kernel]
        out = act(torch.mm(x, weight) if bias is None else torch.addmm(weights[bias], x, weight))

        def back(change, further):
            change = back_act(out, change)
            torch.mm(x.t(), change, out=gradients[kernel])
            if bias is not None:
                torch.sum(change, 0, out=gradients[bias])
            return torch.mm(change, weight.t()) if further else None

        return out, back

    return run


def _activation(torch, step):
    act, back_act = _forwards(torch, step["activation"]), _backwards(step["activation"])

    def run(_weights, _gradients, x):
        out = act(x)
        return out, lambda change, _further: back_act(out, change)

    return run


def _dropout(torch, step):
    kept = 1.0 - step["rate"]

    def run(_weights, _gradients, x):
        if kept >= 1.0:
            return x, lambda change, _further: change
        if kept <= 0.0:
            return torch.zeros_like(x), lambda change, _further: torch.zeros_like(change)
        # The draws of torch's own dropout.
        noise = torch.empty_like(x).bernoulli_(kept).div_(kept)
        return x * noise, lambda change, _further: change * noise

    return run


def _reshape(_, __):
    def run(_weights, _gradients, x):
        shape = x.shape
        return x.reshape(shape[0], -1), lambda change, _further: change.reshape(shape)

    return run


_LAYERS = {"dense": _dense, "activation": _activation, "dropout": _dropout, "reshape": _reshape}


def _squares(_):
    def measure(y, p):
        gap = p - y
        return (gap * gap).mean(), gap * (2.0 / gap.numel())

    return measure


def _binary(torch):
    loss = torch.nn.functional.binary_cross_entropy

    def measure(y, p):
        inside = p.clamp(EPSILON, 1.0 - EPSILON)
        change = (inside - y) / (inside * (1.0 - inside)).clamp(min=1e-12)
        return loss(inside, y), change * ((inside == p) * (1.0 / p.numel()))

    return measure


def _classes(_):
    def measure(y, p):
        inside = p.clamp(EPSILON, 1.0 - EPSILON)
        share = -1.0 / p.shape[0]
        return (y * inside.log()).sum() * share, y * share / inside * (inside == p)

    return measure


_LOSSES = {
    "mean_squared_error": _squares,
    "binary_crossentropy": _binary,
    "categorical_crossentropy": _classes,
    "sparse_categorical_crossentropy": _classes,
}
