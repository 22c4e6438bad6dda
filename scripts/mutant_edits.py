"""Small edits of a Python file by its syntax tree, each of which may change what the file decides.

Not edited: annotations, docstrings, decorators, imports, texts for the user (whole functions that
return text, text inside f-strings and errors), and calls that only log. An edit that compiles to
the same code is left out.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from types import CodeType
from typing import Any

BOUNDARY = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
OPPOSITE = {
    "<": ">=",
    "<=": ">",
    ">": "<=",
    ">=": "<",
    "==": "!=",
    "!=": "==",
    "in": "not in",
    "not in": "in",
    "is": "is not",
    "is not": "is",
}
ARITHMETIC = {"+": "-", "-": "+", "*": "/", "/": "*", "//": "*"}
COMPARISON = re.compile(r"not\s+in|is\s+not|<=|>=|==|!=|<|>|\bin\b|\bis\b")
OPERATOR = re.compile(r"//|[-+*/]")
NAMES = {"min": "max", "max": "min", "any": "all", "all": "any"}
LOGGING = (
    "print",
    "log",
    "debug",
    "info",
    "warning",
    "echo",
    "note",
    "say",
    "report",
    "step",
)
"""Functions whose call alone changes no verdict: it tells somebody something."""
TEXT = re.compile(r"(str|(list|tuple|Iterator|Sequence|Iterable)\[str(, \.\.\.)?\])( \| None)?")
"""What a function returns that writes sentences."""
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
SIMPLE = (ast.Constant, ast.Name, ast.Attribute)
LEAVES = (ast.Return, ast.Raise, ast.Continue, ast.Break)


@dataclass(frozen=True)
class Edit:
    """The text between two offsets of a file, replaced by another one."""

    kind: str
    start: int
    end: int
    new: str

    def applied(self, text: str) -> str:
        return text[: self.start] + self.new + text[self.end :]

    def line(self, text: str) -> int:
        return text.count("\n", 0, self.start) + 1


def edits_of(text: str) -> list[Edit]:
    """All edits of a file that compile, and to other code, in the order of the file."""
    original = _code(compile(text, "file", "exec"))
    edits = []
    for edit in sorted(
        set(Reader(text).edits()),
        key=lambda edit: (edit.start, edit.end, edit.kind, edit.new),
    ):
        try:
            code = compile(edit.applied(text), "file", "exec")
        except SyntaxError:
            continue
        if _code(code) != original:
            edits.append(edit)
    return edits


def _code(code: CodeType) -> tuple[object, ...]:
    """What is executed, without the places where it stands."""
    constants = tuple(
        _code(constant) if isinstance(constant, CodeType) else (type(constant), repr(constant))
        for constant in code.co_consts
    )
    return (
        code.co_name,
        code.co_code,
        constants,
        code.co_names,
        code.co_varnames,
        code.co_freevars,
    )


class Reader:
    """Walks the tree and makes edits of the text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tree = ast.parse(text)
        self.fixed: set[ast.AST] = set()
        # The tree counts bytes of UTF-8 in a line, an edit counts characters of the file.
        self.lines = text.splitlines(keepends=True)
        self.begins = [0]
        for line in self.lines:
            self.begins.append(self.begins[-1] + len(line))

    def edits(self) -> Iterator[Edit]:
        yield from self._visit(self.tree, returns="")

    def _visit(self, node: ast.AST, returns: str) -> Iterator[Edit]:
        if isinstance(node, FUNCTIONS):
            returns = ast.unparse(node.returns) if node.returns else ""
            if TEXT.fullmatch(returns):
                return
        if isinstance(node, ast.Return):
            yield from self._return(node, returns)
        if _is_fixed_in_length(node):
            self.fixed.add(node.value)
        make = MAKERS.get(type(node))
        if make:
            yield from make(self, node)
        for child in self._children(node):
            yield from self._visit(child, returns)

    def _children(self, node: ast.AST) -> Iterator[ast.AST]:
        """All but what decides nothing: types, decorators, texts and errors."""
        for field, value in ast.iter_fields(node):
            if field in (
                "annotation",
                "returns",
                "decorator_list",
                "type_params",
                "bases",
            ):
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST) and not isinstance(
                    child, ast.JoinedStr | ast.Raise | ast.Import | ast.ImportFrom
                ):
                    yield child

    def _offset(self, line: int, column: int) -> int:
        characters = len(self.lines[line - 1].encode()[:column].decode())
        return self.begins[line - 1] + characters

    def _span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        end_line, end_column = node.end_lineno or node.lineno, node.end_col_offset or 0
        return self._offset(node.lineno, node.col_offset), self._offset(end_line, end_column)

    def _source(self, node: ast.expr | ast.stmt) -> str:
        start, end = self._span(node)
        return self.text[start:end]

    def _replaced(self, kind: str, node: ast.expr | ast.stmt, new: str) -> Edit:
        return Edit(kind, *self._span(node), new)

    def _between(
        self,
        kind: str,
        left: ast.expr,
        right: ast.expr,
        pattern: re.Pattern[str],
        changes: dict[str, str],
    ) -> Iterator[Edit]:
        """The operator between two expressions, changed."""
        start, end = self._span(left)[1], self._span(right)[0]
        # A comment between the two may hold an operator too.
        operator = pattern.search(self.text, start, end)
        if operator is None or "#" in self.text[start:end]:
            return
        new = changes.get(re.sub(r"\s+", " ", operator[0]))
        if new:
            yield Edit(kind, operator.start(), operator.end(), new)

    def _comparison(self, node: ast.Compare) -> Iterator[Edit]:
        sides = [node.left, *node.comparators]
        for left, right in pairwise(sides):
            yield from self._between("boundary", left, right, COMPARISON, BOUNDARY)
            yield from self._between("comparison", left, right, COMPARISON, OPPOSITE)

    def _constant(self, node: ast.Constant) -> Iterator[Edit]:
        if isinstance(node.value, bool):
            yield self._replaced("constant", node, str(not node.value))
        elif isinstance(node.value, int):
            yield self._replaced("constant", node, str(node.value + 1))
        elif isinstance(node.value, float) and math.isfinite(node.value):
            yield self._replaced("constant", node, repr(2 * node.value or 1.0))
            yield self._replaced("constant", node, repr(node.value / 2 or -1.0))

    def _bool_op(self, node: ast.BoolOp) -> Iterator[Edit]:
        words = {"and": "or", "or": "and"}
        pattern = re.compile(r"\b(and|or)\b")
        for left, right in pairwise(node.values):
            yield from self._between("and-or", left, right, pattern, words)

    def _unary(self, node: ast.UnaryOp) -> Iterator[Edit]:
        if isinstance(node.op, ast.Not):
            yield self._replaced("not", node, f"({self._source(node.operand)})")
        elif isinstance(node.op, ast.USub) and not isinstance(node.operand, ast.Constant):
            yield self._replaced("sign", node, f"({self._source(node.operand)})")

    def _bin_op(self, node: ast.BinOp) -> Iterator[Edit]:
        if not any(_is_text(side) for side in (node.left, node.right)):
            yield from self._between("arithmetic", node.left, node.right, OPERATOR, ARITHMETIC)

    def _call(self, node: ast.Call) -> Iterator[Edit]:
        if isinstance(node.func, ast.Name) and node.func.id in NAMES:
            yield self._replaced("name", node.func, NAMES[node.func.id])

    def _condition(self, test: ast.expr) -> Iterator[Edit]:
        yield self._replaced("condition", test, "True")
        yield self._replaced("condition", test, "False")
        if not isinstance(test, ast.UnaryOp | ast.Compare):
            yield self._replaced("not", test, f"(not ({self._source(test)}))")

    def _if(self, node: ast.If) -> Iterator[Edit]:
        if ast.unparse(node.test) == "TYPE_CHECKING":
            return
        yield from self._condition(node.test)
        if (
            isinstance(node.body[-1], LEAVES)
            and not node.orelse
            and self.text[self._span(node)[0]] == "i"
        ):
            yield self._replaced("guard", node, "pass")

    def _if_expression(self, node: ast.IfExp) -> Iterator[Edit]:
        if not (_is_text(node.body) or _is_text(node.orelse)):
            yield from self._condition(node.test)

    def _comprehension(self, node: ast.comprehension) -> Iterator[Edit]:
        for test in node.ifs:
            yield from self._condition(test)

    def _elements(self, node: ast.Tuple | ast.List | ast.Set) -> Iterator[Edit]:
        is_read = isinstance(getattr(node, "ctx", ast.Load()), ast.Load)
        are_simple = all(
            isinstance(element, ast.Constant | ast.Name | ast.Attribute) for element in node.elts
        )
        if not is_read or len(node.elts) < 2 or not are_simple or node in self.fixed:
            return
        for dropped in node.elts:
            if (
                isinstance(dropped, ast.Constant)
                and isinstance(dropped.value, str)
                and " " in dropped.value
            ):
                continue
            left = [self._source(element) for element in node.elts if element is not dropped]
            opening, closing = {ast.Tuple: "()", ast.List: "[]", ast.Set: "{}"}[type(node)]
            yield self._replaced("element", node, f"{opening}{', '.join(left)},{closing}")

    def _statement(self, node: ast.Expr) -> Iterator[Edit]:
        if isinstance(node.value, ast.Call) and not _is_logging(node.value.func):
            yield self._replaced("statement", node, "pass")

    def _removed(self, node: ast.AugAssign | ast.Continue | ast.Break) -> Iterator[Edit]:
        yield self._replaced("statement", node, "pass")

    def _return(self, node: ast.Return, returns: str) -> Iterator[Edit]:
        if node.value is None or isinstance(node.value, ast.Tuple) or _is_text(node.value):
            return
        source = self._source(node.value)
        if returns == "bool":
            yield self._replaced("return", node.value, f"not ({source})")
        elif returns in ("int", "float"):
            yield self._replaced("return", node.value, f"({source}) + 1")
        elif source != "None":
            yield self._replaced("return", node.value, "None")


def _is_fixed_in_length(node: ast.AST) -> bool:
    """Whether another length of its value fails at once, or says only what is written to JSON."""
    if isinstance(node, ast.Return):
        return True
    if isinstance(node, ast.Assign):
        return any(isinstance(target, ast.Tuple) for target in node.targets)
    return isinstance(node, ast.AnnAssign) and getattr(node.target, "id", "") == "JSON"


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def _is_logging(function: ast.expr) -> bool:
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    return name in LOGGING


MAKERS: dict[type[ast.AST], Callable[[Reader, Any], Iterator[Edit]]] = {
    ast.Compare: Reader._comparison,
    ast.Constant: Reader._constant,
    ast.BoolOp: Reader._bool_op,
    ast.UnaryOp: Reader._unary,
    ast.BinOp: Reader._bin_op,
    ast.Call: Reader._call,
    ast.If: Reader._if,
    ast.IfExp: Reader._if_expression,
    ast.comprehension: Reader._comprehension,
    ast.Tuple: Reader._elements,
    ast.List: Reader._elements,
    ast.Set: Reader._elements,
    ast.Expr: Reader._statement,
    ast.AugAssign: Reader._removed,
    ast.Continue: Reader._removed,
    ast.Break: Reader._removed,
}
