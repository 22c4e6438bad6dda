"""One look at a whole forward pass: the order of layers and functional calls, their shapes, what
follows what.

Functional calls (`F.relu`, `torch.sigmoid`, `x.view`, `F.cross_entropy`) are seen by a torch
function mode that is between the program and torch for those few passes only. It calls what was
called with what it was given, and notes the rest. It is entered only in a training pass: in
evaluation a mode on the stack makes attention layers leave their fast path, which would change
numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from reenact_probe.guard import guarded, state
from reenact_probe.places import caller
from reenact_probe.torch.facts import (
    ACTIVATIONS,
    Entry,
    plain_values,
    settings_of,
    shape_of,
)
from reenact_probe.torch.forward import ForwardHooks
from reenact_probe.torch.model import LayerInfo
from reenact_probe.torch.samples import first_tensor
from reenact_probe.torch.trail import NOTED as OF_TRAIL
from reenact_probe.torch.trail import Trail
from reenact_probe.types import Args, Function, Kwargs, Library, Module, Place, Tensor

_SHAPING_NAMES = """
max_pool1d max_pool2d max_pool3d avg_pool1d avg_pool2d avg_pool3d adaptive_avg_pool1d adaptive_avg_pool2d
adaptive_max_pool2d dropout dropout1d dropout2d alpha_dropout feature_alpha_dropout flatten view reshape
batch_norm layer_norm group_norm instance_norm normalize interpolate linear conv1d conv2d conv3d embedding
scaled_dot_product_attention
"""
SHAPING = frozenset(_SHAPING_NAMES.split())
_LOSSES_NAMES = """
cross_entropy nll_loss mse_loss l1_loss smooth_l1_loss huber_loss binary_cross_entropy
binary_cross_entropy_with_logits kl_div hinge_embedding_loss margin_ranking_loss multi_margin_loss
multilabel_margin_loss multilabel_soft_margin_loss soft_margin_loss cosine_embedding_loss
triplet_margin_loss poisson_nll_loss gaussian_nll_loss ctc_loss
"""
LOSSES = frozenset(_LOSSES_NAMES.split())
_NOTED = ACTIVATIONS | SHAPING | LOSSES

_MIXES_NAMES = """
matmul __matmul__ __rmatmul__ mm bmm baddbmm einsum scaled_dot_product_attention cosine_similarity
"""
_MIXES = frozenset(_MIXES_NAMES.split())
"""Functions whose result is no longer the output of one layer: the scores of an attention are
no layer's.
"""
MOST_LOSSES = 32


class Origin(NamedTuple):
    """What made a tensor."""

    entry: Entry | None
    layer: LayerInfo | None
    """The layer whose output it still is."""
    mixed: bool = False
    """Outputs of several layers were multiplied since."""

    @property
    def taken(self) -> str:
        """The entry whose output this is; empty where it is not a single one's."""
        if self.mixed or self.entry is None:
            return ""
        return self.entry.name


class LossCall(NamedTuple):
    """A functional loss, as the program called it."""

    name: str
    args: Args
    kwargs: Kwargs
    place: Place | None


class Capture:
    """The pass being looked at, or the last one that was."""

    MAXIMUM = 4000

    def __init__(
        self,
        torch: Library,
        forwards: ForwardHooks,
        place_of: Callable[[Module], Place | None],
    ) -> None:
        self.torch = torch
        self.forwards = forwards
        self.place_of = place_of
        self.entries: list[Entry] = []
        self.follows = False
        """True while a pass is being captured: every call is followed, to know what feeds what."""
        self.loss: LossCall | None = None
        """The last functional loss since the last one went back."""
        self.losses: list[LossCall] = []
        """All of them, also those that a layer of a library made."""
        self.trail = Trail(torch)
        self.normalized: list[tuple[Any, list[int], Place | None]] = []
        """Axis, shape and place of rows that were brought to one length on the way to the loss."""
        self.several: tuple[float, Place | None] | None = None
        """Classes that the rows of a target hold at once, which a loss of one class was given,
        and where.
        """
        self._by_module: dict[int, Entry] = {}
        self._origin: dict[int, Origin] = {}
        self._kept: list[Tensor] = []
        self.mode_on = False
        self._mode = make_mode(torch, self)
        self._depth: Callable[[], int] | None = getattr(torch._C, "_len_torch_function_stack", None)
        state.undo.append(self.leave_mode)

    def enter_mode(self) -> None:
        """Note functional calls from now on, without ever disturbing a mode of the program.

        Left on until the loss is known, the mode is not nested like a `with` block. So it is
        entered only below everything: when the stack was empty. And it is popped only while it lies
        on top: a mode that is busy with a call (`loss.backward()` is one) is not on the stack at
        all, so leaving is tried again.
        """
        if not self.mode_on and self._depth is not None and self._depth() == 0:
            self._mode.__enter__()
            self.mode_on = self._mode.listens = True

    def leave_mode(self) -> None:
        self._mode.listens = False
        depth = self._depth() if self.mode_on and self._depth is not None else 0
        if depth > 0 and self.torch._C._get_function_stack_at(depth - 1) is self._mode:
            self._mode.__exit__(None, None, None)
            self.mode_on = False

    def take_losses(self) -> list[LossCall]:
        """The calls of losses since the last one went back."""
        calls, self.losses = self.losses, []
        return calls

    def forget(self) -> None:
        """Let go of what waits for a loss."""
        self.losses = []
        self.trail.forget()

    def end(self) -> None:
        """Let go of every tensor."""
        self.follows = False
        self._origin, self._kept = {}, []

    def layer(
        self,
        module: Module,
        info: LayerInfo,
        args: Args,
        kwargs: Kwargs,
        output: Any,
    ) -> None:
        entry = self._by_module.get(id(module))
        if entry is not None:
            entry.calls += 1
        elif len(self.entries) < self.MAXIMUM:
            entry = self._add_module(
                info.name,
                module,
                *self._shapes(args, kwargs, output),
            )
            origin = self._origin.get(id(first_tensor(self.torch, args))) if self.mode_on else None
            entry.takes = origin.taken if origin is not None else None
        self._produced(output, Origin(entry, info))

    def part(self, name: str, module: Module) -> None:
        """A layer that is known to be there, though no one saw it called."""
        if id(module) not in self._by_module and len(self.entries) < self.MAXIMUM:
            self._add_module(name, module, [], None)

    def _add_module(
        self,
        name: str,
        module: Module,
        inputs: list[list[int] | None],
        output: list[int] | None,
    ) -> Entry:
        entry = Entry(
            name,
            module,
            None,
            self.place_of(module),
            inputs,
            output,
            settings_of(module),
        )
        self._by_module[id(module)] = entry
        self.entries.append(entry)
        return entry

    def _shapes(
        self,
        args: Args,
        kwargs: Kwargs,
        output: Any,
    ) -> tuple[list[list[int] | None], list[int] | None]:
        tensors = [
            value for value in (*args, *kwargs.values()) if isinstance(value, self.torch.Tensor)
        ]
        return [shape_of(tensor) for tensor in tensors[:8]], shape_of(
            first_tensor(self.torch, output)
        )

    @guarded("function")
    def note_line(self, name: str, args: Args, output: Any) -> None:
        self.trail.note(name, args, output)

    @guarded("function")
    def function_called(
        self,
        name: str,
        args: Args,
        kwargs: Kwargs,
        output: Any,
    ) -> None:
        place = caller()
        top = self.forwards.innermost
        in_library = top is not None and type(top).__module__.startswith("torch.nn")
        tensor = first_tensor(self.torch, args)
        made = tensor is not None and tensor.requires_grad and not tensor.is_leaf
        if (
            name == "normalize"
            and top is None
            and tensor is not None
            and made
            and tensor.dim() == 2
        ):
            axis = kwargs.get(
                "dim",
                args[2] if len(args) > 2 else 1,
            )
            self.normalized.append((axis, list(tensor.shape), place))
        if name == "cross_entropy" and self.several is None:
            self.several = self._several_classes(args, kwargs, place)
        if name in LOSSES and len(self.losses) < MOST_LOSSES:
            self.losses.append(LossCall(name, args, kwargs, place))
        if name in LOSSES and not in_library:
            self.loss = LossCall(name, args, kwargs, place)
        # A library module whose inside is its own business.
        closed = top is not None and (
            not top._modules or type(top).__name__ == "MultiheadAttention"
        )
        if not self.follows or (in_library and closed):
            return
        if name in ("clamp", "clamp_min", "clip") and len(args) < 3 and kwargs.get("max") is None:
            # A clamp that cuts at zero and nowhere else.
            low = kwargs.get(
                "min",
                args[1] if len(args) > 1 else None,
            )
            name = "relu" if isinstance(low, (int, float)) and low == 0 else name
        source = self._origin.get(id(tensor)) if tensor is not None else None
        shapes = name in SHAPING and not in_library
        if name in ("view", "reshape", "flatten"):
            old = shape_of(tensor) or ()
            new = shape_of(output) or ()
            shapes = shapes and len(old) > 2 and len(new) == 2 and old[0] == new[0]
        if shapes or name in ACTIVATIONS:
            place = self.place_of(top) if in_library else place
            # What works in place ends in an underscore.
            self._functional(
                name.rstrip("_"),
                args,
                kwargs,
                output,
                source,
                place,
            )
        elif source is not None:
            self._produced(
                output,
                source._replace(layer=None, mixed=True) if name in _MIXES else source,
            )

    def _several_classes(
        self,
        args: Args,
        kwargs: Kwargs,
        place: Place | None,
    ) -> tuple[float, Place | None] | None:
        """Where targets are rows of zeros and ones, and some hold several ones."""
        target = kwargs.get(
            "target",
            args[1] if len(args) > 1 else None,
        )
        if (
            not isinstance(target, self.torch.Tensor)
            or target.dim() != 2
            or not target.is_floating_point()
        ):
            return None
        rows = target.detach()
        ones = rows.sum(1)
        whole = bool(((rows == 0) | (rows == 1)).all()) and float(ones.max()) > 1
        return (float(ones.mean()), place) if whole else None

    def _functional(
        self,
        name: str,
        args: Args,
        kwargs: Kwargs,
        output: Any,
        source: Origin | None,
        place: Place | None,
    ) -> None:
        owner = source.entry.name if source is not None and source.entry is not None else ""
        label = f"{owner}>{name}" if owner else name
        known = [entry for entry in self.entries if entry.name == label and entry.place == place]
        if known:
            known[0].calls += 1
        elif len(self.entries) < self.MAXIMUM:
            shapes = self._shapes(args, {}, output)
            taken = source.taken if source is not None else None
            settings = plain_values(kwargs)
            if "softmax" in name and len(args) > 1 and isinstance(args[1], int):
                settings["dim"] = args[1]
            self.entries.append(
                Entry(
                    label,
                    None,
                    name,
                    place,
                    *shapes,
                    settings,
                    takes=taken,
                )
            )
        if name in ACTIVATIONS and source is not None and source.layer is not None:
            source.layer.follower = source.layer.follower or name
        made = known[0] if known else self.entries[-1]
        layer = source.layer if source is not None and name not in ACTIVATIONS else None
        self._produced(output, Origin(made, layer))

    def _produced(self, output: Any, origin: Origin) -> None:
        tensor = first_tensor(self.torch, output)
        if tensor is not None and self.follows and len(self._kept) < 4 * self.MAXIMUM:
            self._origin[id(tensor)] = origin
            self._kept.append(tensor)


def make_mode(torch: Library, listener: Capture) -> Any:
    """A mode that informs the listener of each noted call."""

    class Noting(torch.overrides.TorchFunctionMode):
        listens = True

        def __torch_function__(
            self,
            func: Function,
            types: Any,
            args: Any = (),
            kwargs: Any = None,
        ) -> Any:
            kwargs = kwargs or {}
            output = func(*args, **kwargs)
            if self.listens and not state.asleep:
                name = getattr(func, "__name__", "")
                if name in OF_TRAIL:
                    listener.note_line(name, args, output)
                if name in _NOTED or listener.follows:
                    listener.function_called(name, args, kwargs, output)
            return output

    return Noting()
