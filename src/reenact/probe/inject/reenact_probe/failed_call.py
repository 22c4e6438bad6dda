"""The call at which an exception came out of a frame: what was called, and the tensors that it was
given.

Read from the instruction of the frame, its text and its variables. Nothing of the program is
executed for it: names and plain attributes are looked up, properties and subscripts are not. Of
tensors the shape, the type and the device are kept, of whole numbers their range as well (it
explains an index out of range), never their content.
"""

from __future__ import annotations

import ast
import builtins
import dis
import inspect
import itertools
import linecache
import os
import sys
from types import ModuleType, TracebackType
from typing import Any

from reenact_probe.types import Facts

MAX_OPERANDS = 6
MAX_COUNTED = 10_000_000
"""Whole numbers whose range is looked for."""
TENSOR_PACKAGES = ("torch", "numpy", "keras", "tensorflow", "jax", "jaxlib")
MAX_KEYS = 8
MAX_NAME = 80
DEVICES = ("cuda", "mps", "xpu")
OPERATORS = {
    ast.MatMult: "@",
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
}
MISSING: Any = object()


def raises_itself(trail: TracebackType) -> bool:
    """Whether the frame raised by a statement of its own (`raise`, `assert`): not what it
    called.
    """
    operation = trail.tb_frame.f_code.co_code[trail.tb_lasti]
    return dis.opname[operation] == "RAISE_VARARGS"


class FailedCall:
    """What a frame was evaluating when the exception came out of it."""

    def __init__(self, trail: TracebackType) -> None:
        self.frame = trail.tb_frame
        self.node = _expression(trail)
        self.callee = MISSING
        if isinstance(self.node, ast.Call):
            self.callee = self.look_up(self.node.func)

    @property
    def name(self) -> str:
        """Of what was called, or the operator; empty where it is neither."""
        if isinstance(self.node, (ast.BinOp, ast.AugAssign)):
            return OPERATORS.get(type(self.node.op), "operator")
        if not isinstance(self.node, ast.Call):
            return ""
        written = self.node.func
        plain = written.attr if isinstance(written, ast.Attribute) else getattr(written, "id", "")
        return str(getattr(self.callee, "__name__", None) or plain)

    @property
    def package(self) -> str:
        """The package whose code was called; that of an operand where an operator failed."""
        if self.callee is not MISSING:
            module = getattr(self.callee, "__module__", None)
            if isinstance(module, str) and module:
                return module.partition(".")[0]
        if isinstance(self.node, ast.Call) and isinstance(self.node.func, ast.Attribute):
            owner = self.look_up(self.node.func.value)
            if owner is not MISSING:
                return package_of(owner)
        tensors = [value for _, value in self._operands()]
        return package_of(tensors[0]) if tensors else ""

    def operands(self) -> list[Facts]:
        """Name, shape, type and device of the tensors that took part."""
        return [tensor_facts(name, value) for name, value in self._operands()[:MAX_OPERANDS]]

    def calls_builtin(self, name: str) -> bool:
        """Whether a built-in function of this name is called in what failed."""
        wanted = getattr(builtins, name)
        if self.node is None:
            return False
        calls = [node for node in ast.walk(self.node) if isinstance(node, ast.Call)]
        return any(self.look_up(call.func) is wanted for call in calls)

    def keys(self) -> list[str]:
        """The names that a dictionary has which was asked for another one."""
        if not isinstance(self.node, ast.Subscript):
            return []
        asked = self.look_up(self.node.value)
        if type(asked) is not dict or not all(type(key) is str for key in asked):
            return []
        return [key[:MAX_NAME] for key in itertools.islice(asked, MAX_KEYS)]

    def device(self, kind: type) -> str:
        """The kind of device that the call was given; empty where it was given none."""
        if not isinstance(self.node, ast.Call):
            return ""
        for argument in (
            *self.node.args,
            *(keyword.value for keyword in self.node.keywords),
        ):
            given = argument.value if isinstance(argument, ast.Constant) else self.look_up(argument)
            named = str(given) if isinstance(given, (str, kind)) else ""
            if named.partition(":")[0] in DEVICES:
                return named.partition(":")[0]
        return ""

    def unset_variable(self) -> str:
        """The environment variable that is asked for in what failed, and that is not set."""
        for call in ast.walk(self.node) if self.node is not None else ():
            if not isinstance(call, ast.Call) or len(call.args) != 1 or call.keywords:
                continue
            asks = self.look_up(call.func) is os.getenv or (
                isinstance(call.func, ast.Attribute)
                and call.func.attr == "get"
                and self.look_up(call.func.value) is os.environ
            )
            name = call.args[0].value if isinstance(call.args[0], ast.Constant) else None
            if asks and isinstance(name, str) and name not in os.environ:
                return name
        return ""

    def command_line_argument(self) -> int | None:
        """The position in `sys.argv` that was read and that nothing was given for."""
        for node in ast.walk(self.node) if self.node is not None else ():
            if not isinstance(node, ast.Subscript) or self.look_up(node.value) is not sys.argv:
                continue
            position = node.slice
            if isinstance(position, ast.Constant) and type(position.value) is int:
                if position.value >= len(sys.argv):
                    return position.value
                return None
        return None

    def unexpected_keywords(self) -> list[str]:
        """Keywords of the call that the signature of what was called does not have."""
        if not isinstance(self.node, ast.Call) or not callable(self.callee):
            return []
        try:
            parameters = inspect.signature(self.callee).parameters.values()
        except (TypeError, ValueError):
            return []
        if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
            return []
        keywords = [keyword.arg for keyword in self.node.keywords if keyword.arg is not None]
        for keyword in self.node.keywords:
            given = self.look_up(keyword.value) if keyword.arg is None else None
            if type(given) is dict:
                keywords.extend(str(name) for name in given)
        known = {parameter.name for parameter in parameters}
        return [name for name in keywords if name not in known]

    def look_up(self, node: ast.AST) -> Any:
        """What a name, or an attribute of it, holds; `MISSING` where that would execute
        something.
        """
        if isinstance(node, ast.Name):
            for scope in (
                self.frame.f_locals,
                self.frame.f_globals,
                vars(builtins),
            ):
                if node.id in scope:
                    return scope[node.id]
        if isinstance(node, ast.Attribute):
            owner = self.look_up(node.value)
            if owner is not MISSING:
                return _attribute(owner, node.attr)
            return MISSING
        return MISSING

    def _operands(self) -> list[tuple[str, Any]]:
        named = [
            (
                ast.unparse(node),
                self.look_up(node),
            )
            for node in _parts(self.node)
        ]
        spread: list[tuple[str, Any]] = []
        for name, value in named:
            if type(value) in (list, tuple):
                inside = itertools.islice(enumerate(value), MAX_OPERANDS)
                spread.extend(
                    (
                        f"{name}[{index}]",
                        item,
                    )
                    for index, item in inside
                )
            else:
                spread.append((name, value))
        return [(name, value) for name, value in spread if is_tensor(value)]


def package_of(value: Any) -> str:
    """The package of a module, a class or an object's class."""
    if isinstance(value, ModuleType):
        return value.__name__.partition(".")[0]
    owner = value if isinstance(value, type) else type(value)
    return str(owner.__module__).partition(".")[0]


def is_tensor(value: Any) -> bool:
    """Whether it is a tensor or an array of a known library, or of a class made from one."""
    if isinstance(value, type):
        return False
    modules = [str(base.__module__).partition(".")[0] for base in type(value).__mro__]
    known = any(module in TENSOR_PACKAGES for module in modules)
    return known and hasattr(value, "shape") and hasattr(value, "dtype")


def tensor_facts(name: str, value: Any) -> Facts:
    """What is kept of a tensor."""
    facts: Facts = {
        "name": name[:MAX_NAME],
        "shape": [int(size) for size in value.shape],
        "dtype": str(value.dtype),
        "device": str(getattr(value, "device", "cpu")),
        "minimum": None,
        "maximum": None,
    }
    count = 1
    for size in facts["shape"]:
        count *= size
    whole = "int" in facts["dtype"]
    # After an error on an accelerator every further computation there fails.
    if whole and facts["device"] == "cpu" and 0 < count <= MAX_COUNTED:
        facts["minimum"] = int(value.min())
        facts["maximum"] = int(value.max())
    return facts


def _expression(trail: TracebackType) -> ast.AST | None:
    """The expression that was being evaluated, as far as the interpreter knows it; else the
    whole line.
    """
    frame = trail.tb_frame
    lines = linecache.getlines(frame.f_code.co_filename, frame.f_globals)
    if not 0 < trail.tb_lineno <= len(lines):
        return None
    text = lines[trail.tb_lineno - 1].strip()
    positions: Any = getattr(frame.f_code, "co_positions", tuple)()
    found = next(
        itertools.islice(positions, trail.tb_lasti // 2, None),
        None,
    )
    if found is not None and None not in found:
        first, last, start, end = found
        part = [line.encode() for line in lines[first - 1 : last]]
        if part:
            part[-1] = part[-1][:end]
            part[0] = part[0][start:]
            text = b"".join(part).decode(errors="replace")
    return _parsed(text)


def _parsed(text: str) -> ast.AST | None:
    for attempt in (
        f"({text}\n)",
        text,
        text.rstrip(":"),
    ):
        try:
            body = ast.parse(attempt).body
        except (SyntaxError, ValueError):
            continue
        statement = body[0] if body else None
        value = getattr(statement, "value", None)
        if isinstance(value, ast.AST) and not isinstance(statement, ast.AugAssign):
            return value
        return statement
    return None


def _parts(node: ast.AST | None) -> list[ast.AST]:
    """What took part in an expression by itself: not what a part of it was computed from."""
    if isinstance(node, ast.Call):
        parts: list[ast.AST] = [
            *node.args,
            *(keyword.value for keyword in node.keywords),
        ]
        if isinstance(node.func, ast.Attribute):
            parts.insert(0, node.func.value)
        elements = [
            part.elts if isinstance(part, (ast.List, ast.Tuple)) else [part] for part in parts
        ]
        plain = itertools.chain.from_iterable(elements)
        return [part.value if isinstance(part, ast.Starred) else part for part in plain]
    if isinstance(node, ast.BinOp):
        return [node.left, node.right]
    if isinstance(node, ast.AugAssign):
        return [node.target, node.value]
    if isinstance(node, ast.Compare):
        return [node.left, *node.comparators]
    if isinstance(node, ast.Subscript):
        return [node.value, node.slice]
    return []


def _attribute(owner: Any, name: str) -> Any:
    """An attribute that is simply there: not one that code computes."""
    own = getattr(owner, "__dict__", {})
    if name in own:
        return own[name]
    # Where `torch.nn.Module` keeps what it is given.
    for kept in ("_parameters", "_buffers", "_modules"):
        inside = own.get(kept)
        if isinstance(inside, dict) and name in inside:
            return inside[name]
    try:
        static = inspect.getattr_static(owner, name)
    except AttributeError:
        return MISSING
    if isinstance(static, (staticmethod, classmethod)):
        return static.__func__
    if (
        callable(static)
        and not isinstance(owner, (type, ModuleType))
        and inspect.isfunction(static)
    ):
        return static.__get__(owner)
    return static if callable(static) else MISSING
