"""Training loops: where gradients are made and used, which loop counts epochs, which one walks over
batches.
"""

import ast
from collections.abc import Iterator
from functools import cached_property
from itertools import takewhile

from reenact.program.flow.constants import constant_of
from reenact.program.hyperparameter import Kind
from reenact.program.syntax.calls import method_name, receiver
from reenact.program.syntax.pieces import is_constant
from reenact.program.syntax.scope import FunctionNode, Scope, scope_of
from reenact.program.training.analysis import Draft, EditSite, ProgramAnalysis, Style

Loop = ast.For | ast.AsyncFor | ast.While
COMPREHENSIONS = (ast.ListComp, ast.GeneratorExp, ast.SetComp)

WRAPPERS = frozenset(
    {
        "tqdm",
        "enumerate",
        "list",
        "track",
        "progress_bar",
        "auto",
        "iter",
        "reversed",
        "prange",
    }
)


class Loops:
    """Finds the training loops of a program."""

    def __init__(self, analysis: ProgramAnalysis) -> None:
        self.analysis = analysis
        self.sources = analysis.sources

    @cached_property
    def backwards(self) -> list[ast.Call]:
        """Calls that make gradients."""
        made = self.analysis.calls("backward", "manual_backward")
        bases = [
            (
                call,
                self.sources.dotted(receiver(call) or call),
            )
            for call in made
        ]
        return [call for call, base in bases if not base.startswith("torch.autograd")]

    @cached_property
    def trainers(self) -> list[ast.Call]:
        """Calls that train by one step: backward, `train_on_batch`, gradients that Keras
        applies.
        """
        applied = [
            call
            for call in self.analysis.calls("apply")
            for item in self.analysis.callees.made(receiver(call) or call)
            if ".optimizers." in item.callee.dotted
        ]
        return [
            *self.backwards,
            *self.analysis.calls("train_on_batch", "apply_gradients"),
            *applied,
        ]

    @cached_property
    def training_functions(self) -> set[Scope]:
        """Functions that train, themselves or through others they call."""
        todo = [scope for scope in map(scope_of, self.trainers) if scope.is_function]
        for function in todo:
            callers = map(
                scope_of,
                self.sources.sites.get(function, []),
            )
            # The function around a closure counts too: `optimizer.step(closure)`.
            for scope in filter(None, (*callers, function.parent)):
                holder = scope.enclosing_function()
                if holder is not None and holder not in todo:
                    todo.append(holder)
        return set(todo)

    @cached_property
    def levels(self) -> dict[Loop, int]:
        """All loops around training steps, in the order of the text; 0 for the outermost."""
        nodes = [node for index in self.sources.indexes.values() for node in index.loops]
        return {node: self._level(node, set()) for node in nodes if self._trains(node)}

    def _trains(self, node: Loop) -> bool:
        calls = [part for part in ast.walk(node) if isinstance(part, ast.Call)]
        own = self.training_functions
        return any(
            call in self.trainers or self.sources.meaning(call.func) in own for call in calls
        )

    def _level(self, node: ast.AST, seen: set[Scope]) -> int:
        around = sum(
            isinstance(part, Loop) and self._trains(part) for part in _inside_function(node)
        )
        function = scope_of(node).enclosing_function()
        if function is None or function in seen:
            return around
        seen.add(function)
        levels = [
            self._level(call, seen)
            + sum(isinstance(part, COMPREHENSIONS) for part in _inside_function(call))
            for call in self.sources.sites.get(function, [])
        ]
        return around + max(levels, default=0)

    def in_loop(
        self,
        node: ast.AST,
        seen: set[Scope] | None = None,
    ) -> bool:
        """True when a node runs again and again: in a loop, or in a function that is called in
        one.
        """
        if any(
            isinstance(part, Loop | ast.comprehension | ast.ListComp)
            for part in _inside_function(node)
        ):
            return True
        function = scope_of(node).enclosing_function()
        known = seen or set()
        if function is None or function in known:
            return False
        known.add(function)
        sites = self.sources.sites.get(function, [])
        # A method that the library calls, a closure, a callback: it may run at every step.
        return not sites or any(self.in_loop(call, known) for call in sites)


def _inside_function(node: ast.AST) -> list[ast.AST]:
    """Ancestors up to the function or module that holds the node."""
    around = scope_of(node).index.ancestors(node)
    return list(
        takewhile(
            lambda part: not isinstance(part, FunctionNode | ast.ClassDef),
            around,
        )
    )


def iterated(node: Loop) -> ast.expr | None:
    """What a for loop goes over, without `tqdm`, `enumerate` and the like."""
    if isinstance(node, ast.While):
        return None
    value = node.iter
    while isinstance(value, ast.Call) and value.args and _name(value) in WRAPPERS:
        value = value.args[0]
    return value


def range_arguments(value: ast.expr | None) -> list[ast.expr]:
    """The arguments of `range(...)` or `trange(...)`."""
    ranged = isinstance(value, ast.Call) and _name(value) in ("range", "trange")
    if isinstance(value, ast.Call) and ranged:
        return value.args
    return []


def count_of(arguments: list[ast.expr]) -> ast.expr:
    """How often `range` runs, as written: `range(1, n + 1)` and `range(a, a + n)` run n times."""
    if len(arguments) == 1:
        return arguments[0]
    start = arguments[0]
    stop = arguments[1]
    if isinstance(stop, ast.BinOp) and isinstance(stop.op, ast.Add):
        if ast.dump(stop.left) == ast.dump(start):
            return stop.right
        if is_constant(constant_of(start), 1) and is_constant(constant_of(stop.right), 1):
            return stop.left
    return stop


def _name(call: ast.Call) -> str:
    return method_name(call) or (call.func.id if isinstance(call.func, ast.Name) else "")


def read_loops(analysis: ProgramAnalysis, loops: Loops) -> Iterator[Draft]:
    """Drafts of epochs and hand-cut batch sizes."""
    counting = [loop for loop in loops.levels if _rounds(loop) is not None]
    # The loop that counts epochs: the innermost around a loop over batches, else the outermost that
    # counts.
    walked = {loops.levels[loop] for loop in loops.levels if loop not in counting}
    around = [loop for loop in counting if loops.levels[loop] + 1 in walked]
    outermost = [loop for loop in counting if loops.levels[loop] == 0]
    epochs = max(around, key=lambda loop: loops.levels[loop], default=next(iter(outermost), None))
    uses = [(epochs, Kind.EPOCHS, _rounds(epochs))] if epochs is not None else []
    others = [loop for loop in loops.levels if loop is not epochs]
    for loop, kind, use in [
        *uses,
        *(
            (
                one,
                Kind.BATCH_SIZE,
                _stride(one) or _slices(one),
            )
            for one in others
        ),
    ]:
        if use is not None:
            yield from analysis.value_drafts(
                kind,
                use,
                EditSite(Style.VALUE, "torch", node=loop),
            )


def _rounds(loop: Loop) -> ast.expr | None:
    """What says how often a loop runs: `while step < max_steps`, `for epoch in range(epochs)`."""
    if not isinstance(loop, ast.While):
        arguments = range_arguments(iterated(loop))
        if arguments and len(arguments) < 3:
            return count_of(arguments)
        return None
    test = loop.test
    if (
        isinstance(test, ast.Compare)
        and len(test.ops) == 1
        and isinstance(test.ops[0], ast.Lt | ast.LtE)
    ):
        return test.comparators[0]
    return None


def _stride(loop: Loop) -> ast.expr | None:
    """`for start in range(0, rows, batch_size)`, `for rows in
    torch.randperm(n).split(batch_size)`.
    """
    value = iterated(loop)
    arguments = range_arguments(value)
    if len(arguments) == 3:
        return arguments[2]
    pieces = isinstance(value, ast.Call) and method_name(value) in ("split", "batch") and value.args
    return pieces[0] if pieces else None


def _slices(loop: Loop) -> ast.expr | None:
    """`rows[b * size : (b + 1) * size]` or `rows[i : i + size]` inside the loop."""
    for part in ast.walk(loop):
        if (
            not isinstance(part, ast.Slice)
            or part.lower is None
            or not isinstance(part.upper, ast.BinOp)
        ):
            continue
        lower = part.lower
        upper = part.upper
        if (
            isinstance(upper.op, ast.Mult)
            and isinstance(lower, ast.BinOp)
            and isinstance(lower.op, ast.Mult)
        ):
            sides = {
                ast.dump(lower.left),
                ast.dump(lower.right),
            }
            common = [one for one in (upper.left, upper.right) if ast.dump(one) in sides]
            if common:
                return common[0]
        if isinstance(upper.op, ast.Add) and ast.dump(upper.left) == ast.dump(lower):
            return upper.right
    return None
