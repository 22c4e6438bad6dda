"""The bench where changes become edits: everything wanted is collected first, then written in one
go.

All changes of a patch are resolved against the same program, so that their order does not matter
and any subset of them can be applied. Arguments of one call are gathered and written together; two
values for one place are a conflict.
"""

import ast
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar

from reenact.errors import NotChangeable, PatchConflict
from reenact.program.edit import segments
from reenact.program.edit.segments import Bracketed
from reenact.program.flow.ends import spot_of
from reenact.program.flow.library_names import last_name
from reenact.program.hyperparameter import HyperparameterId
from reenact.program.syntax.scope import FileIndex, scope_of
from reenact.program.syntax.source import Span
from reenact.program.training.analysis import EditSite
from reenact.program.training.reading import Reading
from reenact.types import JsonValue

Part = TypeVar("Part")
Settings: TypeAlias = Mapping[str, JsonValue]
"""Arguments of a new layer or optimiser, by keyword."""


def known(part: Part | None, why: str = "It is not written in a way that can be changed.") -> Part:
    """What a change has to know about its place; raises NotChangeable where the program does
    not tell.
    """
    if part is None:
        raise NotChangeable(why)
    return part


@dataclass(slots=True)
class CallWork:
    """What is to happen to the arguments of one call, or to the elements of one list."""

    add: dict[str, str] = field(default_factory=dict)
    """Keyword arguments to add, or to write again."""
    insert: list[tuple[int, str]] = field(default_factory=list)
    """Elements to put after an item."""
    drop: set[int] = field(default_factory=set)
    """Items to cut out."""


@dataclass(frozen=True, slots=True)
class TextEdit:
    """Put a text in the place of a span."""

    span: Span
    text: str
    order: tuple[int, int]
    """Edits at one point: what closes a wrapping first, innermost first, what opens one last; the
    others between them in the order in which they were wished for.
    """


CLOSES = 0
STANDS = 1
OPENS = 2


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
        self.calls: dict[Bracketed, CallWork] = {}
        self.words: dict[int, tuple[int, list[str]]] = {}
        """On the command line: from which word, how many, and what comes in their place."""
        self.imports: dict[tuple[FileIndex, str], int] = {}
        """Import statements that files need, and the line above which they must be."""
        self.claimed: dict[HyperparameterId, str] = {}
        """Hyperparameters that a change has turned, and to what."""
        self.short_names: dict[ast.Call, ShortName] = {}
        self.wrapped: dict[ast.Call, bool] = {}
        """Layers that a change wraps in another (true), or calls by their old place (false)."""
        self._order = 0

    def claim(self, param: HyperparameterId, value: JsonValue) -> bool:
        """True for the first wish about a hyperparameter; raises PatchConflict for two values."""
        wish = json.dumps(value, sort_keys=True)
        first = param not in self.claimed
        if self.claimed.setdefault(param, wish) != wish:
            raise PatchConflict(f"Two changes want another value for {param}.")
        return first

    def claim_place(self, layer: ast.Call, path: str, *, wraps: bool) -> None:
        """A layer is wrapped, or called by its place; raises PatchConflict for both."""
        if self.wrapped.setdefault(layer, wraps) is not wraps:
            raise PatchConflict(
                f"One change wraps {path} in another layer, another one initialises it."
            )

    def replace(self, spot: Span, text: str, side: int = STANDS) -> None:
        """Put a text in the place of a spot; the same wish twice is one wish."""
        self._order += 1
        edits = self.edits.setdefault(spot.file, [])
        if (
            not any(other.span == spot and other.text == text for other in edits)
            or spot.start == spot.end
        ):
            edits.append(
                TextEdit(
                    spot,
                    text,
                    (side, -self._order if side == CLOSES else self._order),
                )
            )

    def in_front(self, whole: ast.expr, inner: ast.expr, text: str) -> None:
        """Put a text in the place of what is before a part of an expression."""
        here = spot_of(whole)
        self.replace(
            Span(here.start, spot_of(inner).start, here.file),
            text,
        )

    def behind(self, whole: ast.expr, inner: ast.expr, text: str) -> None:
        """Put a text in the place of what is after a part of an expression."""
        here = spot_of(whole)
        self.replace(
            Span(spot_of(inner).end, here.end, here.file),
            text,
        )

    def wrap(self, node: ast.expr, front: str, back: str) -> None:
        """Put texts around an expression; a later wrapping of the same one goes inside."""
        here = spot_of(node)
        self.replace(
            Span(here.start, here.start, here.file),
            front,
            OPENS,
        )
        self.replace(
            Span(here.end, here.end, here.file),
            back,
            CLOSES,
        )

    def text(self, node: ast.expr | ast.stmt) -> str:
        return scope_of(node).index.text_of(node)

    def work(self, node: Bracketed) -> CallWork:
        return self.calls.setdefault(node, CallWork())

    def set_argument(self, call: ast.Call, name: str, text: str) -> None:
        """Give a keyword argument a value, whether it is there or not."""
        for given in call.keywords:
            if given.arg == name:
                self.replace(spot_of(given.value), text)
                return
        if (
            self.work(call).add.setdefault(
                name,
                text,
            )
            != text
        ):
            raise PatchConflict(f"Two changes want another value for {name!r} in one call.")

    def drop_argument(self, call: ast.Call, node: ast.expr) -> None:
        """Take out the argument whose value this is."""
        items: list[ast.expr | ast.keyword] = [*call.args, *call.keywords]
        items.sort(key=lambda item: (item.lineno, item.col_offset))
        values = [
            item.value if isinstance(item, ast.Starred | ast.keyword) else item for item in items
        ]
        self.work(call).drop.add(values.index(node))

    def before(self, statement: ast.stmt, *lines: str) -> None:
        for line in lines:
            self.replace(*segments.before_statement(statement, line))

    def after(self, statement: ast.stmt, line: str) -> None:
        self.replace(*segments.after_statement(statement, line))

    def remove_statement(self, statement: ast.stmt) -> None:
        self.replace(*segments.without_statement(statement))

    def name_for(self, dotted: str, near: ast.AST) -> str:
        """How this file can call a library object, with an import added when it cannot yet."""
        index = scope_of(near).index
        line = [part for part in (near, *index.ancestors(near)) if isinstance(part, ast.stmt)][
            -1
        ].lineno
        name = segments.available_name(index, dotted, line)
        if not name:
            key = (index, segments.import_for(index, dotted))
            self.imports[key] = min(line, self.imports.get(key, line))
        return name or last_name(dotted)

    def say(self, index: int, count: int, words: list[str]) -> None:
        """Put words in the place of some on the command line."""
        if self.words.setdefault(index, (count, words)) != (count, words):
            raise PatchConflict("Two changes want other words at one place of the command line.")

    def finish(self) -> dict[str, list[TextEdit]]:
        """All edits by file, in the order of the text; raises PatchConflict when two want one
        place.
        """
        for node, work in self.calls.items():
            self._finish_call(node, work)
        for (index, statement), line in self.imports.items():
            self.replace(*segments.put_import(index, statement, line))
        return {file: self._ordered(file, edits) for file, edits in self.edits.items()}

    def _finish_call(self, node: Bracketed, work: CallWork) -> None:
        texts = [f"{name}={text}" for name, text in work.add.items()]
        items = [*node.args, *node.keywords] if isinstance(node, ast.Call) else node.elts
        if work.drop and len(work.drop) == len(items):
            brackets = segments.brackets_of(node)
            self.replace(
                Span(
                    brackets.opens + 1,
                    brackets.closes,
                    scope_of(node).file,
                ),
                ", ".join(texts),
            )
            return
        for number in sorted(work.drop):
            self.replace(segments.removed(node, number), "")
        wanted = [(texts, None)] if texts else []
        for new, place in [
            *wanted,
            *(([text], number) for number, text in work.insert),
        ]:
            self.insert(node, new, place)

    def insert(
        self,
        node: Bracketed,
        texts: list[str],
        after: int | None,
    ) -> None:
        """Put items into brackets; see `segments.inserted`."""
        for edit in segments.inserted(node, texts, after):
            self.replace(*edit)

    def _ordered(self, file: str, edits: list[TextEdit]) -> list[TextEdit]:
        ordered = sorted(
            edits,
            key=lambda edit: (edit.span, edit.order),
        )
        at = 0
        for edit in ordered:
            if edit.span.start < at:
                line = self.analysis.place(edit.span).line
                raise PatchConflict(f"Two changes want the same place: {file}, line {line}.")
            at = edit.span.end
        return ordered

    def new_arguments(self) -> tuple[str, ...]:
        """The command line after the changes."""
        words = list(self.program.arguments)
        for index in sorted(self.words, reverse=True):
            count, new = self.words[index]
            words[index : index + count] = new
        return tuple(words)


def written(text: str, edits: Iterable[TextEdit]) -> str:
    """A text with ordered edits done."""
    pieces: list[str] = []
    at = 0
    for edit in edits:
        pieces += [
            text[at : edit.span.start],
            edit.text,
        ]
        at = edit.span.end
    return "".join([*pieces, text[at:]])


def assigned(statement: ast.stmt, value: ast.expr) -> ast.expr | None:
    """What a statement assigns this very value to, when it assigns it once and does nothing
    else.
    """
    if (
        isinstance(statement, ast.Assign)
        and statement.value is value
        and len(statement.targets) == 1
    ):
        return statement.targets[0]
    return None
