"""A script parses, and it is no larger than a script should be."""

from __future__ import annotations

import ast

from reenact.bug.validate.objection import Objection, Stage

LONGEST = 40_000
"""Characters of a script."""


def parsed(text: str) -> ast.Module | Objection:
    """The tree of a script, or what keeps it from having one."""
    if not text.strip():
        return Objection(Stage.PARSE, "The script is empty.")
    if len(text) > LONGEST:
        return Objection(
            Stage.PARSE, f"The script has more than {LONGEST} characters. Show the bug, no more."
        )
    try:
        return ast.parse(text)
    except SyntaxError as error:
        return Objection(Stage.PARSE, f"It does not parse: {error.msg}.", error.lineno or 0)
    except (ValueError, RecursionError, MemoryError) as error:
        return Objection(Stage.PARSE, f"It does not parse: {error}.")
