"""Where the trail of a value ends: the expression, or the entry of a data file, that would have to
be edited; and the option of the command line (argparse, click, absl) that gives it.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import TypeAlias

from reenact.program.flow.sources import Sources
from reenact.program.hyperparameter import Written
from reenact.program.syntax.calls import argument, keyword, method_name, receiver
from reenact.program.syntax.datafile import DataEntry
from reenact.program.syntax.scope import Scope, bindings_of, scope_of
from reenact.program.syntax.source import Span
from reenact.types import JsonValue

NOT_LITERAL = object()

Frame: TypeAlias = tuple[Scope, ast.Call]
"""A function of the program, and a call of it."""


@dataclass(frozen=True, slots=True, eq=False)
class End:
    """The last step of a trail."""

    node: ast.AST
    """The expression, a class or function definition, or the expression that reads a data file."""
    written: Written
    entry: DataEntry | None = None
    """Set when the trail leads into a data file."""
    data_file: str = ""
    option: Option | None = None
    """Set when the value is the default of a command-line option."""
    given: Given | None = None
    """Set when the command line gives that option: what it says is in force."""
    frames: tuple[Frame, ...] = ()
    """Calls that the trail went through."""

    def inside(self, *entries: DataEntry | None) -> list[End]:
        """Entries of the data file that the trail leads into."""
        found = [entry for entry in entries if entry is not None]
        return [
            End(
                self.node,
                Written.DATA_FILE,
                entry,
                self.data_file,
            )
            for entry in found
        ]

    def with_option(self, option: Option, given: Given | None) -> End:
        return replace(self, option=option, given=given, written=Written.ARGPARSE)

    def literal(self) -> JsonValue | object:
        """The value written there, or NOT_LITERAL."""
        if self.entry is not None:
            return self.entry.plain()
        return literal(self.node)

    @property
    def in_force(self) -> JsonValue | object:
        """What the command line gives, else what is written there."""
        if self.given is not None:
            return self.given.value
        return self.literal()

    @property
    def default(self) -> JsonValue:
        """What stands in the source when the command line says otherwise."""
        found = self.literal()
        return None if found is NOT_LITERAL else found  # type: ignore[return-value]


def literal(node: ast.AST | None) -> JsonValue | object:
    """The JSON value of a literal expression, or NOT_LITERAL. Bytes, sets, complex numbers are
    none.
    """
    if isinstance(node, ast.Constant):
        if not isinstance(node.value, bool | int | float | str | None):
            return NOT_LITERAL
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        value = literal(node.operand)
        sign = -1 if isinstance(node.op, ast.USub) else 1
        return sign * value if is_number(value) else NOT_LITERAL  # type: ignore[operator]
    if isinstance(node, ast.Tuple | ast.List) and len(node.elts) <= 64:
        values = [literal(part) for part in node.elts]
        return NOT_LITERAL if NOT_LITERAL in values else values
    return NOT_LITERAL


def is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def spot_of(node: ast.expr | ast.stmt) -> Span:
    """Where a node is."""
    return scope_of(node).index.span(node)


def name_spot(node: ast.Attribute) -> Span:
    """Where the last name of `a.b.c` is."""
    spot = spot_of(node)
    return Span(
        spot.end - len(node.attr),
        spot.end,
        spot.file,
    )


@dataclass(frozen=True, slots=True, eq=False)
class Option:
    """One option: its flags, where its default is, and how its words become a value."""

    flags: tuple[str, ...]
    dest: str
    call: ast.Call
    default: ast.expr | None
    type_name: str = ""
    several: bool = False
    """Takes more than one word (`nargs`)."""
    switch: bool | None = None
    """What a flag without a value stores; none for options that take one."""

    def given(
        self,
        arguments: Sequence[str],
        flags: frozenset[str] = frozenset(),
    ) -> Given | None:
        """What the command line says about it, the last time counts; `flags` are those of its
        parser.
        """
        found: Given | None = None
        for index, word in enumerate(takewhile(lambda one: one != "--", arguments)):
            flag, equals, rest = self._split(word, flags)
            if not flag:
                continue
            whole = equals or self.switch is not None
            raw = (rest,) * equals
            if not whole:
                behind = arguments[index + 1 :]
                several = takewhile(
                    lambda one: not one.startswith("-") or number_of(one),
                    behind,
                )
                raw = tuple(several if self.several else behind[:1])
            values: list[JsonValue] = [read_word(one, self.type_name, self.default) for one in raw]
            value = values if self.several else next(iter(values), None)
            value = value if self.switch is None else self.switch
            found = Given(
                flag,
                index,
                1 if whole else 1 + len(raw),
                raw,
                value,
            )
        return found

    def _split(
        self,
        word: str,
        flags: frozenset[str],
    ) -> tuple[str, bool, str]:
        """The flag a word gives this option by: in full, shortened, or glued to its value
        (`-l0.1`).
        """
        flag, equals, rest = word.partition("=")
        if flag in self.flags:
            return flag, bool(equals), rest
        if flag.startswith("--") and len(flag) > 2 and flag not in flags:
            longer = {other for other in flags if other.startswith(flag)}
            if longer and longer <= set(self.flags):
                return flag, bool(equals), rest
        if len(word) > 2 and word[0] == "-" and word[1] != "-" and word[:2] in self.flags:
            return word[:2], True, word[2:]
        return "", False, ""


@dataclass(frozen=True, slots=True)
class Given:
    """An option as it is on the command line."""

    flag: str
    index: int
    count: int
    """How many words it takes, its flag included."""
    words: tuple[str, ...]
    value: JsonValue


def read_word(word: str, type_name: str, default: ast.expr | None) -> JsonValue:
    """A word of the command line as the value that the program gets."""
    numeric = type_name not in ("str", "") or (
        not type_name and isinstance(literal(default), int | float)
    )
    number = number_of(word) if numeric else None
    if number is None:
        return word
    return float(number) if type_name == "float" else number


def number_of(word: str) -> int | float | None:
    """The number that a text is, or none."""
    for read in (int, float):
        try:
            return read(word)
        except ValueError:
            continue
    return None


def argparse_options(sources: Sources, parse: ast.Call) -> list[Option]:
    """The options of the parser whose `parse_args` this is."""
    parser = ast.dump(parse.func.value) if isinstance(parse.func, ast.Attribute) else ""
    makers = [
        call for call in sources.calls() if sources.dotted(call.func).endswith("ArgumentParser")
    ]
    adds = [call for call in sources.calls() if method_name(call) == "add_argument"]
    if len(makers) > 1:
        here = [call for call in adds if scope_of(call) is scope_of(parse)]
        own = [call for call in here if ast.dump(call.func.value) == parser]  # type: ignore[attr-defined]
        adds = own or here or adds
    adds = [call for call in adds if _is_chosen(sources, call)]
    return [_with_default(sources, option) for option in filter(None, map(_option, adds))]


def _is_chosen(sources: Sources, call: ast.Call) -> bool:
    """False for an option of a subcommand that the command line does not choose."""
    found = bindings_of(receiver(call) or call)
    made = found[-1].value if found else None
    if not isinstance(made, ast.Call) or method_name(made) != "add_parser":
        return True
    return (literal(made.args[0]) if made.args else "") in sources.program.arguments


def _option(call: ast.Call) -> Option | None:
    """The option that `add_argument` or `click.option` describes."""
    flags = _texts(call)
    if not flags:
        return None
    long = next(
        (flag for flag in flags if flag.startswith("--")),
        flags[0],
    )
    dest = literal(keyword(call, "dest"))
    name = dest if isinstance(dest, str) else long.lstrip("-").replace("-", "_")
    kind = getattr(keyword(call, "type"), "id", "")
    default = keyword(call, "default")
    count = keyword(call, "nargs")
    several = count is not None and literal(count) != "?"
    action = literal(keyword(call, "action"))
    switch = {"store_true": True, "store_false": False}.get(str(action))
    return Option(
        tuple(flags),
        name,
        call,
        default,
        kind,
        several,
        switch,
    )


def _texts(call: ast.Call) -> list[str]:
    """The strings among the positional arguments."""
    return [text for text in map(literal, call.args) if isinstance(text, str)]


def _with_default(sources: Sources, option: Option) -> Option:
    """`parser.set_defaults(lr=...)` wins over the option's own default."""
    for call in sources.calls():
        value = keyword(call, option.dest) if method_name(call) == "set_defaults" else None
        if value is not None and scope_of(call).file == scope_of(option.call).file:
            return replace(option, call=call, default=value)
    return option


def click_option(sources: Sources, function: Scope, name: str) -> Option | None:
    """The `@click.option("--lr", default=...)` that fills a parameter."""
    for decorator in getattr(function.node, "decorator_list", ()):
        if isinstance(decorator, ast.Call) and sources.dotted(decorator.func) == "click.option":
            option = _option(decorator)
            if option is not None and name in (option.dest, *_texts(decorator)):
                return option
    return None


def absl_flag(sources: Sources, name: str) -> Option | None:
    """`flags.DEFINE_float("lr", 0.1, ...)`."""
    for call in sources.calls():
        dotted = sources.dotted(call.func)
        if ".DEFINE_" not in dotted or not call.args or literal(call.args[0]) != name:
            continue
        kind = (
            dotted.rpartition("DEFINE_")[2]
            .replace("integer", "int")
            .replace(
                "string",
                "str",
            )
        )
        return Option(
            (f"--{name}", f"-{name}"),
            name,
            call,
            argument(call, 1, "default"),
            kind,
        )
    return None
