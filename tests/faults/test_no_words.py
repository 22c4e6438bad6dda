"""No verdict depends on words of the author: rules neither unparse programs nor search their text."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import reenact.faults

FAULTS = Path(reenact.faults.__file__).parent
ALLOWED = {
    "page.py": "reads the pages of the faults, which are our own text",
    "evidence.py": "looks for a warning of numpy among those of the run",
    "crash/out_of_memory.py": "reads sizes off the message of a crash",
    "crash/shape_mismatch.py": "reads the message of a crash",
    "facts/crash.py": "reads the message of a crash",
    "facts/crash_phrases.py": "reads the message of a crash",
    "facts/crash_sorting.py": "looks at the modules of a crash's frames",
    "facts/crash_values.py": "looks at the library function that crashed",
    "data/inputs_not_floating_point.py": "reads the message of a crash",
    "labels/target_broadcast.py": "reads the message of a warning",
    "layers/feature_map_too_small.py": "reads the message of a crash",
    "optimisation/unsuitable_batch_size.py": "reads numbers off the message of a crash",
}
"""Files that search text which is not the program's."""
SEARCHES = ("re", "fnmatch", "regex")


def _quotes(node: ast.AST) -> bool:
    """Text for messages, of which none may be compared."""
    return isinstance(node, ast.Name) and node.id in ("excerpt", "dotted_text")


def breaches(path: Path) -> list[str]:
    """Imports of what searches text, and calls of what makes text of a tree."""
    return [
        f"line {node.lineno}: {ast.unparse(node)[:60]}"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if (isinstance(node, ast.Import) and any(one.name in SEARCHES for one in node.names))
        or (isinstance(node, ast.ImportFrom) and node.module in SEARCHES)
        or (isinstance(node, ast.Attribute) and node.attr == "unparse")
        or (isinstance(node, ast.Compare) and any(map(_quotes, ast.walk(node))))
    ]


def relative(path: Path) -> str:
    return path.relative_to(FAULTS).as_posix()


@pytest.mark.parametrize("path", sorted(FAULTS.rglob("*.py")), ids=relative)
def test_no_text_is_searched(path: Path) -> None:
    if relative(path) in ALLOWED:
        pytest.skip("its text is not the program's")
    assert breaches(path) == []


def test_what_is_allowed_is_needed() -> None:
    """A file that became clean leaves the lists."""
    assert [name for name in ALLOWED if not breaches(FAULTS / name)] == []
