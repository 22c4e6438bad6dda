"""Programs without comments and docstrings."""

from __future__ import annotations

import ast
import io
import re
import tokenize

from benchmarks.blind.rewrites.text import Edit, Project, Source, is_text

KEPT = re.compile(r"#\s*(reenact:|-\*-)|#!")
"""A comment that tells reenact or Python something is no remark."""


def without_comments(project: Project) -> Project:
    """A docstring goes too, where the program does not ask for it."""
    return project.with_files({path: _bare(source) for path, source in project.files.items()})


def _bare(source: Source) -> Source:
    edits = []
    for token in tokenize.generate_tokens(io.StringIO(source.text).readline):
        if token.type != tokenize.COMMENT or KEPT.match(token.string):
            continue
        line, column = token.start[0] - 1, token.start[1]
        before = source.lines[line][:column]
        if before.strip():
            end = (line, len(source.lines[line]))
            edits.append(Edit((line, len(before.rstrip())), end, ""))
        else:
            edits.append(_line_gone(source, line, line))
    if "__doc__" not in source.text:
        edits += _docstrings(source)
    return source.edited(edits)


def _line_gone(source: Source, first: int, last: int) -> Edit:
    if last + 1 < len(source.lines):
        return Edit((first, 0), (last + 1, 0), "")
    return Edit((first, 0), (last, len(source.lines[last])), "")


def _docstrings(source: Source) -> list[Edit]:
    found = []
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(source.tree):
        if not isinstance(node, kinds) or not node.body or not is_text(node.body[0]):
            continue
        docstring = node.body[0]
        start, end = source.start_of(docstring), source.end_of(docstring)
        is_alone = not source.lines[start[0]][: start[1]].strip() and (
            not source.lines[end[0]][end[1] :].strip()
        )
        if len(node.body) == 1 or not is_alone:
            found.append(Edit(start, end, "pass"))
        else:
            found.append(_line_gone(source, start[0], end[0]))
    return found
