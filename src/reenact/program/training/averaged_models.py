"""What a program does with a model whose weights `AveragedModel` has averaged, and whether its batch
normalisation gets statistics of these weights."""

import ast
from collections.abc import Iterable, Iterator

from reenact.program.flow.constants import constant_of
from reenact.program.flow.follow import Follower
from reenact.program.flow.sources import Sources
from reenact.program.flow.values import Callees
from reenact.program.program import Program
from reenact.program.syntax.calls import has_unpacking, method_name, receiver
from reenact.program.syntax.pieces import (
    all_parts,
    argument,
    around,
    file_of,
    given_to,
    is_call,
    is_constant,
    keyword,
)
from reenact.program.syntax.scope import Scope, bindings_of

AVERAGE, UPDATE = "torch.optim.AveragedModel", "torch.optim.update_bn"


BUFFERS = 4
"""The position of `use_buffers`."""


NORMS = ("BatchNorm", "LazyBatchNorm", "SyncBatchNorm")


LAYERS, MODELS = "torch.nn", "torchvision.models"


NORMALISED = (
    "densenet",
    "efficientnet",
    "googlenet",
    "inception",
    "mnasnet",
    "mobilenet",
    "regnet",
    "resnet",
    "resnext",
    "shufflenet",
    "wide_resnet",
)
"""How models of torchvision with batch normalisation begin."""


BY_HAND = frozenset(
    (
        "apply",
        "buffers",
        "children",
        "load_state_dict",
        "modules",
        "named_buffers",
        "named_children",
        "named_modules",
    )
)
"""What an average is asked for by which its statistics can be set one by one."""


KNOWN = ("torch.", "builtins.")
"""Libraries whose functions update no statistics of what they are given, but `update_bn`."""


def with_other_statistics(program: Program) -> Iterator[ast.Call]:
    """Where averages are made that are evaluated with the running statistics of other weights."""
    sources = Sources(program)
    made = [call for call in sources.calls() if sources.dotted(call.func) == AVERAGE]
    if not made or _updates(sources):
        return
    callees = Callees(Follower(sources))
    for call in made:
        model = argument(call, 0, "model")
        if model is None or _averages_buffers(call) or not _normalises(callees, model):
            continue
        if _is_judged_as_it_is(_Uses(callees, call)):
            yield call


class _Uses:
    """What a program does with one averaged model, wherever it hands it to."""

    def __init__(self, callees: Callees, made: ast.Call) -> None:
        self._callees = callees
        self._made = made
        self._calls = list(callees.sources.calls())
        self.methods = {method_name(call) for call in self._calls if self._is_it(receiver(call))}

    @property
    def modes(self) -> set[bool]:
        """Modes that it is set to: whether it trains."""
        asked = [call for call in self._calls if self._is_it(receiver(call))]
        given = [argument(call, 0, "mode") for call in asked if method_name(call) == "train"]
        modes = {not is_constant(constant_of(one), False) for one in given}
        return modes | ({False} if "eval" in self.methods else set())

    @property
    def passes(self) -> list[ast.Call]:
        """Where data go through it."""
        return [call for call in self._calls if self._is_it(_without(call.func, "forward"))]

    @property
    def takers(self) -> Iterator[ast.expr]:
        """What it is handed to, as an argument."""
        for call in self._calls:
            if any(map(self._is_it, given_to(call))):
                yield call.func

    def is_own_or_known(self, taker: ast.expr) -> bool:
        """Whether it can be seen what becomes of what a function is given."""
        found = self._callees.sources.meaning(taker)
        return isinstance(found, Scope) or (isinstance(found, str) and found.startswith(KNOWN))

    def _is_it(self, node: ast.expr | None) -> bool:
        found = self._callees.made(_without(node, "module"))
        return any(one.call is self._made for one in found)


def _is_judged_as_it_is(uses: _Uses) -> bool:
    """Whether an average is taken up and then evaluated, with no step between that may be for the
    statistics: a pass in training mode, one whose output is not used, a function no one can read.
    """
    passes = uses.passes
    unread = [call for call in passes if isinstance(_parent(call), ast.Expr)]
    return (
        "update_parameters" in uses.methods
        and BY_HAND.isdisjoint(uses.methods)
        and uses.modes == {False}
        and bool(passes)
        and not unread
        and all(map(uses.is_own_or_known, uses.takers))
    )


def _updates(sources: Sources) -> bool:
    """Whether the program uses `update_bn`, called or handed on."""
    return any(
        isinstance(node, ast.Name | ast.Attribute) and sources.dotted(node) == UPDATE
        for index in sources.indexes.values()
        for node in index.nodes
    )


def _averages_buffers(call: ast.Call) -> bool:
    """Whether the running statistics are averaged too, or may be."""
    asked = argument(call, BUFFERS, "use_buffers")
    known = constant_of(asked)
    plain = asked is None or (known is not None and not known.value)
    return has_unpacking(call) or not plain


def _normalises(callees: Callees, model: ast.expr) -> bool:
    """Whether what makes a model makes batch normalisation that keeps running statistics."""
    seen: set[ast.AST] = set()
    waiting: list[ast.AST] = [model, *(end.node for end in callees.follower.follow(model))]
    for node in waiting:
        if node in seen:
            continue
        seen.add(node)
        for part in all_parts(node):
            if isinstance(part, ast.Name | ast.Attribute):
                found = callees.sources.meaning(part)
                if isinstance(found, str) and _is_normalised(found) and _is_made(part):
                    return True
                waiting += _behind(part, found)
    return False


def _behind(part: ast.expr, found: object) -> Iterable[ast.AST]:
    """What a name stands for: a class or function of the program, or the values it is given."""
    if isinstance(found, Scope):
        return [found.node]
    return [one.value for one in bindings_of(part) if one.value is not None]


def _is_normalised(dotted: str) -> bool:
    """Whether something of a library is batch normalisation, or a model that has it."""
    home, _, name = dotted.rpartition(".")
    if home == LAYERS:
        return name.startswith(NORMS)
    return home.startswith(MODELS) and (name.startswith(NORMALISED) or name.endswith("_bn"))


def _is_made(part: ast.expr) -> bool:
    """Whether a layer is made of this class, or it is handed on to be: not asked for its kind, for
    another attribute, or made without running statistics.
    """
    parent = _parent(part)
    if isinstance(parent, ast.Attribute):
        return False
    tracked = keyword(parent, "track_running_stats") if is_call(parent) else None
    if is_constant(constant_of(tracked), False):
        return False
    return not any(is_call(one, "isinstance", "issubclass") for one in around(part))


def _without(node: ast.expr | None, name: str) -> ast.expr | None:
    """`model` of `model.module`, and what is not such a attribute as it is."""
    if isinstance(node, ast.Attribute) and node.attr == name:
        return node.value
    return node


def _parent(node: ast.AST) -> ast.AST | None:
    return file_of(node).parents.get(node)
