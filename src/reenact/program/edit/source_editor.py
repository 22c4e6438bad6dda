"""The bench where changes become edits: everything wanted is collected first, then written in one go.

All changes of a patch are resolved against the same program, so that their order does not matter and any
subset of them can be applied. Arguments of one call are gathered and written together; two values for one
place are a conflict.
"""

import ast
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeVar

from reenact.errors import NotChangeable, PatchConflict
from reenact.program.edit import segments
from reenact.program.hyperparameter import HyperparameterId
from reenact.program.read.analysis import EditSite
from reenact.program.read.ends import SourceSpan, spot_of
from reenact.program.read.index import FileIndex
from reenact.program.read.reading import Reading
from reenact.program.read.scope import scope_of
from reenact.program.source import Span
from reenact.types import JsonValue

Bracketed = ast.Call | ast.List | ast.Tuple
Part = TypeVar("Part")


def known(part: Part | None) -> Part:
    """What a change has to know about its place; raises NotChangeable where the program does not tell."""
    if part is None:
        raise NotChangeable("It is not written in a way that can be changed.")
    return part


@dataclass(slots=True)
class CallWork:
    """What is to happen to the arguments of one call, or to the elements of one list."""

    node: Bracketed
    index: FileIndex
    add: dict[str, str] = field(default_factory=dict)
    """Keyword arguments to add, or to write again."""
    insert: list[tuple[int, str]] = field(default_factory=list)
    """Elements to put behind an item."""
    drop: set[int] = field(default_factory=set)
    """Items to cut out."""


@dataclass(frozen=True, slots=True)
class TextEdit:
    """Put a text in the place of a span."""

    span: Span
    text: str
    order: tuple[int, int]
    """Edits at one point: what closes a wrapping first, innermost first, what opens one last; the others
    between them in the order in which they were wished for."""


CLOSES, STANDS, OPENS = range(3)


@dataclass(slots=True)
class ShortName:
    """A Keras optimiser written as a string, on its way to become an object."""

    site: EditSite
    name: str
    settings: dict[str, JsonValue] = field(default_factory=dict)


class SourceEditor:
    """Collects the edits of one patch."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.analysis = reading.analysis
        self.program = reading.program
        self.edits: dict[str, list[TextEdit]] = {}
        self.calls: dict[ast.AST, CallWork] = {}
        self.arguments = list(reading.program.arguments)
        self.words: dict[int, tuple[int, list[str]]] = {}
        self.imports = segments.Imports()
        self.claimed: dict[HyperparameterId, str] = {}
        """Hyperparameters that a change has turned, and to what."""
        self.short_names: dict[ast.Call, ShortName] = {}
        self.wrapped: dict[ast.Call, bool] = {}
        """Layers that a change wraps in another (true), or calls by their old place (false)."""
        self._order = 0

    def claim(self, param: HyperparameterId, value: JsonValue) -> bool:
        """True when a hyperparameter is to be turned for the first time; raises PatchConflict for two
        values."""
        wish = json.dumps(value, sort_keys=True)
        before = self.claimed.setdefault(param, "")
        if before and before != wish:
            raise PatchConflict(f"Two changes want another value for {param}.")
        self.claimed[param] = wish
        return not before

    def claim_place(self, layer: ast.Call, path: str, *, wraps: bool) -> None:
        """A layer is wrapped, or called by its place; raises PatchConflict for both."""
        if self.wrapped.setdefault(layer, wraps) is not wraps:
            raise PatchConflict(f"One change wraps {path} in another layer, another one initialises it.")

    def replace(self, spot: SourceSpan, text: str) -> None:
        """Put a text in the place of a spot; the same wish twice is one wish."""
        self._order += 1
        self._edit(spot, text, (STANDS, self._order))

    def _edit(self, spot: SourceSpan, text: str, order: tuple[int, int]) -> None:
        edits = self.edits.setdefault(spot.file, [])
        edit = TextEdit(spot.span, text, order)
        for other in edits:
            if other.span == edit.span and other.text == edit.text and spot.span.start < spot.span.end:
                return
        edits.append(edit)

    def in_front(self, whole: ast.expr, inner: ast.expr, text: str) -> None:
        """Put a text in the place of what stands before a part of an expression."""
        here = spot_of(whole)
        self.replace(SourceSpan(here.file, Span(here.span.start, spot_of(inner).span.start)), text)

    def behind(self, whole: ast.expr, inner: ast.expr, text: str) -> None:
        """Put a text in the place of what stands behind a part of an expression."""
        here = spot_of(whole)
        self.replace(SourceSpan(here.file, Span(spot_of(inner).span.end, here.span.end)), text)

    def wrap(self, node: ast.expr, front: str, back: str) -> None:
        """Put texts around an expression; a later wrapping of the same one goes inside."""
        self._order += 1
        here = spot_of(node)
        first, last = Span(here.span.start, here.span.start), Span(here.span.end, here.span.end)
        self._edit(SourceSpan(here.file, first), front, (OPENS, self._order))
        self._edit(SourceSpan(here.file, last), back, (CLOSES, -self._order))

    def text(self, node: ast.expr | ast.stmt) -> str:
        return scope_of(node).index.text_of(node)

    def work(self, node: Bracketed) -> CallWork:
        return self.calls.setdefault(node, CallWork(node, scope_of(node).index))

    def set_argument(self, call: ast.Call, name: str, text: str) -> None:
        """Give a keyword argument a value, whether it is there or not."""
        for given in call.keywords:
            if given.arg == name:
                self.replace(spot_of(given.value), text)
                return
        work = self.work(call)
        if work.add.get(name, text) != text:
            raise PatchConflict(f"Two changes want another value for {name!r} in one call.")
        work.add[name] = text

    def drop_argument(self, call: ast.Call, node: ast.expr) -> None:
        """Take out the argument whose value this is."""
        self.work(call).drop.add(item_number(call, node))

    def before(self, statement: ast.stmt, lines: Iterable[str]) -> None:
        for line in lines:
            self._replace(statement, segments.before_statement(scope_of(statement).index, statement, line))

    def after(self, statement: ast.stmt, lines: Iterable[str]) -> None:
        for line in lines:
            self._replace(statement, segments.after_statement(scope_of(statement).index, statement, line))

    def remove_statement(self, statement: ast.stmt) -> None:
        self._replace(statement, segments.without_statement(scope_of(statement).index, statement))

    def _replace(self, statement: ast.stmt, edit: tuple[Span, str]) -> None:
        self.replace(SourceSpan(scope_of(statement).file, edit[0]), edit[1])

    def name_for(self, dotted: str, near: ast.AST) -> str:
        """How this file can call a library object, with an import added when it cannot yet."""
        return self.imports.name_for(dotted, scope_of(near).index, near)

    def say(self, index: int, count: int, words: list[str]) -> None:
        """Put words in the place of some on the command line."""
        if index in self.words and self.words[index] != (count, words):
            raise PatchConflict("Two changes want other words at one place of the command line.")
        self.words[index] = (count, words)

    def finish(self) -> dict[str, list[TextEdit]]:
        """All edits by file, in the order of the text; raises PatchConflict when two want one place."""
        for work in self.calls.values():
            self._finish_call(work)
        for file, span, text in self.imports.edits():
            self.replace(SourceSpan(file, span), text)
        return {file: self._ordered(file, edits) for file, edits in self.edits.items()}

    def _finish_call(self, work: CallWork) -> None:
        file, index, node = work.index.path, work.index, work.node
        texts = [f"{name}={text}" for name, text in work.add.items()]
        items = [*node.args, *node.keywords] if isinstance(node, ast.Call) else node.elts
        if work.drop and len(work.drop) == len(items):
            brackets = segments.brackets_of(index, node)
            self.replace(SourceSpan(file, Span(brackets.opens + 1, brackets.closes)), ", ".join(texts))
            return
        for number in sorted(work.drop):
            self.replace(SourceSpan(file, segments.removed(index, node, number)), "")
        if work.add:
            for span, text in segments.inserted(index, node, texts, None):
                self.replace(SourceSpan(file, span), text)
        for number, text in work.insert:
            for span, piece in segments.inserted(index, node, [text], number):
                self.replace(SourceSpan(file, span), piece)

    def _ordered(self, file: str, edits: list[TextEdit]) -> list[TextEdit]:
        ordered = sorted(edits, key=lambda edit: (edit.span.start, edit.span.end, edit.order))
        at = 0
        for edit in ordered:
            if edit.span.start < at:
                line = self.analysis.place(SourceSpan(file, edit.span)).line
                raise PatchConflict(f"Two changes want the same place: {file}, line {line}.")
            at = edit.span.end
        return ordered

    def new_arguments(self) -> tuple[str, ...]:
        """The command line after the changes."""
        words = list(self.arguments)
        for index in sorted(self.words, reverse=True):
            count, new = self.words[index]
            words[index : index + count] = new
        return tuple(words)


def written(text: str, edits: Iterable[TextEdit]) -> str:
    """A text with ordered edits done."""
    pieces: list[str] = []
    at = 0
    for edit in edits:
        pieces += [text[at : edit.span.start], edit.text]
        at = edit.span.end
    return "".join([*pieces, text[at:]])


def item_number(call: ast.Call, node: ast.expr) -> int:
    """Position of an argument among all arguments as they stand in the text."""
    items: list[ast.expr | ast.keyword] = [*call.args, *call.keywords]
    items.sort(key=lambda item: (item.lineno, item.col_offset))
    return [item.value if isinstance(item, ast.Starred | ast.keyword) else item for item in items].index(node)


def assigned(statement: ast.stmt, value: ast.expr) -> ast.expr | None:
    """What a statement assigns this very value to, when it assigns it once and does nothing else."""
    if isinstance(statement, ast.Assign) and statement.value is value and len(statement.targets) == 1:
        return statement.targets[0]
    return None
