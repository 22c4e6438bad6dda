"""Every named value of a project, with its line: data files, command lines of scripts, Python.

Of Python: constants, fields, defaults, keyword and positional arguments, options.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TypeAlias

from reenact.codegen.project import Project
from reenact.paper.criterion import CodeLine
from reenact.paper.fingerprint.expression import OPERATORS
from reenact.paper.fingerprint.vocabulary import positions, squeezed
from reenact.program.syntax.datafile import BadData, DataEntry, read_data
from reenact.program.syntax.source import Language, LineTable, SourceFile

Value: TypeAlias = "bool | int | float | str | tuple[Value, ...] | None"
DATA = {
    ".yaml": Language.YAML,
    ".yml": Language.YAML,
    ".json": Language.JSON,
}
_OPTION = re.compile(r"--([A-Za-z][\w-]*)[= ]+([^\s\\;&|]+)")
_TOML = re.compile(r"^\s*([\w.-]+|\"[^\"]+\")\s*=\s*(.+?)\s*(?:#.*)?$")
_NUMBER = re.compile(r"[-+]?(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
LARGEST_POWER = 64
LARGEST_BASE = 1e6
EPOCHS = ("epoch", "ep", "epoch_idx", "e")
"""Names of a loop variable that counts epochs."""
ANY = frozenset(("getattr", "vars", "asdict", "setattr"))
"""Calls that may read a value by a name that is not written."""
_REHEARSAL = re.compile(r"(?:^|_)(?:dry|debug|smoke|quick|rehears)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Setting:
    """A value under a name."""

    name: str
    value: Value
    line: CodeLine
    given: bool = False
    """Handed to something that is called: used where it is."""
    inside: tuple[str, ...] = ()
    """Names of what it stands in: file, classes, functions, calls, tables around it."""

    def __str__(self) -> str:
        return f"{self.line}: {self.name} = {self.value!r}"


def settings_of(project: Project) -> tuple[Setting, ...]:
    """All settings, in the order of files and lines; a file that cannot be read has none."""
    found: list[Setting] = []
    trees = project.trees()
    for name in sorted(project.files):
        text = project.files[name]
        suffix = PurePosixPath(name).suffix
        if name in trees:
            found += python_settings(name, text, trees[name])
        elif suffix in DATA:
            found += _data(name, text, DATA[suffix])
        elif suffix == ".toml":
            found += _by_line(name, text, _TOML)
        elif suffix == ".sh":
            found += _by_line(name, text, _OPTION)
    return tuple(found)


def line_at(name: str, text: str, number: int) -> CodeLine:
    """That line of a file, without its indentation."""
    lines = text.splitlines()
    return CodeLine(
        name,
        number,
        lines[number - 1].strip() if 0 < number <= len(lines) else "",
    )


def _data(name: str, text: str, language: Language) -> Iterator[Setting]:
    try:
        whole = read_data(SourceFile(PurePosixPath(name), text, language))
    except BadData:
        return
    table = LineTable(text)

    def inside(
        keys: tuple[str, ...],
        entry: DataEntry,
    ) -> Iterator[Setting]:
        """A list of plain values is one value; what lies deeper has the name of its own key."""
        if isinstance(entry.items, dict):
            for key, one in entry.items.items():
                yield from inside((*keys, key), one)
            return
        for one in entry.items or ():
            if one.items is not None:
                yield from inside(keys, one)
        plain = [
            one.value
            for one in ([entry] if entry.items is None else entry.items)
            if one.items is None
        ]
        values = tuple(
            one if isinstance(one, bool | int | float | str | None) else str(one) for one in plain
        )
        if values:
            number, _ = table.line_column(entry.span.start)
            value = values[0] if entry.items is None else values
            yield Setting(
                keys[-1],
                value,
                line_at(name, text, number),
                inside=keys[:-1],
            )

    yield from inside((PurePosixPath(name).stem, ""), whole)


def _by_line(
    name: str,
    text: str,
    pattern: re.Pattern[str],
) -> Iterator[Setting]:
    for number, line in enumerate(text.splitlines(), start=1):
        if line.lstrip().startswith("#"):
            continue
        for match in pattern.finditer(line):
            bare = match.group(2).strip().strip("\"'")
            value = float(bare.replace("_", "")) if _NUMBER.fullmatch(bare) else bare
            yield Setting(
                match.group(1).strip('"'),
                value,
                CodeLine(name, number, line.strip()),
            )


def python_settings(name: str, text: str, tree: ast.Module) -> Iterator[Setting]:
    """Every value that is known without running."""
    around = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    for node in _in_earnest(tree):
        for label, value in _named(node):
            try:
                known = constant(value)
            except (
                ValueError,
                LookupError,
                ArithmeticError,
                TypeError,
                RecursionError,
            ):
                continue
            if label:
                given = isinstance(node, ast.Call | ast.For)
                inside = (
                    PurePosixPath(name).stem,
                    *_names_around(value, around),
                )
                yield Setting(
                    label,
                    value=known,
                    line=line_at(name, text, value.lineno),
                    given=given,
                    inside=inside,
                )


def _names_around(
    node: ast.AST,
    around: Mapping[ast.AST, ast.AST],
) -> Iterator[str]:
    """Names of the functions, classes, calls and tables that a value stands in."""
    while node in around:
        inner = node
        node = around[node]
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Call):
            yield last_name(node.func)
        elif isinstance(node, ast.Assign) and isinstance(inner, ast.Dict | ast.Call):
            yield from map(last_name, node.targets)
        elif isinstance(node, ast.Dict) and inner in node.values:
            yield _text(node.keys[node.values.index(inner)])


def _in_earnest(tree: ast.AST) -> Iterator[ast.AST]:
    """Every node but those that only a dry run reaches: what it shortens is not a setting."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and _rehearses(node.test):
            waiting += reversed(node.orelse)
            continue
        yield node
        waiting += reversed(list(ast.iter_child_nodes(node)))


def _rehearses(test: ast.expr) -> bool:
    words = {last_name(node) or _text(node) for node in ast.walk(test)}
    return not isinstance(test, ast.UnaryOp) and any(_REHEARSAL.search(word) for word in words)


def read_names(tree: ast.Module) -> frozenset[str] | None:
    """Every name that the code reads, squeezed; none when it may read any: `**options`,
    `getattr`, `vars`.
    """
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name | ast.Attribute | ast.Subscript) and isinstance(
            node.ctx, ast.Load
        ):
            found.add(squeezed(last_name(node)))
        elif isinstance(node, ast.Call):
            if last_name(node.func) in ANY or any(one.arg is None for one in node.keywords):
                return None
            found |= {squeezed(_text(one)) for one in node.args[:1]}
    return frozenset(found)


def constant(node: ast.expr) -> Value:
    """The value of an expression of constants. Raises ValueError for another, or what its
    arithmetic does.
    """
    match node:
        case ast.Constant(value=bool() | int() | float() | str() as value):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            if isinstance(one := constant(operand), int | float):
                return -one
        case ast.BinOp(left=left, op=operator, right=right):
            one = constant(left)
            other = constant(right)
            if isinstance(one, int | float) and isinstance(other, int | float):
                small = abs(other) <= LARGEST_POWER and abs(one) <= LARGEST_BASE
                if small or not isinstance(operator, ast.Pow):
                    return OPERATORS[type(operator)](one, other)  # type: ignore[no-any-return]
        case ast.IfExp(test=test, orelse=other) if _rehearses(test):
            return constant(other)
        case ast.Tuple(elts=[_, *_] as elements) | ast.List(elts=[_, *_] as elements):
            return tuple(map(constant, elements))
    raise ValueError("it is not made of constants")


def _named(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Names and the expressions that they stand for, whatever these are."""
    match node:
        case ast.Assign(targets=targets, value=value):
            yield from ((last_name(target), value) for target in targets)
        case ast.AnnAssign(target=target, value=ast.expr() as value):
            yield last_name(target), value
        case ast.Dict(keys=keys, values=values):
            yield from ((_text(key), value) for key, value in zip(keys, values, strict=True))
        case ast.FunctionDef(args=taken) | ast.AsyncFunctionDef(args=taken):
            plain = [*taken.posonlyargs, *taken.args]
            names = [
                *plain[len(plain) - len(taken.defaults) :],
                *taken.kwonlyargs,
            ]
            pairs = zip(names, [*taken.defaults, *taken.kw_defaults], strict=True)
            yield from ((one.arg, given) for one, given in pairs if given is not None)
        case ast.Call():
            yield from _arguments(node)
        case ast.For(target=ast.Name(id=name), iter=ast.Call() as over) if name in EPOCHS:
            if last_name(over.func) == "range" and len(over.args) == 1:
                yield "epochs", over.args[0]


def _arguments(call: ast.Call) -> Iterator[tuple[str, ast.expr]]:
    flags = [flag for flag in map(_text, call.args) if flag.startswith("-")]
    for keyword in call.keywords:
        if keyword.arg == "default" and flags:
            yield max(flags, key=len).lstrip("-"), keyword.value
        elif keyword.arg:
            yield keyword.arg, keyword.value
    yield from zip(
        positions().get(
            last_name(call.func),
            (),
        ),
        call.args,
        strict=False,
    )


def last_name(node: ast.AST) -> str:
    """The last part of a dotted name; the key of a subscript."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Subscript):
        return _text(node.slice)
    return ""


def _text(node: ast.AST | None) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    return ""
