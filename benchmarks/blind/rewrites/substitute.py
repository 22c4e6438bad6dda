"""Other words for names, attributes, parameters and keywords, wherever they are written.

Python 3.11 does not know where an expression inside an f-string is, so an f-string that holds one
is written as a whole.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator, Mapping
from functools import partial

from benchmarks.blind.rewrites.text import Edit, Position, Source


def substituted(source: Source, words: Mapping[ast.AST, Mapping[str, str]]) -> Source:
    """With these words for the old ones at these nodes of the source's tree. Raises ValueError."""
    fstrings = dict(_inside_fstrings(source.tree))
    edits, whole = [], {}
    for node, changes in words.items():
        if node in fstrings:
            whole[fstrings[node]] = True
        else:
            edits += [_edit(source, node, old, new) for old, new in changes.items()]
    for fstring in whole:
        changed = {node: change for node, change in words.items() if fstrings.get(node) is fstring}
        start, end = source.start_of(fstring), source.end_of(fstring)
        text = written(fstring, changed)
        edits.append(Edit(start, end, text))
    return source.edited(edits)


def _inside_fstrings(tree: ast.AST) -> Iterator[tuple[ast.AST, ast.JoinedStr]]:
    stack: list[tuple[ast.AST, ast.JoinedStr | None]] = [(tree, None)]
    while stack:
        node, fstring = stack.pop()
        if fstring is not None:
            yield node, fstring
        elif isinstance(node, ast.JoinedStr):
            fstring = node
        stack += [(child, fstring) for child in ast.iter_child_nodes(node)]


def written(node: ast.AST, words: Mapping[ast.AST, Mapping[str, str]]) -> str:
    """An expression with other words. Raises ValueError where it cannot be written."""
    changed = _Copy(words).visit(node)
    text = ast.unparse(changed)
    # unparse of 3.11 is wrong about some f-strings with quotes inside.
    if ast.dump(ast.parse(text, mode="eval").body) != ast.dump(changed):
        raise ValueError(f"This f-string cannot be written again. Received: {text}.")
    return text


class _Copy(ast.NodeTransformer):
    """Copies a tree with other words."""

    def __init__(self, words: Mapping[ast.AST, Mapping[str, str]]) -> None:
        self._words = words

    def visit(self, node: ast.AST) -> ast.AST:
        words = self._words.get(node, {})
        if isinstance(node, ast.Name) and node.id in words:
            renamed = ast.parse(words[node.id], mode="eval").body
            for part in ast.walk(renamed):
                if part is renamed and isinstance(part, ast.Name | ast.Attribute):
                    part.ctx = node.ctx
            return renamed
        copy = type(node)()
        for name, value in ast.iter_fields(node):
            setattr(copy, name, self._value(value, words))
        return copy

    def _value(self, value: object, words: Mapping[str, str]) -> object:
        if isinstance(value, ast.AST):
            return self.visit(value)
        if isinstance(value, list):
            return [self._value(one, words) for one in value]
        return words.get(value, value) if isinstance(value, str) else value


def _edit(source: Source, node: ast.AST, old: str, new: str) -> Edit:
    """Where a node says a word."""
    start = _where(source, node, old)
    end = (start[0], start[1] + len(old))
    if source.between(start, end) != old:
        raise ValueError(f"A name is not where it should be. Received: {old}, line {start[0] + 1}.")
    return Edit(start, end, new)


def _where(source: Source, node: ast.AST, word: str) -> Position:
    if isinstance(node, ast.Attribute):
        line, column = source.end_of(node)
        return line, column - len(word)
    if isinstance(node, ast.Name | ast.arg | ast.keyword):
        return source.start_of(node)
    if isinstance(node, ast.alias):
        line, column = source.end_of(node)
        return (line, column - len(word)) if node.asname else source.start_of(node)
    return _first_word(source, node, word)


def _first_word(source: Source, node: ast.AST, word: str) -> Position:
    """The first token after the start that is this word: of a definition, a handler, a
    declaration.
    """
    start = source.start_of(node)
    rest = "\n".join((source.lines[start[0]][start[1] :], *source.lines[start[0] + 1 :]))
    for token in tokenize.generate_tokens(partial(next, io.StringIO(rest), "")):
        if token.type == tokenize.NAME and token.string == word:
            line, column = token.start
            return start[0] + line - 1, column + (start[1] if line == 1 else 0)
    raise ValueError(f"A name is not where it should be. Received: {word}, line {start[0] + 1}.")
