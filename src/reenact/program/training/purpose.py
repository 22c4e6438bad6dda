"""Whether data and losses are there to train or to evaluate, by what is done with them.

A loader trains where a loop over it, followed through calls and arguments, holds a training step,
and evaluates where a loop over it asks a model without one. A loss trains where its value reaches
`backward`. Names say nothing; where the text leaves it open, the answer is that it is unknown.
"""

import ast
from collections.abc import Iterable, Iterator
from enum import StrEnum
from functools import cached_property

from reenact.program.syntax.calls import argument, keyword, method_name, receiver
from reenact.program.syntax.scope import Binding, FunctionNode, bindings_of, scope_of
from reenact.program.syntax.targets import How
from reenact.program.training.branches import is_taken
from reenact.program.training.lexicon import TORCH_LOSS_CLASSES
from reenact.program.training.loops import Loop, Loops, iterated, range_arguments
from reenact.program.training.model import MODEL_CLASSES

Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


class Purpose(StrEnum):
    """What something in a program is for."""

    TRAINS = "trains"
    EVALUATES = "evaluates"
    UNKNOWN = "unknown"


WITHOUT_GRADIENTS = frozenset(("torch.no_grad", "torch.inference_mode", "torch.autograd.no_grad"))
MODELS = ("torch.nn.", "keras.", "torchvision.models.", "transformers.")
HOOKS = {
    "train_dataloader": Purpose.TRAINS,
    "val_dataloader": Purpose.EVALUATES,
    "test_dataloader": Purpose.EVALUATES,
    "predict_dataloader": Purpose.EVALUATES,
}
"""Methods that Lightning calls for its loaders."""
ASKED = {
    "evaluate": (0, "x"),
    "predict": (0, "x"),
    "evaluate_generator": (0, "generator"),
    "predict_generator": (0, "generator"),
    "validate": (1, "dataloaders"),
    "test": (1, "dataloaders"),
}
"""Methods of Keras and Lightning that evaluate, and where they take the data."""
HELD_OUT = ("validation_data", "val_dataloaders")
FITTED = ("x", "generator", "train_dataloaders")
HANDED_BACK = ("prepare", "setup_dataloaders", "prepare_data_loader")
"""Methods of Accelerate and Fabric that return what they are given, in the same order."""
DEEPEST = 12


class Purposes:
    """Answers for one program."""

    def __init__(self, loops: Loops) -> None:
        self.loops = loops
        self.analysis = loops.analysis
        self.sources = loops.sources

    def of_loader(self, call: ast.Call) -> Purpose:
        """What the batches of a loader are for, by the call that makes it."""
        known = self._loaders.get(call, set())
        if Purpose.TRAINS in known:
            return Purpose.TRAINS
        # Read once for a purpose that stays open, and once for an evaluation: still open.
        if known == {Purpose.EVALUATES}:
            return Purpose.EVALUATES
        return Purpose.UNKNOWN

    def of_loss(self, call: ast.Call) -> Purpose:
        """What a loss that is computed here is for."""
        if self.is_without_gradients(call):
            return Purpose.EVALUATES
        if not self.loops.trainers:
            return Purpose.UNKNOWN
        return {
            True: Purpose.TRAINS,
            False: Purpose.EVALUATES,
            None: Purpose.UNKNOWN,
        }[self._reaches_step(call, DEEPEST)]

    def is_without_gradients(self, node: ast.AST) -> bool:
        """Whether something runs under `no_grad()` or `inference_mode()`, as far as its function
        says.
        """
        marks: list[ast.expr] = []
        for part in scope_of(node).index.ancestors(node):
            if isinstance(part, ast.With | ast.AsyncWith):
                marks += [item.context_expr for item in part.items]
            elif isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef):
                marks += part.decorator_list
        return any(map(self.is_no_grad, marks))

    def is_no_grad(self, node: ast.expr) -> bool:
        """`torch.no_grad`, called or not."""
        called = node.func if isinstance(node, ast.Call) else node
        return self.sources.dotted(called) in WITHOUT_GRADIENTS

    @cached_property
    def evaluating_loops(self) -> list[Loop | Comprehension]:
        """Loops and comprehensions that ask a model again and again, and hold no training step."""
        every: list[Loop | Comprehension] = []
        for index in self.sources.indexes.values():
            every += index.loops
            for node in index.nodes:
                if isinstance(node, Comprehension):
                    every.append(node)
        return [loop for loop in every if self._of_loop(loop) is Purpose.EVALUATES]

    @property
    def any_evaluates(self) -> bool:
        """Whether the program is seen to evaluate: in a loop, or with a loader."""
        by_loader = (self.of_loader(call) for call in self._loaders)
        return bool(self.evaluating_loops) or Purpose.EVALUATES in by_loader

    def _of_loop(self, loop: Loop | Comprehension) -> Purpose:
        if loop in self.loops.levels:
            return Purpose.TRAINS
        if isinstance(loop, Comprehension) and self._reaches_step(loop, DEEPEST):
            return Purpose.TRAINS
        if isinstance(loop, ast.While) or self._goes_through_layers(loop):
            return Purpose.UNKNOWN
        if scope_of(loop).enclosing_function() in self.loops.training_functions:
            inside = any(other in self.loops.levels for other in _loops_around(loop))
            # A loop over heads or parts of a batch within a step is not an evaluation of its own.
            if inside and self._feeds_step(loop):
                return Purpose.TRAINS
        calls = [part for part in ast.walk(loop) if isinstance(part, ast.Call)]
        asks = any(self.is_model(call.func) for call in calls)
        return Purpose.EVALUATES if asks else Purpose.UNKNOWN

    def _goes_through_layers(self, loop: Loop | Comprehension) -> bool:
        """Whether it is a part of a model, or only counts: a text that is generated asks a model
        again and again as well.
        """
        owner = scope_of(loop).enclosing_class()
        if owner is not None and self.sources.inherits(owner, MODEL_CLASSES):
            return True
        if not isinstance(loop, Loop):
            return False
        counted = range_arguments(iterated(loop))
        return 0 < len(counted) < 3

    def _feeds_step(self, loop: Loop | Comprehension) -> bool:
        bound = {name for part in ast.walk(loop) for name in _stored(part)}
        function = _function_of(loop)
        needed = _names_into(self._steps_of(function), function)
        return bool(bound & needed)

    def is_model(self, node: ast.expr) -> bool:
        """Whether an expression stands for a model, of the program's own class or of a library."""
        owners = [self.sources.owner(node)]
        ends = self.analysis.follower.follow(node)
        for end in ends:
            if isinstance(end.node, ast.Call):
                owners.append(self.sources.owner(end.node))
        if any(owner and self.sources.inherits(owner, MODEL_CLASSES) for owner in owners):
            return True
        made = [item.callee.dotted for item in self.analysis.callees.made(node)]
        return any(dotted.startswith(MODELS) and not _is_loss(dotted) for dotted in made)

    @cached_property
    def _loaders(self) -> dict[ast.Call, set[Purpose]]:
        found: dict[ast.Call, set[Purpose]] = {}
        for value, purpose in self._uses():
            for call in self._makers(value, set()):
                found.setdefault(call, set()).add(purpose)
        return found

    def _uses(self) -> Iterator[tuple[ast.expr, Purpose]]:
        """Expressions that batches come from, each with what they are for."""
        for index in self.sources.indexes.values():
            for loop in index.loops:
                if not isinstance(loop, ast.While):
                    yield from self._by_call(loop.iter, loop)
            for node in index.nodes:
                if isinstance(node, Comprehension):
                    for part in node.generators:
                        yield from self._by_call(part.iter, node)
            for function in index.functions:
                parent = function.parent
                if function.name in HOOKS and parent is not None and parent.is_class:
                    yield from ((value, HOOKS[function.name]) for value in function.returned())
        for call in self.analysis.calls():
            yield from self._given(call)

    def _given(self, call: ast.Call) -> Iterator[tuple[ast.expr, Purpose]]:
        """`model.fit(x, validation_data=y)`, `trainer.test(model, loader)`, `next(batches)`."""
        name = method_name(call)
        if name in ("fit", "fit_generator"):
            position = 1 if self._is_trainer(call) else 0
            fitted = argument(call, position, *FITTED)
            held = argument(call, 2, *HELD_OUT) if position else keyword(call, *HELD_OUT)
            for value in (fitted,):
                if value is not None:
                    yield (value, Purpose.TRAINS)
            yield from ((value, Purpose.EVALUATES) for value in (held,) if value is not None)
        elif name in ASKED:
            asked = argument(call, *ASKED[name])
            if asked is not None:
                yield asked, Purpose.EVALUATES
        elif self.sources.dotted(call.func) == "builtins.next" and call.args:
            around = _loops_around(call)
            trains = any(loop in self.loops.levels for loop in around)
            yield call.args[0], Purpose.TRAINS if trains else Purpose.UNKNOWN

    def _is_trainer(self, call: ast.Call) -> bool:
        made = self.analysis.callees.made(receiver(call))
        return any(item.callee.dotted.startswith("lightning.") for item in made)

    def _by_call(
        self, value: ast.expr, loop: Loop | Comprehension
    ) -> Iterator[tuple[ast.expr, Purpose]]:
        """A loop over a parameter, once for each call that gives it a value."""
        purpose = self._of_loop(loop)
        function = scope_of(loop).enclosing_function()
        parameters = [one for one in _parameters_in(value) if one.holder is function]
        sites = self.sources.sites.get(function, []) if function is not None else []
        if function is None or not parameters or not sites:
            yield value, self._at(loop, purpose, None)
            return
        for site in sites:
            for parameter in parameters:
                given = argument(site, parameter.position, parameter.name)
                if given is not None:
                    yield given, self._at(loop, purpose, site)

    def _at(
        self,
        loop: Loop | Comprehension,
        purpose: Purpose,
        site: ast.Call | None,
    ) -> Purpose:
        """The purpose of a loop when its function is called so: steps may be left out."""
        if purpose is not Purpose.TRAINS:
            return purpose
        steps = [part for part in ast.walk(loop) if part in self.loops.trainers]
        if not steps:
            return purpose
        follower = self.analysis.follower
        taken = [is_taken(follower, step, loop, site, steps) for step in steps]
        if any(taken):
            return Purpose.TRAINS
        if None in taken:
            return Purpose.UNKNOWN
        return Purpose.EVALUATES

    def _makers(self, node: ast.expr, seen: set[ast.AST]) -> set[ast.Call]:
        """The calls that a value was made by: the last one and those that it builds on."""
        if node in seen or len(seen) > 10 * DEEPEST:
            return set()
        seen.add(node)
        found: set[ast.Call] = set()
        for end in self.analysis.follower.follow(node):
            call = end.node
            if isinstance(call, ast.Call):
                found.add(call)
                parts = [*call.args, receiver(call)]
                for part in parts:
                    if part is not None:
                        found |= self._makers(part, seen)
        for given in self._handed_back(node):
            found |= self._makers(given, seen)
        return found

    def _handed_back(self, node: ast.expr) -> Iterator[ast.expr]:
        """`model, loader = accelerator.prepare(model, loader)`: the second argument."""
        for binding in bindings_of(node):
            value = binding.value
            if not isinstance(value, ast.Call) or method_name(value) not in HANDED_BACK:
                continue
            number = binding.pick[0] if binding.pick else 0
            if number < len(value.args):
                yield value.args[number]

    def _reaches_step(self, node: ast.expr, depth: int) -> bool | None:
        """Whether a value goes into a training step; none where it leaves what can be read."""
        if depth == 0:
            return None
        index = scope_of(node).index
        function = scope_of(node).enclosing_function()
        held = [node, *index.ancestors(node)]
        if any(part in self.loops.trainers for part in held):
            return True
        statement = index.statement(node)
        around = _function_of(node)
        names = _names_from(set(_stored(statement)), around)
        if names & _read_by(self._steps_of(around)):
            return True
        returned = function.returned() if function is not None else []
        leaves = isinstance(statement, ast.Return) or bool(names & _read_by(returned))
        if function is None or not leaves:
            is_kept = any(name.startswith("self.") for name in names)
            return None if is_kept else False
        sites = self.sources.sites.get(function, [])
        answers = [self._reaches_step(site, depth - 1) for site in sites]
        if any(answers):
            return True
        return None if not answers or None in answers else False

    def _steps_of(self, function: ast.AST) -> list[ast.Call]:
        return [part for part in ast.walk(function) if part in self.loops.trainers]


def _is_loss(dotted: str) -> bool:
    name = dotted.rpartition(".")[2]
    return dotted.startswith("torch.nn.functional.") or name in TORCH_LOSS_CLASSES


def _function_of(node: ast.AST) -> ast.AST:
    """The function, or the file, that a node is in."""
    function = scope_of(node).enclosing_function()
    if function is not None:
        return function.node
    return scope_of(node).index.tree


def _loops_around(node: ast.AST) -> list[Loop]:
    around = scope_of(node).index.ancestors(node)
    return [part for part in around if isinstance(part, Loop)]


def _parameters_in(value: ast.expr) -> list[Binding]:
    names = [part for part in ast.walk(value) if isinstance(part, ast.Name)]
    found = [binding for name in names for binding in bindings_of(name)[:1]]
    return [binding for binding in found if binding.how is How.PARAMETER]


def _text(node: ast.AST) -> str:
    """`name`, or `self.name`."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return f"{node.value.id}.{node.attr}"
    return ""


def _read(node: ast.AST) -> Iterator[str]:
    yield from filter(None, map(_text, ast.walk(node)))


def _read_by(nodes: Iterable[ast.AST]) -> set[str]:
    """All that these read."""
    names: set[str] = set()
    for node in nodes:
        names.update(_read(node))
    return names


def _stored(statement: ast.AST) -> Iterator[str]:
    """What a statement assigns or adds to: `losses.append(loss)` counts."""
    targets: list[ast.expr] = []
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, ast.AnnAssign | ast.AugAssign):
        targets = [statement.target]
    elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        base = receiver(statement.value)
        if base is not None and method_name(statement.value) == "append":
            targets = [base]
    for target in targets:
        yield from _read(target)


def _names_from(names: set[str], function: ast.AST) -> set[str]:
    """These and what is made of them in the same function."""
    return _closed(names, function, forwards=True)


def _names_into(steps: list[ast.Call], function: ast.AST) -> set[str]:
    """What goes into these calls, and what that was made of."""
    return _closed(_read_by(steps), function, forwards=False)


def _closed(names: set[str], function: ast.AST, *, forwards: bool) -> set[str]:
    statements = [part for part in ast.walk(function) if isinstance(part, ast.stmt)]
    flows = [
        (set(_read(part)), stored)
        for part in statements
        if not isinstance(part, FunctionNode | ast.ClassDef) and (stored := set(_stored(part)))
    ]
    known = set(names)
    for _ in range(DEEPEST):
        before = len(known)
        for read, stored in flows:
            if forwards and known & read:
                known |= stored
            elif not forwards and known & stored:
                known |= read
        if len(known) == before:
            break
    return known
