"""A script parses, and it is no larger than a script should be."""

from __future__ import annotations

import ast

from reenact.bug.validate.stage import Stage
from reenact.codegen.problem import Problem
from reenact.codegen.static_checks import does_not_parse

LONGEST = 40_000
"""Characters of a script."""


def parsed(text: str) -> ast.Module | Problem:
    """The tree of a script, or what keeps it from having one."""
    if not text.strip():
        return Problem(Stage.PARSE, "The script is empty.")
    if len(text) > LONGEST:
        return Problem(Stage.PARSE, f"The script has more than {LONGEST} characters. Show the bug, no more.")
    return does_not_parse(Stage.PARSE, text) or ast.parse(text)
