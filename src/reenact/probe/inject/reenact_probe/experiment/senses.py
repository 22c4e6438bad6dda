"""What a change of the inputs reaches: the modules of a model, each as it ends, and its outputs.

Which inputs a model looks at: one whose rows can be exchanged while all outputs stay is not used.
Before the first step a branch may be shut by weights of zero, so the weights are moved a little for
this test: what then still does not matter is not connected. At the end they are left as they are.
"""

from __future__ import annotations

import contextlib
import inspect
import random
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy

from reenact_probe.experiment.tape import map_tensors, same, tensors_in
from reenact_probe.places import is_library
from reenact_probe.types import (
    Args,
    Array,
    Facts,
    Function,
    Kwargs,
    Library,
    Module,
    Tensor,
)

NOT_LOOKED_AT = 1e-4
"""Share of the spread of an output below which it stayed."""
FEWEST_ROWS, KERAS_ROWS = 4, 32
_ATTENDS = ("Attention", "Transformer", "SelfAttn")
"""Parts of the names of classes of libraries, as are those of `_SEES_ORDER`."""
_SEES_ORDER = ("LSTM", "GRU", "RNN", "Conv", "Position", "Rotary", "Mamba")


class Pass(NamedTuple):
    """A call of a model from outside, as the program made it."""

    module: Module
    args: Args
    kwargs: Kwargs

    @property
    def given(self) -> list[Tensor]:
        return list(tensors_in((self.args, self.kwargs)))

    def has_part(self, words: tuple[str, ...]) -> bool:
        """Whether one of these words is in the name of the class of a module of a library. What the
        program calls its own says nothing.
        """
        kinds = [type(part).__name__ for part in self.module.modules() if _own_code(part) is None]
        return any(word in kind for kind in kinds for word in words)

    def outputs(
        self,
        torch: Library,
        change: Function,
        seed: int = 0,
    ) -> list[Tensor]:
        """All outputs of numbers, with these random draws; none where the model refuses the
        change.
        """
        torch.manual_seed(seed)
        random.seed(seed)
        try:
            output = self.module(
                *map_tensors(self.args, change), **map_tensors(self.kwargs, change)
            )
        except Exception:  # noqa: BLE001 - the program's own code, with inputs that it never asked for
            return []
        return [t.detach().float() for t in _tensors(output) if t.is_floating_point() and t.dim()]


def _tensors(output: Any) -> Iterator[Tensor]:
    """Tensors of an output, whatever holds them."""
    plain = hasattr(output, "grad_fn") or isinstance(output, (dict, tuple, list))
    return tensors_in(output if plain else getattr(output, "__dict__", {}))


class Ended(NamedTuple):
    """A module whose forward came to its end."""

    module: Module
    parent: Module | None
    """The program's own module that called it."""
    part: Tensor
    """What is looked at of its output."""
    whole: Tensor

    def facts(self, name: str) -> Facts:
        """A module of the program's own, or one of a library next to the program's line that
        calls it.
        """
        owner = (
            self.module
            if self.parent is None or _own_code(self.module) is not None
            else self.parent
        )
        code = _own_code(owner)
        place = None
        if code is not None:
            try:
                lines = len(inspect.getsourcelines(code)[0])
            except (OSError, TypeError):
                lines = 1
            place = [
                code.co_filename,
                code.co_firstlineno,
                0,
                code.co_firstlineno + lines - 1,
                0,
            ]
        return {
            "module": name,
            "type": type(self.module).__name__,
            "forward": place,
        }


@contextlib.contextmanager
def following(
    module: Module, part: Callable[[Tensor], Tensor | None], ended: list[Ended]
) -> Iterator[None]:
    """Note this part of the output of each module, with the program's own module that called it."""
    stack: list[Module] = []

    def ends(inner: Module, _: Any, output: Any) -> None:
        if stack and stack[-1] is inner:
            stack.pop()
        tensor = next(
            (t for t in _tensors(output) if t.is_floating_point()),
            None,
        )
        kept = part(tensor) if tensor is not None else None
        if tensor is not None and kept is not None:
            own = next(
                (outer for outer in reversed(stack) if _own_code(outer) is not None),
                None,
            )
            ended.append(
                Ended(
                    inner,
                    own,
                    kept.detach().float(),
                    tensor.detach().float(),
                )
            )

    handles = []
    for inner in module.modules():
        handles.append(inner.register_forward_pre_hook(lambda begun, _: stack.append(begun)))
        handles.append(inner.register_forward_hook(ends))
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def _own_code(module: Module) -> Any:
    """The code of a forward that the program wrote itself, or none."""
    code = getattr(getattr(type(module), "forward", None), "__code__", None)
    if code is not None and not is_library(code.co_filename):
        return code
    return None


def ignored(
    torch: Library,
    call: Pass,
    targets: list[Tensor],
    at_end: bool,
) -> list[str]:
    """Names of the arguments of several that no output depends on; rows lie along the first
    axis.
    """
    rows = [(name, t) for name, t in _arguments(call) if t.dim() and len(t) >= FEWEST_ROWS]
    named = [(name, tensor) for name, tensor in rows if bool((tensor != tensor[:1]).any())]
    tested = [name for name, tensor in named if _is_input(tensor, call.given, targets)]
    if len(named) < 2 or not tested:
        return []
    with contextlib.nullcontext() if at_end else _moved_weights(torch, call.module):
        base = call.outputs(torch, same)
        if all(
            _stay(
                torch,
                output,
                output[:1].expand_as(output),
            )
            for output in base
        ):
            return []
        moves = {name: _moves(torch, call, base, tensor) for name, tensor in named}
    # Where nothing moves the output, it is the output that says nothing.
    if True not in moves.values():
        return []
    return [name for name in tested if moves[name] is False]


def order_blind(torch: Library, call: Pass, base: Tensor) -> bool | None:
    """Whether a model that attends gives the same answer for each row when the places of a sequence
    are exchanged; none for models of which no one expects anything else.
    """
    sequence = next(
        (t for t in call.given if t.dim() > 1 and t.shape[1] > 3),
        None,
    )
    if sequence is None or base.dim() != 2 or call.has_part(_SEES_ORDER):
        return None
    rows, length = sequence.shape[:2]
    if not call.has_part(_ATTENDS) and not _weighs_places(torch, call, length):
        return None
    order = torch.arange(length).flip(0).roll(1)

    def changed(tensor: Tensor) -> Tensor:
        along = tensor.dim() > 1 and tuple(tensor.shape[:2]) == (rows, length)
        if along:
            return tensor[:, order.to(tensor.device)]
        return tensor

    if torch.equal(changed(sequence), sequence) or _stay(
        torch,
        base,
        base[:1].expand_as(base),
    ):
        return None
    again = call.outputs(torch, changed)
    if again and again[0].shape == base.shape:
        return _stay(torch, base, again[0])
    return None


def _arguments(call: Pass) -> Iterator[tuple[str, Tensor]]:
    """Tensors that were given as arguments, with the names that the model has for them."""
    try:
        given = inspect.signature(call.module.forward).bind(*call.args, **call.kwargs).arguments
    except (TypeError, ValueError):
        return
    for name, value in given.items():
        inside = value if isinstance(value, dict) else {name: value}
        for key, tensor in inside.items():
            if hasattr(tensor, "grad_fn"):
                yield (str(key), tensor)


def _is_input(tensor: Tensor, given: list[Tensor], targets: list[Tensor]) -> bool:
    """Not what a loss compares with, which a model may be given for its training alone, and not
    what only says where the rows of another input end.
    """
    return not equals_any(tensor, targets) and not any(
        _says_where(tensor, other) for other in given if other is not tensor
    )


def equals_any(tensor: Tensor, targets: list[Tensor]) -> bool:
    """Whether it holds the same numbers as one of these."""
    alike = [target for target in targets if tensor.numel() == target.numel()]
    return any(bool((tensor.reshape(-1) == target.reshape(-1)).all()) for target in alike)


def is_mask(tensor: Tensor) -> bool:
    """Whether it holds nothing but truth values, or ones and zeros."""
    return bool(((tensor == 0) | (tensor == 1)).all())


def _says_where(tensor: Tensor, other: Tensor) -> bool:
    """Whether it may be a mask over the places of another input, or the lengths of its rows."""
    if other.dim() < 2 or len(other) != len(tensor):
        return False
    if tensor.dim() >= 2 and tensor.shape[1] == other.shape[1]:
        return is_mask(tensor)
    whole = not tensor.is_floating_point() and tensor.dim() == 1
    return whole and bool((tensor > 0).all()) and int(tensor.max()) <= other.shape[1]


def _moves(
    torch: Library,
    call: Pass,
    base: list[Tensor],
    given: Tensor,
) -> bool | None:
    """Whether an output moves with the rows of an input; none where the model refuses the
    change.
    """
    rolled = torch.roll(
        given,
        max(1, len(given) // 2),
        0,
    )
    other = call.outputs(
        torch,
        lambda tensor: rolled if tensor is given else tensor,
    )
    if [output.shape for output in other] != [output.shape for output in base]:
        return None
    return not all(_stay(torch, before, after) for before, after in zip(base, other))


def _stay(torch: Library, before: Tensor, after: Tensor) -> bool:
    finite = bool(torch.isfinite(before).all()) and bool(torch.isfinite(after).all())
    spread = float((before - before.mean()).abs().mean())
    return finite and float((before - after).abs().max()) <= NOT_LOOKED_AT * max(spread, 1e-6)


def _weighs_places(torch: Library, call: Pass, length: int) -> bool:
    """Whether a model of the program's own attends: it takes a softmax over all pairs of places."""
    seen: list[bool] = []

    class Looking(torch.overrides.TorchFunctionMode):
        def __torch_function__(
            self,
            function: Any,
            types: Any,
            args: Args = (),
            kwargs: Any = None,
        ) -> Any:
            output = function(*args, **(kwargs or {}))
            name = getattr(function, "__name__", "")
            pairs = getattr(output, "shape", ())[-2:] == (length, length)
            seen.append(
                name == "scaled_dot_product_attention" or (name == "softmax" and bool(pairs))
            )
            return output

    with Looking():
        call.outputs(torch, same)
    return any(seen)


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


def _arrays(x: Any) -> list[Any]:
    """The inputs that `fit` was given: one array, or several, with or without names."""
    if hasattr(x, "shape"):
        return [x]
    return list(x.values() if isinstance(x, dict) else x or ())


def look_at_keras(
    keras: Library,
    model: Module,
    x: Any = None,
    *_: Any,
    **__: Any,
) -> Facts:
    """What a Keras model does when other rows are next to a row, on any backend: it is called as
    it is, before its first step, with rows that `fit` was given; called with what `fit` is called
    with.
    """
    found: Facts = {"model": type(model).__name__}
    arrays = _arrays(x)
    rows = min((len(array) for array in arrays if getattr(array, "shape", ())), default=0)
    if rows < 3 or not all(hasattr(array, "shape") for array in arrays):
        return dict(found, missing="no rows of it lie in memory")
    rows = min(rows, KERAS_ROWS)

    def scores(order: list[int]) -> Any:
        """Of rows in this order, in evaluation mode."""
        given: Any = [numpy.asarray(array[:rows])[order] for array in arrays]
        if not isinstance(x, (list, tuple)):
            given = dict(zip(x, given)) if isinstance(x, dict) else given[0]
        output = model(given, training=False)
        while isinstance(output, (list, tuple, dict)):
            output = next(iter(output.values() if isinstance(output, dict) else output))
        made = numpy.asarray(keras.ops.convert_to_numpy(output))
        if made.ndim > 1 and made.dtype.kind == "f":
            return made.astype("float64")
        return None

    base = scores([*range(rows)])
    again = scores([*range(rows)])
    if base is None or len(base) != rows or base.shape[1:2] == (rows,):
        return dict(found, missing="it gives no scores by row")
    found["noise"] = _share_moved(
        base[-1],
        again[-1],
    )
    if not found["noise"]:
        # The first row stands in for all others but the last.
        found["mixing"] = _share_moved(
            base[-1],
            scores([0] * (rows - 1) + [rows - 1])[-1],
        )
    return found


def _share_moved(before: Array, after: Array) -> float:
    """The largest change as a share of the spread, or of the size where one number has no
    spread.
    """
    spread = float(numpy.abs(before - before.mean()).mean()) or float(numpy.abs(before).max())
    share = float(numpy.abs(before - after).max()) / max(spread, 1e-6)
    # What rows of another order cost in rounding.
    return share if share > 1e-4 else 0.0
