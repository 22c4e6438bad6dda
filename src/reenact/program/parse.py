"""Python text to a syntax tree, or the reason why there is none.

The standard parser reads (5 ms for 300 lines, and it refuses hostile nesting with an exception). libcst, a
hundred times dearer and written so that deep nesting overflows its stack, is asked only when a file may be
written for a newer Python than the one that runs us; see `newer.py`.
"""

from __future__ import annotations

import ast
import re
import warnings

from reenact.program.newer import masked

PYTHON_2 = re.compile(
    r"^\s*(print\s+[\"'\w]|exec\s+[\"'\w]|raise\s+\w+\s*,|except\s+\w+\s*,\s*\w+\s*:)", re.M
)


class Unparsable(ValueError):
    """Not Python that we can read; the text says why in a few words."""


def parse(text: str, *, top_level_await: bool = False) -> ast.Module:
    """The syntax tree of a module; raises Unparsable and nothing else."""
    try:
        return _parse(text, top_level_await)
    except SyntaxError as error:
        newer = masked(text)
        if newer is None:
            raise Unparsable(_why(error, text)) from error
    try:
        return _parse(newer, top_level_await)
    except SyntaxError as error:
        raise Unparsable(_why(error, text)) from error


def _parse(text: str, top_level_await: bool) -> ast.Module:
    flags = ast.PyCF_ONLY_AST | (ast.PyCF_ALLOW_TOP_LEVEL_AWAIT if top_level_await else 0)
    with warnings.catch_warnings():
        # Invalid escapes in somebody's source are theirs to mend, not a line on our stderr.
        warnings.simplefilter("ignore")
        try:
            tree = compile(text, "<program>", "exec", flags, dont_inherit=True)
        except (RecursionError, MemoryError) as error:
            raise Unparsable("nested too deeply for the parser") from error
        except ValueError as error:
            raise Unparsable(str(error)[:120]) from error
    assert isinstance(tree, ast.Module)
    return tree


def _why(error: SyntaxError, text: str) -> str:
    if PYTHON_2.search(text):
        return f"written for Python 2 (line {error.lineno}: {error.msg})"
    return f"line {error.lineno}: {error.msg}"
