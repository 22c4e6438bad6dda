"""The operations of a plan as functions of tensors, each as Keras computes it on torch.

`forward(weights, x, training)` of a whole plan is a pure function but for dropout, which draws from the
global generator like Keras's, and batch normalisation, which moves its two averages in place. So it can be
mapped over many sets of weights.
"""

from __future__ import annotations

import functools

from reenact_express import recurrent
from reenact_express.activations import activation


def compile_forward(torch, plan):
    """The function of a plan."""
    steps = [
        (_BUILDERS[step["op"]](torch, step), tuple(step["from"]), tuple(step["weights"]))
        for step in plan["steps"]
    ]
    kind = getattr(torch, plan["input"])
    if all(sources == (number - 1,) for number, (_, sources, _) in enumerate(steps)):
        return _chain(steps, kind)
    return _graph(steps, kind)


def _chain(steps, kind):
    def forward(weights, x, training):
        if x.dtype is not kind:
            x = x.to(kind)
        for run, _, numbers in steps:
            x = run([weights[number] for number in numbers], x, training)
        return x

    return forward


def _graph(steps, kind):
    def forward(weights, x, training):
        made = [x if x.dtype is kind else x.to(kind)]
        for run, sources, numbers in steps:
            inputs = [made[source + 1] for source in sources]
            given = inputs[0] if len(inputs) == 1 else inputs
            made.append(run([weights[number] for number in numbers], given, training))
        return made[-1]

    return forward


def _dense(torch, step):
    act = activation(torch, step["activation"])
    biased = len(step["weights"]) == 2
    addmm, matmul = torch.addmm, torch.matmul

    def run(weights, x, _):
        if x.dim() == 2 and biased:
            return act(addmm(weights[1], x, weights[0]))
        x = matmul(x, weights[0])
        return act(x + weights[1]) if biased else act(x)

    return run


def _activation(torch, step):
    act = activation(torch, step["activation"], step.get("slope"))
    return lambda _weights, x, _training: act(x)


def _dropout(torch, step):
    rate, drop = step["rate"], torch.nn.functional.dropout
    if not rate:
        return lambda _weights, x, _training: x
    if rate >= 1.0:
        return lambda _weights, x, training: torch.zeros_like(x) if training else x
    return lambda _weights, x, training: drop(x, rate, True) if training else x


def _reshape(_, step):
    shape = step["shape"]
    return lambda _weights, x, _training: x.reshape(x.shape[0], *shape)


def _rescaling(_, step):
    scale, offset = step["scale"], step["offset"]
    return lambda _weights, x, _training: x * scale + offset


def _conv(torch, step):
    axes = step["axes"]
    run_conv = torch.nn.functional.conv1d if axes == 1 else torch.nn.functional.conv2d
    pad = torch.nn.functional.pad
    act = activation(torch, step["activation"])
    biased = len(step["weights"]) == 2
    inwards, outwards, kernels = _turns(axes)
    same = step["padding"] == "same"
    strides, dilation = step["strides"], step["dilation"]

    def run(weights, x, _):
        x = x.permute(inwards)
        kernel = weights[0].permute(kernels)
        padding = 0
        if same:
            sides = [
                _same(size, width, stride, apart)
                for size, width, stride, apart in zip(x.shape[2:], kernel.shape[2:], strides, dilation)
            ]
            if all(before == after for before, after in sides):
                padding = [before for before, _ in sides]
            else:
                x = pad(x, [side for pair in reversed(sides) for side in pair])
        groups = x.shape[1] // kernel.shape[1]
        bias = weights[1] if biased else None
        return act(run_conv(x, kernel, bias, strides, padding, dilation, groups).permute(outwards))

    return run


def _same(size, width, stride, apart):
    """Zeros before and after, so that the output is the input over the stride."""
    reach = (width - 1) * apart + 1
    total = max(0, (-(-size // stride) - 1) * stride + reach - size)
    return total // 2, total - total // 2


def _turns(axes):
    """From channels last to channels first, back, and the kernel's turn."""
    if axes == 1:
        return (0, 2, 1), (0, 2, 1), (2, 1, 0)
    return (0, 3, 1, 2), (0, 2, 3, 1), (3, 2, 0, 1)


def _pool(torch, step):
    functional = torch.nn.functional
    name = f"{step['mode']}_pool{step['axes']}d"
    pool = functools.partial(getattr(functional, name), kernel_size=step["size"], stride=step["strides"])
    inwards, outwards, _ = _turns(step["axes"])
    return lambda _weights, x, _training: pool(x.permute(inwards)).permute(outwards)


def _global_pool(torch, step):
    over, keep = tuple(range(1, step["axes"] + 1)), step["keep"]
    reduce = torch.amax if step["mode"] == "max" else torch.mean
    return lambda _weights, x, _training: reduce(x, dim=over, keepdim=keep)


def _batch_norm(torch, step):
    momentum, epsilon, learns = step["momentum"], step["epsilon"], step["learns"]
    scaled, centred = step["scale"], step["center"]

    def run(weights, x, training):
        moving_mean, moving_variance = weights[0], weights[1]
        if training and learns:
            over = tuple(range(x.dim() - 1))
            mean = x.mean(over)
            variance = (x * x).mean(over) - mean * mean
            with torch.no_grad():
                moving_mean.mul_(momentum).add_(mean.detach(), alpha=1.0 - momentum)
                moving_variance.mul_(momentum).add_(variance.detach(), alpha=1.0 - momentum)
        else:
            mean, variance = moving_mean, moving_variance
        factor = (variance + epsilon).rsqrt()
        x = (x - mean) * (factor * weights[2] if scaled else factor)
        return x + weights[2 + scaled] if centred else x

    return run


def _embedding(torch, _):
    look_up = torch.nn.functional.embedding
    return lambda weights, x, _training: look_up(x.long(), weights[0])


def _merge(torch, step):
    mode = step["mode"]

    def run(_weights, inputs, _):
        if mode == "concatenate":
            return torch.cat(inputs, dim=-1)
        total = inputs[0]
        for more in inputs[1:]:
            total = total + more if mode == "add" else total * more
        return total

    return run


_BUILDERS = {
    "dense": _dense,
    "activation": _activation,
    "dropout": _dropout,
    "reshape": _reshape,
    "rescaling": _rescaling,
    "conv": _conv,
    "pool": _pool,
    "global_pool": _global_pool,
    "batch_norm": _batch_norm,
    "embedding": _embedding,
    "merge": _merge,
    "lstm": recurrent.lstm,
    "gru": recurrent.gru,
    "rnn": recurrent.simple,
}
