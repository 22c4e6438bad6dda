"""Where something stands in the files of a program: calls, definitions, what lies in a line."""

import ast
from collections.abc import Iterable, Iterator, Sequence

from reenact.program.syntax.index import FileIndex, N
from reenact.program.syntax.pieces import Node, file_of, is_call, place_of, within
from reenact.types import Place


def nodes(files: Sequence[FileIndex], kind: type[N]) -> Iterator[N]:
    """Everything of this kind in the program."""
    return (one for index in files for one in within(index.tree, kind))


def calls(files: Sequence[FileIndex], *names: str) -> Iterator[ast.Call]:
    """Every call of one of these names in the program; of any where none is given."""
    return (call for index in files for call in index.calls if is_call(call, *names))


def calls_at(files: Sequence[FileIndex], place: Place | None, *names: str) -> Iterator[ast.Call]:
    """The same that stand in a line, or in the lines of a function."""
    return (call for call in calls(files, *names) if is_in(place, call))


def is_in(place: Place | None, node: Node) -> bool:
    """Whether something stands in a line, or in the lines of a function."""
    if place is None or file_of(node).source.path != place.file:
        return False
    return place.line <= node.lineno <= max(place.line, place.end_line)


def first_place(found: Iterable[Node]) -> Place | None:
    """Where the first of these is; none where there are none."""
    return next(map(place_of, found), None)


def call_place(files: Sequence[FileIndex], *names: str) -> Place | None:
    """Where the program first calls something of this name, else of the next."""
    return first_place(one for name in names for one in calls(files, name))
