"""Sees functional calls (`F.relu`, `torch.sigmoid`, `x.view`, `F.cross_entropy`) during the first steps.

A torch function mode stands between the program and torch for those few passes only. It calls what was called
with what it was given, and notes the rest. It is entered only in a training pass: in evaluation a mode on
the stack makes attention layers leave their fast path, which would change numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from reenact_probe.guard import guarded, state
from reenact_probe.places import caller
from reenact_probe.types import Function, Library

if TYPE_CHECKING:
    from reenact_probe.torch_capture import Capture

ACTIVATIONS = frozenset(
    [
        "relu",
        "relu_",
        "relu6",
        "leaky_relu",
        "leaky_relu_",
        "elu",
        "elu_",
        "selu",
        "selu_",
        "celu",
        "gelu",
        "silu",
        "mish",
        "sigmoid",
        "sigmoid_",
        "tanh",
        "tanh_",
        "softmax",
        "log_softmax",
        "softmin",
        "softplus",
        "softsign",
        "hardtanh",
        "hardsigmoid",
        "hardswish",
        "logsigmoid",
        "prelu",
        "rrelu",
        "glu",
        "tanhshrink",
        "hardshrink",
        "threshold",
    ]
)
SHAPING = frozenset(
    [
        "max_pool1d",
        "max_pool2d",
        "max_pool3d",
        "avg_pool1d",
        "avg_pool2d",
        "avg_pool3d",
        "adaptive_avg_pool1d",
        "adaptive_avg_pool2d",
        "adaptive_max_pool2d",
        "dropout",
        "dropout1d",
        "dropout2d",
        "alpha_dropout",
        "feature_alpha_dropout",
        "flatten",
        "view",
        "reshape",
        "batch_norm",
        "layer_norm",
        "group_norm",
        "instance_norm",
        "normalize",
        "interpolate",
        "linear",
        "conv1d",
        "conv2d",
        "conv3d",
        "embedding",
    ]
)
LOSSES = frozenset(
    [
        "cross_entropy",
        "nll_loss",
        "mse_loss",
        "l1_loss",
        "smooth_l1_loss",
        "huber_loss",
        "binary_cross_entropy",
        "binary_cross_entropy_with_logits",
        "kl_div",
        "hinge_embedding_loss",
        "margin_ranking_loss",
        "multi_margin_loss",
        "multilabel_margin_loss",
        "multilabel_soft_margin_loss",
        "soft_margin_loss",
        "cosine_embedding_loss",
        "triplet_margin_loss",
        "poisson_nll_loss",
        "gaussian_nll_loss",
        "ctc_loss",
    ]
)
_NOTED = ACTIVATIONS | SHAPING | LOSSES


def make_mode(torch: Library, listener: Capture) -> Any:
    """A mode that tells the listener of each noted call: `function_called(name, args, kwargs, output,
    place)`.
    """

    @guarded("function")
    def tell(name: Any, args: Any, kwargs: Any, output: Any) -> None:
        listener.function_called(name, args, kwargs, output, caller())

    class Noting(torch.overrides.TorchFunctionMode):
        listens = True

        def __torch_function__(self, func: Function, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            kwargs = kwargs or {}
            output = func(*args, **kwargs)
            if self.listens and not state.asleep:
                name = getattr(func, "__name__", "")
                if name in _NOTED or listener.follows:
                    tell(name, args, kwargs, output)
            return output

    return Noting()


class ModeKeeper:
    """Enters the mode and leaves it again without ever disturbing a mode of the program.

    Left on until the loss is known, the mode is not nested like a `with` block. So it is entered only below
    everything: when the stack was empty. And it is popped only while it lies on top: a mode that is busy with
    a call (`loss.backward()` is one) is not on the stack at all, so leaving is tried again later.
    """

    def __init__(self, torch: Library, listener: Capture) -> None:
        self.torch = torch
        self.mode = make_mode(torch, listener)
        self.on = False
        self._deep: Callable[[], int] | None = getattr(torch._C, "_len_torch_function_stack", None)
        state.undo.append(self.leave)

    def enter(self) -> None:
        if self.on or self._deep is None or self._deep() > 0:
            return
        self.mode.__enter__()
        self.on = self.mode.listens = True

    def leave(self) -> None:
        self.mode.listens = False
        if self.on and self._on_top():
            self.mode.__exit__(None, None, None)
            self.on = False

    def _on_top(self) -> bool:
        depth = self._deep() if self._deep is not None else 0
        return depth > 0 and self.torch._C._get_function_stack_at(depth - 1) is self.mode
