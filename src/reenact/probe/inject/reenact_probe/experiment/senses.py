"""Which inputs a model looks at, and whether it sees the order of a sequence.

An input whose rows can be exchanged while all outputs stay is not used. Before the first step a branch may be
shut by weights of zero, so the weights are moved a little for this test: what then still does not matter is
not connected. At the end they are left as they are.
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Iterator

from reenact_probe.experiment.following import outputs
from reenact_probe.experiment.tape import map_tensors, tensors_in
from reenact_probe.types import Args, Function, Kwargs, Library, Module, Tensor

NOT_LOOKED_AT = 1e-4
"""Share of the spread of an output below which it stayed."""
FEWEST_ROWS = 4
_NO_INPUTS = ("label", "target", "mask", "y_true", "len", "pos")
"""Parts of the names of arguments that a model may do without."""
_ATTENDS = ("Attention", "Transformer", "SelfAttn")
_SEES_ORDER = ("LSTM", "GRU", "RNN", "Conv", "Position", "Rotary", "Mamba")


def ignored(
    torch: Library, module: Module, args: Args, kwargs: Kwargs, targets: list[Tensor], at_end: bool
) -> list[str]:
    """Names of the arguments of several that no output depends on; rows lie along the first axis."""
    named = [(name, tensor) for name, tensor in _arguments(module, args, kwargs) if _rows_differ(tensor)]
    tested = [(name, tensor) for name, tensor in named if _is_input(name, tensor, targets)]
    if len(named) < 2 or not tested:
        return []
    with contextlib.nullcontext() if at_end else _moved_weights(torch, module):
        base = _outputs(torch, module, args, kwargs, lambda tensor: tensor)
        if not base or all(_stay(torch, output, output[:1].expand_as(output)) for output in base):
            return []
        moves = {
            name: _moves(torch, module, args, kwargs, base, _rolled(torch, tensor)) for name, tensor in named
        }
    # Where nothing moves the output, it is the output that says nothing.
    return [name for name, _ in tested if moves[name] is False] if True in moves.values() else []


def order_blind(torch: Library, module: Module, args: Args, kwargs: Kwargs, base: Tensor) -> bool | None:
    """Whether a model that attends gives the same answer for each row when the places of a sequence are
    exchanged; none for models of which nobody expects anything else."""
    kinds = [type(part).__name__ for part in module.modules()]
    sequence = next((t for t in tensors_in((args, kwargs)) if t.dim() > 1 and t.shape[1] > 3), None)
    if sequence is None or not any(word in kind for kind in kinds for word in _ATTENDS):
        return None
    if any(word in kind for kind in kinds for word in _SEES_ORDER) or base.dim() != 2:
        return None
    rows, length = sequence.shape[:2]
    order = torch.arange(length).flip(0).roll(1)

    def changed(tensor: Tensor) -> Tensor:
        along = tensor.dim() > 1 and tuple(tensor.shape[:2]) == (rows, length)
        return tensor[:, order.to(tensor.device)] if along else tensor

    if torch.equal(changed(sequence), sequence) or _stay(torch, base, base[:1].expand_as(base)):
        return None
    again = _outputs(torch, module, args, kwargs, changed)
    return _stay(torch, base, again[0]) if again and again[0].shape == base.shape else None


def _arguments(module: Module, args: Args, kwargs: Kwargs) -> Iterator[tuple[str, Tensor]]:
    """Tensors that were given as arguments, with the names that the model has for them."""
    try:
        given = inspect.signature(module.forward).bind(*args, **kwargs).arguments
    except (TypeError, ValueError):
        return
    for name, value in given.items():
        inside = value if isinstance(value, dict) else {name: value}
        yield from ((str(key), tensor) for key, tensor in inside.items() if hasattr(tensor, "grad_fn"))


def _rows_differ(tensor: Tensor) -> bool:
    rows = tensor.shape[0] if tensor.dim() else 0
    return rows >= FEWEST_ROWS and bool((tensor != tensor[:1]).any())


def _is_input(name: str, tensor: Tensor, targets: list[Tensor]) -> bool:
    """Not what a loss compares with, which a model may be given for its training alone."""
    is_target = any(
        tensor.numel() == target.numel() and bool((tensor.reshape(-1) == target.reshape(-1)).all())
        for target in targets
    )
    return not is_target and not any(word in name.lower() for word in _NO_INPUTS)


def _rolled(torch: Library, given: Tensor) -> Function:
    rows = torch.roll(given, max(1, len(given) // 2), 0)
    return lambda tensor: rows if tensor is given else tensor


def _moves(
    torch: Library, module: Module, args: Args, kwargs: Kwargs, base: list[Tensor], change: Function
) -> bool | None:
    """Whether an output moves; none where the model refuses the change."""
    other = _outputs(torch, module, args, kwargs, change)
    if len(other) != len(base) or any(a.shape != b.shape for a, b in zip(base, other)):
        return None
    return not all(_stay(torch, before, after) for before, after in zip(base, other))


def _stay(torch: Library, before: Tensor, after: Tensor) -> bool:
    finite = bool(torch.isfinite(before).all()) and bool(torch.isfinite(after).all())
    spread = float((before - before.mean()).abs().mean())
    return finite and float((before - after).abs().max()) <= NOT_LOOKED_AT * max(spread, 1e-6)


def _outputs(
    torch: Library, module: Module, args: Args, kwargs: Kwargs, change: Callable[[Tensor], Tensor]
) -> list[Tensor]:
    """All outputs of numbers, with the same random draws each time; none where the model refuses."""
    torch.manual_seed(0)
    try:
        output = module(*map_tensors(args, change), **map_tensors(kwargs, change))
    except Exception:  # noqa: BLE001 - the program's own code, with inputs that it never asked for
        return []
    return [t.detach().float() for t in outputs(output) if t.is_floating_point() and t.dim()]


@contextlib.contextmanager
def _moved_weights(torch: Library, module: Module) -> Iterator[None]:
    """All weights a little away from where they were, which is where they are again afterwards."""
    weights = list(module.parameters())
    first = [weight.detach().clone() for weight in weights]
    torch.manual_seed(1)
    try:
        for weight in weights:
            if weight.is_floating_point():
                weight.add_(0.1 * torch.randn_like(weight))
        yield
    finally:
        for weight, before in zip(weights, first):
            weight.copy_(before)
