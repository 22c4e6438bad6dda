"""Remembers how the loss came from the weights, call by call, so that it can be computed again.

A torch function mode notes each call that touches a weight, an input of a model or what came of
them. What is computed from other tensors alone (labels, masks, data being prepared) enters as it
is. Playing the tape again makes the same calls with the weights as they then are: the program's own
model, loss and regularizers, no matter who wrote them, and fresh dropout. Numbers that the program took
out of tensors (`.item()`) stay what they were.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from reenact_probe.guard import guarded, state
from reenact_probe.places import caller
from reenact_probe.types import Args, Function, Kwargs, Library, Place, Tensor

_IN_PLACE = frozenset(
    [
        "__setitem__",
        "__iadd__",
        "__isub__",
        "__imul__",
        "__itruediv__",
        "__idiv__",
        "__ipow__",
        "__imatmul__",
    ]
)
_RISKY = frozenset(
    [
        "div",
        "true_divide",
        "divide",
        "__truediv__",
        "__div__",
        "__rtruediv__",
        "__rdiv__",
        "__itruediv__",
        "reciprocal",
        "log",
        "log2",
        "log10",
        "exp",
        "pow",
        "__pow__",
        "__rpow__",
        "sqrt",
        "rsqrt",
        "half",
        "to",
    ]
)
"""Functions that make an infinite number, or none, of finite ones; masks are made by others."""
_FILLS = frozenset(
    [
        "masked_fill",
        "masked_fill_",
        "where",
        "full",
        "full_like",
        "new_full",
        "fill_",
        "fill_diagonal_",
        "__setitem__",
        "tensor",
        "baddbmm",
        "scaled_dot_product_attention",
        "__get__",
        "backward",
    ]
)
"""Functions by which a program puts infinite numbers in on purpose; in half precision others
may too.
"""
_PAIRED = frozenset(
    [
        "sub",
        "__sub__",
        "rsub",
        "__rsub__",
        "subtract",
        "mul",
        "__mul__",
        "__rmul__",
        "multiply",
    ]
)
"""Functions that a loss written by hand compares with."""
_ADDED = frozenset(["add", "__add__", "__radd__", "__iadd__", "add_"])
MOST_STRETCHED = 16


class Unseen(Exception):
    """The tape does not hold the whole way from the weights to the loss."""


class Call:
    """One call of a torch function."""

    __slots__ = ("args", "function", "in_place", "kwargs", "name", "outputs")

    def __init__(
        self,
        function: Function,
        args: Args,
        kwargs: Kwargs,
        output: Any,
    ) -> None:
        self.function = function
        self.name = getattr(function, "__name__", "")
        self.in_place = changes_first_argument(self.name)
        # Lists are copied: the program may go on filling them.
        self.args = map_tensors(list(args), same)
        self.kwargs = map_tensors(kwargs, same)
        self.outputs = list(tensors_in(output))

    def tensors(self) -> Iterator[Tensor]:
        return tensors_in((self.args, self.kwargs))

    @property
    def has_mode(self) -> bool:
        """Whether the call does something else in evaluation mode. Normalization without running
        statistics does the same in both.
        """
        trains = self.kwargs.get("training") is True
        return trains and (self.name != "batch_norm" or self.args[1] is not None)

    @property
    def changed(self) -> Tensor:
        """The tensor that a call in place changes."""
        return next(self.tensors())


class Tape:
    """The calls since the start, the oldest dropped when they become too many."""

    MOST = 20_000

    def __init__(self, torch: Library) -> None:
        self.torch = torch
        self.calls: list[Call] = []
        self.inputs: dict[int, Tensor] = {}
        """Tensors handed to a model, by identity."""
        self.originals: dict[int, Tensor] = {}
        """What came from outside, as it was before the program changed it in place, by identity."""
        self.open = True
        self.non_finite_at: Place | None = None
        """The line that first made a number without end, or none at all, of numbers that were
        finite.
        """
        self.stretched: list[tuple[Call, Place | None]] = []
        """The last calls, with their lines, that made a square of a row and a column, one with
        a gradient.
        """
        self.added_at: Place | None = None
        """The line that last made a single number of several: the terms of a loss."""
        self._known: dict[int, Tensor] = {}
        """What came of weights and inputs, by identity; held, so that no identity is used twice."""

    def add_input(self, tensor: Tensor) -> None:
        if id(tensor) not in self._known and not tensor.requires_grad:
            self.inputs[id(tensor)] = self._known[id(tensor)] = tensor

    def concerns(self, args: Args, kwargs: Kwargs) -> bool:
        return any(
            tensor.requires_grad or self.holds(tensor) for tensor in tensors_in((args, kwargs))
        )

    @guarded("experiment-tape")
    def look(self, name: str, args: Args, output: Any) -> None:
        """Note where a division, a logarithm or a smaller type first leaves the finite numbers."""
        if self.non_finite_at is None:
            half = getattr(output, "dtype", None) is self.torch.float16 and name not in _FILLS
            if (half or name in _RISKY) and not self._finite(output) and self._finite(args):
                self.non_finite_at = caller()

    def _finite(self, value: Any) -> bool:
        """Of tensors that hold plain numbers; those of a graph that is being made hold none."""
        tensors = (tensor for tensor in tensors_in(value) if tensor.is_floating_point())
        try:
            return all(bool(self.torch.isfinite(tensor.detach()).all()) for tensor in tensors)
        except (RuntimeError, NotImplementedError):
            return True

    @guarded("experiment-tape")
    def before(self, name: str, args: Args) -> None:
        first: Any = args[0] if args and changes_first_argument(name) else None
        if not hasattr(first, "grad_fn") or is_weight(first):
            return
        if id(first) in self.inputs or id(first) not in self._known:
            self.originals.setdefault(
                id(first),
                first.detach().clone(),
            )

    @guarded("experiment-tape")
    def note(
        self,
        function: Function,
        args: Args,
        kwargs: Kwargs,
        output: Any,
    ) -> None:
        call = Call(function, args, kwargs, output)
        if not (call.outputs or call.in_place) or (call.in_place and is_weight(call.changed)):
            return
        self.calls.append(call)
        if call.name in _PAIRED and _makes_a_square(call):
            self.stretched = [
                *self.stretched[1 - MOST_STRETCHED :],
                (call, caller()),
            ]
        if call.name in _ADDED and _adds_numbers(call):
            self.added_at = caller()
        for tensor in call.outputs:
            self._known[id(tensor)] = tensor
        if len(self.calls) > self.MOST:
            self.calls = self.calls[self.MOST // 2 :]
            self._let_go()

    def _let_go(self) -> None:
        """Let go of tensors that neither the calls nor the inputs are."""
        held = {id(tensor) for call in self.calls for tensor in (*call.outputs, *call.tensors())}
        held.update(self.inputs)
        self._known = {key: tensor for key, tensor in self._known.items() if key in held}

    def slim(self) -> None:
        """Let go of what the calls do not need."""
        self.stretched.clear()
        self._let_go()

    def forget(self) -> None:
        """Let go of everything."""
        for held in (
            self.calls,
            self.stretched,
            self.inputs,
            self.originals,
            self._known,
        ):
            held.clear()

    def holds(self, tensor: Tensor) -> bool:
        return id(tensor) in self._known

    def cut(self, losses: list[Tensor]) -> None:
        """Keep only what the losses came from. Raises `Unseen` when something of it was not
        noted.
        """
        needed = {id(loss) for loss in losses}
        storages: set[int] = set()
        kept = []
        for call in reversed(self.calls):
            wanted = any(id(tensor) in needed for tensor in call.outputs)
            if wanted or (call.in_place and _storage(call.changed) in storages):
                kept.append(call)
                needed.update(id(tensor) for tensor in call.tensors())
                storages.update(_storage(tensor) for tensor in call.tensors())
        self.calls = kept[::-1]
        made = {id(tensor) for call in self.calls for tensor in call.outputs}
        if any(id(loss) not in made for loss in losses):
            raise Unseen("the loss was not computed by calls that can be seen")
        for call in self.calls:
            for tensor in call.tensors():
                if tensor.grad_fn is not None and id(tensor) not in made:
                    raise Unseen(
                        "a part of the model is compiled code or a function with its own gradient"
                    )

    def play(
        self,
        zeroed: bool = False,
        given: Mapping[int, Tensor] | None = None,
        evaluating: bool = False,
    ) -> Callable[[Tensor], Tensor]:
        """Compute everything again; gives a function from a noted tensor to its new value. `given`:
        other tensors for some that come from outside, by identity. `evaluating`: dropout and batch
        normalization as in evaluation mode.
        """
        values = {key: tensor.clone() for key, tensor in self.originals.items()}
        values.update(given or {})
        if zeroed:
            values.update(
                (key, self.torch.zeros_like(tensor)) for key, tensor in self.inputs.items()
            )

        def now(tensor: Tensor) -> Any:
            return values.get(id(tensor), tensor)

        for call in self.calls:
            kwargs = map_tensors(call.kwargs, now)
            if evaluating and call.has_mode:
                kwargs["training"] = False
            output = call.function(
                *map_tensors(call.args, now),
                **kwargs,
            )
            for old, new in zip(call.outputs, tensors_in(output)):
                values[id(old)] = new
        return now


def make_mode(torch: Library, tape: Tape) -> Any:
    """The mode that feeds the tape; it changes no call and no result."""

    class Taping(torch.overrides.TorchFunctionMode):
        def __torch_function__(
            self,
            func: Function,
            types: Any,
            args: Any = (),
            kwargs: Any = None,
        ) -> Any:
            kwargs = kwargs or {}
            name = getattr(func, "__name__", "")
            listens = tape.open and not state.asleep and torch.is_grad_enabled()
            listens = listens and tape.concerns(args, kwargs)
            if listens and func is torch.Tensor.__iter__:
                # An iterator cannot be played again, the rows it gives can.
                return iter(
                    self.__torch_function__(
                        torch.Tensor.unbind,
                        types,
                        (args[0], 0),
                    )
                )
            if listens:
                tape.before(name, args)
            output = func(*args, **kwargs)
            if listens:
                tape.note(func, args, kwargs, output)
            if tape.open:
                tape.look(name, args, output)
            return output

    return Taping()


def changes_first_argument(name: str) -> bool:
    return name in _IN_PLACE or (name.endswith("_") and not name.endswith("__"))


def is_weight(value: Any) -> bool:
    """A leaf: torch lets it be changed in place only where it is initialized."""
    return value.requires_grad and value.is_leaf


def _makes_a_square(call: Call) -> bool:
    """Whether (rows, 1) and (rows,) became (rows, rows), one of them with a gradient."""
    given = list(call.tensors())
    if (
        len(given) != 2
        or len(call.outputs) != 1
        or given[0].requires_grad == given[1].requires_grad
    ):
        return False
    column, row = sorted(
        (tuple(tensor.shape) for tensor in given),
        key=len,
        reverse=True,
    )
    return len(row) == 1 and column == (*row, 1) and row[0] > 1


def _adds_numbers(call: Call) -> bool:
    """Whether single numbers, two of them with a gradient, became one."""
    given = list(call.tensors())
    several = sum(tensor.requires_grad for tensor in given) > 1
    return several and all(tensor.numel() == 1 for tensor in (*given, *call.outputs))


def tensors_in(value: Any) -> Iterator[Tensor]:
    """Tensors in nested tuples, lists and dictionaries, in order."""
    if hasattr(value, "grad_fn"):
        yield value
    elif isinstance(value, (dict, tuple, list)):
        for item in value.values() if isinstance(value, dict) else value:
            if not isinstance(item, (int, float, str)):
                yield from tensors_in(item)


def map_tensors(value: Any, change: Function) -> Any:
    """A copy of nested tuples, lists and dictionaries with each tensor changed."""
    if hasattr(value, "grad_fn"):
        return change(value)
    if isinstance(value, dict):
        return {key: map_tensors(item, change) for key, item in value.items()}
    if type(value) in (tuple, list):
        return type(value)([map_tensors(item, change) for item in value])
    return value


def same(value: Any) -> Any:
    """No change."""
    return value


def _storage(tensor: Tensor) -> int:
    try:
        return tensor.untyped_storage().data_ptr()
    except (RuntimeError, NotImplementedError):
        # Sparse tensors and wrappers have no storage: each stands for itself.
        return id(tensor)
