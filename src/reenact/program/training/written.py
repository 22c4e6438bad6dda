"""Where a value of the optimizer is written when no line hands it over by name, as in
`instantiate(cfg.optimizer)` and `kinds[name](net.parameters(), **settings)`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from reenact.program.flow.constants import constant_of
from reenact.program.program import Program
from reenact.program.syntax.calls import entries
from reenact.program.syntax.datafile import BadData, DataEntry, read_data
from reenact.program.syntax.index import index_of
from reenact.program.syntax.pieces import all_parts, last_word, place_of
from reenact.program.syntax.source import Language, LineTable, SourceFile
from reenact.types import JsonValue, Place


def written_at(
    program: Program,
    names: tuple[str, ...],
    value: JsonValue,
) -> Place | None:
    """The one place where a configuration, else the text, gives this value to something of one of
    these names; none where there is no such place or several.
    """
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    for look in (_configured, _in_text):
        found = {place for file in program.files for place in look(file, names, value)}
        if found:
            return found.pop() if len(found) == 1 else None
    return None


def _configured(
    file: SourceFile,
    names: tuple[str, ...],
    value: float,
) -> Iterator[Place]:
    if file.language not in (Language.JSON, Language.YAML):
        return
    try:
        entries = [read_data(file)]
    except BadData:
        return
    lines = LineTable(file.text)
    while entries:
        entry = entries.pop()
        named = entry.items if isinstance(entry.items, dict) else {}
        same = [one for name, one in named.items() if name in names and _equal(one, value)]
        for one in same:
            yield lines.place(file.path, one.span)
        entries += [
            *named.values(),
            *(entry.items if isinstance(entry.items, list) else ()),
        ]


def _equal(entry: DataEntry, value: float) -> bool:
    # YAML takes 1e-3 for a text.
    try:
        return float(str(entry.value)) == value
    except ValueError:
        return False


def _in_text(
    file: SourceFile,
    names: tuple[str, ...],
    value: float,
) -> Iterator[Place]:
    index = index_of(file) if file.language is Language.PYTHON else ""
    for node in all_parts(index.tree) if not isinstance(index, str) else ():
        pairs: list[tuple[object, ast.expr | None]] = []
        if isinstance(node, ast.Dict):
            pairs = list(entries(node).items())
        elif isinstance(node, ast.keyword):
            pairs = [(node.arg, node.value)]
        elif isinstance(node, ast.AnnAssign):
            pairs = [(last_word(node.target), node.value)]
        for name, given in pairs:
            known = constant_of(given) if name in names else None
            if given is not None and known is not None and known.value == value:
                yield place_of(given)
