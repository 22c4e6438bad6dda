"""Training loops: where gradients are made and used, which loop counts epochs, which one walks over batches;
and what their text tells: epochs, and batches that are cut without a loader."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile

from reenact.program.hyperparameter import Kind
from reenact.program.read.analysis import Draft, EditSite, ProgramAnalysis, Style
from reenact.program.read.ends import literal
from reenact.program.read.scope import FunctionNode, Scope, method_name, receiver, scope_of
from reenact.program.source import word_set

Loop = ast.For | ast.AsyncFor | ast.While
COMPREHENSIONS = (ast.ListComp, ast.GeneratorExp, ast.SetComp)

WRAPPERS = word_set("tqdm enumerate list track progress_bar auto iter reversed prange")


@dataclass(frozen=True, slots=True, eq=False)
class LoopSite:
    """One loop around training steps."""

    node: Loop
    level: int
    """0 for the outermost training loop."""


class Loops:
    """Finds the training loops of a program."""

    def __init__(self, analysis: ProgramAnalysis) -> None:
        self.analysis = analysis
        self.sources = analysis.sources

    @cached_property
    def backwards(self) -> list[ast.Call]:
        """Calls that make gradients."""
        return [
            call
            for call in self.analysis.calls("backward", "manual_backward")
            if not self.sources.dotted(receiver(call) or call).startswith("torch.autograd")
        ]

    @cached_property
    def trainers(self) -> list[ast.Call]:
        """Calls that train by one step: backward, `train_on_batch`, gradients applied by a Keras
        optimiser."""
        applied = [
            call
            for call in self.analysis.calls("apply_gradients", "apply")
            if "opt" in ast.unparse(receiver(call) or call).lower()
        ]
        return [*self.backwards, *self.analysis.calls("train_on_batch"), *applied]

    @cached_property
    def training_functions(self) -> set[Scope]:
        """Functions that train, themselves or through others they call."""
        found = {scope for scope in map(scope_of, self.trainers) if scope.is_function}
        todo = list(found)
        while todo:
            function = todo.pop()
            callers = map(scope_of, self.sources.sites.get(function, []))
            # The function around a closure counts too: `optimizer.step(closure)`.
            for scope in (*callers, *([function.parent] if function.parent is not None else [])):
                holder = scope.enclosing_function()
                if holder is not None and holder not in found:
                    found.add(holder)
                    todo.append(holder)
        return found

    @cached_property
    def loops(self) -> list[LoopSite]:
        """All loops around training steps, outermost first within each file."""
        nodes = [node for index in self.sources.indexes.values() for node in index.loops]
        return [LoopSite(node, self._level(node, set())) for node in nodes if self._trains(node)]

    def _trains(self, node: Loop) -> bool:
        for part in ast.walk(node):
            if not isinstance(part, ast.Call):
                continue
            if part in self.trainers:
                return True
            target = self.sources.meaning(part.func)
            if isinstance(target, Scope) and target in self.training_functions:
                return True
        return False

    def _level(self, node: ast.AST, seen: set[Scope]) -> int:
        around = sum(isinstance(part, Loop) and self._trains(part) for part in _inside_function(node))
        function = scope_of(node).enclosing_function()
        if function is None or function in seen:
            return around
        seen.add(function)
        levels = [
            self._level(call, seen) + sum(isinstance(part, COMPREHENSIONS) for part in _inside_function(call))
            for call in self.sources.sites.get(function, [])
        ]
        return around + max(levels, default=0)

    def in_loop(self, node: ast.AST, seen: set[Scope] | None = None) -> bool:
        """True when a node runs again and again: in a loop, or in a function that is called or handed over
        in one."""
        if any(isinstance(part, Loop | ast.comprehension | ast.ListComp) for part in _inside_function(node)):
            return True
        function = scope_of(node).enclosing_function()
        seen = seen if seen is not None else set()
        if function is None or function in seen:
            return False
        seen.add(function)
        sites = self.sources.sites.get(function, [])
        # A method that the library calls, a closure, a callback: it may run at every step.
        return not sites or any(self.in_loop(call, seen) for call in sites)


def _inside_function(node: ast.AST) -> list[ast.AST]:
    """Ancestors up to the function or module that holds the node."""
    around = scope_of(node).index.ancestors(node)
    return list(takewhile(lambda part: not isinstance(part, FunctionNode | ast.ClassDef), around))


def iterated(node: Loop) -> ast.expr | None:
    """What a for loop goes over, without `tqdm`, `enumerate` and the like."""
    if isinstance(node, ast.While):
        return None
    value = node.iter
    while isinstance(value, ast.Call) and value.args and _name(value) in WRAPPERS:
        value = value.args[0]
    return value


def range_arguments(value: ast.expr | None) -> list[ast.expr] | None:
    """The arguments of `range(...)` or `trange(...)`, or none."""
    if isinstance(value, ast.Call) and _name(value) in ("range", "trange") and value.args:
        return list(value.args)
    return None


def count_of(arguments: list[ast.expr]) -> ast.expr:
    """How often `range` runs, as an expression of the source: `range(1, n + 1)` and `range(a, a + n)` run n
    times."""
    if len(arguments) == 1:
        return arguments[0]
    start, stop = arguments[0], arguments[1]
    if isinstance(stop, ast.BinOp) and isinstance(stop.op, ast.Add):
        if ast.dump(stop.left) == ast.dump(start):
            return stop.right
        if literal(start) == 1 and literal(stop.right) == 1:
            return stop.left
    return stop


def _name(call: ast.Call) -> str:
    return method_name(call) or (call.func.id if isinstance(call.func, ast.Name) else "")


def read_loops(analysis: ProgramAnalysis, loops: Loops) -> Iterator[Draft]:
    """Drafts of epochs and hand-cut batch sizes."""
    epochs = _epoch_loop(loops)
    uses = [(epochs, Kind.EPOCHS, _rounds(epochs))] if epochs is not None else []
    others = [loop for loop in loops.loops if loop is not epochs]
    for loop, kind, use in [*uses, *((one, Kind.BATCH_SIZE, _stride(one) or _slices(one)) for one in others)]:
        if use is not None:
            site = EditSite(Style.VALUE, "torch", node=loop.node)
            yield from analysis.value_drafts(kind, use, site)


def _epoch_loop(loops: Loops) -> LoopSite | None:
    """The loop that counts epochs: by the name of its variable, else the outermost that counts."""
    counting = [loop for loop in loops.loops if _rounds(loop) is not None]
    named = [loop for loop in counting if "epoch" in _variable(loop).lower()]
    if named:
        return min(named, key=lambda loop: loop.level)
    return next((loop for loop in counting if loop.level == 0), None)


def _rounds(loop: LoopSite) -> ast.expr | None:
    """What says how often a loop runs: `while step < max_steps`, `for epoch in range(epochs)`."""
    if not isinstance(loop.node, ast.While):
        arguments = range_arguments(iterated(loop.node))
        return count_of(arguments) if arguments and len(arguments) < 3 else None
    test = loop.node.test
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Lt | ast.LtE):
        return test.comparators[0]
    return None


def _variable(loop: LoopSite) -> str:
    if not isinstance(loop.node, ast.While):
        return ast.unparse(loop.node.target)
    return ast.unparse(loop.node.test.left) if isinstance(loop.node.test, ast.Compare) else ""


def _stride(loop: LoopSite) -> ast.expr | None:
    """`for start in range(0, rows, batch_size)`, `for rows in torch.randperm(n).split(batch_size)`."""
    value = iterated(loop.node)
    arguments = range_arguments(value) or []
    if len(arguments) == 3:
        return arguments[2]
    pieces = isinstance(value, ast.Call) and method_name(value) in ("split", "batch") and value.args
    return pieces[0] if pieces else None


def _slices(loop: LoopSite) -> ast.expr | None:
    """`rows[b * size : (b + 1) * size]` or `rows[i : i + size]` inside the loop."""
    for part in ast.walk(loop.node):
        if not isinstance(part, ast.Slice) or part.lower is None or not isinstance(part.upper, ast.BinOp):
            continue
        lower, upper = part.lower, part.upper
        if isinstance(upper.op, ast.Mult) and isinstance(lower, ast.BinOp) and isinstance(lower.op, ast.Mult):
            common = [
                one for one in (upper.left, upper.right) for other in (lower.left, lower.right)
                if ast.dump(one) == ast.dump(other)
            ]  # fmt: skip
            if common:
                return common[0]
        if isinstance(upper.op, ast.Add) and ast.dump(upper.left) == ast.dump(lower):
            return upper.right
    return None
