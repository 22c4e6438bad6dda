"""Follow a value to the place that would have to be edited: names, parameters, attributes, entries,
across files.

A trail may fork, for a function called twice or a loop over a list: every end is returned. Where
nothing certain is known (a name assigned twice, a value computed from data) the trail stops at the
expression it reached.
"""

import ast
from collections.abc import Sequence
from dataclasses import replace

from reenact.program.flow.ends import NOT_LITERAL, End, click_option
from reenact.program.flow.members import Members
from reenact.program.flow.trail import last_before
from reenact.program.hyperparameter import Written
from reenact.program.syntax.calls import argument, is_name
from reenact.program.syntax.index import dotted_text
from reenact.program.syntax.scope import Binding, Scope, bindings_of, scope_of
from reenact.program.syntax.targets import How

CASTS = frozenset(
    {
        "builtins.float",
        "builtins.int",
        "builtins.str",
        "builtins.bool",
        "builtins.round",
        "builtins.abs",
    }
)
ENVIRONMENT = frozenset(("os.environ.get", "os.getenv"))


class Follower(Members):
    """All steps of a trail; names, parameters and calls are here."""

    def step(self, node: ast.AST, written: Written) -> list[End]:
        if isinstance(node, ast.Name):
            return self._name(node)
        if isinstance(node, ast.Attribute):
            return self.attribute(node)
        if isinstance(node, ast.Subscript):
            return self.subscript(node)
        if isinstance(node, ast.Call):
            return self._call(node, written)
        if isinstance(node, ast.NamedExpr):
            return self.follow(node.value, Written.CONSTANT)
        test = self.single(node.test) if isinstance(node, ast.IfExp) else None
        if not isinstance(node, ast.IfExp) or test is None or test.literal() is NOT_LITERAL:
            return []
        return self.follow(
            node.body if test.literal() else node.orelse,
            written,
        )

    def _name(self, node: ast.Name) -> list[End]:
        bindings = bindings_of(node)
        scope = scope_of(node)
        for star in reversed(scope.index.module.stars) if not bindings else ():
            inside = self.sources.module(
                star.dotted,
                scope.file,
                star.level,
            )
            if inside is not None and node.id in inside.module.bindings:
                return self.module_name(inside.module, node.id)
        binding = self._one(bindings, node) if bindings else None
        if binding is None:
            if bindings:
                return self._fallback(node, bindings)
            return []
        return self.bound(binding)

    def _one(
        self,
        bindings: Sequence[Binding],
        use: ast.AST,
    ) -> Binding | None:
        """The binding in force: the only one, or the last before the use that certainly ran."""
        own = [binding for binding in bindings if not binding.rewraps] or list(bindings)
        if len(own) == 1:
            return own[0]
        if any(binding.how not in (How.ASSIGN, How.IMPORT) for binding in own):
            return None
        index = own[0].holder.index
        holder = own[0].holder
        if scope_of(use) is not holder:
            blocks = {index.block_of(binding.node) for binding in own}
            if blocks == {(index.tree, "body")}:
                return own[-1]
            return None
        return last_before(index, own, use)

    def _fallback(
        self,
        node: ast.Name,
        bindings: Sequence[Binding],
    ) -> list[End]:
        """`rate = rate or 0.1` and `if rate is None: rate = 0.1` after a parameter whose
        default is None.
        """
        value = (
            bindings[1].value if len(bindings) == 2 and bindings[0].how is How.PARAMETER else None
        )
        alternative = None
        if isinstance(value, ast.BoolOp) and isinstance(value.op, ast.Or):
            alternative = value.values[-1] if is_name(value.values[0], node.id) else None
        elif isinstance(value, ast.IfExp) and is_name(value.body, node.id):
            alternative = value.orelse
        if value is not None and alternative is None and tests_for_none(bindings[1], node.id):
            alternative = value
        if alternative is None:
            return []
        given = [end for end in self.bound(bindings[0]) if end.literal() not in (None, NOT_LITERAL)]
        return given or self.follow(alternative, Written.CONSTANT)

    def bound(self, binding: Binding) -> list[End]:
        if binding.how is How.PARAMETER:
            return self._parameter(binding)
        if binding.how is How.IMPORT:
            module, name = self.sources.imported(binding)
            if module is not None and name:
                return self.module_name(module.module, name)
            return []
        if binding.how is How.LOOP and binding.value is not None:
            ends = [item for end in self.follow(binding.value) for item in self.items(end)]
            return self.picked(ends, binding.pick)
        if binding.how in (How.CLASS, How.FUNCTION):
            return [End(binding.node, Written.CONSTANT)]
        if binding.how is not How.ASSIGN or binding.value is None:
            return []
        written = Written.DATACLASS if is_record(binding.holder) else Written.CONSTANT
        return self.picked(
            self.follow(binding.value, written),
            binding.pick,
        )

    def _parameter(self, binding: Binding) -> list[End]:
        """What the program's own calls give, and the default where one of them gives nothing."""
        inside = [call for function, call in self._frames if function is binding.holder]
        calls = inside[-1:] or self.sources.sites.get(binding.holder, [])
        given = [self._given(binding, call) for call in calls]
        found = [end for ends in given for end in ends]
        if given and all(given):
            return found
        return [*found, *self._default(binding)]

    def _given(self, binding: Binding, call: ast.Call) -> list[End]:
        value = argument(call, binding.position, binding.name)
        if value is not None:
            return self.follow(value)
        extras = [part.value for part in call.keywords if part.arg is None]
        for part in extras:
            for end in self.follow(part):
                member = self.member(end, binding.name)
                if member:
                    return member
        return []

    def _default(self, binding: Binding) -> list[End]:
        option = click_option(self.sources, binding.holder, binding.name)
        value = binding.value
        if option is not None and option.default is not None:
            given = option.given(self.sources.program.arguments)
            return [end.with_option(option, given) for end in self.follow(option.default)]
        if value is None:
            return self._undefaulted(binding)
        if isinstance(value, ast.Call) and self.sources.dotted(value.func).startswith("typer."):
            inner = argument(value, 0, "default")
            ends = self.follow(inner) if inner is not None else []
            return [replace(end, written=Written.ARGPARSE) for end in ends]
        return self.follow(value, Written.KEYWORD_DEFAULT)

    def _undefaulted(self, binding: Binding) -> list[End]:
        """`@hydra.main(config_path="conf", config_name="config")` gives the configuration; or
        no one calls the function, but the parameter says which class of the program it wants.
        """
        marks = getattr(binding.holder.node, "decorator_list", ())
        found = [end for mark in marks if isinstance(mark, ast.Call) for end in self.config(mark)]
        annotation = binding.node.annotation if isinstance(binding.node, ast.arg) else None
        wanted = self.sources.meaning(annotation) if annotation is not None else None
        if not found and isinstance(wanted, Scope) and wanted.is_class:
            return [End(wanted.node, Written.DATACLASS)]
        return found

    def _call(self, node: ast.Call, written: Written) -> list[End]:
        target = self.sources.meaning(node.func)
        if isinstance(target, Scope) and target.is_function:
            with self.within((*self._frames, (target, node))):
                return self.returned(target)
        dotted = target if isinstance(target, str) else ""
        if dotted in CASTS and len(node.args) == 1:
            return self.follow(node.args[0], written)
        if dotted in ENVIRONMENT and len(node.args) == 2:
            return self.follow(node.args[1], written)
        return self.get(node)


RECORDS = (
    "dataclass",
    "NamedTuple",
    "BaseModel",
    "BaseSettings",
    "attr.s",
    "attrs",
    "define",
    "frozen",
)


def is_record(scope: Scope) -> bool:
    """A class whose attributes are fields: dataclass, NamedTuple, TypedDict, pydantic."""
    node = scope.node
    if not isinstance(node, ast.ClassDef):
        return False
    marks = [
        dotted_text(part.func if isinstance(part, ast.Call) else part)
        for part in (*node.decorator_list, *node.bases)
    ]
    return any(mark in RECORDS or mark.rpartition(".")[2] in RECORDS for mark in marks)


def tests_for_none(binding: Binding, name: str) -> bool:
    """Bound under `if name is None:` or `if not name:`."""
    around = binding.holder.index.parents.get(binding.node)
    test = around.test if isinstance(around, ast.If) else None
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return is_name(test.operand, name)
    return (
        isinstance(test, ast.Compare)
        and is_name(test.left, name)
        and isinstance(test.ops[0], ast.Is)
    )
